#include "gegenbauer/kernel_ridge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "gegenbauer/dual_system.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/orthogonal.hpp"
#include "gegenbauer/refine.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

// K a rounds by eps |K| |a| however a is kept, since there are no weights that it adds up to; so one correction, with a
// residual in working precision, is all that can be had.
constexpr int kMaxKernelRefinements = 1;
constexpr double kKernelRefinedEnough = 1e-14;

// The reflection H = I - beta v v' that takes u to the axis of its largest entry, so that rows far heavier than others
// do not spill into them.
struct Reflection {
  Vector v;
  double beta;
  Index axis;

  explicit Reflection(const Vector& u) : v(u / u.stableNorm()) {
    v.cwiseAbs().maxCoeff(&axis);
    v(axis) += v(axis) < 0 ? -1.0 : 1.0;
    beta = 2.0 / v.squaredNorm();
  }

  // H X
  void apply(Matrix& x) const { x -= beta * v * (v.transpose() * x).eval(); }

  // H M H for a symmetric matrix of which the lower triangle is kept
  void apply_both_sides(Matrix& m, const Control& control) const {
    const Index n = m.rows();
    Vector q = Vector::Zero(n);  // M v
    for (Index j = 0; j < n; ++j) {
      control.check();
      const auto below = m.col(j).tail(n - j - 1);
      q(j) += m(j, j) * v(j) + below.dot(v.tail(n - j - 1));
      q.tail(n - j - 1) += v(j) * below;
    }
    q = beta * (q - 0.5 * beta * v.dot(q) * v).eval();
    for (Index j = 0; j < n; ++j) {
      control.check();
      m.col(j).tail(n - j) -= v(j) * q.tail(n - j) + q(j) * v.tail(n - j);
    }
  }
};

// One problem with the constant in the kernel or, as a border u = D 1, beside it. Unknowns are matrices [a; b].
class KernelProblem {
 public:
  KernelProblem(const ProductKernel& kernel, const Samples& samples, const double* row_scale,
                StridedView<const double> targets, const KernelRidgeOptions& options, const Control& control)
      : kernel_(kernel),
        samples_(samples),
        row_scale_(row_scale),
        options_(options),
        control_(control),
        n_(samples.rows()),
        free_(options.penalize_constant ? 0 : 1),
        scale_(Vector::Ones(n_)),
        targets_(Matrix::Zero(n_ + free_, targets.cols)) {
    if (row_scale != nullptr) scale_ = Eigen::Map<const Vector>(row_scale, n_);
    for (Index k = 0; k < targets.cols; ++k)
      for (Index s = 0; s < n_; ++s) targets_(s, k) = scale_(s) * targets(s, k);
  }

  [[nodiscard]] std::optional<KernelRidgeSolution> by_cholesky() const;
  [[nodiscard]] KernelRidgeSolution by_pivoted_cholesky() const;

 private:
  [[nodiscard]] ConstantTerm constant() const { return free_ == 0 ? ConstantTerm::included : ConstantTerm::left_out; }

  // D K D: its lower triangle
  [[nodiscard]] Matrix kernel_matrix() const {
    Matrix matrix = zeros(n_, n_, control_);
    accumulate_product_kernel(kernel_, samples_, row_scale_, constant(), matrix, control_);
    return matrix;
  }

  // [Y; 0] - [gamma I + D K D, u; u', 0] [a; b]
  [[nodiscard]] Matrix residual(const Matrix& unknowns) const {
    Matrix r = targets_;
    if (unknowns.isZero(0.0)) return r;
    const Matrix coefficients = scale_.asDiagonal() * unknowns.topRows(n_);
    Matrix product(n_, r.cols());
    apply_symmetric(kernel_, samples_, constant(), {coefficients.data(), n_, r.cols(), 1, n_},
                    {product.data(), n_, r.cols(), 1, n_}, control_);
    if (free_ > 0) {
      product.rowwise() += unknowns.row(n_);
      r.row(n_).noalias() -= scale_.transpose() * unknowns.topRows(n_);
    }
    r.topRows(n_) -= scale_.asDiagonal() * product;
    r.topRows(n_) -= options_.gamma * unknowns.topRows(n_);
    return r;
  }

  [[nodiscard]] KernelRidgeSolution solution(const Matrix& unknowns) const {
    KernelRidgeSolution result;
    result.coefficients = scale_.asDiagonal() * unknowns.topRows(n_);
    result.constants = Vector::Zero(unknowns.cols());
    if (free_ > 0) result.constants = unknowns.row(n_).transpose();
    result.rank = n_;
    return result;
  }

  const ProductKernel& kernel_;
  const Samples& samples_;
  const double* row_scale_;
  const KernelRidgeOptions& options_;
  const Control& control_;
  Index n_;
  Index free_;
  Vector scale_;
  Matrix targets_;  // scaled, with a row of zeros for the border
};

std::optional<KernelRidgeSolution> KernelProblem::by_cholesky() const {
  Matrix factor = kernel_matrix();
  factor.diagonal().array() += options_.gamma;
  try {
    cholesky_in_place(factor, control_);
  } catch (const NotPositiveDefinite&) {
    return std::nullopt;
  }
  const SpectrumEstimate spectrum = estimate_spectrum(factor, control_);
  if (!spectrum.resolves(options_.gamma)) return std::nullopt;
  const DualSystem system(factor, free_ == 0 ? Vector() : scale_, control_);
  Matrix unknowns = Matrix::Zero(targets_.rows(), targets_.cols());
  std::vector<double> sizes;  // of the corrections to a alone: b has another unit
  const auto add = [&](const Matrix& correction) {
    sizes.push_back(correction.topRows(n_).stableNorm());
    unknowns += correction;
  };
  const RefinementReport refined =
      refine([&] { return residual(unknowns); }, [&](Matrix& right) { system.solve(right); }, add,
             kMaxKernelRefinements, kKernelRefinedEnough);
  KernelRidgeSolution result = solution(unknowns);
  result.solver = "cholesky";
  result.rcond = spectrum.reciprocal_condition();
  result.n_refinements = refined.n_steps;
  result.correction = sizes.front() > 0 ? sizes.back() / sizes.front() : 0.0;
  if (refined.n_steps == 0) result.correction = 0.0;
  result.error = std::max(result.correction, kEpsilon / result.rcond);
  return result;
}

// D K D = L L' + (rounding), so its directions are those of L = Q R, and a = Q d with (gamma I + R R') d = Q'Y: for
// gamma = 0 the Moore-Penrose solution. What Y has beyond them no function of the terms can reach, and would come back
// divided by gamma in a, to spoil predictions by the rounding of K. A free constant is split off first: orthogonal to
// it, the other rows are a problem without.
KernelRidgeSolution KernelProblem::by_pivoted_cholesky() const {
  Matrix matrix = kernel_matrix();
  Matrix right = targets_.topRows(n_);
  // Entries of K are rounded relative to those of the diagonal, in their rows and columns; the reflection mixes rows.
  Vector size = matrix.diagonal().cwiseMax(0.0).cwiseSqrt();
  std::optional<Reflection> reflection;
  if (free_ > 0) {
    reflection.emplace(scale_);
    const Vector v = reflection->v.cwiseAbs();
    size += (v.dot(size) * v).eval();
    size(reflection->axis) = std::numeric_limits<double>::infinity();  // no pivot: this is where the constant went
    reflection->apply_both_sides(matrix, control_);
    reflection->apply(right);
  }
  const auto [rank, order] =
      pivoted_cholesky_in_place(matrix, kEpsilon * static_cast<double>(n_) * size.cwiseAbs2(), control_);
  KernelRidgeSolution report;
  Matrix dual = Matrix::Zero(n_, right.cols());  // in the order of the pivots
  if (rank > 0) {
    matrix.conservativeResize(Eigen::NoChange, rank);
    for (Index k = 0; k < rank; ++k) {
      control_.check();
      matrix.col(k).head(k).setZero();
    }
    for (Index i = 0; i < n_; ++i) {
      const Index row = order[size_of(i)];
      if (reflection && row == reflection->axis) {
        matrix.row(i).setZero();
      } else {
        dual.row(i) = right.row(row);
      }
    }
    const HouseholderQr qr(std::move(matrix), control_);
    const ConstMatrixRef r = qr.triangle();
    qr.apply_transposed(dual, control_);
    dual.bottomRows(n_ - rank).setZero();
    MatrixRef d = dual.topRows(rank);
    const double gamma = options_.gamma;
    Matrix stacked = zeros(gamma > 0 ? 2 * rank : rank, rank, control_);  // [R'; sqrt(gamma) I]
    for (Index k = 0; k < rank; ++k) {
      control_.check();
      stacked.col(k).segment(k, rank - k) = r.row(k).tail(rank - k).transpose();
    }
    const SpectrumEstimate spectrum = estimate_spectrum(stacked.topRows(rank), control_);
    const double reciprocal = (spectrum.smallest + gamma) / (spectrum.largest + gamma);
    report.rcond = rank + free_ < n_ ? 0.0 : reciprocal;
    report.error = reciprocal > 0 ? kEpsilon / reciprocal : std::numeric_limits<double>::infinity();
    if (gamma > 0) {
      stacked.bottomRows(rank).diagonal().setConstant(std::sqrt(gamma));
      const HouseholderQr whole(std::move(stacked), control_);
      solve_upper_transposed(whole.triangle(), d, control_);
      solve_upper(whole.triangle(), d, control_);
    } else {
      solve_upper(r, d, control_);
      solve_upper_transposed(r, d, control_);
    }
    qr.apply(dual, control_);
  }
  Matrix unknowns = Matrix::Zero(targets_.rows(), targets_.cols());
  for (Index i = 0; i < n_; ++i) unknowns.row(order[size_of(i)]) = dual.row(i);
  if (reflection) {
    Matrix lifted = unknowns.topRows(n_);
    reflection->apply(lifted);
    unknowns.topRows(n_) = lifted;
    const Vector u = scale_ / scale_.stableNorm();  // the constant fits what is left
    unknowns.row(n_) = u.transpose() * residual(unknowns).topRows(n_) / scale_.stableNorm();
  }
  KernelRidgeSolution result = solution(unknowns);
  result.solver = "pivoted_cholesky";
  result.rcond = report.rcond;
  result.error = report.error;
  result.rank = rank + free_;
  return result;
}

}  // namespace

KernelRidgeSolution solve_kernel_ridge(const ProductKernel& kernel, const Samples& samples, const double* row_scale,
                                       StridedView<const double> targets, const KernelRidgeOptions& options,
                                       const Control& control) {
  require(std::isfinite(options.gamma) && options.gamma >= 0, "`alpha` must be a finite number >= 0, got ",
          options.gamma);
  require(samples.rows() >= 1, "X has no rows");
  require(targets.rows == samples.rows(), "Y has ", targets.rows, " rows but X has ", samples.rows());
  const KernelProblem problem(kernel, samples, row_scale, targets, options, control);
  if (options.gamma > 0) {
    auto solution = problem.by_cholesky();
    if (solution) return std::move(*solution);
    require_memory(estimate_kernel_ridge_bytes(kernel, samples.rows(), targets.cols, 0.0), options.max_bytes,
                   "alpha is too small for Cholesky");
  }
  return problem.by_pivoted_cholesky();
}

double estimate_kernel_ridge_bytes(const ProductKernel& kernel, Index n_samples, Index n_outputs, double gamma) {
  require(n_outputs >= 0, "the number of outputs must not be negative, got ", n_outputs);
  const auto s = static_cast<double>(n_samples);
  return kernel_table_bytes(kernel, n_samples) +
         8 * (s * s * (gamma > 0 ? 1 : 3) + 8 * s * static_cast<double>(n_outputs));
}

}  // namespace gegenbauer
