#pragma once
/// Ridge with a product kernel: f(z) = sum_s c_s K(z, x_s) + b, where c = D a and (gamma I + D K D) a = D Phi for
/// D = diag(row_scale); the terms of K are never enumerated and L may be infinite (paper: eq.weights_solution1, with
/// its G G' as a kernel). The constant term is part of K, or leaves the penalty and becomes b. Holds the (S, S) matrix
/// and tables of two blocks of samples.

#include <limits>
#include <string>

#include "gegenbauer/kernel.hpp"

namespace gegenbauer {

struct KernelRidgeOptions {
  double gamma = 0.0;                                          ///< >= 0; 0 is the limit: the Moore-Penrose solution
  bool penalize_constant = true;                               ///< false makes the constant term free of the penalty
  double max_bytes = std::numeric_limits<double>::infinity();  ///< of a fallback, as in RidgeOptions
};

struct KernelRidgeSolution {
  Matrix coefficients;  ///< c, (S, K)
  Vector constants;     ///< b, (K); zero when the constant is penalised
  std::string solver;   ///< "cholesky", or "pivoted_cholesky" for gamma = 0 and when the former would lose the answer
  double rcond = 0.0;   ///< estimated reciprocal condition number of gamma I + D K D
  int n_refinements = 0;
  double correction = 0.0;  ///< relative size of the last refinement
  double error = 0.0;       ///< of the coefficients, estimated: eps times the condition number of the kept directions
  Index rank = 0;           ///< S, or the numerical rank that the pivoted Cholesky factorisation found
};

/// targets (S, K), unscaled. The pivoted Cholesky factorisation drops directions that rounding of K hides (entries of
/// its diagonal that fall to S eps of what they were). At rank r it costs 5 S r^2 flops about and holds (S, S + 2 r).
/// TooLarge when a positive gamma comes to it and three matrices (S, S) are more than options.max_bytes.
[[nodiscard]] KernelRidgeSolution solve_kernel_ridge(const ProductKernel& kernel, const Samples& samples,
                                                     const double* row_scale, StridedView<const double> targets,
                                                     const KernelRidgeOptions& options, const Control& control);

/// Bytes that solve_kernel_ridge will hold beside its inputs, for a refusal before the work, without a fallback.
[[nodiscard]] double estimate_kernel_ridge_bytes(const ProductKernel& kernel, Index n_samples, Index n_outputs,
                                                 double gamma);

}  // namespace gegenbauer
