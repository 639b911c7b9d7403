"""Each factorisation of a ridge problem, and each pass over its samples, against brute force.

Brute force is the matrix of features of `gegenbauer.reference`, and a dense solve for every answer:
a refit for each sample that is left out, the hat matrix for each sum of leverages.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import make_problem

from gegenbauer import reference
from gegenbauer.basis import SpectrumKernel, TensorBasis, TotalDegreeKernel
from gegenbauer.selection import _leverage_passes
from gegenbauer.selection._factorisations import (
    Band,
    NormalEquations,
    SingularValues,
    factorise,
)
from gegenbauer.selection._leverage_passes import (
    FeaturesPass,
    FormsPass,
    GridPass,
    LeveragePass,
    TrianglePass,
    cheapest_pass,
)
from gegenbauer.selection._ridge_problem import RidgeProblem

ALPHAS = np.array([1e-2, 1.0, 30.0])
EPS = np.finfo(np.float64).eps
TALL, WIDE = (30, 2, 10), (18, 3, 35)


class Brute:
    """Dense solves for the features `G` of all samples, the constant first."""

    def __init__(self, G, Y, weights, free):
        self.G, self.Y, self.free = G, Y, free
        self.weights = np.ones(len(G)) if weights is None else weights
        self.root = np.sqrt(self.weights)[:, np.newaxis]
        self.A, self.B = self.root * G, self.root * Y

    def solve(self, alpha, right, weights=None):
        """Apply the inverse of the normal equations with a penalty."""
        w = self.weights if weights is None else weights
        penalty = np.full(self.G.shape[1], float(alpha))
        penalty[0] *= not self.free
        return np.linalg.solve((self.G.T * w) @ self.G + np.diag(penalty), right)

    def fit(self, alpha, weights=None):
        w = self.weights if weights is None else weights
        return self.solve(alpha, (self.G.T * w) @ self.Y, weights)

    def hat(self, alpha):
        return self.A @ self.solve(alpha, self.A.T)

    def residual(self, alpha):
        return self.B - self.hat(alpha) @ self.B

    def left_out(self, alpha, share):
        """Residuals of refits, each with a share of one sample's weight taken away."""
        found = np.empty_like(self.Y)
        for i, part in enumerate(share):
            weights = self.weights.copy()
            weights[i] *= 1.0 - part
            found[i] = self.Y[i] - self.G[i] @ self.fit(alpha, weights)
        return found

    def products(self):
        """G G' of scaled samples, without what is along the scales of a free constant."""
        A = self.A
        if self.free:
            along = self.root / np.linalg.norm(self.root)
            A = A[:, 1:] - along @ (along.T @ A[:, 1:])
        return A @ A.T

    def eigenvalues(self, size):
        """The largest eigenvalues, of which `size` are not zero by the shapes."""
        return np.linalg.eigvalsh(self.products())[::-1][:size].clip(min=0.0)


def features(basis, X):
    return reference.activation_matrix(X, basis.indices, basis.lam)


def problem_of(model, X, Y, scale, *, free=False):
    return RidgeProblem(model, X, Y, scale, scaling=None, free=free, n_threads=1)


def make(kind, shape, *, free=False, weighted=False, lam=0.5, **options):
    """Return a factorisation and its brute force."""
    p = make_problem(*shape, lam=lam)
    Y = p.Y + 3.0
    weights = np.random.default_rng(1).uniform(0.2, 3, len(Y)) if weighted else None
    problem = problem_of(p.basis, p.X, Y, None if weights is None else np.sqrt(weights), free=free)
    return kind(problem, **options), Brute(features(p.basis, p.X), Y, weights, free)


def left_out(factorisation, alphas, share=None):
    """Return the residuals of samples left out and their leverages, from all blocks."""
    problem = factorisation.problem
    residuals = np.empty((alphas.size, problem.n_samples, problem.n_outputs))
    leverages = np.empty(residuals.shape[:2])
    for part in factorisation.left_out(alphas, share):
        scaled = part.residuals / part.complements[:, :, np.newaxis]
        residuals[:, part.samples] = scaled / problem.scale[part.samples, np.newaxis]
        leverages[:, part.samples] = part.leverages
    return residuals, leverages


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("shape", [TALL, WIDE])
class Interface:
    """What all three have to answer; each of them adds what it alone does."""

    @pytest.mark.parametrize("shared", [False, True])
    def test_left_out(self, shape, free, weighted, shared):
        one, brute = make(self.kind, shape, free=free, weighted=weighted)
        share = np.random.default_rng(2).uniform(0.1, 1, shape[0]) if shared else None
        residuals, leverages = left_out(one, ALPHAS, share)
        for g, alpha in enumerate(ALPHAS):
            true = brute.left_out(alpha, np.ones(shape[0]) if share is None else share)
            assert_allclose(residuals[g], true, rtol=1e-8, atol=1e-9)
            assert_allclose(leverages[g], np.diag(brute.hat(alpha)), atol=1e-10)

    def test_sums_of_leverages(self, shape, free, weighted):
        one, brute = make(self.kind, shape, free=free, weighted=weighted)
        traces = [np.trace(brute.hat(alpha)) for alpha in ALPHAS]
        assert_allclose(one.effective_dof(ALPHAS), traces, rtol=1e-9)
        assert_allclose(one.residual_dof(ALPHAS), shape[0] - np.array(traces), rtol=1e-8)

    def test_quadratic_forms(self, shape, free, weighted):
        one, brute = make(self.kind, shape, free=free, weighted=weighted)
        squares, products = one.quadratic_forms(ALPHAS)
        for g, alpha in enumerate(ALPHAS):
            e = brute.residual(alpha)
            assert_allclose(squares[g], (e**2).sum(axis=0), rtol=1e-7)
            assert_allclose(products[g], (e * brute.B).sum(axis=0), rtol=1e-7)

    def test_log_determinant(self, shape, free, weighted):
        one, brute = make(self.kind, shape, free=free, weighted=weighted)
        K = brute.products()
        true = [np.linalg.slogdet(np.eye(len(K)) + K / alpha)[1] for alpha in ALPHAS]
        assert_allclose(one.log_determinant(ALPHAS), true, rtol=1e-9)

    def test_weights_and_predictions(self, shape, free, weighted):
        one, brute = make(self.kind, shape, free=free, weighted=weighted)
        basis = one.problem.basis
        weights = one.problem.by_alpha(one.weights(ALPHAS))
        X = np.random.default_rng(4).uniform(size=(7, shape[1]))
        outputs = one.predict(X, ALPHAS)
        for g, alpha in enumerate(ALPHAS):
            true = brute.fit(alpha)
            assert_allclose(weights[g], true, rtol=0, atol=1e-9 * np.abs(true).max())
            assert_allclose(outputs[g], features(basis, X) @ true, rtol=1e-8, atol=1e-9)

    def test_eigenvalues(self, shape, free, weighted):
        one, brute = make(self.kind, shape, free=free, weighted=weighted)
        found = one.eigenvalues
        samples, terms = shape[0] - free, shape[2] - free
        sizes = {
            SingularValues: min(samples, terms), Band: samples, NormalEquations: terms,
        }  # fmt: skip
        assert found.size == sizes[self.kind]
        assert (np.diff(found) <= 0).all()
        true = np.zeros(found.size)
        largest = brute.eigenvalues(min(samples, terms))
        true[: largest.size] = largest
        assert_allclose(found, true, rtol=0, atol=1e-13 * true[0])
        assert one.rank() == largest.size

    def test_smallest_and_size_bound_the_condition(self, shape, free, weighted):
        one, brute = make(self.kind, shape, free=free, weighted=weighted)
        rest = one.eigenvalues.size - min(shape[0] - free, shape[2] - free)
        least = 0.0 if rest else brute.eigenvalues(one.eigenvalues.size)[-1]
        # before the mean is taken: the products of samples hold the constant as well
        features = brute.A if self.kind is Band else brute.A[:, free:]
        whole = np.linalg.norm(features, 2) ** 2
        assert_allclose(one.smallest(ALPHAS), least + ALPHAS, rtol=1e-9)
        # the largest eigenvalue without the mean, and what the mean adds to it, bound the whole
        assert whole * (1 - 1e-9) <= one.size <= (2 if free else 1 + 1e-9) * whole
        condition = one.size / (least + ALPHAS)
        if one.knows_roots:
            condition = np.sqrt(condition)
        expected = 4 * EPS * np.sqrt(shape[0] - free) * (1 + condition)
        assert_allclose(one.rounding(ALPHAS), expected, rtol=1e-9)

    def test_targets_beyond_reach(self, shape, free, weighted):
        one, _ = make(self.kind, shape, free=free, weighted=weighted)
        expected = self.kind is not Band and shape[0] > shape[2]
        assert one.leaves_residuals == one.missing == expected

    def test_rank_of_equal_inputs(self, shape, free, weighted):
        problem = make(self.kind, shape, free=free, weighted=weighted)[0].problem
        X = problem.X[:, [0] * shape[1]]
        same = problem_of(problem.basis, X, problem.Y, problem.scale, free=free)
        brute = Brute(features(problem.basis, X), problem.Y, problem.scale**2, free)
        # polynomials of one input up to the degree of the basis
        degree = problem.basis.indices.sum(axis=1).max()
        assert self.kind(same).rank() == degree + 1 - free
        assert np.linalg.matrix_rank(brute.products(), tol=1e-9) == degree + 1 - free


class TestSingularValues(Interface):
    kind = SingularValues

    def test_posterior(self, shape, free, weighted):
        posterior_is_the_inverse(*make(self.kind, shape, free=free, weighted=weighted))

    def test_copies_of_an_input_stay_apart(self, shape, free, weighted):
        """They are one sample of the decomposition, and left out one by one."""
        problem = make(self.kind, shape, free=free, weighted=weighted)[0].problem
        X = problem.X.copy()
        X[3:6], X[10] = X[0], X[1]
        one = SingularValues(problem_of(problem.basis, X, problem.Y, problem.scale, free=free))
        brute = Brute(features(problem.basis, X), problem.Y, problem.scale**2, free)
        residuals, leverages = left_out(one, ALPHAS)
        for g, alpha in enumerate(ALPHAS):
            true = brute.left_out(alpha, np.ones(shape[0]))
            assert_allclose(residuals[g], true, rtol=1e-8, atol=1e-9)
            assert_allclose(leverages[g], np.diag(brute.hat(alpha)), atol=1e-10)
        assert one.leaves_residuals  # two targets at one input
        assert one.eigenvalues.size == min(shape[0] - 4 - free, shape[2] - free)

    def test_nothing_is_more_accurate(self, shape, free, weighted):
        one, _ = make(self.kind, shape, free=free, weighted=weighted)
        assert one.resolving(np.array([1e-12]), 0.0) is one


class TestBand(Interface):
    kind = Band

    def test_no_posterior(self, shape, free, weighted):
        one, _ = make(self.kind, shape, free=free, weighted=weighted)
        with pytest.raises(
            ValueError, match="posterior needs `method='primal'` or 'svd', got 'dual"
        ):
            one.posterior(1.0)

    def test_nothing_is_more_accurate(self, shape, free, weighted):
        one, _ = make(self.kind, shape, free=free, weighted=weighted)
        assert one.resolving(np.array([1e-12]), 0.0) is one

    def test_results_of_one_query_do_not_reach_the_next(self, shape, free, weighted):
        """They are kept, and residuals are divided in place by the caller."""
        one, _ = make(self.kind, shape, free=free, weighted=weighted)
        (first,) = one.left_out(ALPHAS)
        expected = first.residuals.copy()
        first.residuals[:] = np.nan
        one.left_out(ALPHAS[:1])
        (second,) = one.left_out(ALPHAS)
        assert_array_equal(second.residuals, expected)

    def test_kernel_of_the_same_terms(self, shape, free, weighted):
        """A kernel enumerates no terms, and has the predictions of a basis of all of them."""
        degree = 3
        basis = TensorBasis(shape[1], degree=degree, lam=0.5)
        problem = make(self.kind, shape, free=free, weighted=weighted)[0].problem
        kernel = TotalDegreeKernel(shape[1], degree, lam=0.5)
        one = Band(problem_of(kernel, problem.X, problem.Y, problem.scale, free=free))
        brute = Brute(features(basis, problem.X), problem.Y, problem.scale**2, free)
        X = np.random.default_rng(4).uniform(size=(7, shape[1]))
        residuals, leverages = left_out(one, ALPHAS)
        outputs = one.predict(X, ALPHAS)
        for g, alpha in enumerate(ALPHAS):
            true = brute.left_out(alpha, np.ones(shape[0]))
            assert_allclose(residuals[g], true, rtol=1e-8, atol=1e-9)
            assert_allclose(leverages[g], np.diag(brute.hat(alpha)), atol=1e-10)
            assert_allclose(outputs[g], features(basis, X) @ brute.fit(alpha), rtol=1e-8, atol=1e-9)


class TestNormalEquations(Interface):
    kind = NormalEquations

    def test_posterior(self, shape, free, weighted):
        posterior_is_the_inverse(*make(self.kind, shape, free=free, weighted=weighted))

    def test_triangle(self, shape, free, weighted):
        """It knows the roots of eigenvalues, and answers as the sums do where these are enough."""
        one, brute = make(self.kind, shape, free=free, weighted=weighted, by_triangle=True)
        assert one.knows_roots
        residuals, leverages = left_out(one, ALPHAS)
        for g, alpha in enumerate(ALPHAS):
            true = brute.left_out(alpha, np.ones(shape[0]))
            assert_allclose(residuals[g], true, rtol=1e-8, atol=1e-9)
            assert_allclose(leverages[g], np.diag(brute.hat(alpha)), atol=1e-10)
        assert one.resolving(np.array([1e-12]), 0.0) is one

    def test_resolving(self, shape, free, weighted):
        """Sums serve as long as their estimated rounding is below the tolerance."""
        one, _ = make(self.kind, shape, free=free, weighted=weighted)
        tiny = np.array([1e-11])
        assert one.resolving(ALPHAS, 1e-6) is one
        assert one.resolving(tiny, np.inf) is one
        finer = one.resolving(tiny, 1e-15)
        assert (one.knows_roots, finer.knows_roots) == (False, True)
        p = one.problem
        unit = 4 * EPS * np.sqrt(p.n_contrasts)
        condition = one.rounding(tiny) / unit - 1
        assert_allclose(finer.rounding(tiny), unit * (1 + np.sqrt(condition)), rtol=1e-3)
        exact = SingularValues(p).predict(p.X, tiny)
        assert np.linalg.norm(finer.predict(p.X, tiny) - exact) <= 1e-9 * np.linalg.norm(p.Y)


def posterior_is_the_inverse(one, brute):
    """Leverages of new samples."""
    root, mean_features, alone = one.posterior(0.1)
    basis = one.problem.basis
    new = features(basis, np.random.default_rng(3).uniform(size=(7, basis.n_features)))
    rows = new[:, 1:] - mean_features if brute.free else new
    true = np.einsum("ij,ji->i", new, brute.solve(0.1, new.T))
    assert_allclose(((rows @ root) ** 2).sum(axis=1) + alone, true, rtol=1e-8)


class TestChoice:
    @pytest.mark.parametrize("method", ["svd", "primal"])
    def test_a_kernel_has_a_band_only(self, method):
        p = make_problem(*TALL)
        problem = RidgeProblem(
            SpectrumKernel(2, (1.0, 2.0)), p.X, p.Y, None, scaling=None, free=False, n_threads=1
        )
        with pytest.raises(ValueError, match=f"`method='{method}'` needs a TensorBasis"):
            factorise(problem, method)
        assert type(factorise(problem, "auto")) is Band

    @pytest.mark.parametrize(
        ("shape", "kind"), [(TALL, NormalEquations), (WIDE, Band), ((20, 2, 20), Band)]
    )
    def test_the_smaller_products_of_large_problems(self, shape, kind, monkeypatch):
        problem = make(SingularValues, shape)[0].problem
        assert type(factorise(problem, "auto")) is SingularValues
        monkeypatch.setattr("gegenbauer.selection._factorisations._SMALL", 0.0)
        assert type(factorise(problem, "auto")) is kind


def pass_of(one, way):
    fits = one.fits(ALPHAS)
    return TrianglePass(fits, one.triangle, ALPHAS) if way is TrianglePass else way(fits)


@pytest.mark.parametrize("by_moments", [False, True])
@pytest.mark.parametrize("lam", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("way", [FeaturesPass, FormsPass, GridPass, TrianglePass])
class TestPasses:
    """Fitted values, leverages and |M^-1 g|^2 for weights of one, in blocks of a few samples."""

    def test_against_the_hat_matrix(self, way, free, lam, by_moments, monkeypatch):
        monkeypatch.setattr(
            "gegenbauer.selection._factorisations.normal_equations.moments_serve",
            lambda *_, **__: by_moments,
        )
        exact = way is TrianglePass
        one, brute = make(
            NormalEquations, TALL, free=free, weighted=True, lam=lam, by_triangle=exact
        )
        monkeypatch.setattr("gegenbauer.selection._features.BLOCK_SIZE", 100.0)
        fitted = np.full((ALPHAS.size, *brute.Y.shape), np.nan)
        leverages, squares = np.full((2, *fitted.shape[:2]), np.nan)
        n_blocks = 0
        for rows, *found in pass_of(one, way).run():
            fitted[:, rows], leverages[:, rows], squares[:, rows] = found
            n_blocks += 1
        assert n_blocks > 2
        for g, alpha in enumerate(ALPHAS):
            # of a free constant nothing counts
            true = (brute.solve(alpha, brute.G.T)[int(free) :] ** 2).sum(axis=0)
            if exact:
                assert_allclose(squares[g], true, rtol=1e-8)
            else:
                assert (squares[g] >= true * (1 - 1e-8)).all()
            hat = np.diag(brute.hat(alpha)) / brute.weights
            assert_allclose(leverages[g], hat, rtol=1e-8, atol=1e-9)
            assert_allclose(fitted[g], brute.G @ brute.fit(alpha), rtol=1e-8, atol=1e-8)


class TestCheapestPass:
    def test_it_costs_the_least(self, monkeypatch):
        def way(cost):
            methods = {"cost": lambda self: cost, "run": lambda self: iter(())}
            return type(f"Of{cost}", (LeveragePass,), methods)

        ways = [way(cost) for cost in (3.0, 1.0, np.inf, 2.0)]
        monkeypatch.setattr(_leverage_passes, "PASSES", ways)
        assert type(cheapest_pass(None)) is ways[1]

    def test_forms_need_moments(self):
        """Sums that did not come from moments have none to be polynomials of."""
        one, _ = make(NormalEquations, TALL, by_triangle=True)
        assert FormsPass(one.fits(ALPHAS)).cost() == np.inf

    def test_a_grid_fits_into_memory(self, monkeypatch):
        one, _ = make(NormalEquations, TALL)
        assert GridPass(one.fits(ALPHAS)).cost() < np.inf
        monkeypatch.setattr(_leverage_passes, "_MOST_FINE", 100.0)
        assert GridPass(one.fits(ALPHAS)).cost() == np.inf

    def test_samples_and_penalties_are_counted(self):
        """Twice the samples or penalties: a grid has its nodes already, features each sample."""
        rng = np.random.default_rng(0)
        basis = TensorBasis(1, degree=40)

        def costs(n, alphas):
            problem = RidgeProblem(
                basis, rng.uniform(size=(n, 1)), rng.normal(size=(n, 1)), None,
                scaling=None, free=False, n_threads=1,
            )  # fmt: skip
            fits = NormalEquations(problem).fits(alphas)
            return [way(fits).cost() for way in (FeaturesPass, GridPass)]

        few, many = costs(1000, ALPHAS), costs(2000, ALPHAS)
        assert many[0] == 2 * few[0]
        assert many[1] < 2 * few[1]
        assert (np.array(costs(1000, np.tile(ALPHAS, 2))) > few).all()
