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

// What is left of columns when the constant is taken out may be their rounding errors alone, so the rank is judged by
// the size that they had before.
double largest_norm(const ConstMatrixRef& columns) {
  return columns.cols() > 0 ? columns.colwise().stableNorm().maxCoeff() : 0.0;
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

// Takes a free constant out of a problem of which each column of `columns` is an equation, and u the constant's part of
// each. A reflection of the equations takes u >= 0 to the axis of its largest entry, so only that one still sees the
// constant; it is dropped. (Any other axis would lose what equations of small weight say.)
void eliminate(const Vector& u, Matrix& columns) {
  Index pivot = 0;
  u.maxCoeff(&pivot);
  Vector v = u;
  v(pivot) += 1.0;  // |v|^2 = 2 v(pivot), as |u| = 1
  const Vector shared = columns * v / v(pivot);
  const Index rest = u.size() - 1;
  v(pivot) = v(rest);
  columns.col(pivot) = columns.col(rest);
  columns.conservativeResize(Eigen::NoChange, rest);
  columns.noalias() -= shared * v.head(rest).transpose();
}

// Householder reflections are accurate row by row only when large rows come before small ones, so the rows of the
// penalty stand above those of G when they are the larger ones, and below otherwise. The constant shows the scale of G.
bool penalty_is_larger(const Problem& problem) {
  double largest = 0.0;
  for (Index s = 0; s < problem.n_samples(); ++s) largest = std::max(largest, problem.scale(s));
  return std::sqrt(problem.options().gamma) > largest;
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
  const bool penalty_first = penalty_is_larger(problem);
  const Index block = std::max<Index>(512, n / 2);
  for (Index begin = 0; begin < problem.n_samples(); begin += block) {
    const Index count = std::min(block, problem.n_samples() - begin);
    Matrix stacked(n + count, n);
    const Index features_at = penalty_first ? n : 0;
    stacked.middleRows(penalty_first ? 0 : count, n) = triangle;
    problem.features(begin, count, {stacked.data() + features_at, count, n_terms, 1, stacked.outerStride()});
    stacked.block(features_at, n_terms, count, problem.n_outputs()) = problem.targets().middleRows(begin, count);
    triangle = HouseholderQr(std::move(stacked), problem.control()).upper();
  }
  RidgeSolution result;
  result.report.engine = Engine::primal;
  result.report.rank = std::min(problem.n_samples(), n_terms);
  const auto r = triangle.topLeftCorner(n_terms, n_terms);
  const auto reduced = triangle.topRightCorner(n_terms, problem.n_outputs());
  if (gamma > 0) {
    result.weights = reduced;
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
    // only the first row of the triangle sees the first column, that of the constant
    const Index first = problem.first_penalized();
    const Index rest = n_terms - first;
    const double size = largest_norm(r.rightCols(rest));
    const MinimumNormSolution found = minimum_norm_solution(r.bottomRightCorner(rest, rest), reduced.bottomRows(rest),
                                                            rank_tolerance(problem), problem.control(), size);
    result.weights = Matrix::Zero(n_terms, problem.n_outputs());
    result.weights.bottomRows(rest) = found.solution;
    if (first > 0) result.weights.row(0) = (reduced.row(0) - r.row(0) * result.weights) / r(0, 0);
    result.report.solver = "complete_orthogonal";
    result.report.rank = found.rank + first;
    result.report.rcond = found.smallest_pivot * found.smallest_pivot;
  }
  return result;
}

// LQ of [G, sqrt(gamma) I], as the QR of its transpose. A free constant leaves a row of zeros.
RidgeSolution solve_by_columns(const Problem& problem) {
  const Index n_terms = problem.n_terms();
  const Index first = problem.first_penalized();
  const Index n = problem.n_samples() - first;  // equations
  const double gamma = problem.options().gamma;
  Vector constant(problem.n_samples());
  for (Index s = 0; s < constant.size(); ++s) constant(s) = problem.scale(s);
  const bool penalty_first = penalty_is_larger(problem);
  const Index features_at = penalty_first ? n : 0;
  Matrix stacked = Matrix::Zero(gamma > 0 ? n_terms + n : n_terms, problem.n_samples());
  const Index n_rows = stacked.rows();
  problem.features(0, problem.n_samples(),
                   {stacked.data() + features_at, problem.n_samples(), n_terms, stacked.outerStride(), 1});
  Matrix targets = problem.targets();
  const double length = std::max(constant.stableNorm(), std::numeric_limits<double>::min());
  constant /= length;
  if (first > 0) stacked.row(features_at).setZero();
  const double size = gamma > 0 ? 0.0 : largest_norm(stacked);
  if (first > 0) {
    eliminate(constant, stacked);
    Matrix columns = targets.transpose();
    eliminate(constant, columns);
    targets = columns.transpose();
  }
  if (gamma > 0) stacked.middleRows(penalty_first ? 0 : n_terms, n).diagonal().setConstant(std::sqrt(gamma));
  const HouseholderQr qr(std::move(stacked), problem.control());
  const Matrix r = qr.upper();
  RidgeSolution result;
  result.report.engine = Engine::dual;
  result.report.rank = std::min(problem.n_samples(), n_terms);
  Matrix x = Matrix::Zero(n_rows, problem.n_outputs());
  if (gamma > 0) {
    x.topRows(n) = targets;
    solve_upper_transposed(r, x.topRows(n), problem.control());
    result.report.solver = "lq";
    result.report.rcond = estimate_spectrum(r.transpose().eval(), problem.control()).reciprocal_condition();
  } else {
    const MinimumNormSolution found =
        minimum_norm_solution(r.transpose(), targets, rank_tolerance(problem), problem.control(), size);
    x.topRows(n) = found.solution;
    result.report.solver = "complete_orthogonal";
    result.report.rank = found.rank + first;
    result.report.rcond = found.smallest_pivot * found.smallest_pivot;
  }
  qr.apply(x, problem.control());
  result.weights = x.middleRows(features_at, n_terms);
  if (first > 0) {
    result.weights.row(0).setZero();
    result.weights.row(0) = constant.transpose() * problem.residual(result.weights) / length;
  }
  return result;
}

}  // namespace gegenbauer
