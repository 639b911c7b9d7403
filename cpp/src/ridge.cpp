#include "gegenbauer/ridge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gegenbauer/cholesky.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/moments.hpp"
#include "gegenbauer/ridge_cholesky.hpp"
#include "gegenbauer/ridge_orthogonal.hpp"

namespace gegenbauer {

namespace {

bool wants_orthogonal(const RidgeOptions& options) {
  return options.solver == Solver::orthogonal || options.gamma == 0.0;
}

void validate(const RidgeOptions& options) {
  require(std::isfinite(options.gamma) && options.gamma >= 0, "`alpha` must be a finite number >= 0, got ",
          options.gamma);
  require(options.gamma > 0 || options.solver != Solver::cholesky, "alpha = 0 needs an orthogonal factorisation",
          Advice{Way{"use `solver='auto'` or 'orthogonal'"}, Way{"use a positive `alpha`"}});
}

Engine choose_engine(const TensorBasis& basis, Index n_samples, Index n_outputs, const RidgeOptions& options) {
  if (options.engine == Engine::moments) require_polynomials(basis);
  if (options.engine != Engine::automatic) return options.engine;
  return fit_cost(basis, n_samples, n_outputs).cheapest();
}

// In place of moments whose rounding would exceed gamma
Engine next_best(const TensorBasis& basis, const Problem& problem) {
  if (problem.options().engine == Engine::moments) return Engine::primal;
  FitCost cost = fit_cost(basis, problem.n_samples(), problem.n_outputs());
  cost.moments = std::numeric_limits<double>::infinity();
  return cost.cheapest();
}

// Whether an orthogonal solver is to factor G' rather than G: where it can, whatever engine was requested. It costs
// less, and QR of G below sqrt(gamma) I would lose eps |G| / sqrt(gamma) of the weights to directions that G has not.
bool is_wide(Index n_samples, Index n_terms) { return n_samples <= n_terms; }

// Targets, residuals, weights and their corrections
double common_doubles(double s, double l, double k) { return 4 * (s + l) * k; }

// G', its triangle and [R'; sqrt(gamma) I]; or triangles of the terms and a block of rows
double orthogonal_bytes(double s, double l, double k, bool wide) {
  const double n = l + k;
  return 8 * (common_doubles(s, l, k) + (wide ? (l + 4 * s) * s : (4 * n + 512) * n));
}

}  // namespace

RidgeSolution solve_ridge(const Design& design, const RidgeOptions& options, const Control& control) {
  validate(options);
  require(design.samples.rows() >= 1, "X has no rows");
  require(design.targets.rows == design.samples.rows(), "Y has ", design.targets.rows, " rows but X has ",
          design.samples.rows());
  const Problem problem(design, options, control);
  const bool wide = is_wide(problem.n_samples(), problem.n_terms());
  if (!wants_orthogonal(options)) {
    Engine engine = choose_engine(design.basis, problem.n_samples(), problem.n_outputs(), options);
    if (engine == Engine::moments && !problem.moments_are_accurate()) engine = next_best(design.basis, problem);
    const Precision precision = problem.precision(engine);
    auto solution = solve_by_cholesky(problem, engine, precision);
    if (!solution && precision == Precision::float32) solution = solve_by_cholesky(problem, engine, Precision::float64);
    if (solution) return std::move(*solution);
    require_memory(orthogonal_bytes(static_cast<double>(problem.n_samples()), static_cast<double>(problem.n_terms()),
                                    static_cast<double>(problem.n_outputs()), wide),
                   options.max_bytes, "alpha is too small for Cholesky");
  }
  return wide ? solve_by_columns(problem) : solve_by_rows(problem);
}

RidgeSolution solve_gram(const ConstMatrixRef& gram, Index n_terms, double gamma, bool penalize_constant,
                         const Control& control) {
  require(gram.rows() == gram.cols() && n_terms >= 1 && n_terms <= gram.rows(), "gram must be square with at least ",
          n_terms, " rows, got shape (", gram.rows(), ", ", gram.cols(), ")");
  require(std::isfinite(gamma) && gamma >= 0, "`alpha` must be a finite number >= 0, got ", gamma);
  const Index n_outputs = gram.rows() - n_terms;
  Matrix factor = gram.topLeftCorner(n_terms, n_terms);
  factor.diagonal().array() += gamma;
  if (!penalize_constant) factor(0, 0) = gram(0, 0);
  cholesky_in_place(factor, control);
  RidgeSolution result;
  result.weights = gram.bottomLeftCorner(n_outputs, n_terms).transpose();
  solve_factored(factor, result.weights, control);
  const double rcond = estimate_spectrum(factor, control).reciprocal_condition();
  const double error = kEpsilon / rcond;  // nothing to refine from
  result.report = {Engine::primal, "cholesky", rcond, 0, 0.0, false, n_terms, error};
  return result;
}

double estimate_bytes(const TensorBasis& basis, Index n_samples, Index n_outputs, const RidgeOptions& options) {
  require(n_samples >= 0 && n_outputs >= 0, "numbers of samples and outputs must not be negative, got ", n_samples,
          " and ", n_outputs);
  const auto s = static_cast<double>(n_samples);
  const auto l = static_cast<double>(basis.n_terms());
  const auto k = static_cast<double>(n_outputs);
  if (wants_orthogonal(options)) return orthogonal_bytes(s, l, k, is_wide(n_samples, basis.n_terms()));
  const Engine engine = choose_engine(basis, n_samples, n_outputs, options);
  const double n = is_dual(engine) ? s : l + k;
  // Many outputs leave no residuals behind, and their targets are copied once at most, to be scaled.
  const bool joined = !is_dual(engine) && joins_residuals(n_outputs);
  double doubles = (joined ? s * k + 5 * l * k : common_doubles(s, l, k)) + n * (is_dual(engine) ? s : l) +
                   std::max(1e6, (joined ? 2048 : 1024) * n);
  if (engine == Engine::moments && MomentPlan::exists(basis)) {
    // the statistic, its runs of samples, and the plan
    doubles += 5 * static_cast<double>(basis.plan<MomentPlan>().size(n_outputs, TargetProducts::left_out)) + 5e6 +
               basis.plan<BasisHalves>().plan_work();
  }
  return 8 * doubles;
}

}  // namespace gegenbauer
