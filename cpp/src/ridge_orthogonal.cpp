#include "gegenbauer/ridge_orthogonal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gegenbauer/cholesky.hpp"
#include "gegenbauer/orthogonal.hpp"

namespace gegenbauer {

namespace {

double rank_tolerance(const Problem& problem) {
  return std::numeric_limits<double>::epsilon() * static_cast<double>(std::max(problem.n_samples(), problem.n_terms()));
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

}  // namespace

RidgeSolution solve_by_rows(const Problem& problem) {
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
RidgeSolution solve_by_columns(const Problem& problem) {
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

}  // namespace gegenbauer
