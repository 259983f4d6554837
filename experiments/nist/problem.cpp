#include "experiments/nist/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/nist/dual.h"
#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/io/file.h"

namespace sdm::experiments {
namespace {

using std::numbers::pi;

template <class F>
void evaluate(ConstMatrixRef<double> x, const double* beta, double* out) {
  for (Index i = 0; i < x.cols(); ++i) out[i] = F()(beta, x.col(i).data());
}

template <int N, class F>
void differentiate(ConstMatrixRef<double> x, const double* beta, double* out) {
  std::array<Dual<N>, N> b;
  for (int j = 0; j < N; ++j) {
    b[static_cast<std::size_t>(j)].v = beta[j];
    b[static_cast<std::size_t>(j)].d[j] = 1;
  }
  for (Index i = 0; i < x.cols(); ++i) {
    const Dual<N> value = F()(b.data(), x.col(i).data());
    for (int j = 0; j < N; ++j) out[j * x.cols() + i] = value.d[j];
  }
}

template <int N, class F>
NistModel model(const char* name, F, bool log_response = false, std::size_t predictors = 1) {
  return {name, N, log_response, evaluate<F>, differentiate<N, F>, predictors};
}

const auto saturation = [](const auto* b, const double* x) {
  return b[0] * (1. - exp(-b[1] * x[0]));
};
const auto chwirut = [](const auto* b, const double* x) {
  return exp(-b[0] * x[0]) / (b[1] + b[2] * x[0]);
};
const auto lanczos = [](const auto* b, const double* x) {
  return b[0] * exp(-b[1] * x[0]) + b[2] * exp(-b[3] * x[0]) + b[4] * exp(-b[5] * x[0]);
};
const auto bell = [](const auto& height, const auto& centre, const auto& width, double x) {
  const auto z = (x - centre) / width;
  return height * exp(-(z * z));
};
const auto gauss = [](const auto* b, const double* x) {
  return b[0] * exp(-b[1] * x[0]) + bell(b[2], b[3], b[4], x[0]) + bell(b[5], b[6], b[7], x[0]);
};
const auto cubic_ratio = [](const auto* b, const double* x) {
  const double u = x[0];
  return (b[0] + u * (b[1] + u * (b[2] + u * b[3]))) / (1. + u * (b[4] + u * (b[5] + u * b[6])));
};

std::vector<NistModel> make_models() {
  return {
      model<2>("Misra1a", saturation),
      model<3>("Chwirut2", chwirut),
      model<3>("Chwirut1", chwirut),
      model<6>("Lanczos3", lanczos),
      model<8>("Gauss1", gauss),
      model<8>("Gauss2", gauss),
      model<2>("DanWood", [](const auto* b, const double* x) { return b[0] * pow(x[0], b[1]); }),
      model<2>("Misra1b",
               [](const auto* b, const double* x) {
                 const auto q = 1. + b[1] * x[0] / 2.;
                 return b[0] * (1. - 1. / (q * q));
               }),
      model<5>("Kirby2",
               [](const auto* b, const double* x) {
                 const double u = x[0];
                 return (b[0] + u * (b[1] + u * b[2])) / (1. + u * (b[3] + u * b[4]));
               }),
      model<7>("Hahn1", cubic_ratio),
      model<3>(
          "Nelson",
          [](const auto* b, const double* x) { return b[0] - b[1] * x[0] * exp(-b[2] * x[1]); },
          true, 2),
      model<5>("MGH17",
               [](const auto* b, const double* x) {
                 return b[0] + b[1] * exp(-b[3] * x[0]) + b[2] * exp(-b[4] * x[0]);
               }),
      model<6>("Lanczos1", lanczos),
      model<6>("Lanczos2", lanczos),
      model<8>("Gauss3", gauss),
      model<2>("Misra1c",
               [](const auto* b, const double* x) {
                 return b[0] * (1. - pow(1. + 2. * b[1] * x[0], -0.5));
               }),
      model<2>("Misra1d", [](const auto* b,
                             const double* x) { return b[0] * b[1] * x[0] / (1. + b[1] * x[0]); }),
      model<4>("Roszman1",
               [](const auto* b, const double* x) {
                 return b[0] - b[1] * x[0] - atan(b[2] / (x[0] - b[3])) / pi;
               }),
      model<9>("ENSO",
               [](const auto* b, const double* x) {
                 const double year = 2 * pi * x[0] / 12;
                 const auto slow = 2 * pi * x[0] / b[3], fast = 2 * pi * x[0] / b[6];
                 return b[0] + b[1] * std::cos(year) + b[2] * std::sin(year) + b[4] * cos(slow) +
                        b[5] * sin(slow) + b[7] * cos(fast) + b[8] * sin(fast);
               }),
      model<4>("MGH09",
               [](const auto* b, const double* x) {
                 const double u = x[0];
                 return b[0] * (u * u + u * b[1]) / (u * u + u * b[2] + b[3]);
               }),
      model<7>("Thurber", cubic_ratio),
      model<2>("BoxBOD", saturation),
      model<3>("Rat42", [](const auto* b,
                           const double* x) { return b[0] / (1. + exp(b[1] - b[2] * x[0])); }),
      model<3>("MGH10",
               [](const auto* b, const double* x) { return b[0] * exp(b[1] / (x[0] + b[2])); }),
      model<3>("Eckerle4",
               [](const auto* b, const double* x) {
                 const auto z = (x[0] - b[2]) / b[1];
                 return b[0] / b[1] * exp(-0.5 * (z * z));
               }),
      model<4>("Rat43",
               [](const auto* b, const double* x) {
                 return b[0] / pow(1. + exp(b[1] - b[2] * x[0]), 1. / b[3]);
               }),
      model<3>("Bennett5",
               [](const auto* b, const double* x) { return b[0] * pow(b[1] + x[0], -1. / b[2]); }),
  };
}

/// Some copies of Roszman1.dat print b1 as 1.20196866396E-0, the digits of NIST's 2.0196866396E-01
/// moved by one column. The file's own sum of squares tells which of the two is meant.
void put_right(NistProblem& problem) {
  if (problem.model.name != "Roszman1" || problem.rss(problem.certified) < 1e-3) return;
  Vector<double> certified = problem.certified;
  certified[0] = 2.0196866396e-1;
  if (std::abs(problem.rss(certified) / problem.certified_rss - 1) > 1e-6) return;
  problem.remark =
      fmt::format("Roszman1: b1 = {} in the file does not give the file's sum of squares, {} does",
                  problem.certified[0], certified[0]);
  problem.certified = certified;
}

}  // namespace

const std::vector<NistModel>& nist_models() {
  static const std::vector<NistModel> models = make_models();
  return models;
}

Vector<double> NistProblem::values(ConstVectorRef<double> beta) const {
  Vector<double> out(observations());
  model.values(x, beta.data(), out.data());
  return out;
}

double NistProblem::rss(ConstVectorRef<double> beta) const {
  return (values(beta) - y).squaredNorm();
}

double NistProblem::certified_digits(ConstVectorRef<double> beta) const {
  const double error = ((beta - certified).array() / certified.array()).abs().maxCoeff();
  if (!(error < 1)) return 0;  // also where it is not a number
  return std::min(11.0, -std::log10(std::max(error, 1e-300)));
}

NistProblem read_nist(const std::filesystem::path& file) {
  const std::string stem = file.stem().string();
  NistProblem problem;
  for (const NistModel& model : nist_models())
    if (model.name == stem) problem.model = model;
  if (problem.model.name.empty())
    throw Error(fmt::format("{}: no NIST problem is called {}", file.string(), stem));

  const TextLines text = io::read_lines(file);
  const Index parameters = problem.parameters();
  for (auto& start : problem.starts) start = Vector<double>::Zero(parameters);
  problem.certified = Vector<double>::Zero(parameters);

  const std::string_view rss = "Residual Sum of Squares:";
  std::vector<std::vector<double>> data;
  Index found = 0;
  bool in_data = false;
  const auto read = [&](std::string_view line) {
    const std::vector<std::string> words = split_words(line);
    if (words.empty()) return;
    if (in_data) {
      data.push_back(to_numbers(line));
    } else if (words.size() > 1 && words[0].starts_with('b') && words[1] == "=") {
      const auto values = to_numbers(line.substr(line.find('=') + 1));
      if (words[0] != fmt::format("b{}", found + 1) || found == parameters || values.size() != 4)
        throw Error(
            fmt::format("\"{}\", expected b{} with two starts, the certified value and its "
                        "deviation",
                        line, found + 1));
      problem.starts[0][found] = values[0];
      problem.starts[1][found] = values[1];
      problem.certified[found] = values[2];
      ++found;
    } else if (line.starts_with(rss)) {
      problem.certified_rss = to_number(line.substr(rss.size()));
    } else if (line.starts_with("Data:") && found > 0) {
      in_data = true;
    }
  };
  for (std::size_t i = 0; i < text.lines.size(); ++i) {
    try {
      read(text.lines[i]);
    } catch (const Error& error) {
      text.fail(i, error.what());
    }
  }
  if (found != parameters)
    throw Error(fmt::format("{}: {} parameters, expected {}", file.string(), found, parameters));
  if (data.empty()) throw Error(fmt::format("{}: no data", file.string()));

  const std::size_t width = problem.model.predictors + 1;
  problem.x.resize(static_cast<Index>(width) - 1, static_cast<Index>(data.size()));
  problem.y.resize(static_cast<Index>(data.size()));
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data[i].size() != width)
      throw Error(fmt::format("{}: observation {} has {} numbers, expected {}", file.string(),
                              i + 1, data[i].size(), width));
    const auto column = static_cast<Index>(i);
    problem.y[column] = problem.model.log_response ? std::log(data[i][0]) : data[i][0];
    for (std::size_t j = 1; j < width; ++j)
      problem.x(static_cast<Index>(j) - 1, column) = data[i][j];
  }
  put_right(problem);
  return problem;
}

}  // namespace sdm::experiments
