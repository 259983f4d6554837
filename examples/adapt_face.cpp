// One person, one corrected frame: the shipped model learns it without its training data.
//   example_adapt_face models/face68.sdm
// In place of a photograph, a "person" is drawn here whose face is nothing but spots.
#include <cmath>
#include <cstdio>

#include "sdm/face/adapter.h"
#include "sdm/face/aligner.h"

using namespace sdm;

int main(int argc, char** argv) {
  const std::filesystem::path path = argc > 1 ? argv[1] : "models/face68.sdm";
  const face::Model model = face::Model::load(path);

  // The frame, and where its points truly are.
  const face::Similarity place{90, 0, 150, 150};
  face::Shape truth = model.mean;
  place.to_image(model.mean, truth);
  image::Image<std::uint8_t> picture(300, 300, 180);
  for (const auto& p : truth.colwise())
    for (int y = -4; y <= 4; ++y)
      for (int x = -4; x <= 4; ++x)
        picture(int(std::lround(p.x())) + x, int(std::lround(p.y())) + y) = 60;

  face::Adapter adapter(model, face::Adaptation::load(face::Adaptation::beside(path)));
  adapter.update(picture, truth);

  const auto error = [&](const face::Model& used) {
    const face::Similarity start{95, 0, 154, 147};  // as a detector might have seen it
    return (face::Aligner(used).align_from(picture, start).points - truth).colwise().norm().mean();
  };
  const float before = error(model), after = error(adapter.model());
  std::printf("mean error %.2f px as shipped, %.2f px adapted\n", double(before), double(after));
  // To keep it: adapter.model().save("person.sdm"), adapter.state().save("person.adaptation.sdm").
  return after < before / 2 ? 0 : 1;
}
