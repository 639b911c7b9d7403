#pragma once
/// The gradient of least squares in twice the precision, for refinement beyond what rounded features can give. Rounding
/// of G itself moves weights by eps k^2 |r| / |G|, k the condition number; a factor of rounded features, corrected by
/// gradients of exact ones, comes to the weights of exact ones.

#include "gegenbauer/design.hpp"
#include "gegenbauer/parallel.hpp"

namespace gegenbauer {

/// G'D^2 (Phi - G W) for W (L, K), with the design's targets Phi unscaled and D = diag(row_scale). Scaled inputs,
/// polynomials, terms and sums are pairs of float64. Cost about 30 S L (1 + K) flops.
[[nodiscard]] Matrix extended_gradient(const Design& design, const Matrix& weights, const Control& control);

}  // namespace gegenbauer
