#pragma once
/// The rows [G, Y] of one computation. Nothing here computes.

#include "gegenbauer/tensor_basis.hpp"

namespace gegenbauer {

/// row_scale has one entry a sample or is null; targets (S, K) may have K = 0.
struct Design {
  const TensorBasis& basis;
  const Samples& samples;
  const double* row_scale;
  StridedView<const double> targets;
};

}  // namespace gegenbauer
