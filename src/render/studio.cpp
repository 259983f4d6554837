#include "render/studio.h"

#include <Eigen/Dense>
#include <cmath>

#include "render/scene.h"
#include "sdm/base/error.h"
#include "sdm/render/light.h"

namespace sdm::render {
namespace {

constexpr int kOcclusionDirections = 96;

}  // namespace

Studio::Studio(HeadModel model, const RenderOptions& given, ThreadPool& pool)
    : head(std::move(model)),
      options(given),
      layout(head),
      landmarks(head, layout),
      noise(given.seed),
      lips(lip_heights(head)) {
  prepare_texture();
  prepare_occlusion(pool);
}

// Skin is painted on the layout, eyes on a disc before them, lashes along their ribbon, in a first
// row the upper ones.
void Studio::prepare_texture() {
  const Index count = head.neutral.cols();
  texture = layout.places;
  surface.assign(std::size_t(count), kSurfaces);
  for (std::size_t i = 0; i < head.triangles.size(); ++i)
    for (const int vertex : head.triangles[i]) {
      unsigned char& s = surface[std::size_t(vertex)];
      s = std::min<unsigned char>(s, surface_of(head.parts[i]));  // skin goes first where two meet
    }
  for (const float side : {-1.0F, 1.0F}) {
    // The sphere through the eye's vertices: |p|^2 = 2 c.p + (r^2 - |c|^2).
    std::vector<Index> vertices;
    for (Index i = 0; i < count; ++i)
      if (surface[std::size_t(i)] == kEye && head.neutral(0, i) * side > 0) vertices.push_back(i);
    if (vertices.size() < 4) throw Error("the head has no eyes (M_ScleraLeft, M_ScleraRight)");
    Eigen::MatrixX4f system(Index(vertices.size()), 4);
    Eigen::VectorXf squares(Index(vertices.size()));
    for (Index k = 0; k < system.rows(); ++k) {
      const Eigen::Vector3f p = head.neutral.col(vertices[std::size_t(k)]);
      system.row(k) << 2 * p.transpose(), 1;
      squares[k] = p.squaredNorm();
    }
    const Eigen::Vector4f solved =
        (system.transpose() * system).ldlt().solve(system.transpose() * squares);
    const Eigen::Vector3f centre = solved.head<3>();
    const float radius = std::sqrt(std::max(1e-6F, solved[3] + centre.squaredNorm()));
    Index front = vertices.front();
    for (const Index i : vertices) {
      const Eigen::Vector3f p = (head.neutral.col(i) - centre) / radius;
      texture.col(i) = 47.5F * (Eigen::Vector2f(0.98F * p.x(), -0.98F * p.y()).array() + 1);
      const auto ahead = [&](Index k) {
        return (head.neutral.col(k) - centre).head<2>().norm() - (head.neutral(2, k) - centre.z());
      };
      if (ahead(i) < ahead(front)) front = i;
    }
    pupils[side < 0 ? 0 : 1] = int(front);
  }
  for (Index i = 0; i < count; ++i) {
    if (surface[std::size_t(i)] == kLashes) {
      const std::size_t outer = head.neutral(0, i) < 0 ? 36 : 42;  // of the corners, and the inner
      const float corners = 0.5F * (head.neutral(1, head.landmarks[outer]) +
                                    head.neutral(1, head.landmarks[outer + 3]));
      texture.col(i) << 399 * (head.texture(0, i) - std::floor(head.texture(0, i))),
          head.neutral(1, i) > corners ? 0 : 1;
    }
    if (surface[std::size_t(i)] == kSkin || surface[std::size_t(i)] == kBack) outside.push_back(i);
  }
}

void Studio::prepare_occlusion(ThreadPool& pool) {
  const auto open_of = [&](const Points& points) {
    return ambient_occlusion(points, normals(points, head.triangles), head.triangles,
                             kOcclusionDirections, pool);
  };
  open_closed = open_of(head.neutral);
  open_wide = open_closed;
  if (const int jaw = head.expression_index("jawOpen"); jaw >= 0) {
    Vector<float> weights = Vector<float>::Zero(head.expression.cols());
    weights[jaw] = 0.6F;
    open_wide = open_of(head.shape(Vector<float>::Zero(head.identity.cols()), weights));
  }
}

Points Studio::shape(const Person& person, const FacePaint& paint, Random& random) const {
  Vector<float> identity(head.identity.cols());
  for (Index i = 0; i < identity.size(); ++i) identity[i] = float(1.1 * random.normal());
  Vector<float> expression = random_expression(head, random);
  if (!options.expressions) expression.setZero();
  Points points = head.shape(identity, expression);
  Random variation(random.below(std::size_t(1) << 62), "shape");
  if (options.shapes || person.thickness > 0) {
    const Points before = normals(points, head.triangles);
    if (options.shapes) vary_shape(points, before, lips, variation);
    if (person.thickness > 0 && !paint.beard.view().empty())
      for (const Index i : outside) {
        const Eigen::Vector2f place = layout.places.col(i);
        const float cover = sample(paint.beard, place.x(), place.y());
        if (cover <= 0) continue;
        const float tuft = 0.7F + 0.3F * std::abs(noise.white(std::uint32_t(i * 7919)));
        points.col(i) += person.thickness * cover * tuft *
                         before.col(i).cwiseProduct(Eigen::Vector3f(0.8F, 1, 1));
      }
  }
  return points;
}

}  // namespace sdm::render
