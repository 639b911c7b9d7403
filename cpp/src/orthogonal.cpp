#include "gegenbauer/orthogonal.hpp"

#include <Eigen/Householder>
#include <algorithm>
#include <cmath>
#include <limits>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/triangular.hpp"

namespace gegenbauer {

namespace {

constexpr Index kPanelColumns = 48;  // from here on Eigen applies reflections as a block
constexpr Index kChunk = 128;        // columns an item: fixed, so that threads do not change the result

// X := H X or H' X for one block of reflections, shared by columns of X
void apply_reflections(const ConstMatrixRef& vectors, const Eigen::Ref<const Vector>& scales, bool transposed,
                       MatrixRef x, const Control& control) {
  const auto in_order = Eigen::householderSequence(vectors, scales);
  const auto sequence = transposed ? in_order.adjoint() : in_order;
  const Index n_chunks = divide_up(x.cols(), kChunk);
  const double work =
      2.0 * static_cast<double>(vectors.rows()) * static_cast<double>(vectors.cols()) * static_cast<double>(x.cols());
  parallel_for(control, n_chunks, work, [&](Index chunk, int) {
    const Index first = chunk * kChunk;
    x.middleCols(first, std::min(kChunk, x.cols() - first)).applyOnTheLeft(sequence);
  });
}

// X := (I - scale v v') X for v = [1; essential]; scratch has room for a row of X.
void reflect(MatrixRef x, const Eigen::Ref<const Vector>& essential, double scale, double* scratch) {
  x.applyHouseholderOnTheLeft(essential, scale, scratch);
}

// Reflections that make a panel upper triangular, column by column: it holds their vectors below the triangle.
void reflect_panel(MatrixRef panel, Eigen::Ref<Vector> scales, double* scratch) {
  for (Index k = 0; k < panel.cols(); ++k) {
    const Index rows = panel.rows() - k;
    Eigen::Ref<Vector> column = panel.col(k).tail(rows);
    column.makeHouseholderInPlace(scales(k), column(0));
    reflect(panel.bottomRightCorner(rows, panel.cols() - k - 1), column.tail(rows - 1), scales(k), scratch);
  }
}

}  // namespace

HouseholderQr::HouseholderQr(Matrix matrix, const Control& control)
    : packed_(std::move(matrix)), scales_(packed_.cols()) {
  const Index n = packed_.cols();
  require(packed_.rows() >= n, "a QR factorisation needs at least as many rows as columns, got shape (", packed_.rows(),
          ", ", n, ")");
  double scratch[kPanelColumns];
  for (Index begin = 0; begin < n; begin += kPanelColumns) {
    control.check();
    const Index width = std::min(kPanelColumns, n - begin);
    const Index rows = packed_.rows() - begin;
    MatrixRef panel = packed_.block(begin, begin, rows, width);
    reflect_panel(panel, scales_.segment(begin, width), scratch);
    if (const Index rest = n - begin - width; rest > 0)
      apply_reflections(panel, scales_.segment(begin, width), true, packed_.bottomRightCorner(rows, rest), control);
  }
}

Matrix HouseholderQr::upper() const { return packed_.topRows(packed_.cols()).triangularView<Eigen::Upper>(); }

void HouseholderQr::apply(Matrix& x, const Control& control) const {
  const Index n = packed_.cols();
  for (Index begin = (n - 1) / kPanelColumns * kPanelColumns; begin >= 0; begin -= kPanelColumns) {
    const Index width = std::min(kPanelColumns, n - begin);
    const Index rows = packed_.rows() - begin;
    apply_reflections(packed_.block(begin, begin, rows, width), scales_.segment(begin, width), false,
                      x.bottomRows(rows), control);
  }
}

void HouseholderQr::apply_transposed(Matrix& x, const Control& control) const {
  for (Index begin = 0; begin < packed_.cols(); begin += kPanelColumns) {
    const Index width = std::min(kPanelColumns, packed_.cols() - begin);
    const Index rows = packed_.rows() - begin;
    apply_reflections(packed_.block(begin, begin, rows, width), scales_.segment(begin, width), true, x.bottomRows(rows),
                      control);
  }
}

void solve_upper(const ConstMatrixRef& upper, MatrixRef right, const Control& control) {
  solve_in_turn({{upper, false, false}}, right, control);
}

void solve_upper_transposed(const ConstMatrixRef& upper, MatrixRef right, const Control& control) {
  solve_in_turn({{upper, false, true}}, right, control);
}

MinimumNormSolution minimum_norm_solution(Matrix a, Matrix b, double tolerance, const Control& control, double size) {
  const Index n = a.cols();
  require(a.rows() == n && b.rows() == n, "the matrix must be square and fit the right-hand side");
  MinimumNormSolution result;
  std::vector<Index>& order = result.order;
  order.resize(size_of(n));
  for (Index j = 0; j < n; ++j) order[size_of(j)] = j;
  Vector norms = a.colwise().norm();
  Vector reference = norms;
  Vector scratch(std::max(n, b.cols()));
  if (!norms.allFinite()) {  // every pivot would be below the first one, and the solution a silent zero
    result.solution = Matrix::Constant(n, b.cols(), std::numeric_limits<double>::quiet_NaN());
    return result;
  }
  double& first_pivot = result.first_pivot;
  Index rank = 0;
  for (; rank < n; ++rank) {
    control.check();
    const Index k = rank;
    Index pivot = 0;
    norms.tail(n - k).maxCoeff(&pivot);
    pivot += k;
    if (pivot != k) {
      a.col(k).swap(a.col(pivot));
      std::swap(norms(k), norms(pivot));
      std::swap(reference(k), reference(pivot));
      std::swap(order[size_of(k)], order[size_of(pivot)]);
    }
    double scale = 0.0;
    double beta = 0.0;
    Eigen::Ref<Vector> column = a.col(k).tail(n - k);
    column.makeHouseholderInPlace(scale, beta);
    if (k == 0) first_pivot = std::abs(beta);
    if (!(std::abs(beta) > tolerance * std::max(first_pivot, size))) break;
    result.smallest_pivot = std::abs(beta) / first_pivot;
    const auto essential = column.tail(n - k - 1);
    reflect(a.block(k, k + 1, n - k, n - k - 1), essential, scale, scratch.data());
    reflect(b.bottomRows(n - k), essential, scale, scratch.data());
    a(k, k) = beta;
    a.col(k).tail(n - k - 1).setZero();
    for (Index j = k + 1; j < n; ++j) {
      if (norms(j) == 0.0) continue;
      // downdate, and compute anew where cancellation has eaten half of the digits (as LAPACK's xGEQP3 does)
      const double ratio = std::abs(a(k, j)) / norms(j);
      const double left = std::max(0.0, (1.0 + ratio) * (1.0 - ratio));
      const double relative = norms(j) / reference(j);
      if (left * relative * relative <= 1.5e-8) {
        norms(j) = reference(j) = a.col(j).tail(n - k - 1).norm();
      } else {
        norms(j) *= std::sqrt(left);
      }
    }
  }
  result.rank = rank;
  result.solution = Matrix::Zero(n, b.cols());
  if (rank == 0) return result;
  Matrix y(n, b.cols());
  if (rank == n) {
    y = b;
    result.upper = std::move(a);
    solve_upper(result.upper, y, control);
  } else {
    // [R11 R12]' = Z T: the shortest solution of [R11 R12] y = c is Z T'^-1 c
    result.right.emplace(a.topRows(rank).triangularView<Eigen::Upper>().toDenseMatrix().transpose(), control);
    result.upper = result.right->upper();
    y.setZero();
    y.topRows(rank) = b.topRows(rank);
    solve_upper_transposed(result.upper, y.topRows(rank), control);
    result.right->apply(y, control);
  }
  for (Index j = 0; j < n; ++j) result.solution.row(order[size_of(j)]) = y.row(j);
  return result;
}

// With columns in the order of their pivots A is Q R, or Q [T' 0] Z', and Q cancels in A'A.
void MinimumNormSolution::solve_normal(Matrix& x, const Control& control) const {
  const Index n = x.rows();
  Matrix y(n, x.cols());
  for (Index j = 0; j < n; ++j) y.row(j) = x.row(order[size_of(j)]);
  if (right) {
    right->apply_transposed(y, control);
    solve_upper(upper, y.topRows(rank), control);
    solve_upper_transposed(upper, y.topRows(rank), control);
    y.bottomRows(n - rank).setZero();
    right->apply(y, control);
  } else if (rank == n) {
    solve_upper_transposed(upper, y, control);
    solve_upper(upper, y, control);
  } else {
    y.setZero();
  }
  for (Index j = 0; j < n; ++j) x.row(order[size_of(j)]) = y.row(j);
}

}  // namespace gegenbauer
