"""Fitted functions as values, against the direct formulas."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gegenbauer import GegenbauerRegressorCV, InputScaling, TensorBasis
from gegenbauer.basis import SpectrumKernel
from gegenbauer.ridge import KernelExpansion, TermExpansion
from gegenbauer.ridge.expansions import KernelPosterior, TermPosterior

ALPHA = 0.03


@pytest.fixture
def box():
    return InputScaling([-1.0, 0.0], [2.0, 4.0], domain=(-1, 1))


@pytest.fixture
def X(rng):  # noqa: N802  # the name of the samples everywhere
    return rng.uniform([-1.0, 0.0], [2.0, 4.0], size=(15, 2))


@pytest.fixture
def terms(rng, box):
    basis = TensorBasis(2, degree=3, lam=0.5, spectrum="orthonormal")
    coef = rng.normal(size=(basis.n_terms, 2))
    return TermExpansion(basis, coef, box, np.array([3.0, -1.0]))


@pytest.fixture
def kernels(rng, box, X):
    coef = rng.normal(size=(len(X), 2))
    return KernelExpansion(SpectrumKernel(2, (0.5, 2.0)), X, coef, box, np.array([3.0, -1.0]))


def features(expansion, X):
    """Return features whose products are the kernel."""
    Z = expansion.scaling.transform(X)
    if isinstance(expansion, TermExpansion):
        return expansion.basis.evaluate(Z)
    # the decay n^-4 leaves less than 1e-7 beyond this degree
    basis = TensorBasis(2, degree=(60, 60), index_set="tensor", lam=0.0, spectrum=(0.5, 2.0))
    return basis.evaluate(Z)


@pytest.fixture(params=["terms", "kernels"])
def expansion(request):
    return request.getfixturevalue(request.param)


def test_values_are_those_of_the_sum(expansion, X):
    if isinstance(expansion, TermExpansion):
        direct = features(expansion, X) @ expansion.coef
    else:
        scaled = [expansion.scaling.transform(part) for part in (X, expansion.centres)]
        direct = expansion.kernel(*scaled) @ expansion.coef
    assert_allclose(expansion.evaluate(X), direct + expansion.intercept, rtol=1e-12, atol=1e-12)


def test_coefficients_of_one_dimension_make_values_of_one(expansion, X):
    flat = dataclasses.replace(
        expansion, coef=expansion.coef[:, 1].copy(), intercept=expansion.intercept[1:]
    )
    assert_allclose(flat.evaluate(X), expansion.evaluate(X)[:, 1], rtol=1e-13, atol=1e-13)
    assert flat.n_outputs == 1
    assert expansion.n_outputs == 2


def test_units(expansion, X):
    unit, center = np.array([2.0, 0.5]), np.array([1.0, 7.0])
    other = expansion.with_units(unit, center)
    assert_allclose(other.evaluate(X), center + unit * expansion.evaluate(X), rtol=1e-12)


def test_scaling(expansion, X):
    wide = InputScaling([-3.0, -4.0], [6.0, 8.0], domain=(-1, 1))
    other = expansion.with_scaling(wide)
    assert other.scaling is wide
    assert expansion.with_scaling(expansion.scaling) is expansion
    assert_array_equal(other.evaluate(X), dataclasses.replace(expansion, scaling=wide).evaluate(X))


@pytest.mark.parametrize("name", ["coef", "scaling", "intercept", "posterior", "anything"])
def test_nothing_changes_it(expansion, name):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(expansion, name, None)


def test_arrays_make_it_again(expansion, X):
    what = expansion.basis if isinstance(expansion, TermExpansion) else expansion.kernel
    again = type(expansion).from_arrays(expansion.to_arrays(), what, expansion.scaling)
    assert_array_equal(again.evaluate(X), expansion.evaluate(X))
    assert_array_equal(pickle.loads(pickle.dumps(expansion)).evaluate(X), expansion.evaluate(X))


def test_prior(expansion, X):
    """The prior gives each feature a coefficient of variance one."""
    share = np.arange(1.0, len(X) + 1) / np.arange(1.0, len(X) + 1).sum()
    G = features(expansion, X)
    tolerance = 1e-12 if isinstance(expansion, TermExpansion) else 1e-4
    spread = (share[:, np.newaxis] * (G - share @ G) ** 2).sum()
    assert_allclose(expansion.prior_spread(X, share), spread, rtol=tolerance)
    increments = ((G - G[0]) ** 2).sum(axis=1)
    found = expansion.prior_increments(expansion.scaling.transform(X))
    assert_allclose(found, increments, rtol=tolerance, atol=tolerance)


def posterior_of_terms(G, weight, free):
    """Return the covariance of coefficients, of the constant first, by its definition."""
    penalty = ALPHA * np.eye(G.shape[1])
    if free:
        penalty[0, 0] = 0.0
    return np.linalg.inv(penalty + G.T @ (weight[:, np.newaxis] * G))


@pytest.mark.parametrize("free", [False, True])
def test_variance_of_terms(terms, X, rng, free):
    weight = rng.uniform(0.5, 2.0, size=len(X))
    G = features(terms, X)
    covariance = posterior_of_terms(G, weight, free)
    mean = weight @ G[:, 1:] / weight.sum()
    kept = covariance[1:, 1:] if free else covariance
    posterior = TermPosterior(np.linalg.cholesky(kept), mean, 1.0 / weight.sum(), free)
    new = X[:4] + 0.1
    H = features(terms, new)
    found = dataclasses.replace(terms, posterior=posterior).variance(new)
    assert_allclose(found, np.einsum("ij,jk,ik->i", H, covariance, H), rtol=1e-10)


@pytest.mark.parametrize("free", [False, True])
def test_expected_increments(terms, X, rng, free):
    """(d'w)^2 and the variance of d'w, for the differences d of the features."""
    G = features(terms, X)
    covariance = posterior_of_terms(G, np.ones(len(X)), free)
    kept = covariance[1:, 1:] if free else covariance
    posterior = TermPosterior(np.linalg.cholesky(kept), G[:, 1:].mean(axis=0), 1.0 / len(X), free)
    H = features(terms, X[:5])
    d = H[:, np.newaxis] - H
    noise = rng.uniform(0.1, 2.0, size=terms.n_outputs)
    variance = np.einsum("ijk,kl,ijl->ij", d, covariance, d)
    expected = (d @ terms.coef_2d) ** 2 + variance[..., np.newaxis] * noise
    function = dataclasses.replace(terms, posterior=posterior)
    found = function.expected_increments(terms.scaling.transform(X[:5]), noise)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    unknown = function.expected_increments(terms.scaling.transform(X[:5]), noise * np.inf)
    assert_array_equal(unknown[..., 0], np.where(np.eye(5), 0.0, np.inf))
    with pytest.raises(ValueError, match="no posterior"):
        terms.expected_increments(H, noise)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_variance_and_smoother_of_kernels(kernels, X, rng, free, weighted):
    """Bordered systems of all samples, solved without a factorisation of ours."""
    weight = rng.uniform(0.5, 2.0, size=len(X)) if weighted else None
    found = dataclasses.replace(kernels, posterior=KernelPosterior(ALPHA, weight, free))
    transform, kernel = kernels.scaling.transform, kernels.kernel
    new = X[:4] * 0.9
    noise = ALPHA / (np.ones(len(X)) if weight is None else weight)
    K, k = kernel(transform(X)), kernel(transform(X), transform(new))
    system = np.block([[K - free + np.diag(noise), np.ones((len(X), 1))], [np.ones(len(X)), 0.0]])
    right = np.vstack([k - free, np.ones(len(new))])
    if not free:
        system, right = system[:-1, :-1], right[:-1]
    solved = np.linalg.solve(system, right)
    own = kernel.diagonal(transform(new)) - free
    variance = (own - (right * solved).sum(axis=0)) / ALPHA
    assert_allclose(found.smoother(new), solved[: len(X)], rtol=1e-9, atol=1e-11)
    assert_allclose(found.variance(new), variance, rtol=1e-8)


def test_variance_needs_a_posterior(expansion, X):
    with pytest.raises(ValueError, match="no posterior"):
        expansion.variance(X)


class TestArrays:
    """What is read back is checked, and what is handed out is the caller's own."""

    @pytest.mark.parametrize("options", [{"n_terms": 20}, {}])
    def test_arrays_are_copies(self, options):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(40, 2))
        model = GegenbauerRegressorCV(spectrum=(0.5, 2.0), **options).fit(X, X[:, 0] + X[:, 1])
        before = model.predict(X)
        for values in model.expansion_.to_arrays().values():
            values[...] = 7
        assert_array_equal(model.predict(X), before)

    @pytest.mark.parametrize("options", [{"n_terms": 20}, {}])
    def test_there_and_back_with_the_posterior(self, options):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(40, 2))
        model = GegenbauerRegressorCV(spectrum=(0.5, 2.0), **options).fit(X, X[:, 0] + X[:, 1])
        first = model.expansion_
        terms = first.basis if options else first.kernel
        same = type(first).from_arrays(
            first.to_arrays(), terms, first.scaling, posterior=first.posterior
        )
        assert_array_equal(same.evaluate(X), first.evaluate(X))
        assert_array_equal(same.variance(X), first.variance(X))
        narrow = {name: values.astype(np.float32) for name, values in first.to_arrays().items()}
        again = type(first).from_arrays(narrow, terms, first.scaling)
        assert_allclose(again.evaluate(X), first.evaluate(X), atol=1e-4)
        assert again.gradient(X).shape == first.gradient(X).shape
        with pytest.raises(ValueError, match="no posterior"):
            again.variance(X)

    def test_what_is_wrong_is_named(self):
        basis, box = TensorBasis(2, degree=2), InputScaling([0.0, 0.0], [1.0, 1.0])
        for arrays, message in [
            ({}, "arrays must hold 'coef', got"),
            ({"coef": np.ones(5)}, "coef must have 6 rows, got 5"),
            ({"coef": np.full(6, np.nan)}, "coef must be finite"),
            ({"coef": ["1"] * 6}, "coef must hold real numbers, got text"),
            ({"coef": np.ones((6, 2)), "intercept": [1.0]}, "intercept must have 2 rows, got 1"),
        ]:
            with pytest.raises((ValueError, TypeError), match=message):
                TermExpansion.from_arrays(arrays, basis, box)
        kernel = SpectrumKernel(2, (0.5, 2.0))
        for arrays, message in [
            ({"dual_coef": np.ones(3)}, "arrays must hold 'X_fit', got"),
            ({"X_fit": np.zeros((3, 2))}, "arrays must hold 'dual_coef', got"),
            ({"X_fit": np.zeros((3, 1)), "dual_coef": np.ones(3)}, "X_fit must have 2 columns"),
            ({"X_fit": np.zeros((3, 2)), "dual_coef": np.ones(4)}, "dual_coef must have 3 rows"),
        ]:
            with pytest.raises(ValueError, match=message):
                KernelExpansion.from_arrays(arrays, kernel, box)

    def test_variances_name_the_inputs(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(30, 2))
        model = GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(X, X[:, 0])
        with pytest.raises(ValueError, match="X must be finite"):
            model.expansion_.variance([[np.nan, 0.0]])
