"""Predictions and standard deviations of all terms are those of a Gaussian process."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Kernel

from gegenbauer import GegenbauerRegressorCV


class Prior(Kernel):
    """The kernel of a fitted model as one of scikit-learn's, times a variance."""

    def __init__(self, kernel, scaling, variance):
        self.kernel = kernel
        self.scaling = scaling
        self.variance = variance

    def __call__(self, X, Y=None, eval_gradient=False):  # scikit-learn's signature
        Y = X if Y is None else Y
        found = self.kernel(X, Y, scaling=self.scaling)
        return self.variance * found

    def diag(self, X):
        return self.variance * self.kernel.diagonal(X, scaling=self.scaling)

    def is_stationary(self):
        return False


@pytest.mark.parametrize("spectrum", [(0.4, 2.0), "learned"])
@pytest.mark.parametrize("seed", [0, 1])
def test_is_that_of_scikit_learn(spectrum, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 3, size=(70, 3))
    y = np.sin(X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.2 * rng.normal(size=70)
    options = {"intervals": "one_spectrum"}
    if spectrum != "learned":
        options["spectrum"] = spectrum
    model = GegenbauerRegressorCV(penalize_constant=True, **options).fit(X, y)
    noise = float(model.noise_variance_[0])
    # a prior of the variance of the noise by alpha makes ridge regression of it
    process = GaussianProcessRegressor(
        Prior(model.kernel_, model.scaling_, noise / model.alpha_), alpha=noise, optimizer=None
    )
    # targets are centred where they stand: the model adds what it has taken out
    shift = model.intercept_ if np.ndim(model.intercept_) == 0 else model.intercept_[0]
    process.fit(X, y - shift)
    new = rng.uniform(X.min(axis=0), X.max(axis=0), size=(40, 3))
    mean, latent = process.predict(new, return_std=True)
    found, std = model.predict(new, return_std=True)
    assert_allclose(found, mean + shift, rtol=1e-8, atol=1e-8 * np.ptp(y))
    assert_allclose(std, np.sqrt(latent**2 + noise), rtol=1e-8)
