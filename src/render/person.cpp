#include "render/person.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "render/field.h"

namespace sdm::render {
namespace {

// Weights by name; names that the model does not have are left out.
class Expression {
 public:
  Expression(const HeadModel& head, Random& random)
      : head_(head),
        random_(random),
        weights_(Vector<float>::Zero(Index(head.expressions.size()))) {}

  void one(const std::string& name, double weight) {
    const int i = head_.expression_index(name);
    if (i >= 0) weights_[i] = std::max(weights_[i], float(std::clamp(weight, 0.0, 1.3)));
  }
  void both(const std::string& name, double weight, double deviation = 0.08) {
    one(name + "_L", weight + deviation * random_.normal());
    one(name + "_R", weight + deviation * random_.normal());
  }
  double between(double low, double high) { return random_.uniform(low, high); }
  const Vector<float>& weights() const { return weights_; }

 private:
  const HeadModel& head_;
  Random& random_;
  Vector<float> weights_;
};

void draw_mouth(const HeadModel& head, Expression& face, Random& random) {
  const double kind = random.uniform();
  if (kind < 0.22) {  // at rest
    if (random.uniform() < 0.3) face.one("jawOpen", face.between(0, 0.12));
  } else if (kind < 0.38) {  // smiles, lips closed
    face.both("mouthSmile", face.between(0.2, 0.9));
    face.both("cheekSquint", face.between(0, 0.6));
  } else if (kind < 0.66) {  // shows teeth
    face.both("mouthSmile", face.between(0.4, 1.1));
    face.both("mouthUpperUp", face.between(0.1, 0.7));
    face.both("mouthLowerDown", face.between(0.1, 0.7));
    face.one("jawOpen", face.between(0, 0.15));
    face.both("cheekSquint", face.between(0.1, 0.9));
    face.both("eyeSquint", face.between(0, 0.5));
    if (random.uniform() < 0.4) face.both("mouthStretch", face.between(0.1, 0.6));
  } else if (kind < 0.75) {  // laughs
    face.both("mouthSmile", face.between(0.5, 1.2));
    face.both("mouthUpperUp", face.between(0.2, 0.8));
    face.both("mouthLowerDown", face.between(0.2, 0.9));
    face.one("jawOpen", face.between(0.1, 0.6));
    face.both("cheekSquint", face.between(0.2, 1));
    face.both("eyeSquint", face.between(0, 0.7));
  } else if (kind < 0.88) {  // speaks or shouts
    face.one("jawOpen", random.uniform() < 0.2 ? face.between(0.4, 1.2) : face.between(0.05, 0.4));
    face.both("mouthLowerDown", face.between(0, 0.6));
    face.both("mouthUpperUp", face.between(0, 0.5));
    if (random.uniform() < 0.35) face.one("mouthFunnel", face.between(0, 0.9));
    if (random.uniform() < 0.25) face.both("mouthStretch", face.between(0, 0.7));
  } else {  // anything
    const std::size_t count = 2 + random.below(4);
    for (std::size_t i = 0; i < count && !head.expressions.empty(); ++i) {
      const std::string& name = head.expressions[random.below(head.expressions.size())];
      if (!name.starts_with("eye")) face.one(name, face.between(0.1, 0.9));
    }
  }
}

}  // namespace

Vector<float> random_expression(const HeadModel& head, Random& random) {
  Expression face(head, random);
  draw_mouth(head, face, random);
  if (random.uniform() < 0.35) {
    face.both("browInnerUp", face.between(0, 0.8));
    face.both("browOuterUp", face.between(0, 0.8));
  } else if (random.uniform() < 0.35) {
    face.both("browDown", face.between(0, 0.9));
  }
  if (random.uniform() < 0.13) {
    face.both("eyeBlink", face.between(0.2, 1), 0.03);
  } else if (random.uniform() < 0.5) {
    face.both("eyeSquint", face.between(0, 0.7));
  } else if (random.uniform() < 0.3) {
    face.both("eyeWide", face.between(0, 0.6));
  }
  const double aside = 0.3 * random.normal(), up = 0.3 * random.normal();
  face.one(aside > 0 ? "eyeLookOut_L" : "eyeLookIn_L", std::abs(aside));
  face.one(aside > 0 ? "eyeLookIn_R" : "eyeLookOut_R", std::abs(aside));
  face.both(up > 0 ? "eyeLookUp" : "eyeLookDown", 0.7 * std::abs(up), 0);
  return face.weights();
}

Person Person::random(Random& random) {
  Person person;
  person.female = random.uniform() < 0.5;
  // Even in perceived lightness, from dark to fair.
  person.skin = float(std::exp(random.uniform(std::log(0.05), std::log(0.6))));
  const double kind = random.uniform();
  const double colour = kind < 0.5    ? random.uniform(0.008, 0.05)
                        : kind < 0.82 ? random.uniform(0.03, 0.2)
                                      : random.uniform(0.2, 0.55);
  person.hair = std::min(float(colour), person.skin * float(random.uniform(0.3, 1.2)));
  person.bald = random.uniform() < (person.female ? 0.02 : 0.15);
  person.long_hair = random.uniform() < (person.female ? 0.7 : 0.12);
  person.hat = random.uniform() < 0.07;
  if (!person.female && random.uniform() < 0.5) {
    person.beard =
        float(random.uniform() < 0.5 ? random.uniform(0.1, 0.6) : random.uniform(0.6, 1));
    if (person.beard > 0.6F && random.uniform() < 0.4)
      person.thickness = float(random.uniform(0.2, 1.3));
  }
  return person;
}

std::vector<float> lip_heights(const HeadModel& head) {
  std::vector<float> heights(std::size_t(head.neutral.cols()), 0.0F);
  using Line = std::vector<std::pair<float, float>>;
  const auto line = [&](std::initializer_list<std::size_t> landmarks) {
    Line points;
    for (const std::size_t k : landmarks)
      points.emplace_back(head.neutral(0, head.landmarks[k]), head.neutral(1, head.landmarks[k]));
    return points;
  };
  const Line meet = line({48, 61, 62, 63, 54}), above = line({48, 49, 50, 51, 52, 53, 54}),
             below = line({48, 59, 58, 57, 56, 55, 54});
  for (std::size_t i = 0; i < heights.size(); ++i) {
    const Eigen::Vector3f p = head.neutral.col(Index(i));
    if (p.z() < 5) continue;
    const float middle = interpolate(meet, p.x()), height = p.y() - middle;
    const float lip =
        height > 0 ? interpolate(above, p.x()) - middle : middle - interpolate(below, p.x());
    if (lip <= 0) continue;
    const float within = std::min(std::abs(height), lip) * ramp(3 * lip, lip, std::abs(height));
    heights[i] = height > 0 ? within : -within;
  }
  return heights;
}

void vary_shape(Points& points, const Points& normals, const std::vector<float>& lips,
                Random& random) {
  const auto wide = float(1 + 0.025 * random.normal()), tall = float(1 + 0.025 * random.normal());
  const auto jaw = float(0.04 * random.normal()), chin = float(0.96 + 0.06 * random.normal());
  const auto full = float(std::max(0.0, 0.4 * random.normal()));
  const double thinner = 0.22 + 0.12 * random.normal();
  const auto upper = float(std::clamp(thinner + 0.1 * random.normal(), -0.2, 0.6));
  const auto lower = float(std::clamp(thinner + 0.1 * random.normal(), -0.2, 0.6));
  for (Index i = 0; i < points.cols(); ++i) {
    auto p = points.col(i);
    // Cheeks and jaw, not the nose and the mouth's middle, which move with the bone.
    const float cheek =
        ramp(4, 1, std::abs(p.y() + 4.5F)) * ramp(1.8F, 4.8F, std::abs(p.x())) * ramp(0, 3, p.z());
    if (full > 0) p += full * cheek * normals.col(i);
    const float lip = lips[std::size_t(i)];
    p.y() -= (lip > 0 ? upper : lower) * lip;
    p.x() *= wide * (1 + jaw / (1 + std::exp((p.y() + 1.5F) / 1.2F)));
    p.y() *= tall;
    if (p.y() < -2.5F) p.y() = -2.5F + (p.y() + 2.5F) * chin;
  }
}

}  // namespace sdm::render
