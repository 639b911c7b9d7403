#pragma once
/// Psi = G W without G (paper: eq.output_of_SOGNN, eq.output_of_GOGNN): a block of terms is evaluated and used at once.

#include "gegenbauer/parallel.hpp"
#include "gegenbauer/tensor_basis.hpp"

namespace gegenbauer {

/// out = G weights: weights (L, K) of any layout, out (S, K) of any layout. Cost S L (2 K + 1) flops.
void predict(const TensorBasis& basis, const Samples& samples, StridedView<const double> weights,
             StridedView<double> out, const Control& control);

}  // namespace gegenbauer
