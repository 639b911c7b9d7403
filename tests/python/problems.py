"""Small regression problems with their feature matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gegenbauer.basis import TensorBasis


class Problem(NamedTuple):
    basis: TensorBasis
    X: np.ndarray
    Y: np.ndarray
    G: np.ndarray


def make_problem(n_samples, n_features, n_terms, n_outputs=2, *, seed=0, **options) -> Problem:
    """Smooth targets with noise on samples in the unit box."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n_samples, n_features))
    waves = np.cos(X @ rng.normal(0, 3, (n_features, n_outputs)))
    Y = waves + 0.1 * rng.standard_normal((n_samples, n_outputs))
    basis = TensorBasis(n_features, n_terms=n_terms, **options)
    return Problem(basis, X, Y, basis.evaluate(X))


def relative(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)
