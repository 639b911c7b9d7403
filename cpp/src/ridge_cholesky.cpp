#include "gegenbauer/ridge_cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "gegenbauer/cholesky.hpp"
#include "gegenbauer/dual_system.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/refine.hpp"

namespace gegenbauer {

namespace {

constexpr int kMaxRefinements = 4;
constexpr double kRefinedEnough = 1e-16;

// What refinement has to bring the error of products in float32 to
constexpr double kConverged = 1e-12;

bool converged(Precision precision, const RefinementReport& refined) {
  return precision == Precision::float64 || refined.remaining <= kConverged;
}

// Overwrites a regularised matrix by its Cholesky factor. Nothing when that fails or would lose the answer, unless
// Cholesky was requested: then a failure in float64 is the caller's.
std::optional<SpectrumEstimate> factor_in_place(MatrixRef matrix, const Problem& problem, Precision precision) {
  const bool forced = problem.options().solver == Solver::cholesky && precision == Precision::float64;
  try {
    cholesky_in_place(matrix, problem.control());
  } catch (const NotPositiveDefinite& error) {
    if (forced) throw NotPositiveDefinite(Message(error.message).with({Way{"use `solver='auto'` or 'orthogonal'"}}));
    return std::nullopt;
  }
  const SpectrumEstimate spectrum = estimate_spectrum(matrix, problem.control());
  if (!forced && !spectrum.resolves(problem.options().gamma)) return std::nullopt;
  return spectrum;
}

// A factor of products loses eps of the largest eigenvalue, so what it cannot carry refinement does not bring back.
double error_of(const SpectrumEstimate& spectrum, double penalty, const RefinementReport& refined, double residual,
                double weights) {
  const double rcond = spectrum.reciprocal_condition();
  const double lost = kEpsilon / rcond;
  return std::max({lost < 1 ? refined.remaining : lost, kEpsilon,
                   rounding_of_least_squares(rcond, std::sqrt(spectrum.largest), penalty, residual, weights)});
}

std::optional<RidgeSolution> primal_cholesky(const Problem& problem, Engine engine, Precision precision) {
  const Index n_terms = problem.n_terms();
  Matrix gram = problem.gram(engine, precision);
  RidgeSolution result;
  for (Index l = 0; l < n_terms; ++l) gram(l, l) += problem.penalty(l);
  const MatrixRef factor = gram.topLeftCorner(n_terms, n_terms);
  const std::optional<SpectrumEstimate> spectrum = factor_in_place(factor, problem, precision);
  if (!spectrum) return std::nullopt;
  // G'Y is at hand, so the first residual costs no pass over the data
  Matrix first_residual = gram.bottomLeftCorner(problem.n_outputs(), n_terms).transpose();
  double left = 0.0;  // of Y, at the last weights but one
  const auto residual = [&]() -> Matrix {
    if (result.weights.size() == 0) return std::move(first_residual);
    return problem.gradient(result.weights, left);
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
                   spectrum->reciprocal_condition(),
                   refined.n_steps,
                   refined.last_correction,
                   precision == Precision::float32,
                   std::min(problem.n_samples(), n_terms),
                   error_of(*spectrum, problem.options().gamma, refined, left, result.weights.stableNorm())};
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
  const std::optional<SpectrumEstimate> spectrum = factor_in_place(factor, problem, precision);
  if (!spectrum) return std::nullopt;

  Vector u(n);
  for (Index s = 0; s < n; ++s) u(s) = problem.scale(s);
  const DualSystem system(factor, first > 0 ? u : Vector(), problem.control());
  // The dual coefficients may be far larger than the weights that they add up to (up to |Y| / gamma), so their rounding
  // would spoil the residual: they are kept in two parts, and the weights are summed up by themselves.
  Matrix weights;
  Matrix high;
  Matrix low;
  double left = 0.0;  // of Y, at the last weights but one
  const auto residual = [&] {
    Matrix r = Matrix::Zero(n + first, n_outputs);
    if (weights.size() == 0) {
      r.topRows(n) = problem.targets(0, n);
      return r;
    }
    const Matrix rest = problem.residual(weights);
    left = rest.stableNorm();
    r.topRows(n) = rest - gamma * high.topRows(n) - gamma * low.topRows(n);
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
  const double error = error_of(*spectrum, problem.options().gamma, refined, left, weights.stableNorm());
  return RidgeSolution{std::move(weights),
                       {engine, "cholesky", spectrum->reciprocal_condition(), refined.n_steps, refined.last_correction,
                        precision == Precision::float32, std::min(n, problem.n_terms()), error}};
}

}  // namespace

std::optional<RidgeSolution> solve_by_cholesky(const Problem& problem, Engine engine, Precision precision) {
  return is_dual(engine) ? dual_cholesky(problem, engine, precision) : primal_cholesky(problem, engine, precision);
}

}  // namespace gegenbauer
