#pragma once
/// One ridge problem: what is requested, what was done, and the few products of G (rows scaled) that its solvers need.

#include <limits>
#include <string>

#include "gegenbauer/cost.hpp"
#include "gegenbauer/design.hpp"
#include "gegenbauer/normal_equations.hpp"

namespace gegenbauer {

enum class Solver { automatic, cholesky, orthogonal };

/// Products of features behind a Cholesky factor. automatic: float32 for large sums over samples that are float32
/// themselves, with refinement from the data in float64 to the same accuracy, or once more in float64 where that does
/// not converge.
enum class Products { automatic, float64 };

struct RidgeOptions {
  double gamma = 0.0;                 ///< >= 0; 0 is the limit, the Moore-Penrose solution (the paper's WDD)
  bool penalize_constant = true;      ///< false leaves the weight of term 0 out of the penalty
  Engine engine = Engine::automatic;  ///< automatic: the cheapest by fit_cost()
  Solver solver = Solver::automatic;  ///< automatic: Cholesky, or orthogonal when that would lose the answer
  Products products = Products::automatic;
  double max_bytes = std::numeric_limits<double>::infinity();  ///< of a fallback, which estimate_bytes() leaves out
};

/// What was done, after any fallback.
struct RidgeReport {
  Engine engine = Engine::primal;
  std::string solver;  ///< "cholesky", "qr", "lq" or "complete_orthogonal"
  double rcond = 0.0;  ///< estimated reciprocal condition number of the regularised normal matrix
  int n_refinements = 0;
  double correction = 0.0;  ///< relative size of the last refinement
  bool float32_products = false;
  Index rank = 0;      ///< min(S, L), or the numerical rank that gamma = 0 found
  double error = 0.0;  ///< estimate, mostly too high, of the relative error of the weights by rounding
};

/// What rounding of the features does to weights of least squares, to first order and relative to them (Wedin):
/// eps k (1 + |G| / |A| (1 + (k + 1) |r| / (|A| |W|))) for A = [G; sqrt(penalty) I] of condition number k = rcond^-1/2
/// and of that norm, with the residual r of the targets. A penalty is not rounded. Infinite where that is nothing to go
/// by.
[[nodiscard]] double rounding_of_least_squares(double rcond, double norm, double penalty, double residual,
                                               double weights);

struct RidgeSolution {
  Matrix weights;  ///< (L, K)
  RidgeReport report;
};

/// The design and options must outlive it.
class Problem {
 public:
  Problem(const Problem&) = delete;  // views of its own
  Problem& operator=(const Problem&) = delete;
  Problem(const Design& design, const RidgeOptions& options, const Control& control);

  [[nodiscard]] Index n_samples() const { return design_.samples.rows(); }
  [[nodiscard]] Index n_terms() const { return design_.basis.n_terms(); }
  [[nodiscard]] Index n_outputs() const { return design_.targets.cols; }
  [[nodiscard]] const Control& control() const { return control_; }
  [[nodiscard]] const RidgeOptions& options() const { return options_; }
  [[nodiscard]] double scale(Index s) const { return design_.row_scale == nullptr ? 1.0 : design_.row_scale[s]; }
  [[nodiscard]] double penalty(Index l) const { return l == 0 && !options_.penalize_constant ? 0.0 : options_.gamma; }
  [[nodiscard]] Index first_penalized() const { return options_.penalize_constant ? 0 : 1; }

  /// the scaled targets of the samples [first, first + count)
  [[nodiscard]] Matrix targets(Index first, Index count) const;

  /// Whether products of features in float32 are worth a try: refinement has to make up for them, a few passes over the
  /// data each of which costs as much as some dozens of the n sums a term (or sample).
  [[nodiscard]] Precision precision(Engine engine) const;

  /// first columns, [G, Y]'G, of the lower triangle of [G, Y]'[G, Y], by features or by moments
  [[nodiscard]] Matrix gram(Engine engine, Precision precision) const;

  /// lower triangle of GG' over the penalised terms, from features or by a truncated product
  [[nodiscard]] Matrix kernel(Engine engine, Precision precision) const;

  /// Whether the error of a Gram matrix by moments is so far below the penalty that refinement removes it
  [[nodiscard]] bool moments_are_accurate() const;

  /// G' r
  [[nodiscard]] Matrix transposed_product(const Matrix& r) const;

  /// G W
  [[nodiscard]] Matrix product(const Matrix& weights) const;

  /// Y - G W
  [[nodiscard]] Matrix residual(const Matrix& weights) const;

  /// G'(Y - G W) - penalty W: what vanishes at the solution; and the norm of Y - G W
  [[nodiscard]] Matrix gradient(const Matrix& weights, double& residual_norm) const;

  /// the same of features that are not rounded
  [[nodiscard]] Matrix exact_gradient(const Matrix& weights) const;

  /// rows [first, first + count) of G, scaled, into a view (count, L)
  void features(Index first, Index count, StridedView<double> out) const;

 private:
  // the scaled rows with these targets
  [[nodiscard]] Design with_targets(StridedView<const double> targets) const;

  const Design& design_;
  const RidgeOptions& options_;
  const Control& control_;
  StridedView<const double> targets_;  ///< scaled: the caller's own, or `scaled_`
  Matrix scaled_;                      ///< empty where rows have no scale
};

}  // namespace gegenbauer
