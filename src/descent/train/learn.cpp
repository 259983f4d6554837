#include "sdm/descent/train/learn.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/formatted.h"
#include "base/hash.h"
#include "descent/learned_block.h"
#include "descent/train/progress.h"
#include "descent/train/ranks.h"
#include "descent/train/stage_regression.h"
#include "linear/blas.h"
#include "sdm/base/error.h"
#include "sdm/base/sobol.h"
#include "sdm/base/thread_pool.h"

namespace sdm {

void LearnOptions::validate(const Box& box) const {
  const auto require = [](bool good, const std::string& message) {
    if (!good) throw Error("learn: " + message);
  };
  require(box.size() > 0, "the box has no axes");
  require(features > 0,
          "the number of features is not known: h fills its values, so say how many there are in "
          "LearnOptions::features");
  require(!start || x0.size() == 0, "a start rule and x0 are both given, expected one of them");
  require(x0.size() == 0 || x0.size() == box.size(),
          formatted("x0 has {} values, the box {} axes", x0.size(), box.size()));
  require(samples >= 100, formatted("samples is {}, expected at least 100", samples));
  require(calibration >= 100, formatted("calibration is {}, expected at least 100", calibration));
  require(evaluations >= 0, formatted("evaluations is {}, expected 0 or more", evaluations));
  require(seconds >= 0, formatted("seconds is {}, expected 0 or more", seconds));
  require(max_stages >= 1, formatted("max_stages is {}, expected at least 1", max_stages));
  require(max_order >= 0 && max_order <= 2,
          formatted("max_order is {}, expected 0, 1 or 2", max_order));
  require(max_bits >= 0 && max_bits <= 6, formatted("max_bits is {}, expected 0 to 6", max_bits));
  require(max_components >= 1,
          formatted("max_components is {}, expected at least 1", max_components));
  require(threads >= 0, formatted("threads is {}, expected 0 (all cores) or more", threads));
  noise.validate(features);
}

namespace detail {
namespace {

constexpr int kFolds = 4;
constexpr double kGoOn = 0.95;       // another stage is tried while one leaves less than this share
constexpr double kWorthIt = 0.97;    // and kept if it leaves less than this
constexpr double kSimpler = 1.01;    // a simpler stage is taken if its error is this near
constexpr double kEnough = 1e-7;     // error, in halves of the box, below which maps need not go
constexpr double kWorthCells = 0.9;  // cells must bring the error below this share of one map's
constexpr double kExact = 1e-4;      // noise counts as this share of a feature's deviation at least
constexpr double kDrowned = 0.5;     // signal variance, in noise variances, below which is nothing
constexpr double kGateShare = 0.9995;  // of the checked samples pass each test of the gate
constexpr double kDecades = 1e3;       // values that spread wider are seen on a log scale
constexpr double kHuge = 1e300;        // stands for an infinite value
constexpr Index kExamples = 128;
constexpr Index kMostFeatures = 1000;  // of which principal components are taken directly
constexpr Index kPilot = 64;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

double quantile(std::vector<double> values, double share) {
  const auto place = values.begin() + std::lround(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

/// Samples on their way: states, truths, measurements and, in a stage, components of the residual.
struct Samples {
  Matrix<double> truth, u;  // in u
  Matrix<double> y;
  Matrix<double> c;  // components + 1 rows, the last of ones
  std::vector<char> has_value;
  Index size() const { return truth.cols(); }
};

/// A stage that could be taken.
struct Candidate {
  LearnedStage stage;
  Matrix<double> next;  // where it brings every sample that it has not seen
  double error = std::numeric_limits<double>::infinity();  // geometric mean over the values
};

class Learner {
 public:
  Learner(AnyFunction h, const Box& box, const LearnOptions& options)
      : h_(std::move(h)), options_(options), pool_(options.threads), ranks_(options.communicator) {
    ranks_.together([&] { options.validate(box); });
    model_.box = box;
    model_.features = options.features;
    model_.record.noise = options.noise.description();
    model_.has_start_rule = static_cast<bool>(options.start);
  }

  Learned run() {
    const Stopwatch watch;
    const linear::blas::SingleThreaded single_threaded;
    set_start();
    choose_sample_count();
    report("drawing examples", 0);
    draw(train_, samples_, true);
    mend_start();
    choose_scales();
    choose_components();
    keep_examples();
    model_.record.samples = train_.size();
    learn_stages();
    calibrate();
    model_.record.evaluations = evaluations_;
    model_.record.seconds = watch.seconds();
    return {std::move(model_), std::move(h_), options_.start};
  }

 private:
  Index n() const { return model_.states(); }
  Index q() const { return model_.components.rows(); }

  void report(const char* activity, double share) {
    if (!options_.progress) return;
    const double spent = watch_.seconds();
    options_.progress(activity, share, share > 0 ? spent * (1 - share) / share : 0);
  }

  /// h of every column of u, in blocks over the threads.
  Matrix<double> evaluate(const Matrix<double>& u) {
    Matrix<double> values(options_.features, u.cols());
    const Index blocks = (u.cols() + kBlockColumns - 1) / kBlockColumns;
    std::vector<Buffers> buffers(static_cast<std::size_t>(pool_.threads()),
                                 Buffers(n(), options_.features));
    run_own(blocks, [&](Index b, int worker) {
      Buffers& own = buffers[static_cast<std::size_t>(worker)];
      const Index first = b * kBlockColumns, count = std::min(kBlockColumns, u.cols() - first);
      for (Index i = 0; i < count; ++i)
        for (Index j = 0; j < n(); ++j) own.x(j, i) = model_.box.from_unit(j, u(j, first + i));
      h_(own.x.leftCols(count), own.values.leftCols(count), own.scratch);
      values.middleCols(first, count) = own.values.leftCols(count);
    });
    share(values);
    evaluations_ += u.cols();
    return values;
  }

  /// The blocks of this rank: [first, last).
  std::pair<Index, Index> own_blocks(Index blocks) const {
    const Index rank = ranks_.world().rank(), size = ranks_.world().size();
    return {blocks * rank / size, blocks * (rank + 1) / size};
  }
  /// work(block, worker) for those, over the threads; if it fails on one rank, all of them throw.
  template <class Work>
  void run_own(Index blocks, Work&& work) {
    const auto [first, last] = own_blocks(blocks);
    ranks_.together([&, first = first, last = last] {
      pool_.run(last - first, [&](Index b, int worker) { work(first + b, worker); });
    });
  }
  /// Gives all ranks what each has filled in, a column a sample.
  void share(Matrix<double>& columns) {
    const auto [first, last] = own_blocks((columns.cols() + kBlockColumns - 1) / kBlockColumns);
    const Index begin = std::min(columns.cols(), first * kBlockColumns),
                end = std::min(columns.cols(), last * kBlockColumns);
    ranks_.share_columns<double>(columns, begin, end - begin);
  }
  template <class Values>
  void share_values(Values& values) {
    Matrix<double> row =
        Eigen::Map<const Matrix<double>>(values.data(), 1, static_cast<Index>(values.size()));
    share(row);
    std::copy_n(row.data(), row.size(), values.data());
  }
  /// Every rank decides the same from the same numbers: where they round differently it must end.
  void require_same(const Matrix<double>& numbers) {
    if (ranks_.alone()) return;
    Hash hash;
    hash.add(numbers);
    const auto value = static_cast<Index>(hash.value() >> 2);
    Communicator& world = ranks_.world();
    const bool same = world.maximum(value) == world.minimum(value);
    ranks_.together([&] {
      if (!same) throw Error("learn: the ranks' processors round differently, expected one type");
    });
  }

  struct Buffers {
    Block<double> x, values;
    Vector<double> scratch;
    Buffers(Index n, Index m) : x(n, kBlockColumns), values(m, kBlockColumns), scratch(n + m) {}
  };

  void set_start() {
    if (model_.has_start_rule) return;
    model_.start = Vector<double>::Zero(n());
    if (options_.x0.size() > 0) model_.box.to_unit(options_.x0, model_.start);
    if (!model_.start.allFinite())
      throw Error("learn: x0 has a value that is not finite or has no logarithm on a log axis");
    model_.reach = std::max(model_.reach, model_.start.cwiseAbs().maxCoeff());
    if (model_.reach > 10)
      throw Error("learn: x0 lies far outside the box: more than ten times half its width");
    model_.at_start = evaluate(model_.start);
    if (!model_.at_start.allFinite() && options_.x0.size() > 0)
      throw Error("learn: h at x0 gives a value that is not finite");
  }

  /// The centre of the box may be a place where h has no value: the nearest example will do.
  void mend_start() {
    if (model_.has_start_rule || model_.at_start.allFinite()) return;
    Index nearest = 0;
    train_.truth.colwise().squaredNorm().minCoeff(&nearest);
    model_.start = train_.truth.col(nearest);
    model_.at_start = exact_.col(nearest);
  }

  void choose_sample_count() {
    samples_ = options_.samples;
    calibration_ = options_.calibration;
    constexpr double usual_stages = 5;
    double affordable = std::numeric_limits<double>::infinity();
    if (options_.evaluations > 0) affordable = static_cast<double>(options_.evaluations);
    if (options_.seconds > 0) {
      Matrix<double> u(n(), kPilot);
      Sobol sobol(n(), options_.seed);
      for (Index i = 0; i < kPilot; ++i) sobol.next(u.col(i));
      const Stopwatch watch;
      evaluate((2 * u.array() - 1).matrix());
      // The pilot is one block, so one thread's. Half of the time is for the regressions.
      affordable = std::min(affordable, options_.seconds / 2 * kPilot / watch.seconds() *
                                            static_cast<double>(pool_.threads()) *
                                            static_cast<double>(ranks_.world().size()));
      ranks_.broadcast(std::span(&affordable, 1));
    }
    // A sample costs an evaluation a stage, and a fresh one as much and one more.
    const double wanted = static_cast<double>(samples_) * usual_stages +
                          static_cast<double>(calibration_) * (usual_stages + 1);
    if (wanted <= affordable) return;
    const double share = affordable / wanted;
    samples_ = std::max<Index>(100, std::llround(share * static_cast<double>(samples_)));
    calibration_ = std::max<Index>(100, std::llround(share * static_cast<double>(calibration_)));
  }

  /// Truths, evenly for learning and at random for checking, and what would be measured of them.
  void draw(Samples& samples, Index count, bool even) {
    Matrix<double> truth(n(), count);
    if (even) {
      Sobol sobol(n(), options_.seed);
      for (Index i = 0; i < count; ++i) sobol.next(truth.col(i));
    } else {
      Random random(options_.seed, "learn: fresh states");
      for (Index i = 0; i < count; ++i)
        for (Index j = 0; j < n(); ++j) truth(j, i) = random.uniform();
    }
    samples.truth = 2 * truth.array() - 1;
    Matrix<double> values = evaluate(samples.truth);
    // Where h has no value there is nothing to learn.
    std::vector<Index> good;
    for (Index i = 0; i < count; ++i)
      if (values.col(i).array().isNaN().any() == false) good.push_back(i);
    if (2 * static_cast<Index>(good.size()) < count)
      throw Error(
          formatted("learn: h gives values that are not numbers for {} of {} states of the "
                    "box; choose a box in which it has values",
                    count - static_cast<Index>(good.size()), count));
    values = values.cwiseMin(kHuge).cwiseMax(-kHuge);
    samples.truth = Matrix<double>(samples.truth(Eigen::all, good));
    exact_ = values(Eigen::all, good);
    samples.y = exact_;
    const char* purpose = even ? "learn: noise" : "learn: fresh noise";
    pool_.run(samples.size(), [&](Index i, int) {
      Random random(options_.seed, purpose, static_cast<std::uint64_t>(i));
      options_.noise.add(samples.y.col(i), random);
    });
    if (!samples.y.allFinite()) throw Error("learn: the noise makes a value that is not finite");
  }

  /// The largest values, which stand for infinity, may overflow in units of a small scale.
  void compress_finite(Block<double>& values) const {
    compress(model_, values);
    values = values.cwiseMin(kHuge).cwiseMax(-kHuge);
  }

  /// How values are compressed, and the weight of each.
  void choose_scales() {
    const Index m = options_.features;
    model_.centre = Vector<double>::Zero(m);
    model_.scale = Vector<double>::Ones(m);
    if (options_.noise.is_poisson()) {
      model_.compression = Compression::kRoot;
    } else {
      bool wide = false;
      for (Index r = 0; r < m; ++r) {
        std::vector<double> values(at(exact_.cols())), sizes, noises;
        for (Index i = 0; i < exact_.cols(); ++i) {
          values[at(i)] = exact_(r, i);
          sizes.push_back(std::abs(exact_(r, i)));
          noises.push_back(std::abs(train_.y(r, i) - exact_(r, i)));
        }
        const double middle = quantile(values, 0.5), noise = 1.5 * quantile(noises, 0.5);
        const double spread = std::max(noise, quantile(values, 0.75) - quantile(values, 0.25));
        const double low = std::max(noise, quantile(sizes, 0.1)), high = quantile(sizes, 0.9);
        const double most = quantile(sizes, 1);
        // Over decades a value is seen on a log scale that minds the sign. What the noise drowns
        // has no decades.
        const bool decades = low > 0 && high > kDecades * low;
        model_.centre[r] = decades ? 0 : middle;
        model_.scale[r] = decades ? low : spread;
        if (!(model_.scale[r] > 0)) model_.scale[r] = std::max(most, 1e-300);
        wide = wide || decades || most > kDecades * (std::abs(middle) + spread);
      }
      if (wide) model_.compression = Compression::kAsinh;
    }
    Block<double> exact = exact_, measured = train_.y;
    compress_finite(exact);
    compress_finite(measured);
    model_.weight.resize(m);
    for (Index r = 0; r < m; ++r) {
      const double count = static_cast<double>(exact.cols());
      const double mean = exact.row(r).mean();
      const double deviation = std::sqrt((exact.row(r).array() - mean).square().sum() / count);
      const double noise = std::sqrt((measured.row(r) - exact.row(r)).squaredNorm() / count);
      const double unit = std::max(noise, kExact * deviation);
      // A value that neither varies nor errs says nothing. Rounding is no variation.
      model_.weight[r] = unit > 1e-14 * std::abs(mean) ? 1 / unit : 0;
    }
    if ((model_.weight.array() == 0).all()) throw Error("learn: no value of h varies over the box");
    if (options_.noise.differs_by_feature()) set_noise();
    if (model_.compression != Compression::kAsinh) {
      model_.centre.resize(0);
      model_.scale.resize(0);
    }
  }

  /// The deviation of each feature's noise as `refine` weighs it; an exact one among noisy ones
  /// counts as nearly exact.
  void set_noise() {
    model_.noise.resize(options_.features);
    for (Index r = 0; r < options_.features; ++r) {
      const double count = static_cast<double>(exact_.cols());
      const double deviation =
          std::sqrt((exact_.row(r).array() - exact_.row(r).mean()).square().sum() / count);
      const double noise = std::sqrt((train_.y.row(r) - exact_.row(r)).squaredNorm() / count);
      const double unit = std::max(noise, kExact * deviation);
      model_.noise[r] = unit > 0 && std::isfinite(unit) ? unit : 1;
    }
  }

  /// The directions in which h varies more than the noise.
  void choose_components() {
    Block<double> values = exact_;
    compress_finite(values);
    values.array().colwise() *= model_.weight.array();
    values.colwise() -= values.rowwise().mean().eval();
    // With many features the span of some samples stands for all: the smaller Gram matrix will do.
    const Index m = values.rows();
    const bool dual = m > kMostFeatures;
    const Matrix<double> columns =
        values.leftCols(dual ? std::min(values.cols(), kMostFeatures) : values.cols());
    const Index size = dual ? columns.cols() : m, count = columns.cols();
    Matrix<double> gram = Matrix<double>::Zero(size, size);
    linear::blas::multiply<double>(dual, !dual, size, size, dual ? m : count,
                                   1.0 / static_cast<double>(count), columns.data(), m,
                                   columns.data(), m, 0.0, gram.data(), size);
    Vector<double> variances;
    linear::blas::eigen_symmetric(gram, variances);
    Index kept = 0;
    while (kept < std::min(size, options_.max_components) && variances[size - 1 - kept] > kDrowned)
      ++kept;
    kept = std::max<Index>(kept, 1);
    const Matrix<double> leading = gram.rightCols(kept).rowwise().reverse();
    model_.components = dual
                            ? Matrix<double>((columns * leading).colwise().normalized().transpose())
                            : Matrix<double>(leading.transpose());
    // The sign of an eigenvector is the library's whim.
    for (Index k = 0; k < kept; ++k) {
      Index largest = 0;
      model_.components.row(k).cwiseAbs().maxCoeff(&largest);
      if (model_.components(k, largest) < 0) model_.components.row(k) *= -1;
    }
    exact_.resize(0, 0);
  }

  void keep_examples() {
    const Index kept = std::min(kExamples, train_.size());
    model_.example_states = train_.truth.leftCols(kept);
    Block<double> values = train_.y.leftCols(kept);
    compress_finite(values);
    values.array().colwise() *= model_.weight.array();
    model_.example_components = model_.components * values;
  }

  /// Puts samples at their start, or measures them where they are.
  void measure(Samples& samples, bool at_start) {
    samples.c.resize(q() + 1, samples.size());
    if (at_start) samples.u.resize(n(), samples.size());
    const bool known = at_start && !model_.has_start_rule;
    run_blocks(samples, [&](LearnedBlock& block, Index first) {
      if (at_start) {
        block.start(model_, options_.start);
        samples.u.middleCols(first, block.columns) = block.u.leftCols(block.columns);
      } else {
        block.u.leftCols(block.columns) = samples.u.middleCols(first, block.columns);
        block.place(model_);
      }
      if (!known) {
        block.evaluate(h_);
        block.evaluations = 1;
      }
      block.measure(model_);
      samples.c.middleCols(first, block.columns) = block.c.leftCols(block.columns);
    });
    if (at_start) share(samples.u);
    share(samples.c);
    // Where h has no finite value a sample waits, as it will when solving, and teaches nothing.
    samples.has_value.assign(at(samples.size()), 1);
    for (Index i = 0; i < samples.size(); ++i)
      if (!samples.c.col(i).allFinite()) {
        samples.has_value[at(i)] = 0;
        samples.c.col(i).head(q()).setZero();
      }
  }

  // -- one stage ----------------------------------------------------------------------------------

  Index map_features(int order) const { return polynomial_terms(n(), order) * (q() + 1) - 1; }

  /// The features of a map of an order, a column for each of the samples `which`: monomials of the
  /// state times components and one, without the constant, which is the bias.
  void lift(int order, const std::vector<Index>& which, Index first, Index count,
            Matrix<double>& out) {
    const Index width = q() + 1, terms = polynomial_terms(n(), order);
    out.resize(map_features(order), count);
    constexpr Index piece = 256;
    pool_.run((count + piece - 1) / piece, [&](Index p, int) {
      Vector<double> monomials(terms);
      for (Index i = p * piece; i < std::min(count, (p + 1) * piece); ++i) {
        const Index sample = which[at(first + i)];
        const auto u = train_.u.col(sample);
        const auto c = train_.c.col(sample);
        monomials[0] = 1;
        if (order > 0) monomials.segment(1, n()) = u;
        if (order > 1)
          for (Index j = 0, l = 1 + n(); j < n(); ++j)
            for (Index k = j; k < n(); ++k, ++l) monomials[l] = u[j] * u[k];
        out.col(i).head(q()) = c.head(q());
        for (Index l = 1; l < terms; ++l)
          out.col(i).segment(l * width - 1, width) = monomials[l] * c;
      }
    });
  }

  Block<double> to_block(const DescentMap<double>& map, int order) const {
    const Index width = q() + 1, terms = polynomial_terms(n(), order);
    const Matrix<double> r = map.matrix();
    Block<double> out(n() * terms, width);
    for (Index i = 0; i < n(); ++i)
      for (Index l = 0; l < terms; ++l) {
        auto row = out.row(l * n() + i);
        if (l == 0) {
          row.head(q()) = -r.row(i).head(q());
          row[q()] = map.bias()[i];
        } else {
          row = -r.row(i).segment(l * width - 1, width);
        }
      }
    return out;
  }

  /// Learns the map of the samples `which` and says where it would bring those it has not seen.
  Block<double> fit(int order, const std::vector<Index>& which, const std::vector<int>& fold_of,
                    Matrix<double>& next) {
    TrainOptions options;
    options.folds = kFolds;
    options.standardise = true;
    options.penalty = Penalty::held_out({1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 1e-1});
    const Index features = map_features(order), all = static_cast<Index>(which.size());
    std::array<std::vector<Index>, kFolds> folds;
    for (const Index sample : which)
      if (train_.has_value[at(sample)])
        folds[static_cast<std::size_t>(fold_of[at(sample)])].push_back(sample);
    StageRegression<double> regression({}, features, n(), all, true, {}, options, kFolds);
    constexpr Index chunk = 2048;
    Matrix<double> lifted, deltas;
    const auto for_chunks = [&](auto&& use) {
      for (int fold = 0; fold < kFolds; ++fold) {
        const auto& members = folds[static_cast<std::size_t>(fold)];
        for (Index first = 0; first < static_cast<Index>(members.size()); first += chunk) {
          const Index count = std::min(chunk, static_cast<Index>(members.size()) - first);
          lift(order, members, first, count, lifted);
          use(fold, members, first, count);
        }
      }
    };
    for_chunks([&](int fold, const std::vector<Index>& members, Index first, Index count) {
      deltas.resize(n(), count);
      for (Index i = 0; i < count; ++i) {
        const Index sample = members[at(first + i)];
        deltas.col(i) = train_.truth.col(sample) - train_.u.col(sample);
      }
      regression.add(fold, lifted, deltas, Vector<double>::Ones(count), pool_);
    });
    Random random(options_.seed, "learn: components");
    const StageMaps<double> maps = regression.solve(random, pool_);
    for_chunks([&](int fold, const std::vector<Index>& members, Index first, Index count) {
      const DescentMap<double>& map = maps.without_fold[static_cast<std::size_t>(fold)];
      deltas = (-map.matrix() * lifted).colwise() + map.bias();
      for (Index i = 0; i < count; ++i) {
        const Index sample = members[at(first + i)];
        next.col(sample) =
            (train_.u.col(sample) + deltas.col(i)).cwiseMin(model_.reach).cwiseMax(-model_.reach);
      }
    });
    return to_block(maps.full, order);
  }

  double error_of(const Matrix<double>& u) const {
    double logs = 0;
    for (Index j = 0; j < n(); ++j)
      logs += std::log(std::max(
          1e-300, (u.row(j) - train_.truth.row(j)).squaredNorm() / static_cast<double>(u.cols())));
    return std::exp(logs / static_cast<double>(2 * n()));
  }

  Candidate one_map(int order, const std::vector<int>& fold_of) {
    Candidate candidate;
    candidate.stage.order = order;
    candidate.next = train_.u;
    std::vector<Index> all(at(train_.size()));
    std::iota(all.begin(), all.end(), Index{0});
    candidate.stage.maps.push_back(fit(order, all, fold_of, candidate.next));
    candidate.error = error_of(candidate.next);
    return candidate;
  }

  /// Cells by signs along axes of [u; c] through their medians.
  std::optional<Candidate> cells(int order, Matrix<double> axes, const std::vector<int>& fold_of) {
    Candidate candidate;
    LearnedStage& stage = candidate.stage;
    stage.order = order;
    stage.axes = std::move(axes);
    stage.offsets.resize(stage.axes.rows());
    const Index bits = stage.axes.rows();
    Matrix<double> sides(bits, train_.size());
    sides = stage.axes.leftCols(n()) * train_.u + stage.axes.rightCols(q()) * train_.c.topRows(q());
    for (Index b = 0; b < bits; ++b) {
      std::vector<double> values(at(train_.size()));
      for (Index i = 0; i < train_.size(); ++i) values[at(i)] = sides(b, i);
      stage.offsets[b] = -quantile(values, 0.5);
    }
    std::vector<std::vector<Index>> members(std::size_t{1} << bits);
    for (Index i = 0; i < train_.size(); ++i) {
      std::size_t cell = 0;
      for (Index b = 0; b < bits; ++b) cell = 2 * cell + (sides(b, i) + stage.offsets[b] >= 0);
      members[cell].push_back(i);
    }
    for (const auto& cell : members)
      if (static_cast<Index>(cell.size()) < 5 * map_features(order)) return std::nullopt;
    candidate.next = train_.u;
    for (const auto& cell : members)
      stage.maps.push_back(fit(order, cell, fold_of, candidate.next));
    candidate.error = error_of(candidate.next);
    return candidate;
  }

  /// The leading axes of what is known to vary: of the state, and of the move that the best map
  /// foretells (which stands for the delta that Global SDM would split by, and is known when
  /// solving).
  std::vector<Matrix<double>> axes_to_try(const Candidate& best, Index bits) const {
    std::vector<Matrix<double>> tried;
    const auto leading = [&](const Matrix<double>& of) {
      const Matrix<double> centred = of.colwise() - of.rowwise().mean();
      Matrix<double> vectors = centred * centred.transpose();
      Vector<double> values;
      linear::blas::eigen_symmetric(vectors, values);
      return Matrix<double>(vectors.rightCols(bits).rowwise().reverse().transpose());
    };
    if (bits <= n()) {
      if ((train_.u.colwise() - train_.u.col(0)).cwiseAbs().maxCoeff() > 0) {
        Matrix<double> axes = Matrix<double>::Zero(bits, n() + q());
        axes.leftCols(n()) = leading(train_.u);
        tried.push_back(axes);
      }
      // The map at the middle of the box: what it foretells is linear in the components.
      const Matrix<double> constant = best.stage.maps.front().topLeftCorner(n(), q());
      const Matrix<double> foretold = constant * train_.c.topRows(q());
      Matrix<double> axes = Matrix<double>::Zero(bits, n() + q());
      const Matrix<double> directions = leading(foretold);
      axes.rightCols(q()) = directions * constant;
      tried.push_back(axes);
    }
    return tried;
  }

  Candidate best_stage(int number) {
    std::vector<int> fold_of(at(train_.size()));
    for (std::size_t i = 0; i < fold_of.size(); ++i) fold_of[i] = static_cast<int>(i % kFolds);
    Random random(options_.seed, "learn: folds", static_cast<std::uint64_t>(number));
    shuffle(fold_of, random);

    // From one common start the state says nothing.
    const bool common = number == 0 && !model_.has_start_rule;
    Candidate best = one_map(0, fold_of);
    for (int order = 1; !common && order <= options_.max_order; ++order) {
      if (8 * map_features(order) > train_.size()) break;
      Candidate candidate = one_map(order, fold_of);
      if (kSimpler * candidate.error < best.error) best = std::move(candidate);
    }
    const Candidate whole = best;
    for (int bits = 1; bits <= options_.max_bits; ++bits) {
      bool better = false;
      for (const Matrix<double>& axes : axes_to_try(whole, bits)) {
        std::optional<Candidate> candidate = cells(whole.stage.order, axes, fold_of);
        if (!candidate || candidate->error >= kWorthCells * best.error) continue;
        best = std::move(*candidate);
        better = true;
      }
      if (!better) break;
    }
    return best;
  }

  void learn_stages() {
    measure(train_, true);
    double error = error_of(train_.u);
    for (int k = 0; k < options_.max_stages; ++k) {
      report("learning stages", 0.1 + 0.7 * k / options_.max_stages);
      Candidate stage = best_stage(k);
      if (k > 0 && stage.error > kWorthIt * error) break;
      const double left = stage.error / error;
      error = stage.error;
      train_.u = std::move(stage.next);
      require_same(train_.u);
      model_.stages.push_back(std::move(stage.stage));
      model_.record.held_out.push_back(error);
      if (left > kGoOn || error < kEnough || k + 1 == options_.max_stages) break;
      // The next stage, and the fresh samples with it.
      const Index wanted = evaluations_ + train_.size() + calibration_ * (k + 3);
      if (options_.evaluations > 0 && wanted > options_.evaluations) break;
      measure(train_, false);
    }
  }

  /// work(block, first) for every block of samples, over the threads, counting evaluations.
  template <class Work>
  void run_blocks(const Samples& samples, Work&& work) {
    std::vector<LearnedBlock> blocks(static_cast<std::size_t>(pool_.threads()),
                                     LearnedBlock(model_));
    std::vector<Index> evaluations(blocks.size(), 0);
    run_own((samples.size() + kBlockColumns - 1) / kBlockColumns, [&](Index b, int worker) {
      LearnedBlock& block = blocks[static_cast<std::size_t>(worker)];
      const Index first = b * kBlockColumns;
      block.load(model_, samples.y, first, std::min(kBlockColumns, samples.size() - first));
      block.evaluations = 0;
      work(block, first);
      evaluations[static_cast<std::size_t>(worker)] += block.evaluations * block.columns;
    });
    evaluations_ += static_cast<Index>(ranks_.sum(
        static_cast<double>(std::accumulate(evaluations.begin(), evaluations.end(), Index{0}))));
  }

  // -- what an answer is worth --------------------------------------------------------------------

  void calibrate() {
    report("checking on fresh samples", 0.8);
    train_ = {};
    Samples fresh;
    draw(fresh, calibration_, false);
    exact_.resize(0, 0);
    const Index count = fresh.size();
    model_.record.calibration = count;
    model_.record.error = model_.record.median = Vector<double>::Zero(n());

    fresh.u.resize(n(), count);
    fresh.c.resize(q() + 1, count);
    Vector<double> residual(count);
    run_blocks(fresh, [&](LearnedBlock& block, Index first) {
      block.descend(model_, h_, options_.start);
      fresh.u.middleCols(first, block.columns) = block.u.leftCols(block.columns);
      fresh.c.middleCols(first, block.columns) = block.c.leftCols(block.columns);
      for (Index i = 0; i < block.columns; ++i) residual[first + i] = block.residual[at(i)];
    });
    share(fresh.u);
    share(fresh.c);
    share_values(residual);
    const Index for_scales = count / 4;
    fit_scales(fresh, residual, for_scales);
    const std::vector<Index> doubtful = set_gate(fresh, residual, for_scales);

    // Answers to samples that the scales have not seen, the doubtful ones as they will be solved.
    const Learned learned(model_, h_, options_.start);
    const auto [first_own, last_own] = own_blocks(static_cast<Index>(doubtful.size()));
    const std::vector<Index> own(doubtful.begin() + first_own, doubtful.begin() + last_own);
    Answers refined;
    ranks_.together(
        [&] { refined = learned.solve_batch(Matrix<double>(fresh.y(Eigen::all, own)), pool_); });
    const auto total = [&](Index value) { return ranks_.sum(static_cast<double>(value)); };
    evaluations_ += static_cast<Index>(total(refined.evaluations));
    Matrix<double> found(n(), static_cast<Index>(doubtful.size()));
    for (std::size_t i = 0; i < own.size(); ++i)
      model_.box.to_unit(refined.x.col(static_cast<Index>(i)),
                         found.col(first_own + static_cast<Index>(i)));
    ranks_.share_columns<double>(found, first_own, last_own - first_own);
    for (std::size_t i = 0; i < doubtful.size(); ++i)
      fresh.u.col(doubtful[i]) = found.col(static_cast<Index>(i));
    const double checked = static_cast<double>(count - for_scales);
    model_.record.refined = total(refined.count(Trust::kRefined)) / checked;
    model_.record.refused =
        total(refined.count(Trust::kOutside) + refined.count(Trust::kFailed)) / checked;
    score(fresh, for_scales);
    report("done", 1);
  }

  /// Log error of each value, and log residual, as polynomials of the answer.
  void fit_scales(const Samples& fresh, const Vector<double>& residual, Index used) {
    int order = 2;
    while (order > 0 && 10 * polynomial_terms(n(), order) > used) --order;
    const Matrix<double>& u = fresh.u;
    Block<double> states = u.leftCols(used).cwiseMin(1).cwiseMax(-1),
                  rows(polynomial_terms(n(), order), used);
    polynomial_rows(states, order, used, rows);
    Matrix<double> logs(used, n() + 1);
    for (Index j = 0; j <= n(); ++j) {
      Vector<double> sizes =
          j < n() ? Vector<double>((u.row(j) - fresh.truth.row(j)).head(used).cwiseAbs())
                  : Vector<double>(residual.head(used));
      // A residual that is not finite must not rule the scale of the others.
      double squares = 0, finite = 0;
      for (Index i = 0; i < used; ++i)
        if (std::isfinite(sizes[i])) squares += sizes[i] * sizes[i], ++finite;
      const double unit = finite > 0 ? std::sqrt(squares / finite) : 1;
      for (Index i = 0; i < used; ++i)
        logs(i, j) = std::isfinite(sizes[i])
                         ? std::log(std::max(sizes[i], std::max(1e-6 * unit, 1e-300)))
                         : std::log(std::max(unit, 1e-300));
    }
    const Matrix<double> design = rows;
    Matrix<double> gram = design * design.transpose();
    gram.diagonal().array() += 1e-6 * static_cast<double>(used);
    model_.gate.log_scales = gram.llt().solve(design * logs).transpose();
  }

  Block<double> scales_of(const Matrix<double>& u) const {
    const Index terms = model_.gate.log_scales.cols();
    const Block<double> states = u.cwiseMin(1).cwiseMax(-1);
    Block<double> rows(terms, u.cols());
    polynomial_rows(states, polynomial_order(n(), terms), u.cols(), rows);
    return (model_.gate.log_scales * rows).array().min(300).exp();
  }

  /// Sets the limits of the gate and gives the samples, from `first_checked` on, that do not pass.
  std::vector<Index> set_gate(const Samples& fresh, const Vector<double>& residual,
                              Index first_checked) {
    const Index count = fresh.size();
    std::vector<double> residuals(at(count)), steps(at(count)), places(at(count));
    run_blocks(fresh, [&](LearnedBlock& block, Index first) {
      block.u.leftCols(block.columns) = fresh.u.middleCols(first, block.columns);
      block.c.leftCols(block.columns) = fresh.c.middleCols(first, block.columns);
      for (Index i = 0; i < block.columns; ++i) block.residual[at(i)] = residual[first + i];
      block.judge(model_);
      std::copy_n(block.relative_residual.begin(), block.columns, residuals.begin() + first);
      std::copy_n(block.pending.begin(), block.columns, steps.begin() + first);
      std::copy_n(block.overshoot.begin(), block.columns, places.begin() + first);
    });
    share_values(residuals);
    share_values(steps);
    share_values(places);
    // Relative to the median: 1 is usual.
    const double usual = quantile(residuals, 0.5);
    if (usual > 0 && std::isfinite(usual)) {
      model_.gate.log_scales(n(), 0) += std::log(usual);
      for (double& r : residuals) r /= usual;
    }
    // Samples that went astray are no measure of the others.
    const auto limit = [](std::vector<double> values) {
      std::erase_if(values, [](double v) { return !std::isfinite(v); });
      return values.empty() ? 0.0 : quantile(std::move(values), kGateShare);
    };
    model_.gate.residual = limit(residuals);
    model_.gate.step = limit(steps);
    model_.gate.overshoot = limit(places);
    std::vector<Index> doubtful;
    for (Index i = first_checked; i < count; ++i)
      if (!(residuals[at(i)] <= model_.gate.residual && steps[at(i)] <= model_.gate.step &&
            places[at(i)] <= model_.gate.overshoot))
        doubtful.push_back(i);
    return doubtful;
  }

  /// Scores and errors of the answers in fresh.u, from `first` on.
  void score(const Samples& fresh, Index first) {
    const Index count = fresh.size() - first;
    const Block<double> scales = scales_of(fresh.u.rightCols(count));
    std::vector<std::vector<double>> errors(at(n()), std::vector<double>(at(count)));
    for (Index i = 0; i < count; ++i) {
      double worst = 0;
      for (Index j = 0; j < n(); ++j) {
        const double x = model_.box.from_unit(j, fresh.u(j, first + i));
        const double error = std::abs(x - model_.box.from_unit(j, fresh.truth(j, first + i)));
        errors[at(j)][at(i)] = error;
        const double score = error / (scales(j, i) * std::abs(model_.box.slope(j, x)));
        if (!(score <= worst)) worst = std::isnan(score) ? kInfinity : score;
      }
      model_.gate.scores.push_back(static_cast<float>(std::min(worst, 1e30)));
    }
    std::sort(model_.gate.scores.begin(), model_.gate.scores.end());
    for (Index j = 0; j < n(); ++j) {
      const auto& of = errors[at(j)];
      double squares = 0;
      for (const double e : of) squares += e * e;
      model_.record.error[j] = std::sqrt(squares / static_cast<double>(count));
      model_.record.median[j] = quantile(of, 0.5);
    }
  }

  AnyFunction h_;
  const LearnOptions& options_;
  ThreadPool pool_;
  Ranks ranks_;
  Stopwatch watch_;
  LearnedModel model_;
  Samples train_;
  Matrix<double> exact_;  // h of the samples, without noise
  Index samples_ = 0, calibration_ = 0, evaluations_ = 0;
};

}  // namespace

Learned learn(AnyFunction h, const Box& box, const LearnOptions& options) {
  return Learner(std::move(h), box, options).run();
}

}  // namespace detail
}  // namespace sdm
