#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sdm/descent/batched.h"
#include "sdm/descent/box.h"
#include "sdm/descent/refine.h"
#include "sdm/io/model.h"

namespace sdm {

/// How far an answer may be trusted.
enum class Trust : std::uint8_t {
  kTrusted,  // residual, step and place are as they were on the samples it was checked with
  kRefined,  // they were not, but `refine`, from there or from an example like y, ended well
  kOutside,  // x lies outside the box that was learned: the best fit found, and no more than that
  kFailed    // nothing found explains y as well as training says that it must be explained
};
const char* name(Trust trust);

/// The answer to one y.
struct Answer {
  Vector<double> x;
  Trust trust = Trust::kFailed;
  /// |h(x) - y|, in the user's units.
  double residual = 0;
  /// How much larger the residual is than usual at this x: 1 is the median of the samples it was
  /// checked with.
  double relative_residual = 0;
  /// With the confidence asked for, every |x_j - truth_j| is at most radius_j: split-conformal, for
  /// answers of the default RefineWhen::kDoubtful (a least-squares fit may err by more), so
  /// it holds on average over problems drawn as the training draws them (the box, the noise), and
  /// says nothing of problems from elsewhere.
  Vector<double> radius;
  int evaluations = 0;  // of h
  bool refined = false;

  bool trusted() const { return trust == Trust::kTrusted || trust == Trust::kRefined; }
  /// The status in a sentence, with what to do about it.
  std::string message() const;
};

/// The answers to many, a column each.
struct Answers {
  Matrix<double> x, radius;
  std::vector<Trust> trust;
  Vector<double> residual, relative_residual;
  Index evaluations = 0, refined = 0;

  Index size() const { return x.cols(); }
  /// Whether an answer is trusted or refined.
  bool trusted(Index i) const {
    const Trust status = trust[static_cast<std::size_t>(i)];
    return status == Trust::kTrusted || status == Trust::kRefined;
  }
  Index count(Trust which) const;
  /// "20000 answers: 19951 trusted, 40 refined, 9 outside, 0 failed".
  std::string brief_report() const;
};

/// Where the answers to many go: memory of the caller's, an answer after the other. Any but x may
/// be null, and is then not told.
struct AnswerArrays {
  double* x = nullptr;       // states numbers an answer
  double* radius = nullptr;  // likewise
  Trust* trust = nullptr;
  double *residual = nullptr, *relative_residual = nullptr;
};

/// What solving many took.
struct SolveCounts {
  Index evaluations = 0, refined = 0;
};

/// When `refine` follows the maps.
enum class RefineWhen { kNever, kDoubtful, kAlways };

struct LearnedSolveOptions {
  double confidence = 0.99;  // of the radius
  RefineWhen refine = RefineWhen::kDoubtful;
  /// Ends where x moves by a thousandth of its own uncertainty.
  RefineOptions refine_options = {.cost_tolerance = 1e-8, .foretell_decrease = true};
  /// Other starts that a doubtful answer is tried from: the examples most like y.
  int further_starts = 4;

  void validate() const;
};

/// A start that depends on what was measured, as a centroid does: fills x from y.
using StartRule = std::function<void(ConstVectorRef<double> y, VectorRef<double> x)>;

/// What a feature becomes before it is compared, so that noise is alike everywhere and single
/// values do not rule.
enum class Compression {
  kNone,
  kRoot,  // sqrt(v + 3/8): counts, whose noise is then even (Anscombe)
  kAsinh  // asinh((v - centre) / scale): values over several decades
};

/// One stage of a Learned: a map that depends on the state, one for each cell.
///
/// With z = w (g(h(x)) - g(y)) the standardised residual, c = P z its components and u the state in
/// the box, the stage moves u by `M_cell (p(u) x [c; 1])`: the paper's `b - R f` where every entry
/// of R and b is a polynomial of the state, of order 0 (the paper's), 1 or 2. The cell is given by
/// signs along `axes` of [u; c], anew in every stage (the authors' Global SDM).
struct LearnedStage {
  int order = 0;
  Matrix<double> axes;              // bits x (states + components)
  Vector<double> offsets;           // bits
  std::vector<Block<double>> maps;  // of each cell: states * terms(order) x (components + 1)
};

/// Everything that learning found, without h.
struct LearnedModel {
  Box box;
  Index features = 0;
  Compression compression = Compression::kNone;
  Vector<double> centre, scale;  // of kAsinh
  Vector<double> weight;         // w: one over the noise, or over the deviation where it is less
  Block<double> components;      // P, rows orthonormal
  bool has_start_rule = false;
  Vector<double> start;     // in u, where there is no rule
  Vector<double> at_start;  // h there
  Vector<double> noise;     // deviation of each feature where it is known and differs, or empty
  std::vector<LearnedStage> stages;
  double reach = 1.25;  // states stay within +-reach

  /// What a trustworthy answer looks like, from samples that chose nothing.
  struct Gate {
    // The largest each: residual, step that the last map would still take, way outside the box; all
    // relative to what is usual at that state.
    double residual = 0, step = 0, overshoot = 0;
    // (states + 1) x terms of an order: log error of each value, log residual.
    Block<double> log_scales;
    std::vector<float> scores;  // ascending: error over scale of each checked sample
  } gate;

  /// Examples to start from where the maps fail: states in u, and the components of their y.
  Matrix<double> example_states, example_components;

  /// What the report says.
  struct Record {
    Index samples = 0, calibration = 0, evaluations = 0;
    double seconds = 0;
    std::vector<double> held_out;     // after each stage, in u: mean over values
    Vector<double> error, median;     // of each value on the checked samples, in user units
    double refused = 0, refined = 0;  // shares of the checked samples
    std::string noise = "none";
  } record;

  Index states() const { return box.size(); }
  /// Throws Error unless all sizes fit each other and all numbers are finite.
  void validate() const;
  io::Model to_model() const;
  static LearnedModel from_model(const io::Model& model);
};

/// Number of monomials of n values up to an order of 0, 1 or 2.
constexpr Index polynomial_terms(Index n, int order) {
  return order == 0 ? 1 : order == 1 ? 1 + n : 1 + n + n * (n + 1) / 2;
}

/// The order that has so many monomials, or -1.
constexpr int polynomial_order(Index n, Index terms) {
  for (int order = 0; order <= 2; ++order)
    if (polynomial_terms(n, order) == terms) return order;
  return -1;
}

/// A solver for one function, learned from nothing but the function and the range of its states
/// (descent/train/learn.h): answers come with a status and a radius.
///
/// Thread-safe where h is.
class Learned {
 public:
  /// Throws Error if the model does not fit itself, or wants a start rule and has none.
  Learned(LearnedModel model, AnyFunction h, StartRule start = {});

  /// Throws Error if y has another size or is not finite.
  Answer solve(const Vector<double>& y, const LearnedSolveOptions& options = {}) const;

  /// Every column of y; nothing is allocated for a single fit. A `pool` (sdm::ThreadPool) shares
  /// the blocks out; the bits do not depend on it.
  Answers solve_batch(ConstMatrixRef<double> y, const LearnedSolveOptions& options = {}) const;
  template <class Pool>
  requires requires(Pool& pool) { pool.threads(); }
  Answers solve_batch(ConstMatrixRef<double> y, Pool& pool,
                      const LearnedSolveOptions& options = {}) const {
    return run(y, options, pool.threads(), blocks_of(pool));
  }

  /// The same into memory of the caller's. Where it throws, some answers may be there.
  SolveCounts solve_batch(ConstMatrixRef<double> y, const AnswerArrays& answers,
                          const LearnedSolveOptions& options = {}) const;
  template <class Pool>
  requires requires(Pool& pool) { pool.threads(); }
  SolveCounts solve_batch(ConstMatrixRef<double> y, Pool& pool, const AnswerArrays& answers,
                          const LearnedSolveOptions& options = {}) const {
    return run(y, options, pool.threads(), blocks_of(pool), answers);
  }

  const LearnedModel& model() const { return model_; }
  const Box& box() const { return model_.box; }
  /// One line; and all that was tried, with the error of each value.
  std::string brief_report() const;
  std::string full_report() const;

  /// As a model of kind "learned", and back. A file does not hold h: give the same one again, and
  /// the start rule where there was one.
  io::Model to_model() const { return model_.to_model(); }
  void save(const std::filesystem::path& path) const;
  static Learned load(const std::filesystem::path& path, AnyFunction h, StartRule start = {});

 private:
  friend class LearnedRun;
  using ForEachBlock = std::function<void(Index count, const std::function<void(Index, int)>&)>;
  template <class Pool>
  static ForEachBlock blocks_of(Pool& pool) {
    return [&](Index count, const std::function<void(Index, int)>& task) { pool.run(count, task); };
  }
  Answers run(ConstMatrixRef<double> y, const LearnedSolveOptions& options, int workers,
              const ForEachBlock& for_each) const;
  SolveCounts run(ConstMatrixRef<double> y, const LearnedSolveOptions& options, int workers,
                  const ForEachBlock& for_each, const AnswerArrays& answers) const;

  LearnedModel model_;
  AnyFunction h_;
  StartRule start_;
};

}  // namespace sdm
