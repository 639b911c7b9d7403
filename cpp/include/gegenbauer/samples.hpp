#pragma once
/// The rows of the caller's data as the core reads them: any layout, float64 or float32, never copied as a whole.
/// Blocks are converted to float64 and mapped from the box of the training data to the domain on the fly.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "gegenbauer/types.hpp"

namespace gegenbauer {

/// A continuous, increasing map of [0, 1] onto itself: u -> values[j] + slopes[j] (u - starts[j]) with the last j whose
/// start is not above u; the outer pieces have no end. Without pieces it is the identity. Cost O(log pieces).
struct PiecewiseLinear {
  std::vector<double> starts;
  std::vector<double> values;
  std::vector<double> slopes;

  /// The piece that holds u, the last one for NaN.
  [[nodiscard]] std::size_t piece(double u) const {
    return static_cast<std::size_t>(std::upper_bound(starts.begin() + 1, starts.end(), u) - starts.begin()) - 1;
  }
  [[nodiscard]] double operator()(double u) const {
    const std::size_t j = piece(u);
    return values[j] + slopes[j] * (u - starts[j]);
  }
};

/// Per input: x -> offset + span * warp(clamp01((x / 2 - half_lower) / half_range)). Halves keep the range of extreme
/// columns finite; a constant column has span = 0. `warping` is empty, or has one map for each input.
struct BoxMap {
  std::vector<double> half_lower;
  std::vector<double> half_range;
  std::vector<double> span;
  std::vector<double> offset;
  bool clip = true;
  std::vector<PiecewiseLinear> warping{};

  /// The map of input t within [0, 1], or null if it has none.
  [[nodiscard]] const PiecewiseLinear* warp(std::size_t t) const {
    return warping.empty() || warping[t].starts.empty() ? nullptr : &warping[t];
  }
};

class Samples {
 public:
  Samples(StridedView<const double> view, const BoxMap* map = nullptr);
  Samples(StridedView<const float> view, const BoxMap* map = nullptr);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }

  /// Whether the caller's values are float32.
  [[nodiscard]] bool are_float32() const { return floats_.data != nullptr; }

  /// The map to the domain, or null.
  [[nodiscard]] const BoxMap* map() const { return map_; }

  /// The caller's values as they are.
  [[nodiscard]] Samples unmapped() const {
    Samples raw = *this;
    raw.map_ = nullptr;
    return raw;
  }

  /// The rows [first, first + count).
  [[nodiscard]] Samples slice(Index first, Index count) const;

  /// x[t * stride + s] = mapped entry (first + s, t), s = 0..count-1; the rest of each row up to `padded` is zero.
  /// Cost O(count * cols).
  void load(Index first, Index count, Index padded, double* x, Index stride) const;

 private:
  void validate() const;
  template <class Scalar>
  void gather(const StridedView<const Scalar>& view, Index first, Index count, double* x, Index stride) const;

  StridedView<const double> doubles_{};
  StridedView<const float> floats_{};
  Index rows_;
  Index cols_;
  const BoxMap* map_;
};

/// Numbers of each sample, such as a weight and targets: factor f of the sample first + s goes to out[f * stride + s],
/// s < count. Called by any thread.
using SampleFactors = std::function<void(Index first, Index count, double* out, Index stride)>;

}  // namespace gegenbauer
