#include "sdm/render/head_model.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/formatted.h"
#include "base/json.h"
#include "render/npy.h"
#include "render/obj.h"
#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/io/file.h"

namespace sdm::render {
namespace {

namespace fs = std::filesystem;

// ICT-FaceKit's own division of M_BackHead: the insides of mouth and eyes are vertices of these.
constexpr int kMouthFrom = 11248, kSocketsFrom = 13294;

// None: not drawn, such as the films of the eye, whose look the eye itself has here.
std::optional<Part> part_of(const std::string& material, int vertex) {
  if (material == "M_Face") return Part::skin;
  if (material == "M_BackHead")
    return vertex >= kSocketsFrom ? Part::socket : vertex >= kMouthFrom ? Part::mouth : Part::back;
  if (material == "M_GumsTongue") return Part::gums;
  if (material == "M_Teeth") return Part::teeth;
  if (material == "M_ScleraLeft" || material == "M_ScleraRight") return Part::eye;
  if (material == "M_EyeLashes") return Part::lashes;
  return std::nullopt;
}

Matrix<float> modes_of(const fs::path& path, Index vertices) {
  const Array array = read_npy(path);
  if (array.shape.size() != 3 || array.shape[2] != 3 || Index(array.shape[1]) != vertices)
    throw Error(
        formatted("{}: expected an array of (modes, {}, 3) as the neutral mesh has vertices",
                  path.string(), vertices));
  for (const float value : array.values)
    if (!(std::abs(value) <= kFarthest))
      throw Error(formatted("{}: {}, expected numbers up to {}", path.string(), value, kFarthest));
  return Eigen::Map<const Matrix<float>>(array.values.data(), 3 * vertices, Index(array.shape[0]));
}

void add_mode(const fs::path& path, const Points& neutral, Matrix<float>& modes) {
  const Points points = read_obj_vertices(path);
  if (points.cols() != neutral.cols())
    throw Error(formatted("{}: {} vertices, expected {} as the neutral mesh has", path.string(),
                          points.cols(), neutral.cols()));
  modes.conservativeResize(neutral.size(), modes.cols() + 1);
  modes.rightCols(1) = (points - neutral).reshaped();
}

void read_indices(const fs::path& path, HeadModel& head) {
  try {
    const auto json = nlohmann::json::parse(io::read_text(path));
    head.expressions = json.at("expressions").get<std::vector<std::string>>();
    for (const std::string& name : head.expressions)
      if (name.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos)
        throw Error(formatted(
            "an expression is called '{:.40}', expected the name of a file without a folder",
            printable(name)));
    const auto landmarks = numbers_at<int>(json, "idx_to_landmark_verts");
    if (landmarks.size() != head.landmarks.size())
      throw Error(formatted("{} landmarks, expected {}", landmarks.size(), head.landmarks.size()));
    std::copy(landmarks.begin(), landmarks.end(), head.landmarks.begin());
    for (const int vertex : landmarks)
      if (vertex < 0 || vertex >= head.neutral.cols())
        throw Error(formatted("a landmark is vertex {}, expected 0 to {}", vertex,
                              head.neutral.cols() - 1));
  } catch (const nlohmann::json::exception& error) {
    throw Error(path.string() + ": " + error.what());
  } catch (const Error& error) {
    const std::string what = error.what();
    throw Error(what.starts_with(path.string()) ? what : path.string() + ": " + what);
  }
}

}  // namespace

Points HeadModel::shape(ConstVectorRef<float> identity_weights,
                        ConstVectorRef<float> expression_weights) const {
  Vector<float> sum = neutral.reshaped();
  // The modes are read as they lie in memory, four at a time.
  Vector<float> moved = Vector<float>::Zero(sum.size());
  const auto mode = [&](Index i) { return identity_weights[i] * identity.col(i); };
  Index i = 0;
  for (; i + 4 <= identity.cols(); i += 4)
    moved = (((moved + mode(i)) + mode(i + 1)) + mode(i + 2)) + mode(i + 3);
  for (; i < identity.cols(); ++i) moved += mode(i);
  sum += moved;
  for (Index k = 0; k < expression.cols(); ++k)  // most are 0
    if (expression_weights[k] != 0) sum += expression_weights[k] * expression.col(k);
  return sum.reshaped(3, neutral.cols());
}

int HeadModel::expression_index(const std::string& name) const {
  const auto found = std::find(expressions.begin(), expressions.end(), name);
  return found == expressions.end() ? -1 : static_cast<int>(found - expressions.begin());
}

HeadModel read_head_model(const fs::path& folder) {
  HeadModel head;
  const fs::path mesh = folder / "generic_neutral_mesh.obj";
  Obj obj = read_obj(mesh);
  head.neutral = std::move(obj.vertices);
  head.texture = Eigen::Matrix2Xf::Zero(2, head.neutral.cols());
  for (std::size_t i = 0; i < obj.triangles.size(); ++i) {
    const std::string& material =
        obj.material[i] < 0 ? std::string() : obj.names[std::size_t(obj.material[i])];
    // Where two parts share an edge the inner one has vertices of its own.
    const Triangle& t = obj.triangles[i];
    const std::optional<Part> part = part_of(material, *std::max_element(t.begin(), t.end()));
    if (!part) continue;
    head.triangles.push_back(t);
    head.parts.push_back(*part);
    for (std::size_t k = 0; k < 3; ++k)
      if (obj.corners[i][k] >= 0)
        head.texture.col(obj.triangles[i][k]) = obj.texture.col(obj.corners[i][k]);
  }
  if (std::count(head.parts.begin(), head.parts.end(), Part::skin) == 0)
    throw Error(mesh.string() + ": no faces of the material M_Face, expected ICT-FaceKit's mesh");
  read_indices(folder / "vertex_indices.json", head);

  const Index vertices = head.neutral.cols();
  if (fs::exists(folder / "identity.npy")) {
    head.identity = modes_of(folder / "identity.npy", vertices);
  } else {
    const auto name = [&](Index i) { return folder / formatted("identity{:03}.obj", i); };
    if (!fs::exists(name(0)))
      throw Error(formatted("{}: neither identity.npy nor identity000.obj", folder.string()));
    for (Index i = 0; fs::exists(name(i)); ++i) add_mode(name(i), head.neutral, head.identity);
  }
  if (fs::exists(folder / "expression.npy")) {
    head.expression = modes_of(folder / "expression.npy", vertices);
  } else {
    for (const std::string& name : head.expressions)
      add_mode(folder / (name + ".obj"), head.neutral, head.expression);
  }
  if (head.expression.cols() != Index(head.expressions.size()))
    throw Error(formatted("{}: {} expressions, expected {} as vertex_indices.json names",
                          (folder / "expression.npy").string(), head.expression.cols(),
                          head.expressions.size()));
  return head;
}

}  // namespace sdm::render
