#include "gegenbauer/ridge_orthogonal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "gegenbauer/cholesky.hpp"
#include "gegenbauer/orthogonal.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

double rank_tolerance(const Problem& problem) {
  return kEpsilon * static_cast<double>(std::max(problem.n_samples(), problem.n_terms()));
}

// What is left of columns when the constant is taken out may be their rounding errors alone, so the rank is judged by
// the size that they had before.
double largest_norm(const ConstMatrixRef& columns) {
  return columns.cols() > 0 ? columns.colwise().stableNorm().maxCoeff() : 0.0;
}

// Least reciprocal condition number of normal equations whose factor can carry a correction.
constexpr double kCorrectable = 10 * kEpsilon;

// W += solve(gradient(W)) until nothing is left (the corrected semi-normal equations), where the factor allows it, and
// the estimate of the error. Each correction takes away all but rcond^-1 eps of the error. Gradients are those of
// features that are not rounded: others would bring back the error of W, since rounding of features is what it is.
template <class Solve>
void correct(const Problem& problem, RidgeSolution& solution, const Solve& solve) {
  constexpr int most = 10;
  RidgeReport& report = solution.report;
  if (!(report.rcond >= kCorrectable)) return;
  const double rate = std::min(0.5, static_cast<double>(problem.n_terms()) * kEpsilon / report.rcond);
  double previous = 0.1;
  double left = previous;
  for (int step = 1; step <= most && left > 0.5 * kEpsilon; ++step) {
    Matrix correction = problem.exact_gradient(solution.weights);
    solve(correction);
    const double size = correction.stableNorm() / std::max(solution.weights.stableNorm(), 1e-300);
    if (!(size < previous)) break;
    solution.weights += correction;
    report.n_refinements = step;
    report.correction = previous = size;
    left = rate * size;
    report.error = std::max(kEpsilon, left);
  }
}

// Takes a free constant out of a problem of which each column of `columns` is an equation, and u the constant's part of
// each. A reflection of the equations takes u >= 0 to the axis of its largest entry, so only that one still sees the
// constant; it is dropped. (Any other axis would lose what equations of small weight hold.)
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

Matrix columns_of(const Matrix& matrix, const std::vector<Index>& chosen) {
  Matrix result(matrix.rows(), static_cast<Index>(chosen.size()));
  for (Index i = 0; i < result.cols(); ++i) result.col(i) = matrix.col(chosen[size_of(i)]);
  return result;
}

// The solution of [R'; sqrt(gamma) I] V = [Y; 0] by least squares, for an upper triangle R.
struct Penalized {
  Matrix solution;
  SpectrumEstimate spectrum{0.0, 0.0};
  double residual = 0.0;
  Index rank = 0;
  double tolerance = kEpsilon;  // what was taken for rounding, relative to the columns of R
};

// Where the diagonal of R is no more than the rounding of its column (of the given size), samples hold no more than
// those before them. Taken for a direction of its own, that rounding would come back as eps r / gamma of the weights, r
// being what is left of targets that contradict each other. So R becomes Q S with a row for each of the other samples.
//
// Householder reflections are accurate row by row only when large rows come before small ones, so rows are sorted.
Penalized penalized_solution(const Matrix& r, const Vector& size, const Matrix& targets, double gamma,
                             const Control& control) {
  const Index n = r.cols();
  const double tolerance = 10 * kEpsilon * std::sqrt(static_cast<double>(n));
  std::vector<Index> own;
  std::vector<Index> repeated;
  for (Index i = 0; i < n; ++i) (std::abs(r(i, i)) > tolerance * size(i) ? own : repeated).push_back(i);
  Penalized result;
  result.rank = static_cast<Index>(own.size());
  Matrix columns = r;
  std::optional<HouseholderQr> directions;
  if (result.rank < n) {
    result.tolerance = tolerance;
    directions.emplace(columns_of(r, own), control);
    Matrix others = columns_of(r, repeated);
    directions->apply_transposed(others, control);
    columns.resize(result.rank, n);
    const Matrix upper = directions->upper();
    for (std::size_t i = 0; i < own.size(); ++i) columns.col(own[i]) = upper.col(static_cast<Index>(i));
    for (std::size_t i = 0; i < repeated.size(); ++i) {
      columns.col(repeated[i]) = others.col(static_cast<Index>(i)).head(result.rank);
    }
  }
  const double root = std::sqrt(gamma);
  std::vector<double> norms(size_of(n + result.rank), root);
  std::vector<Index> order;
  for (Index i = 0; i < n; ++i) norms[size_of(i)] = columns.col(i).stableNorm();
  for (Index i = 0; i < n + result.rank; ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return norms[size_of(i)] > norms[size_of(j)]; });
  Matrix stacked = zeros(n + result.rank, result.rank, control);
  Matrix right = Matrix::Zero(n + result.rank, targets.cols());
  for (Index to = 0; to < stacked.rows(); ++to) {
    control.check();
    if (const Index i = order[size_of(to)]; i < n) {
      stacked.row(to) = columns.col(i).transpose();
      right.row(to) = targets.row(i);
    } else {
      stacked(to, i - n) = root;
    }
  }
  const HouseholderQr qr(std::move(stacked), control);
  qr.apply_transposed(right, control);
  result.residual = right.bottomRows(n).stableNorm();
  result.solution = Matrix::Zero(n, targets.cols());
  MatrixRef solution = result.solution.topRows(result.rank);
  solution = right.topRows(result.rank);
  solve_upper(qr.triangle(), solution, control);
  if (directions) directions->apply(result.solution, control);
  result.spectrum = estimate_spectrum(qr.upper().transpose(), control);
  return result;
}

// The same for blocks of rows: those of the penalty stand above all others when they are the larger ones, and below
// otherwise. The constant shows the scale of G.
bool penalty_is_larger(const Problem& problem) {
  double largest = 0.0;
  for (Index s = 0; s < problem.n_samples(); ++s) largest = std::max(largest, problem.scale(s));
  return std::sqrt(problem.options().gamma) > largest;
}

// The triangle of [G, Y], or of that above the rows of the penalty, a block of rows at a time: its last columns are
// Q'Y.
Matrix triangle_of_rows(const Problem& problem, bool with_penalty) {
  const Index n_terms = problem.n_terms();
  const Index n = n_terms + problem.n_outputs();
  Matrix triangle = Matrix::Zero(n, n);
  for (Index l = 0; with_penalty && l < n_terms; ++l) triangle(l, l) = std::sqrt(problem.penalty(l));
  const bool penalty_first = with_penalty && penalty_is_larger(problem);
  const Index block = std::max<Index>(512, n / 2);
  for (Index begin = 0; begin < problem.n_samples(); begin += block) {
    const Index count = std::min(block, problem.n_samples() - begin);
    Matrix stacked(n + count, n);
    const Index features_at = penalty_first ? n : 0;
    stacked.middleRows(penalty_first ? 0 : count, n) = triangle;
    problem.features(begin, count, {stacked.data() + features_at, count, n_terms, 1, stacked.outerStride()});
    stacked.block(features_at, n_terms, count, problem.n_outputs()) = problem.targets(begin, count);
    triangle = HouseholderQr(std::move(stacked), problem.control()).upper();
  }
  return triangle;
}

RidgeSolution solution_of_rows(const Problem& problem) {
  RidgeSolution result;
  result.report.engine = Engine::primal;
  result.report.rank = std::min(problem.n_samples(), problem.n_terms());
  return result;
}

// The norm of what is left of Y
double residual_of(const Problem& problem, const Matrix& triangle) {
  return triangle.bottomRightCorner(problem.n_outputs(), problem.n_outputs()).stableNorm();
}

// With a penalty that the factor resolves
RidgeSolution by_whole_triangle(const Problem& problem) {
  const Matrix triangle = triangle_of_rows(problem, true);
  const Index n_terms = problem.n_terms();
  const auto r = triangle.topLeftCorner(n_terms, n_terms);
  RidgeSolution result = solution_of_rows(problem);
  result.weights = triangle.topRightCorner(n_terms, problem.n_outputs());
  solve_upper(r, result.weights, problem.control());
  result.report.solver = "qr";
  const SpectrumEstimate spectrum = estimate_spectrum(r.transpose().eval(), problem.control());
  result.report.rcond = spectrum.reciprocal_condition();
  result.report.error =
      rounding_of_least_squares(result.report.rcond, std::sqrt(spectrum.largest), problem.options().gamma,
                                residual_of(problem, triangle), result.weights.stableNorm());
  correct(problem, result, [&](Matrix& right) {
    solve_upper_transposed(r, right, problem.control());
    solve_upper(r, right, problem.control());
  });
  return result;
}

// Without a penalty, or with one so small that rounding of directions which G has not is larger: they are left out.
RidgeSolution by_kept_directions(const Problem& problem) {
  const Matrix triangle = triangle_of_rows(problem, false);
  const Control& control = problem.control();
  const double gamma = problem.options().gamma;
  // only the first row of the triangle sees the first column, that of the constant
  const Index first = problem.first_penalized();
  const Index rest = problem.n_terms() - first;
  const auto r = triangle.topLeftCorner(problem.n_terms(), problem.n_terms());
  const auto corner = r.bottomRightCorner(rest, rest);
  const Matrix reduced = triangle.topRightCorner(problem.n_terms(), problem.n_outputs());
  const double size = largest_norm(r.rightCols(rest));
  const auto add_constant = [&](const Matrix& right, Matrix& weights) {
    if (first > 0) weights.row(0) = (right - r.row(0).tail(rest) * weights.bottomRows(rest)) / r(0, 0);
  };
  const double constant_norm = first > 0 ? std::abs(r(0, 0)) : 0.0;
  RidgeSolution result = solution_of_rows(problem);
  RidgeReport& report = result.report;
  result.weights = Matrix::Zero(problem.n_terms(), problem.n_outputs());
  if (gamma > 0) {
    const HouseholderQr lq(corner.triangularView<Eigen::Upper>().toDenseMatrix().transpose(), control);
    const Penalized found =
        penalized_solution(lq.upper(), Vector::Constant(rest, size), reduced.bottomRows(rest), gamma, control);
    Matrix others = found.solution;
    lq.apply(others, control);
    result.weights.bottomRows(rest) = others;
    add_constant(reduced.row(0), result.weights);
    report.solver = "qr";
    const double rcond = found.rank > 0 ? found.spectrum.reciprocal_condition() : 1.0;
    report.rcond = found.rank < rest ? gamma / std::max(gamma, found.spectrum.largest) : rcond;
    report.error = found.tolerance / kEpsilon *
                   rounding_of_least_squares(rcond, std::max(std::sqrt(found.spectrum.largest), constant_norm), gamma,
                                             std::hypot(found.residual, residual_of(problem, triangle)),
                                             result.weights.stableNorm());
    return result;
  }
  const MinimumNormSolution found =
      minimum_norm_solution(corner, reduced.bottomRows(rest), rank_tolerance(problem), control, size);
  result.weights.bottomRows(rest) = found.solution;
  add_constant(reduced.row(0), result.weights);
  report.solver = "complete_orthogonal";
  report.rank = found.rank + first;
  report.rcond = found.smallest_pivot * found.smallest_pivot;
  report.error = rounding_of_least_squares(report.rcond, std::max(found.first_pivot, constant_norm), 0.0,
                                           residual_of(problem, triangle), result.weights.stableNorm());
  correct(problem, result, [&](Matrix& right) {
    const Matrix constant = right.row(0) / r(0, 0);
    Matrix others = right.bottomRows(rest);
    if (first > 0) others -= r.row(0).tail(rest).transpose() * constant;
    found.solve_normal(others, control);
    right.bottomRows(rest) = others;
    add_constant(constant, right);
  });
  return result;
}

}  // namespace

RidgeSolution solve_by_rows(const Problem& problem) {
  if (problem.options().gamma > 0) {
    RidgeSolution result = by_whole_triangle(problem);
    if (result.report.rcond >= kCorrectable) return result;
  }
  return by_kept_directions(problem);
}

// G' = Q R, so the weights are Q V, where V solves the least squares problem [R'; sqrt(gamma) I] V = [Y; 0] of as many
// unknowns as there are samples. (LQ of [G, sqrt(gamma) I] as one matrix would find them as G'a, with a = r / gamma a
// sum that cancels the more, the smaller gamma is beside the residual r: with samples that repeat, at 1e-14, to 1e-10
// of the weights.) A free constant leaves a row of zeros.
RidgeSolution solve_by_columns(const Problem& problem) {
  const Index n_terms = problem.n_terms();
  const Index first = problem.first_penalized();
  const Index n = problem.n_samples() - first;  // equations
  const double gamma = problem.options().gamma;
  Vector constant(problem.n_samples());
  for (Index s = 0; s < constant.size(); ++s) constant(s) = problem.scale(s);
  Matrix features(n_terms, problem.n_samples());
  problem.features(0, problem.n_samples(), {features.data(), problem.n_samples(), n_terms, features.outerStride(), 1});
  Matrix targets = problem.targets(0, problem.n_samples());
  const double length = std::max(constant.stableNorm(), std::numeric_limits<double>::min());
  constant /= length;
  if (first > 0) features.row(0).setZero();
  Vector sizes(problem.n_samples());
  for (Index s = 0; s < sizes.size(); ++s) sizes(s) = features.col(s).stableNorm();
  const double size = sizes.maxCoeff();
  if (first > 0) {
    eliminate(constant, features);
    Index pivot = 0;
    constant.maxCoeff(&pivot);
    sizes(pivot) = sizes(n);  // where the last equation went
    Matrix columns = targets.transpose();
    eliminate(constant, columns);
    targets = columns.transpose();
  }
  const HouseholderQr qr(std::move(features), problem.control());
  RidgeSolution result;
  RidgeReport& report = result.report;
  report.engine = Engine::dual;
  report.rank = std::min(problem.n_samples(), n_terms);
  result.weights = Matrix::Zero(n_terms, problem.n_outputs());
  double rcond = 0.0;  // of what was kept
  double tolerance = kEpsilon;
  double norm = 0.0;
  double residual = 0.0;
  if (gamma > 0) {
    const Penalized found = penalized_solution(qr.upper(), sizes.head(n), targets, gamma, problem.control());
    result.weights.topRows(n) = found.solution;
    report.solver = "lq";
    rcond = found.rank > 0 ? found.spectrum.reciprocal_condition() : 1.0;
    report.rcond = found.rank < n ? gamma / std::max(gamma, found.spectrum.largest) : rcond;
    norm = std::sqrt(found.spectrum.largest);
    residual = found.residual;
    tolerance = found.tolerance;
  } else {
    const MinimumNormSolution found =
        minimum_norm_solution(qr.upper().transpose(), targets, rank_tolerance(problem), problem.control(), size);
    result.weights.topRows(n) = found.solution;
    report.solver = "complete_orthogonal";
    report.rank = found.rank + first;
    report.rcond = rcond = found.smallest_pivot * found.smallest_pivot;
    norm = std::max(found.first_pivot, size);
  }
  if (first > 0) norm = std::max(norm, length);
  qr.apply(result.weights, problem.control());
  if (first > 0 || gamma == 0.0) {
    if (first > 0) result.weights.row(0).setZero();
    Matrix left = problem.residual(result.weights);
    if (first > 0) {
      const Matrix mean = constant.transpose() * left;
      result.weights.row(0) = mean / length;
      left -= constant * mean;
    }
    if (gamma == 0.0) residual = left.stableNorm();
  }
  report.error =
      tolerance / kEpsilon * rounding_of_least_squares(rcond, norm, gamma, residual, result.weights.stableNorm());
  return result;
}

}  // namespace gegenbauer
