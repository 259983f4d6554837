// The shipped models on a few moved development faces, which none of them was trained on.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "experiments/tracking/runs.h"
#include "report/statistics.h"
#include "tests/experiments/context.h"

namespace sdm::experiments {
namespace {

TEST(Tracking, FollowsFacesAndDoesBetterAfterAdaptingToTheFirstFrame) {
  if (!std::filesystem::exists(SDM_SHARED_DATA)) {
    std::cout << "skipped: needs ../shared/data\n";
    GTEST_SKIP() << "needs ../shared/data";
  }
  ExperimentContext context = source_context();
  context.data = SDM_SHARED_DATA;
  context.quick = true;
  std::vector<ShippedModel> models;
  models.push_back({"fast", face::Model::load(context.shipped_file("face68-fast.sdm")),
                    face::Adaptation::load(context.shipped_file("face68-fast.adaptation.sdm"))});
  const FaceSequences sequences = load_face_sequences(context);
  ASSERT_EQ(sequences.all.size(), 24U);
  double found_anew = 0, followed = 0;
  for (std::size_t i = 0; i < sequences.all.size(); i += 3) {
    const FaceSequence& sequence = sequences.all[i];
    const auto runs = follow_sequence(models, sequence, {}, 1 + i).front();
    EXPECT_EQ(runs[tracked].lost(), 0) << sequence.name;
    EXPECT_EQ(runs[tracked].searches, 0) << sequence.name;
    EXPECT_EQ(int(runs[adapted].errors.size()), sequence.frames - 1);
    EXPECT_LT(finite_mean(runs[adapted].errors), 0.7 * finite_mean(runs[tracked].errors))
        << sequence.name;
    found_anew += finite_mean(runs[detected].errors);
    followed += finite_mean(runs[tracked].errors);
  }
  EXPECT_LT(followed, 1.02 * found_anew);  // no worse than detecting in every frame
}

}  // namespace
}  // namespace sdm::experiments
