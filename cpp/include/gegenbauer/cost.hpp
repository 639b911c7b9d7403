#pragma once
/// What a fit costs by each of its ways, and the cheapest of them: the one place that knows speeds.
///
/// Costs are counted in multiply-adds at the machine's peak. What runs below the peak counts as more of them, by
/// factors measured once (docs/performance.md has the measurements); since all ways share the peak, the choice needs no
/// clock and is the same on every machine of a kind.

#include "gegenbauer/tensor_basis.hpp"

namespace gegenbauer {

/// The ways to the normal equations. primal and moments give G'G (L, L), dual and kernel GG' (S, S).
enum class Engine { automatic, primal, moments, dual, kernel };

[[nodiscard]] constexpr bool is_dual(Engine engine) { return engine == Engine::dual || engine == Engine::kernel; }

/// Multiply-adds at peak for a whole fit: normal equations, factorisation, solve and one refinement. Making a plan (an
/// index set's halves and their products) counts as if it were done each time.
struct FitCost {
  double primal;
  double moments;  ///< a lower bound once that exceeds primal or dual; infinite where the plan would be too large
  double dual;
  double kernel;

  [[nodiscard]] Engine cheapest() const;
};

/// Cost O(L) beside that of a plan for the moments, which is made only if moments can be the cheapest way.
[[nodiscard]] FitCost fit_cost(const TensorBasis& basis, Index n_samples, Index n_outputs);

/// Whether a Gram matrix by moments is off by so much less than a penalty, >= 0, that this does no harm: the bound of
/// its error in the spectral norm, eps times the sum of the weights times MomentPlan::squared_bounds(), is a thousandth
/// of it at most. No where there is no plan. Cost O(1) once the plan is made.
[[nodiscard]] bool moments_resolve(const TensorBasis& basis, double weight, double penalty);

}  // namespace gegenbauer
