#pragma once

#include <memory>
#include <variant>

#include "c/status.h"
#include "sdm/descent/cascade.h"
#include "sdm/descent/learned.h"
#include "sdm/descent/online.h"
#include "sdm/face/adaptation.h"
#include "sdm/face/detector_model.h"
#include "sdm/face/model.h"
#include "sdm/io/model.h"
#include "sdm/pose/estimator.h"
#include "sdm/rigid/tracker.h"

/// A model file and what it says, which every handle made from it shares.
struct sdm_model {
  template <class T>
  using Shared = std::shared_ptr<const T>;

  sdm::io::Model file;
  std::variant<std::monostate, Shared<sdm::face::Model>, Shared<sdm::face::DetectorModel>,
               Shared<sdm::face::Adaptation>, Shared<sdm::rigid::TrackerModel>,
               Shared<sdm::pose::Estimator>, Shared<sdm::LearnedModel>,
               Shared<sdm::Cascade<double>>, Shared<sdm::OnlineCascade<double>>>
      content;
};

namespace sdm::c {

/// Throws Error on a file that its own room refuses.
sdm_model* make_model(io::Model file);

/// From what was made here.
template <class T>
sdm_model* make_model_of(T content) {
  auto model = std::make_unique<sdm_model>();
  model->file = content.to_model();
  model->content = std::make_shared<const T>(std::move(content));
  return model.release();
}

/// Throws Error if it is a model of something else; `what` begins the sentence.
template <class T>
std::shared_ptr<const T> content_of(const sdm_model* model, const char* what,
                                    const char* expected) {
  require(model, what);
  if (const auto* found = std::get_if<std::shared_ptr<const T>>(&model->content)) return *found;
  throw Error(std::string(what) + " is of kind '" + model->file.kind + "', expected " + expected);
}

inline std::shared_ptr<const face::Model> face_of(const sdm_model* model, const char* what) {
  return content_of<face::Model>(model, what, "'face' or 'face-on-base'");
}

}  // namespace sdm::c
