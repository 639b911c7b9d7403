#pragma once
/// Polynomials of few inputs at many samples, and sums over many samples of such polynomials, at a cost a sample that
/// does not grow with the degree. T_k(x) is the cosine of k arccos x, and a cosine is known everywhere from a regular
/// grid of angles that is a little finer than the shortest wave. With a window w that is narrow in the angles and, but
/// for rounding, in the frequencies as well,
///     T_k(x) = sum over the kAngleTaps nodes i around the angle of x of w_i(x) wave_k(i),
///     wave_k(i) = cos(k angle_i) divided by the Fourier transform of w at k,
/// and products of that over the inputs (the non-uniform Fourier transform). Functions with coefficients c are read
/// from the grid of sum_k c_k wave_k; sums with factors a_s are the waves of the grid of sum_s a_s w(x_s), which is the
/// transpose.

#include <cstdint>
#include <vector>

#include "gegenbauer/aligned.hpp"
#include "gegenbauer/parallel.hpp"
#include "gegenbauer/samples.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

/// Nodes an input that a value is made of: with so many, and kAngleOversampling, the window errs by 1e-15.
inline constexpr Index kAngleTaps = 16;

/// Steps of the grid for each degree: half of a wave of the highest degree has so many.
inline constexpr double kAngleOversampling = 2.25;

/// How far the grid goes on beyond the angles 0 and pi, in nodes.
inline constexpr Index kAngleMargin = kAngleTaps / 2 - 1;

/// The grid of one input.
class AngleAxis {
 public:
  /// Cost, and memory, O(degree).
  explicit AngleAxis(Index degree);

  /// Nodes of the axis of a degree.
  [[nodiscard]] static Index nodes_of(Index degree);

  [[nodiscard]] Index n_waves() const { return static_cast<Index>(shares_.size()); }
  /// Steps from the angle 0 to pi.
  [[nodiscard]] Index steps() const { return static_cast<Index>(cosines_.size()); }
  [[nodiscard]] Index n_nodes() const { return steps() + 1 + 2 * kAngleMargin; }
  /// values[i] := wave_k at all nodes.
  void wave(Index k, double* values) const;

  /// below[s] := the first of the nodes around x[s], which is the number of whole steps in its angle, and v[s] := how
  /// far into the next step the angle is, from -1 to 1. x beyond [-1, 1] counts as its end, and what is no number as 1,
  /// with v that is none. By the addition theorem from the middle of a step, so that the rounding of v grows with the
  /// degree no more than that of x. Returns the largest |x|. Cost about 40 flops a sample.
  double place(const double* x, Index count, std::int32_t* below, double* v) const;

 private:
  std::vector<double> shares_;   // of each wave: what its cosines are multiplied by
  std::vector<double> turn_;     // cosines of the nodes of a whole turn
  std::vector<double> cosines_;  // of the middles of the steps
  std::vector<double> sines_;
};

/// Degree of the polynomials that stand for the window within a step, to 1e-17.
inline constexpr Index kAngleWindowDegree = 14;

/// The weight of the node `tap` around an angle, of the first half, is the sum over k of powers[k * kAngleTaps / 2 +
/// tap] v^k; aligned. That of the node kAngleTaps - 1 - tap is the same at -v.
[[nodiscard]] const double* angle_window_powers();

/// The grid of some inputs: its nodes and its waves are those of its axes, the last input fastest.
class AngleGrid {
 public:
  /// degrees: the highest of each input, at least one input. Throws std::invalid_argument where there would be more
  /// than most_nodes.
  explicit AngleGrid(const std::vector<Index>& degrees, Index most_nodes = Index{1} << 31);

  [[nodiscard]] Index n_inputs() const { return static_cast<Index>(axes_.size()); }
  [[nodiscard]] Index n_nodes() const { return n_nodes_; }
  [[nodiscard]] Index n_waves() const { return n_waves_; }

  /// The wave of a product of polynomials of the inputs from first_input on, of these degrees.
  [[nodiscard]] Index wave_of(const std::vector<std::int32_t>& degrees, Index first_input = 0) const;

  /// Nodes around a sample, kAngleTaps^m.
  [[nodiscard]] Index n_taps() const { return static_cast<Index>(lines_.size()) * kAngleTaps; }

  /// Grids of sums of so many samples, which are added one after the other.
  [[nodiscard]] Index n_chunks(double n_samples) const;

  /// sums[f * n_waves() + k] := sum_s factor_f(s) T_k(x_s), T_k a product over the inputs. False, and sums are of no
  /// use, where a sample lies outside of [-1, 1]. Sums are off by 1e-15 of those of |factor_f|, that of the constant by
  /// the rounding of a sum. Cost 2 kAngleTaps^m flops a sample and factor, and waves_cost() a factor.
  [[nodiscard]] bool accumulate(const Samples& samples, Index n_factors, const SampleFactors& factors, double* sums,
                                const Control& control) const;

  /// Multiply-adds from the nodes to the waves, or back.
  [[nodiscard]] double waves_cost() const;

 private:
  friend class AngleFunctions;
  struct Places;

  [[nodiscard]] Places make_places() const;
  double place(const Samples& samples, Index first, Index count, Places& places) const;
  void to_waves(const double* grid, double* sums) const;
  void to_nodes(const double* coefficients, double* grid) const;  // the transpose
  void spread(const Places& places, Index count, Index n_factors, const double* factors, double* lines, double* grids,
              double* totals) const;
  // lines := products of the weights of all inputs but the last, one a line; last := those along the lines
  void weights_around(const Places& places, Index s, double* lines, double* last) const;

  std::vector<AngleAxis> axes_;
  std::vector<Index> stride_;       // of each input, in nodes
  std::vector<Index> extent_;       // nodes of each input, with what pads the lines of the last
  std::vector<Index> wave_stride_;  // of each input, in waves
  std::vector<Index> lines_;        // first nodes of the kAngleTaps^(m-1) lines along the last input
  std::vector<Index> bins_;         // of each input: patches of nodes by which samples are sorted
  Index n_bins_ = 1;
  Index n_nodes_ = 1;
  Index n_waves_ = 1;
};

/// Some functions on a grid.
class AngleFunctions {
 public:
  /// coefficients: shape (waves, functions), the last input fastest.
  AngleFunctions(const AngleGrid& grid, StridedView<const double> coefficients, const Control& control);

  [[nodiscard]] Index n_inputs() const { return grid_.n_inputs(); }
  [[nodiscard]] Index n_functions() const { return n_functions_; }

  /// values(s, f) := function f at sample s. Returns the largest |x|: samples beyond [-1, 1] count as the end. Values
  /// are off by 1e-15 of the sum of |coefficients|. Cost 2 kAngleTaps^m flops a sample and function.
  double evaluate(const Samples& samples, StridedView<double> values, const Control& control) const;

 private:
  AngleGrid grid_;
  Index n_functions_;
  Index side_;           // functions that lie side by side
  AlignedBuffer nodes_;  // [group of so many functions][node][function of the group]
};

}  // namespace gegenbauer
