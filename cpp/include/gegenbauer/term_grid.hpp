#pragma once
/// Products with the features of many samples of few inputs, G W and G'R, from a grid in the angles: what a sample
/// costs does not depend on the number of terms.

#include <vector>

#include "gegenbauer/angle_grid.hpp"
#include "gegenbauer/design.hpp"
#include "gegenbauer/tensor_basis.hpp"

namespace gegenbauer {

/// The grid of some degrees, and what it costs. Inputs are few: a sample costs kAngleTaps^m.
class GridOfFew {
 public:
  static constexpr Index kMostInputs = 3;

  /// Whether there is a grid of so many inputs and waves that takes no more memory than a large basis does.
  [[nodiscard]] static bool exists(const std::vector<Index>& degrees);

  explicit GridOfFew(const std::vector<Index>& degrees) : grid_(degrees) {}

  [[nodiscard]] const AngleGrid& grid() const { return grid_; }

  /// Costs in multiply-adds at peak: of the sums of some factors, and of the values of some functions. Infinite where
  /// these would take more than some 64 MB.
  [[nodiscard]] double sums_cost(double n_samples, double n_factors) const;
  [[nodiscard]] double values_cost(double n_samples, double n_functions) const;

 private:
  AngleGrid grid_;
};

/// False where a box maps samples and does not clip them. Without a box they may lie anywhere: the grid sees that.
[[nodiscard]] inline bool may_be_inside(const Samples& samples) {
  return samples.map() == nullptr || samples.map()->clip;
}

/// values := G W, out(s, k) = sum_l weights(l, k) g_l(x_s). False, and out is of no use, where features cost less or a
/// sample lies outside of [-1, 1]. Values are off by 1e-15 of the sum of the absolute values of the Chebyshev
/// coefficients.
[[nodiscard]] bool predict_from_grid(const TensorBasis& basis, const Samples& samples,
                                     StridedView<const double> weights, StridedView<double> out,
                                     const Control& control);

/// cross += R'G, as accumulate_cross(), whose targets are R. False, and cross is as it was, as above.
[[nodiscard]] bool accumulate_cross_on_grid(const Design& design, MatrixRef cross, const Control& control);

}  // namespace gegenbauer
