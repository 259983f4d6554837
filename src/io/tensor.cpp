#include "sdm/io/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "base/formatted.h"
#include "io/format.h"
#include "sdm/base/error.h"

namespace sdm::io {
namespace {

struct AlignedDelete {
  void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{alignment}); }
};

std::shared_ptr<const std::byte> copy_of(std::span<const std::byte> bytes) {
  auto copy = allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  return copy;
}

// Calls f with the numbers as a span of their own type.
template <class F>
auto with_numbers(const Tensor& t, F&& f) {
  switch (t.type()) {
    case ElementType::f32:
      return f(t.as<float>());
    case ElementType::f64:
      return f(t.as<double>());
    case ElementType::f16:
      return f(t.as<Eigen::half>());
    case ElementType::i8:
      return f(t.as<std::int8_t>());
    case ElementType::u8:
      return f(t.as<std::uint8_t>());
    case ElementType::i32:
      return f(t.as<std::int32_t>());
    case ElementType::i64:
      return f(t.as<std::int64_t>());
  }
  throw Error(formatted("element type {} is unknown", static_cast<int>(t.type())));
}

template <class To>
void copy_numbers(const Tensor& from, To* to) {
  with_numbers(from, [to](auto numbers) {
    std::transform(numbers.begin(), numbers.end(), to, [](auto x) { return static_cast<To>(x); });
  });
}

template <class To>
Tensor convert_to(const Tensor& values) {
  std::vector<To> out;
  out.reserve(values.size());
  with_numbers(values, [&](auto numbers) {
    for (const auto x : numbers) {
      const To y = static_cast<To>(x);
      if (!std::isfinite(static_cast<double>(y)) && std::isfinite(static_cast<double>(x)))
        throw Error(
            formatted("{} does not fit {}", static_cast<double>(x), name_of(element_type_of<To>)));
      out.push_back(y);
    }
  });
  return to_tensor(std::span<const To>(out), values.shape());
}

void require_rank(const Tensor& t, std::size_t rank) {
  if (t.shape().size() != rank)
    throw Error(formatted("{} has rank {}, expected {}", describe(t), t.shape().size(), rank));
}

bool fits(std::size_t actual, Eigen::Index wanted) {
  return wanted == any_size || actual == static_cast<std::size_t>(wanted);
}

std::string wanted_text(Eigen::Index n) { return n == any_size ? "any" : std::to_string(n); }

}  // namespace

std::shared_ptr<std::byte> allocate(std::size_t size) {
  void* memory = ::operator new (size, std::align_val_t{alignment}, std::nothrow);
  if (memory == nullptr) throw Error(formatted("cannot get {} bytes of memory", size));
  return {static_cast<std::byte*>(memory), AlignedDelete{}};
}

std::uint64_t bytes_needed(ElementType type, std::span<const std::size_t> shape) {
  // Far above any memory and far below 2^64, so that the sums the reader makes cannot overflow. An
  // empty tensor has no bytes to vouch for its other sizes, and code may still loop over them.
  const bool empty = std::find(shape.begin(), shape.end(), 0u) != shape.end();
  const std::uint64_t most = std::uint64_t{1} << (empty ? 20 : 48);
  std::uint64_t bytes = size_of(type);
  for (const std::uint64_t n : shape) {
    if (n > most / bytes) throw Error(formatted("shape [{}] is too large", joined(shape, ", ")));
    bytes *= std::max<std::uint64_t>(n, 1);
  }
  return empty ? 0 : bytes;
}

std::string_view name_of(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return "f32";
    case ElementType::f64:
      return "f64";
    case ElementType::f16:
      return "f16";
    case ElementType::i8:
      return "i8";
    case ElementType::u8:
      return "u8";
    case ElementType::i32:
      return "i32";
    case ElementType::i64:
      return "i64";
  }
  return "unknown";
}

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::i8:
    case ElementType::u8:
      return 1;
    case ElementType::f16:
      return 2;
    case ElementType::f32:
    case ElementType::i32:
      return 4;
    case ElementType::f64:
    case ElementType::i64:
      return 8;
  }
  return 0;
}

Tensor::Tensor(ElementType type, Shape shape, std::span<const std::byte> bytes,
               std::shared_ptr<const void> owner)
    : type_(type), shape_(std::move(shape)), bytes_(bytes), owner_(std::move(owner)) {
  if (size_of(type) == 0)
    throw Error(formatted("element type {} is unknown", static_cast<int>(type)));
  if (const auto needed = bytes_needed(type_, shape_); needed != bytes_.size())
    throw Error(formatted("{} needs {} bytes, {} given", describe(*this), needed, bytes_.size()));
}

Tensor::Tensor(ElementType type, Shape shape, std::span<const std::byte> bytes)
    : Tensor(type, std::move(shape), bytes, nullptr) {
  auto copy = copy_of(bytes_);
  bytes_ = {copy.get(), bytes_.size()};
  owner_ = std::move(copy);
}

bool operator==(const Tensor& a, const Tensor& b) {
  return a.type_ == b.type_ && a.shape_ == b.shape_ &&
         std::equal(a.bytes_.begin(), a.bytes_.end(), b.bytes_.begin(), b.bytes_.end());
}

void Tensor::check_access(ElementType wanted) const {
  if (wanted != type_)
    throw Error(formatted("tensor holds {}, asked for {}", describe(*this), name_of(wanted)));
  if (reinterpret_cast<std::uintptr_t>(bytes_.data()) % size_of(type_) != 0)
    throw Error(formatted("the bytes of {} are not aligned for their type", describe(*this)));
}

std::string describe(const Tensor& t) {
  return formatted("{} [{}]", name_of(t.type()), joined(t.shape(), ", "));
}

Tensor convert(const Tensor& values, ElementType to) {
  switch (to) {
    case ElementType::f32:
      return convert_to<float>(values);
    case ElementType::f64:
      return convert_to<double>(values);
    case ElementType::f16:
      return convert_to<Eigen::half>(values);
    default:
      throw Error(formatted("conversion to {}: expected f32, f64 or f16", name_of(to)));
  }
}

Quantized quantize(const Tensor& matrix, ScalePer per) {
  const Matrix<double> x = to_matrix<double>(matrix);
  if (!x.allFinite())
    throw Error(formatted("{} holds a number that is not finite", describe(matrix)));
  const bool by_column = per == ScalePer::column;
  const Eigen::Index lines = by_column ? x.cols() : x.rows();
  Vector<float> scale = Vector<float>::Zero(lines);
  Matrix<double> q(x.rows(), x.cols());
  // A matrix without numbers has no lines to take a pointer to.
  for (Eigen::Index i = 0; x.size() > 0 && i < lines; ++i) {
    const Vector<double> line = by_column ? Vector<double>(x.col(i)) : Vector<double>(x.row(i));
    const double largest = line.cwiseAbs().maxCoeff();
    // Rounding the factor up keeps |q| <= 127 without clipping, hence the bound of half a step.
    float s = static_cast<float>(largest / 127);
    if (127.0 * s < largest) s = std::nextafter(s, std::numeric_limits<float>::infinity());
    if (!std::isfinite(s))
      throw Error(formatted("{} holds {}, too large for an f32 scale", describe(matrix), largest));
    scale[i] = s;
    const Vector<double> rounded =
        s == 0 ? Vector<double>(Vector<double>::Zero(line.size()))
               : Vector<double>(
                     (line / double{s}).unaryExpr([](double v) { return std::nearbyint(v); }));
    if (by_column)
      q.col(i) = rounded;
    else
      q.row(i) = rounded;
  }
  const auto n = static_cast<std::size_t>(lines);
  return {to_tensor(q.cast<std::int8_t>()), to_tensor(std::span<const float>(scale.data(), n),
                                                      by_column ? Shape{1, n} : Shape{n, 1})};
}

Tensor dequantize(const Quantized& quantized) {
  const auto& [values, scale] = quantized;
  require_rank(values, 2);
  const std::size_t rows = values.shape()[0], cols = values.shape()[1];
  const auto q = values.as<std::int8_t>();
  const auto s = scale.as<float>();
  const bool by_column = scale.shape() == Shape{1, cols};
  if (!by_column && scale.shape() != Shape{rows, 1})
    throw Error(formatted("scale {} of {}: expected f32 [1, {}] or [{}, 1]", describe(scale),
                          describe(values), cols, rows));
  std::vector<float> x(q.size());
  for (std::size_t c = 0, i = 0; c < cols; ++c)
    for (std::size_t r = 0; r < rows; ++r, ++i) x[i] = s[by_column ? c : r] * q[i];
  return to_tensor(std::span<const float>(x), values.shape());
}

template <class Scalar>
Matrix<Scalar> to_matrix(const Tensor& tensor, Eigen::Index rows, Eigen::Index cols) {
  require_rank(tensor, 2);
  const auto& shape = tensor.shape();
  if (!fits(shape[0], rows) || !fits(shape[1], cols))
    throw Error(formatted("{}: expected a matrix [{}, {}]", describe(tensor), wanted_text(rows),
                          wanted_text(cols)));
  Matrix<Scalar> out(static_cast<Eigen::Index>(shape[0]), static_cast<Eigen::Index>(shape[1]));
  copy_numbers(tensor, out.data());
  return out;
}

template <class Scalar>
Vector<Scalar> to_vector(const Tensor& tensor, Eigen::Index size) {
  require_rank(tensor, 1);
  if (!fits(tensor.size(), size))
    throw Error(formatted("{}: expected a vector [{}]", describe(tensor), size));
  Vector<Scalar> out(static_cast<Eigen::Index>(tensor.size()));
  copy_numbers(tensor, out.data());
  return out;
}

template Matrix<float> to_matrix(const Tensor&, Eigen::Index, Eigen::Index);
template Matrix<double> to_matrix(const Tensor&, Eigen::Index, Eigen::Index);
template Vector<float> to_vector(const Tensor&, Eigen::Index);
template Vector<double> to_vector(const Tensor&, Eigen::Index);

}  // namespace sdm::io
