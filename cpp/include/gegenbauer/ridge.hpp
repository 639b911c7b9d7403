#pragma once
/// The whole solve of the paper, R-WDD: W = (gamma I + G'G)^-1 G'Phi (eq.weights_solution) or, for few samples,
/// W = G'(gamma I + GG')^-1 Phi (eq.weights_solution1 with the inverse that is missing there). The one place that knows
/// both a basis and a penalty: it joins the sums, the factorisations, the refinement and the fallbacks.

#include <string>
#include <vector>

#include "gegenbauer/cost.hpp"
#include "gegenbauer/normal_equations.hpp"

namespace gegenbauer {

enum class Solver { automatic, cholesky, orthogonal };

/// Products of features behind a Cholesky factor. automatic: float32 for large sums over samples that are float32
/// themselves, with refinement from the data in float64 to the same accuracy, or once more in float64 where that does
/// not converge.
enum class Products { automatic, float64 };

struct RidgeOptions {
  double gamma = 0.0;                 ///< >= 0; 0 is the Moore-Penrose solution (the paper's WDD)
  bool penalize_constant = true;      ///< false leaves the weight of term 0 out of the penalty
  Engine engine = Engine::automatic;  ///< automatic: the cheapest by fit_cost()
  Solver solver = Solver::automatic;  ///< automatic: Cholesky, or orthogonal when that would lose the answer
  Products products = Products::automatic;
};

/// What was done, after any fallback.
struct RidgeReport {
  Engine engine = Engine::primal;
  std::string solver;  ///< "cholesky", "qr", "lq" or "complete_orthogonal"
  double rcond = 0.0;  ///< estimated reciprocal condition number of the regularised normal matrix
  int n_refinements = 0;
  double correction = 0.0;  ///< relative size of the last refinement
  bool float32_products = false;
  Index rank = 0;  ///< min(S, L), or the numerical rank that gamma = 0 found
};

struct RidgeSolution {
  Matrix weights;  ///< (L, K)
  RidgeReport report;
};

/// Minimises |D (G W - Phi)|^2 + gamma |W|^2 with D = diag(row_scale). The design's targets are unscaled here.
/// Throws std::invalid_argument for bad sizes and NotPositiveDefinite when solver = cholesky was asked for and fails.
[[nodiscard]] RidgeSolution solve_ridge(const Design& design, const RidgeOptions& options, const Control& control);

/// The same from the statistic [G, Y]'[G, Y] (lower triangle, (L + K, L + K)) alone: Cholesky without the data.
[[nodiscard]] RidgeSolution solve_gram(const ConstMatrixRef& gram, Index n_terms, double gamma, bool penalize_constant,
                                       const Control& control);

/// Bytes that solve_ridge will hold beside its inputs, for a refusal before the work.
[[nodiscard]] double estimate_bytes(const TensorBasis& basis, Index n_samples, Index n_outputs,
                                    const RidgeOptions& options);

}  // namespace gegenbauer
