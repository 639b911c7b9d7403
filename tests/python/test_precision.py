"""The float32 form of the products of features, judged by NumPy in extended precision."""

from __future__ import annotations

import numpy as np
import pytest

from gegenbauer import InputScaling, TensorBasis
from gegenbauer._dispatch import core

UNIT = 2.0**-24


@pytest.mark.parametrize("domain", [(0, 1), (-1, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_products_in_float32(rng, domain, dtype, weighted):
    X = rng.normal(size=(1237, 3)).astype(dtype)
    Y = rng.normal(size=(1237, 2))
    scaling = InputScaling.fit(X, domain=domain)
    basis = TensorBasis(3, degree=4, spectrum="orthonormal", lam=0.5)
    row_scale = np.sqrt(rng.uniform(0.1, 3, size=1237)) if weighted else None
    box = basis._box(scaling)
    G = basis.evaluate(X, scaling=scaling).astype(np.longdouble)
    if weighted:
        G *= row_scale[:, np.newaxis]
    bound = (256 + 4 * 3 + 2) * UNIT

    size = basis.n_terms + 2
    gram = np.zeros((size, size), order="F")
    core.accumulate_gram(basis._plan, X, box, Y, row_scale, gram, 2, "float32")
    both = np.hstack([G, Y.astype(np.longdouble)])
    expected = both.T @ both
    norms = np.sqrt(expected.diagonal())
    error = np.tril(np.abs(gram - expected) / np.outer(norms, norms))
    assert 1e-9 < error[: basis.n_terms].max() <= bound
    assert error[basis.n_terms :].max() <= 1e-14  # what the targets take part in is float64

    kernel = np.zeros((1237, 1237), order="F")
    core.accumulate_kernel(basis._plan, X, box, row_scale, kernel, 2, "float32")
    expected = G @ G.T
    norms = np.sqrt(expected.diagonal())
    error = np.tril(np.abs(kernel - expected) / np.outer(norms, norms))
    assert 1e-9 < error.max() <= bound


def test_sums_of_a_sum(rng):
    """What stands in the matrix already is kept, in either precision."""
    X, nothing = rng.uniform(size=(100, 2)), np.empty((100, 0))
    basis = TensorBasis(2, degree=3)
    sums = []
    for start in (0.0, 1e6):
        gram = np.full((10, 10), start, order="F")
        core.accumulate_gram(basis._plan, X, None, nothing, None, gram, 1, "float32")
        sums.append(np.tril(gram - start))
    np.testing.assert_allclose(sums[1], sums[0], rtol=0, atol=1e-9)


def test_unknown_precision(rng):
    X = rng.uniform(size=(5, 2))
    basis = TensorBasis(2, degree=1)
    with pytest.raises(ValueError, match="precision 'half'"):
        core.accumulate_kernel(basis._plan, X, None, None, np.zeros((5, 5), order="F"), 1, "half")


def test_small_terms_beside_the_constant(rng):
    """Summed after the constant, terms below half a unit of it would all be lost."""
    X = rng.uniform(size=(90, 5))
    basis = TensorBasis(5, n_terms=250, lam=0.05)
    kernels = []
    for precision in ("float64", "float32"):
        kernels.append(np.zeros((90, 90), order="F"))
        core.accumulate_kernel(basis._plan, X, None, None, kernels[-1], 1, precision)
    scale = np.sqrt(kernels[0].diagonal())
    assert np.tril(np.abs(kernels[1] - kernels[0]) / np.outer(scale, scale)).max() < 5e-7
