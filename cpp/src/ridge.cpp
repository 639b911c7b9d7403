#include "gegenbauer/ridge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "gegenbauer/cholesky.hpp"
#include "gegenbauer/dual_system.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/moments.hpp"
#include "gegenbauer/normal_equations.hpp"
#include "gegenbauer/orthogonal.hpp"
#include "gegenbauer/predict.hpp"
#include "gegenbauer/refine.hpp"
#include "gegenbauer/total_degree_kernel.hpp"

namespace gegenbauer {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMaxRefinements = 4;
constexpr double kRefinedEnough = 1e-16;

StridedView<double> view(Matrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), 1, matrix.outerStride()};
}
StridedView<const double> view(const Matrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), 1, matrix.outerStride()};
}

// One problem, with the few products of G (rows scaled) that the solvers need.
class Problem {
 public:
  Problem(const Design& design, const RidgeOptions& options, const Control& control)
      : design_(design), options_(options), control_(control), scaled_targets_(n_samples(), n_outputs()) {
    for (Index k = 0; k < n_outputs(); ++k)
      for (Index s = 0; s < n_samples(); ++s) scaled_targets_(s, k) = scale(s) * design.targets(s, k);
  }

  [[nodiscard]] Index n_samples() const { return design_.samples.rows(); }
  [[nodiscard]] Index n_terms() const { return design_.basis.n_terms(); }
  [[nodiscard]] Index n_outputs() const { return design_.targets.cols; }
  [[nodiscard]] const Control& control() const { return control_; }
  [[nodiscard]] const RidgeOptions& options() const { return options_; }
  [[nodiscard]] const Matrix& targets() const { return scaled_targets_; }
  [[nodiscard]] double scale(Index s) const { return design_.row_scale == nullptr ? 1.0 : design_.row_scale[s]; }
  [[nodiscard]] double penalty(Index l) const { return l == 0 && !options_.penalize_constant ? 0.0 : options_.gamma; }
  [[nodiscard]] Index first_penalized() const { return options_.penalize_constant ? 0 : 1; }

  // a design of the scaled rows with other targets
  [[nodiscard]] Design with_targets(const Matrix& targets) const {
    return {design_.basis, design_.samples, design_.row_scale, view(targets)};
  }

  // Whether products of features in float32 are worth a try: refinement has to make up for them, a few passes over the
  // data each of which costs as much as some dozens of the n sums a term (or sample).
  [[nodiscard]] Precision precision(Engine engine) const {
    constexpr Index many = 256;
    const Index n = engine == Engine::dual ? n_samples() : n_terms();
    const bool by_features = engine == Engine::primal || engine == Engine::dual;
    return options_.products == Products::automatic && design_.samples.are_float32() && by_features && n >= many &&
                   design_.basis.fits_float32()
               ? Precision::float32
               : Precision::float64;
  }

  // lower triangle of [G, Y]'[G, Y] by features or by moments
  [[nodiscard]] Matrix gram(Engine engine, Precision precision) const {
    const Index n = n_terms() + n_outputs();
    Matrix gram = Matrix::Zero(n, n);
    const Design design = with_targets(targets());
    if (engine == Engine::moments) {
      const auto& plan = design_.basis.plan<MomentPlan>();
      std::vector<double> statistic(static_cast<std::size_t>(plan.size(n_outputs())), 0.0);
      plan.accumulate(design, statistic.data(), control_);
      plan.assemble(statistic.data(), gram, control_);
    } else {
      accumulate_gram(design, gram, control_, precision);
    }
    return gram;
  }

  // lower triangle of GG' over the penalised terms, from features or by a truncated product
  [[nodiscard]] Matrix kernel(Engine engine, Precision precision) const {
    Matrix kernel = Matrix::Zero(n_samples(), n_samples());
    const Design design = with_targets(targets());
    if (engine == Engine::kernel) {
      accumulate_total_degree_kernel(design, first_penalized(), kernel, control_);
    } else {
      accumulate_kernel(design, first_penalized(), kernel, control_, precision);
    }
    return kernel;
  }

  // Whether the error of a Gram matrix by moments is so far below the penalty that refinement removes it
  [[nodiscard]] bool moments_are_accurate() const {
    if (!moments_apply(design_.basis)) return false;
    double weight = 0.0;
    for (Index s = 0; s < n_samples(); ++s) weight += scale(s) * scale(s);
    const double error = kEpsilon * weight * design_.basis.plan<MomentPlan>().squared_bounds();
    return options_.gamma >= 1000 * error;
  }

  // G' r
  [[nodiscard]] Matrix transposed_product(const Matrix& r) const {
    Matrix cross = Matrix::Zero(r.cols(), n_terms());
    accumulate_cross(with_targets(r), cross, control_);
    return cross.transpose();
  }

  // G W
  [[nodiscard]] Matrix product(const Matrix& weights) const {
    Matrix r(n_samples(), weights.cols());
    predict(design_.basis, design_.samples, view(weights), view(r), control_);
    if (design_.row_scale == nullptr) return r;
    for (Index k = 0; k < r.cols(); ++k)
      for (Index s = 0; s < r.rows(); ++s) r(s, k) *= scale(s);
    return r;
  }

  // Y - G W
  [[nodiscard]] Matrix residual(const Matrix& weights) const { return scaled_targets_ - product(weights); }

  // G'(Y - G W) - penalty W: what vanishes at the solution
  [[nodiscard]] Matrix gradient(const Matrix& weights) const {
    Matrix r = transposed_product(residual(weights));
    const Index penalized = n_terms() - first_penalized();
    r.bottomRows(penalized) -= options_.gamma * weights.bottomRows(penalized);
    return r;
  }

  // rows [first, first + count) of G, scaled, into a view (count, L)
  void features(Index first, Index count, StridedView<double> out) const {
    evaluate_terms(design_.basis, design_.samples.slice(first, count), out, control_);
    if (design_.row_scale == nullptr) return;
    for (Index l = 0; l < out.cols; ++l)
      for (Index s = 0; s < count; ++s) out(s, l) *= scale(first + s);
  }

 private:
  const Design& design_;
  const RidgeOptions& options_;
  const Control& control_;
  Matrix scaled_targets_;
};

bool wants_orthogonal(const RidgeOptions& options) {
  return options.solver == Solver::orthogonal || options.gamma == 0.0;
}

// Both ways through Cholesky give nothing when the factor cannot carry the answer, or when refinement did not make up
// for products in float32.
constexpr double kConverged = 1e-12;

bool converged(Precision precision, const RefinementReport& refined) {
  return precision == Precision::float64 || refined.remaining <= kConverged;
}

std::optional<RidgeSolution> primal_cholesky(const Problem& problem, Engine engine, Precision precision) {
  const Index n_terms = problem.n_terms();
  Matrix gram = problem.gram(engine, precision);
  RidgeSolution result;
  for (Index l = 0; l < n_terms; ++l) gram(l, l) += problem.penalty(l);
  const MatrixRef factor = gram.topLeftCorner(n_terms, n_terms);
  const bool forced = problem.options().solver == Solver::cholesky && precision == Precision::float64;
  try {
    cholesky_in_place(factor, problem.control());
  } catch (const NotPositiveDefinite& error) {
    if (forced) throw NotPositiveDefinite(std::string(error.what()) + ", or use solver='auto' or 'orthogonal'");
    return std::nullopt;
  }
  const SpectrumEstimate spectrum = estimate_spectrum(factor, problem.control());
  if (!forced && !spectrum.resolves(problem.options().gamma)) return std::nullopt;
  // G'Y is at hand, so the first residual costs no pass over the data
  Matrix first_residual = gram.bottomLeftCorner(problem.n_outputs(), n_terms).transpose();
  const auto residual = [&] {
    return result.weights.size() == 0 ? std::move(first_residual) : problem.gradient(result.weights);
  };
  const auto add = [&](const Matrix& correction) {
    if (result.weights.size() == 0) {
      result.weights = correction;
    } else {
      result.weights += correction;
    }
  };
  const RefinementReport refined = refine(
      residual, [&](Matrix& right) { solve_factored(factor, right, problem.control()); }, add, kMaxRefinements,
      kRefinedEnough);
  if (!converged(precision, refined)) return std::nullopt;
  result.report = {engine,
                   "cholesky",
                   spectrum.reciprocal_condition(),
                   refined.n_steps,
                   refined.last_correction,
                   precision == Precision::float32,
                   std::min(problem.n_samples(), n_terms)};
  return result;
}

// (gamma I + G1 G1') a + u b = Y, u'a = 0 when the constant is free: its column u leaves the penalty and b is its
// weight. The unknowns are kept as one matrix [a; b].
std::optional<RidgeSolution> dual_cholesky(const Problem& problem, Engine engine, Precision precision) {
  const Index n = problem.n_samples();
  const Index n_outputs = problem.n_outputs();
  const double gamma = problem.options().gamma;
  const Index first = problem.first_penalized();
  Matrix factor = problem.kernel(engine, precision);
  factor.diagonal().array() += gamma;
  const bool forced = problem.options().solver == Solver::cholesky && precision == Precision::float64;
  try {
    cholesky_in_place(factor, problem.control());
  } catch (const NotPositiveDefinite& error) {
    if (forced) throw NotPositiveDefinite(std::string(error.what()) + ", or use solver='auto' or 'orthogonal'");
    return std::nullopt;
  }
  const SpectrumEstimate spectrum = estimate_spectrum(factor, problem.control());
  if (!forced && !spectrum.resolves(gamma)) return std::nullopt;

  Vector u(n);
  for (Index s = 0; s < n; ++s) u(s) = problem.scale(s);
  const DualSystem system(factor, first > 0 ? u : Vector(), problem.control());
  // The dual coefficients may be far larger than the weights that they add up to (up to |Y| / gamma), so their rounding
  // would spoil the residual: they are kept in two parts, and the weights are summed up by themselves.
  Matrix weights;
  Matrix high;
  Matrix low;
  const auto residual = [&] {
    Matrix r = Matrix::Zero(n + first, n_outputs);
    if (weights.size() == 0) {
      r.topRows(n) = problem.targets();
      return r;
    }
    r.topRows(n) = problem.residual(weights) - gamma * high.topRows(n) - gamma * low.topRows(n);
    if (first > 0) r.bottomRows(1) = -u.transpose() * high.topRows(n) - u.transpose() * low.topRows(n);
    return r;
  };
  const auto add = [&](const Matrix& correction) {
    Matrix change = problem.transposed_product(correction.topRows(n));
    if (first > 0) change.row(0) = correction.bottomRows(1);
    if (weights.size() == 0) {
      weights = std::move(change);
      high = correction;
      low = Matrix::Zero(n + first, n_outputs);
      return;
    }
    weights += change;
    for (Index i = 0; i < high.size(); ++i) {
      const double before = high.data()[i];
      const double part = correction.data()[i];
      const double sum = before + part;
      const double kept = sum - before;
      low.data()[i] += (before - (sum - kept)) + (part - kept);
      high.data()[i] = sum;
    }
  };
  const auto solve = [&](Matrix& right) { system.solve(right); };
  const RefinementReport refined = refine(residual, solve, add, kMaxRefinements, kRefinedEnough);
  if (!converged(precision, refined)) return std::nullopt;
  return RidgeSolution{std::move(weights),
                       {engine, "cholesky", spectrum.reciprocal_condition(), refined.n_steps, refined.last_correction,
                        precision == Precision::float32, std::min(n, problem.n_terms())}};
}

double rank_tolerance(const Problem& problem) {
  return kEpsilon * static_cast<double>(std::max(problem.n_samples(), problem.n_terms()));
}

// W += solve(gradient(W)), reported
template <class Solve>
void correct_once(const Problem& problem, RidgeSolution& solution, const Solve& solve) {
  Matrix correction = problem.gradient(solution.weights);
  solve(correction);
  solution.report.correction = correction.norm() / std::max(solution.weights.norm(), 1e-300);
  solution.report.n_refinements = 1;
  solution.weights += correction;
}

// QR of [G; sqrt(gamma) I] a block of rows at a time: only the triangle is kept, with Q'Y as its last columns.
//
// Where the factor can carry a correction at all, one is applied (the corrected semi-normal equations).
constexpr double kCorrectable = 1e-8;  // reciprocal condition number

RidgeSolution primal_orthogonal(const Problem& problem) {
  const Index n_terms = problem.n_terms();
  const Index n = n_terms + problem.n_outputs();
  const double gamma = problem.options().gamma;
  Matrix triangle = Matrix::Zero(n, n);
  for (Index l = 0; l < n_terms; ++l) triangle(l, l) = std::sqrt(problem.penalty(l));
  const Index block = std::max<Index>(512, n / 2);
  for (Index begin = 0; begin < problem.n_samples(); begin += block) {
    const Index count = std::min(block, problem.n_samples() - begin);
    Matrix stacked(n + count, n);
    stacked.topRows(n) = triangle;
    problem.features(begin, count, {stacked.data() + n, count, n_terms, 1, stacked.outerStride()});
    stacked.bottomRightCorner(count, problem.n_outputs()) = problem.targets().middleRows(begin, count);
    triangle = HouseholderQr(std::move(stacked), problem.control()).upper();
  }
  RidgeSolution result;
  result.report.engine = Engine::primal;
  result.report.rank = std::min(problem.n_samples(), n_terms);
  const auto r = triangle.topLeftCorner(n_terms, n_terms);
  if (gamma > 0) {
    result.weights = triangle.topRightCorner(n_terms, problem.n_outputs());
    solve_upper(r, result.weights, problem.control());
    result.report.solver = "qr";
    result.report.rcond = estimate_spectrum(r.transpose().eval(), problem.control()).reciprocal_condition();
    if (result.report.rcond >= kCorrectable) {
      correct_once(problem, result, [&](Matrix& right) {
        solve_upper_transposed(r, right, problem.control());
        solve_upper(r, right, problem.control());
      });
    }
  } else {
    MinimumNormSolution found = minimum_norm_solution(r, triangle.topRightCorner(n_terms, problem.n_outputs()),
                                                      rank_tolerance(problem), problem.control());
    result.weights = std::move(found.solution);
    result.report.solver = "complete_orthogonal";
    result.report.rank = found.rank;
    result.report.rcond = found.smallest_pivot * found.smallest_pivot;
  }
  return result;
}

// LQ of [G, sqrt(gamma) I], as the QR of its transpose. Householder reflections are accurate row by row only when large
// rows come before small ones, so the rows of the penalty stand above G' when they are the larger ones (the constant
// term's row shows the scale of G).
RidgeSolution dual_orthogonal(const Problem& problem) {
  const Index n_terms = problem.n_terms();
  const Index n = problem.n_samples();
  const double gamma = problem.options().gamma;
  Matrix stacked = Matrix::Zero(gamma > 0 ? n_terms + n : n_terms, n);
  const Index n_rows = stacked.rows();
  double largest_scale = 0.0;
  for (Index s = 0; s < n; ++s) largest_scale = std::max(largest_scale, problem.scale(s));
  const bool penalty_first = std::sqrt(gamma) > largest_scale;
  const Index features_at = penalty_first ? n : 0;
  if (gamma > 0) stacked.middleRows(penalty_first ? 0 : n_terms, n).diagonal().setConstant(std::sqrt(gamma));
  problem.features(0, n, {stacked.data() + features_at, n, n_terms, stacked.outerStride(), 1});
  const HouseholderQr qr(std::move(stacked), problem.control());
  const Matrix r = qr.upper();
  RidgeSolution result;
  result.report.engine = Engine::dual;
  result.report.rank = std::min(n, n_terms);
  Matrix x = Matrix::Zero(n_rows, problem.n_outputs());
  if (gamma > 0) {
    x.topRows(n) = problem.targets();
    solve_upper_transposed(r, x.topRows(n), problem.control());
    result.report.solver = "lq";
    result.report.rcond = estimate_spectrum(r.transpose().eval(), problem.control()).reciprocal_condition();
  } else {
    MinimumNormSolution found =
        minimum_norm_solution(r.transpose(), problem.targets(), rank_tolerance(problem), problem.control());
    x.topRows(n) = found.solution;
    result.report.solver = "complete_orthogonal";
    result.report.rank = found.rank;
    result.report.rcond = found.smallest_pivot * found.smallest_pivot;
  }
  qr.apply(x, problem.control());
  result.weights = x.middleRows(features_at, n_terms);
  return result;
}

void validate(const RidgeOptions& options) {
  require(std::isfinite(options.gamma) && options.gamma >= 0, "gamma must be a finite number >= 0, got ",
          options.gamma);
  require(options.gamma > 0 || options.solver != Solver::cholesky,
          "gamma = 0 needs an orthogonal factorisation: use solver='auto' or 'orthogonal', or a positive gamma");
}

Engine choose_engine(const TensorBasis& basis, Index n_samples, Index n_outputs, const RidgeOptions& options) {
  if (options.engine != Engine::automatic) return options.engine;
  return fit_cost(basis, n_samples, n_outputs).cheapest();
}

bool is_dual(Engine engine) { return engine == Engine::dual || engine == Engine::kernel; }

}  // namespace

RidgeSolution solve_ridge(const Design& design, const RidgeOptions& options, const Control& control) {
  validate(options);
  require(design.samples.rows() >= 1, "X has no rows");
  require(design.targets.rows == design.samples.rows(), "Y has ", design.targets.rows, " rows but X has ",
          design.samples.rows());
  const Problem problem(design, options, control);
  Engine engine = choose_engine(design.basis, problem.n_samples(), problem.n_outputs(), options);
  if (engine == Engine::moments && !problem.moments_are_accurate()) engine = Engine::primal;
  // The transposed factorisation takes n_samples <= n_terms and a penalty on every term; the other one takes all.
  const bool wide = is_dual(engine) && problem.n_samples() <= problem.n_terms() &&
                    (options.penalize_constant || options.gamma == 0.0);
  if (!wants_orthogonal(options)) {
    const auto by_cholesky = [&](Precision precision) {
      return is_dual(engine) ? dual_cholesky(problem, engine, precision) : primal_cholesky(problem, engine, precision);
    };
    const Precision precision = problem.precision(engine);
    auto solution = by_cholesky(precision);
    if (!solution && precision == Precision::float32) solution = by_cholesky(Precision::float64);
    if (solution) return std::move(*solution);
  }
  return wide ? dual_orthogonal(problem) : primal_orthogonal(problem);
}

RidgeSolution solve_gram(const ConstMatrixRef& gram, Index n_terms, double gamma, bool penalize_constant,
                         const Control& control) {
  require(gram.rows() == gram.cols() && n_terms >= 1 && n_terms <= gram.rows(), "gram must be square with at least ",
          n_terms, " rows, got shape (", gram.rows(), ", ", gram.cols(), ")");
  require(std::isfinite(gamma) && gamma >= 0, "gamma must be a finite number >= 0, got ", gamma);
  const Index n_outputs = gram.rows() - n_terms;
  Matrix factor = gram.topLeftCorner(n_terms, n_terms);
  factor.diagonal().array() += gamma;
  if (!penalize_constant) factor(0, 0) = gram(0, 0);
  cholesky_in_place(factor, control);
  RidgeSolution result;
  result.weights = gram.bottomLeftCorner(n_outputs, n_terms).transpose();
  solve_factored(factor, result.weights, control);
  result.report = {Engine::primal, "cholesky", estimate_spectrum(factor, control).reciprocal_condition(), 0, 0.0,
                   false,          n_terms};
  return result;
}

double estimate_bytes(const TensorBasis& basis, Index n_samples, Index n_outputs, const RidgeOptions& options) {
  const auto s = static_cast<double>(n_samples);
  const auto l = static_cast<double>(basis.n_terms());
  const auto k = static_cast<double>(n_outputs);
  const bool dual = is_dual(choose_engine(basis, n_samples, n_outputs, options));
  double doubles = 4 * (s + l) * k;  // targets, residuals, weights and their corrections
  if (wants_orthogonal(options)) {
    const double block = std::max(512.0, (l + k) / 2);
    doubles += dual && n_samples <= basis.n_terms() && options.penalize_constant
                   ? (l + 2 * s) * s
                   : 3 * (l + k) * (l + k) + block * (l + k);
  } else {
    doubles += dual ? s * s + std::max(1e6, 1024 * s) : (l + k) * (l + k) + std::max(1e6, 1024 * (l + k));
  }
  return 8 * doubles;
}

}  // namespace gegenbauer
