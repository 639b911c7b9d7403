#pragma once
/// Many functions of the same rows at once, from a grid: what is a polynomial in x is a sum of cosines of the angle
/// arccos x, and a sum of cosines is known everywhere from a regular grid of angles that is a little finer than its
/// shortest wave (the non-uniform Fourier transform of type 2):
///     f(x) = sum over kAngleTaps^m nodes i around the angles of x of w_i1(x_1) ... w_im(x_m) grid_i,
/// where grid holds f with each of its waves divided by the Fourier transform of the window w.

#include <vector>

#include "gegenbauer/aligned.hpp"
#include "gegenbauer/parallel.hpp"
#include "gegenbauer/samples.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

/// Nodes an input that a value is made of.
inline constexpr Index kAngleTaps = 14;

/// How far the grid goes on beyond the angles 0 and pi, in nodes.
inline constexpr Index kAngleMargin = kAngleTaps / 2 - 1;

/// The grid of some functions, as the core reads it.
class AngleGrid {
 public:
  /// steps: those from 0 to pi for each input; the grid has so many nodes and one, and kAngleMargin more at both ends.
  /// values: shape (product of the nodes of the inputs, functions), row by row, the last input fastest; copied.
  /// window: shape (degree + 1, kAngleTaps): weight l of a row that lies u = (1 + v) / 2 steps above a node is
  /// sum_k window(k, l) v^k; node 0 is kAngleMargin steps below that node.
  AngleGrid(std::vector<Index> steps, StridedView<const double> values, StridedView<const double> window);

  [[nodiscard]] Index n_functions() const { return n_functions_; }

  /// values(s, f) = function f at sample s, whose inputs lie in [-1, 1] (what rounding has put beyond is taken back).
  /// Cost 2 kAngleTaps^m flops a sample and function, and 2 kAngleTaps (degree + 1) m flops a sample for the weights.
  void evaluate(const Samples& samples, StridedView<double> values, const Control& control) const;

  [[nodiscard]] Index n_inputs() const { return static_cast<Index>(steps_.size()); }

 private:
  struct Scratch;
  void place(const Samples& samples, Index first, Index count, Scratch& scratch) const;

  std::vector<Index> steps_;
  std::vector<Index> stride_;  // of each input, in nodes
  std::vector<Index> lines_;   // first nodes of the kAngleTaps^(m-1) lines along the last input, from the first of all
  Index n_nodes_ = 1;
  Index n_functions_;
  AlignedBuffer nodes_;  // [group of functions][node][function of the group]
  Index window_degree_;
  AlignedBuffer window_;  // [power][tap]
};

}  // namespace gegenbauer
