"""How large the penalised terms of a model are at samples, which penalties are measured by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.estimators._samples import spread_places

if TYPE_CHECKING:
    from gegenbauer.basis.kernels import SpectrumKernel, TotalDegreeKernel
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.basis.tensor_basis import TensorBasis
    from gegenbauer.estimators._samples import Samples

__all__ = ["MOST_FOR_A_MEAN", "mean_diagonal", "mean_squared_length"]

# Samples over which the kernel, or the squared lengths of a basis, are averaged
MOST_FOR_A_MEAN = 1000


def mean_diagonal(
    kernel: SpectrumKernel | TotalDegreeKernel,
    data: Samples,
    scaling: InputScaling,
    penalize_constant: bool,
) -> float:
    """Return the mean of the diagonal of the kernel matrix, of penalised terms."""
    values = kernel.diagonal(data.X, scaling=scaling)
    return float(np.average(values, weights=data.weight)) - (not penalize_constant)


def mean_squared_length(
    basis: TensorBasis, data: Samples, scaling: InputScaling, penalize_constant: bool
) -> float:
    """Estimate the mean squared length of the penalised terms of a sample, times its weight."""
    rows, weight = spread_places(data.n, MOST_FOR_A_MEAN), data.weight
    if weight is not None:  # as from the samples that weights count
        rows, counted = np.arange(data.n), np.cumsum(weight)
        if counted[-1] > MOST_FOR_A_MEAN:
            places = np.linspace(0.0, counted[-1] - 1.0, MOST_FOR_A_MEAN).round()
            rows = np.searchsorted(counted, places, side="right").clip(max=data.n - 1)
            weight = None
    squares = basis.evaluate(data.X[rows], scaling=scaling) ** 2
    lengths = squares[:, 0 if penalize_constant else 1 :].sum(axis=1)
    return float(np.average(lengths, weights=weight)) * data.unit
