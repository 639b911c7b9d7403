#include "gegenbauer/kernel_ridge.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "gegenbauer/dual_system.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/orthogonal.hpp"
#include "gegenbauer/refine.hpp"

namespace gegenbauer {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// K a rounds by eps |K| |a| however a is kept, since there are no weights that it adds up to; so one correction, with a
// residual in working precision, is all that can be had, and its size is an estimate of the error.
constexpr int kMaxRefinements = 1;
constexpr double kRefinedEnough = 1e-14;

// One problem with the constant in the kernel or, as a border u = D 1, beside it. Unknowns are matrices [a; b].
class Problem {
 public:
  Problem(const ProductKernel& kernel, const Samples& samples, const double* row_scale,
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
  [[nodiscard]] KernelRidgeSolution by_orthogonal() const;

 private:
  [[nodiscard]] ConstantTerm constant() const { return free_ == 0 ? ConstantTerm::included : ConstantTerm::left_out; }

  // gamma I + D K D: its lower triangle, in the first n rows and columns of a matrix with room for the border
  [[nodiscard]] Matrix regularised(Index border) const {
    Matrix matrix = Matrix::Zero(n_ + border, n_ + border);
    accumulate_product_kernel(kernel_, samples_, row_scale_, constant(), matrix.topLeftCorner(n_, n_), control_);
    matrix.diagonal().head(n_).array() += options_.gamma;
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

std::optional<KernelRidgeSolution> Problem::by_cholesky() const {
  Matrix factor = regularised(0);
  try {
    cholesky_in_place(factor, control_);
  } catch (const NotPositiveDefinite&) {
    return std::nullopt;
  }
  const SpectrumEstimate spectrum = estimate_spectrum(factor, control_);
  if (!spectrum.resolves(options_.gamma)) return std::nullopt;
  const DualSystem system(factor, free_ == 0 ? Vector() : scale_, control_);
  Matrix unknowns = Matrix::Zero(targets_.rows(), targets_.cols());
  const RefinementReport refined =
      refine([&] { return residual(unknowns); }, [&](Matrix& right) { system.solve(right); },
             [&](const Matrix& correction) { unknowns += correction; }, kMaxRefinements, kRefinedEnough);
  KernelRidgeSolution result = solution(unknowns);
  result.solver = "cholesky";
  result.rcond = spectrum.reciprocal_condition();
  result.n_refinements = refined.n_steps;
  result.correction = refined.last_correction;
  return result;
}

// The bordered matrix is symmetric and what it cannot reach in [Y; 0] is what the terms cannot fit, so the shortest
// solution with the least residual is the Moore-Penrose one for gamma = 0.
KernelRidgeSolution Problem::by_orthogonal() const {
  Matrix matrix = regularised(free_);
  if (free_ > 0) matrix.row(n_).head(n_) = scale_.transpose();
  for (Index j = 0; j < matrix.cols(); ++j)
    for (Index i = j + 1; i < matrix.rows(); ++i) matrix(j, i) = matrix(i, j);
  const MinimumNormSolution found =
      minimum_norm_solution(std::move(matrix), targets_, kEpsilon * static_cast<double>(n_ + free_), control_);
  Matrix unknowns = found.solution;
  if (free_ > 0) {
    // directions that were dropped may have taken the free constant with them: it is found from what is left
    const Matrix left = residual(unknowns);
    unknowns.row(n_) += scale_.transpose() * left.topRows(n_) / scale_.squaredNorm();
  }
  KernelRidgeSolution result = solution(unknowns);
  result.solver = "complete_orthogonal";
  result.rcond = found.rank < n_ + free_ ? 0.0 : found.smallest_pivot;
  result.rank = found.rank;
  return result;
}

}  // namespace

KernelRidgeSolution solve_kernel_ridge(const ProductKernel& kernel, const Samples& samples, const double* row_scale,
                                       StridedView<const double> targets, const KernelRidgeOptions& options,
                                       const Control& control) {
  require(std::isfinite(options.gamma) && options.gamma >= 0, "gamma must be a finite number >= 0, got ",
          options.gamma);
  require(samples.rows() >= 1, "X has no rows");
  require(targets.rows == samples.rows(), "Y has ", targets.rows, " rows but X has ", samples.rows());
  const Problem problem(kernel, samples, row_scale, targets, options, control);
  if (options.gamma > 0) {
    auto solution = problem.by_cholesky();
    if (solution) return std::move(*solution);
  }
  return problem.by_orthogonal();
}

double estimate_kernel_ridge_bytes(const ProductKernel& kernel, Index n_samples, Index n_outputs, double gamma) {
  const auto s = static_cast<double>(n_samples);
  return kernel_table_bytes(kernel, n_samples) +
         8 * (s * s * (gamma > 0 ? 1 : 3) + 8 * s * static_cast<double>(n_outputs));
}

}  // namespace gegenbauer
