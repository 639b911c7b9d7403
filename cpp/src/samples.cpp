#include "gegenbauer/samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

Samples::Samples(StridedView<const double> view, const BoxMap* map)
    : doubles_(view), rows_(view.rows), cols_(view.cols), map_(map) {
  validate();
}

Samples::Samples(StridedView<const float> view, const BoxMap* map)
    : floats_(view), rows_(view.rows), cols_(view.cols), map_(map) {
  validate();
}

void Samples::validate() const {
  if (map_ == nullptr) return;
  for (const auto* part : {&map_->half_lower, &map_->half_range, &map_->span, &map_->offset}) {
    require(static_cast<Index>(part->size()) == cols_, "the box has ", part->size(), " inputs but X has ", cols_,
            " columns");
  }
  require(map_->warping.empty() || static_cast<Index>(map_->warping.size()) == cols_, "the box has ",
          map_->warping.size(), " maps but X has ", cols_, " columns");
}

Samples Samples::slice(Index first, Index count) const {
  Samples part = *this;
  part.rows_ = count;
  if (doubles_.data != nullptr) {
    part.doubles_.data += first * doubles_.row_stride;
    part.doubles_.rows = count;
  } else {
    part.floats_.data += first * floats_.row_stride;
    part.floats_.rows = count;
  }
  return part;
}

template <class Scalar>
void Samples::gather(const StridedView<const Scalar>& view, Index first, Index count, double* x, Index stride) const {
  // the inner loop runs along the smaller stride of the source
  if (std::abs(view.row_stride) <= std::abs(view.col_stride)) {
    for (Index t = 0; t < cols_; ++t)
      for (Index s = 0; s < count; ++s) x[t * stride + s] = static_cast<double>(view(first + s, t));
  } else {
    for (Index s = 0; s < count; ++s)
      for (Index t = 0; t < cols_; ++t) x[t * stride + s] = static_cast<double>(view(first + s, t));
  }
}

void Samples::load(Index first, Index count, Index padded, double* x, Index stride) const {
  if (doubles_.data != nullptr) {
    gather(doubles_, first, count, x, stride);
  } else {
    gather(floats_, first, count, x, stride);
  }
  for (Index t = 0; t < cols_; ++t) {
    double* row = x + t * stride;
    if (map_ != nullptr) {
      const auto i = size_of(t);
      const double lower = map_->half_lower[i];
      const double range = map_->half_range[i];
      const double span = map_->span[i];
      const double offset = map_->offset[i];
      const PiecewiseLinear* warp = map_->warp(i);
      if (span == 0.0) {
        for (Index s = 0; s < count; ++s) row[s] = std::isnan(row[s]) ? row[s] : offset;
      } else if (warp != nullptr) {
        for (Index s = 0; s < count; ++s) {
          double share = (0.5 * row[s] - lower) / range;
          if (map_->clip) share = std::min(std::max(share, 0.0), 1.0);
          share = (*warp)(share);
          row[s] = offset + span * (map_->clip ? std::min(share, 1.0) : share);
        }
      } else if (map_->clip) {
        for (Index s = 0; s < count; ++s)
          // in this order NaN, a missing number, stays what it is
          row[s] = offset + span * std::min(std::max((0.5 * row[s] - lower) / range, 0.0), 1.0);
      } else {
        for (Index s = 0; s < count; ++s) row[s] = offset + span * ((0.5 * row[s] - lower) / range);
      }
    }
    for (Index s = count; s < padded; ++s) row[s] = 0.0;
  }
}

}  // namespace gegenbauer
