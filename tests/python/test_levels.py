"""Levels of inputs in kernels of all terms: categories, and numbers that are missing."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from gegenbauer import GeometricDecay, InputScaling, PowerDecay, Spectrum, solve_kernel
from gegenbauer.basis import Levels, SpectrumKernel
from gegenbauer.inspection import kernel_sobol_indices
from gegenbauer.ridge import KernelExpansion, predict_kernel
from gegenbauer.ridge.landmarks import choose_landmarks
from gegenbauer.selection import learn_spectrum, leave_one_out, search_spectrum

N_LEVELS = 5
BOX = InputScaling([-1.0, 0.0, -1.0], [1.0, N_LEVELS - 1.0, 1.0], domain=(-1, 1))

# components, and lam of the polynomials: closed forms, sums, both
SPECTRA = {
    "s = 1": ([PowerDecay((0.3, 0.5, 0.2), 1)], 0.0),
    "s = 2": ([PowerDecay((0.3, 0.5, 0.2), 2)], 0.0),
    "s = 3": ([PowerDecay((0.3, 0.5, 0.2), 3)], 0.0),
    "geometric": ([GeometricDecay((0.3, 0.5, 0.2), 0.3)], 0.0),
    "s = 2 and geometric": ([PowerDecay((0.3, 0.5, 0.2), 2), GeometricDecay(0.2, 0.3)], 0.0),
    "sums and geometric": ([PowerDecay((0.3, 0.5, 0.2), 3.5), GeometricDecay(0.2, 0.3)], 0.0),
    "sums": ([PowerDecay((0.3, 0.5, 0.2), 3)], 0.25),
}


def samples(n=70, seed=0):
    """A number of which some are missing, a category of which some are not known, a number."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-1, 1, (2, n))
    x[rng.random(n) < 0.3] = np.nan
    level = rng.choice(N_LEVELS, n, p=[0.4, 0.3, 0.15, 0.1, 0.05]).astype(float)
    levels = [Levels.of_missing(np.isnan(x)), Levels.of_codes(level, N_LEVELS), None]
    level[rng.random(n) < 0.1] = np.nan
    return np.column_stack([x, level, y]), levels


def kappa(shares, a, b):
    """The kernel of levels by its definition: what is equal, with means taken out on both sides."""
    p, whole = np.array(shares), np.eye(len(shares))
    centre = np.eye(len(p)) - np.ones((len(p), 1)) * p
    centred = centre @ whole @ centre.T
    centred /= p @ centred.diagonal()
    return centred[np.ix_(a, b)]


def reference(X, Z, components, levels, lam):
    """The product over the inputs, input by input and pair by pair of kinds."""
    q = Spectrum(components).interactions(3)
    found = np.ones((len(X), len(Z)))
    for t, one in enumerate(levels):
        x, z, k = X[:, t], Z[:, t], np.zeros((len(X), len(Z)))
        if one is None or not one.category:
            kernel = SpectrumKernel(1, Spectrum(components)._of_input(t), lam=lam)
            at, to = np.flatnonzero(~np.isnan(x)), np.flatnonzero(~np.isnan(z))
            k[np.ix_(at, to)] = kernel(x[at, np.newaxis], z[to, np.newaxis]) - 1.0
        if one is not None:
            codes = [np.isnan(v) if not one.category else np.nan_to_num(v) for v in (x, z)]
            part = kappa(one.shares, *(code.astype(int) for code in codes))
            if one.category:
                part[np.isnan(x)] = 0.0
                part[:, np.isnan(z)] = 0.0
            k += q[t].sum() * part
        found *= 1.0 + k
    return found


@pytest.mark.parametrize("name", SPECTRA)
class TestKernel:
    def test_is_the_product_over_the_inputs(self, name):
        components, lam = SPECTRA[name]
        X, levels = samples()
        kernel = SpectrumKernel(3, Spectrum(components, levels), lam=lam)
        expected = reference(X, X, components, levels, lam)
        np.testing.assert_allclose(kernel(X, scaling=BOX), expected, rtol=0, atol=1e-13)
        some = X[:11]
        found = kernel(some, X, scaling=BOX)
        np.testing.assert_allclose(found, expected[:11], rtol=0, atol=1e-13)
        found = kernel.diagonal(X, scaling=BOX)
        np.testing.assert_allclose(found, expected.diagonal(), rtol=0, atol=1e-13)
        coef = np.random.default_rng(1).normal(size=(len(X), 2))
        found = predict_kernel(kernel, some, X, coef, scaling=BOX)
        np.testing.assert_allclose(found, expected[:11] @ coef, rtol=0, atol=1e-12)

    def test_float32_and_any_layout(self, name):
        components, lam = SPECTRA[name]
        X, levels = samples()
        kernel = SpectrumKernel(3, Spectrum(components, levels), lam=lam)
        whole = kernel(X, scaling=BOX)
        np.testing.assert_array_equal(kernel(np.asfortranarray(X), scaling=BOX), whole)
        np.testing.assert_allclose(kernel(X.astype(np.float32), scaling=BOX), whole, atol=1e-5)

    @pytest.mark.parametrize("kept", [False, True])
    def test_gradient_by_the_interactions(self, name, kept, monkeypatch):
        components, lam = SPECTRA[name]
        X, levels = samples()
        spectrum = Spectrum(components, levels)
        q = spectrum.interactions(3)
        M = np.random.default_rng(1).normal(size=(len(X), len(X)))
        M = M + M.T

        def total(logs):
            parts = [
                replace(part, interaction=(q * np.exp(logs))[:, j].tolist())
                for j, part in enumerate(components)
            ]
            kernel = SpectrumKernel(3, Spectrum(parts, levels), lam=lam)
            return float((M * kernel(X, scaling=BOX)).sum())

        kernel = SpectrumKernel(3, spectrum, lam=lam)
        if kept:
            from gegenbauer.selection._spectrum_matrices import (
                KeptSpectrumMatrices,
                WeightedSamples,
            )

            given = WeightedSamples(X, BOX._map, np.ones(len(X)), True, 1)
            found = KeptSpectrumMatrices(given, kernel).log_gradient(q, M)
        else:
            found = kernel.log_gradient(X, M, scaling=BOX)
        expected = np.zeros_like(q)
        for at in np.ndindex(*q.shape):
            step = np.zeros_like(q)
            step[at] = 1e-5
            expected[at] = (total(step) - total(-step)) / 2e-5
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def eigenfunctions(shares, n):
    """Return the first contrasts, made orthonormal under shares, and their mean squares."""
    values = Levels(tuple(shares)).contrasts(n)
    mu = np.asarray(shares) @ values**2
    return values / np.sqrt(mu), mu


class TestLevels:
    def test_a_level_kernel_has_no_mean_and_a_mean_diagonal_of_one(self):
        shares = (0.5, 0.3, 0.15, 0.05)
        spectrum = Spectrum(PowerDecay(0.7, 2), [Levels(shares)])
        box = InputScaling([0.0], [3.0], domain=(-1, 1))
        found = (SpectrumKernel(1, spectrum)(np.arange(4.0)[:, np.newaxis], scaling=box) - 1) / 0.7
        np.testing.assert_allclose(found @ shares, 0, atol=1e-15)
        assert shares @ found.diagonal() == pytest.approx(1.0, rel=1e-14)

    def test_contrasts_are_the_eigenfunctions(self):
        shares = (0.5, 0.3, 0.15, 0.05)
        values, mu = eigenfunctions(shares, 3)
        np.testing.assert_allclose(values.T * shares @ values, np.eye(3), atol=1e-14)
        every = np.arange(4)
        np.testing.assert_allclose(values * mu @ values.T, kappa(shares, every, every), atol=1e-14)
        assert (np.diff(mu) < 0).all()

    def test_contrasts_of_many_levels_are_the_largest(self):
        shares = 1.0 / np.arange(1.0, 1301.0)
        shares /= shares.sum()
        values, mu = eigenfunctions(shares, 500)
        assert values.shape == (1300, 500)
        every = np.arange(1300)
        root = np.sqrt(shares)
        whole = root[:, np.newaxis] * kappa(shares, every, every) * root
        np.testing.assert_allclose(mu, np.linalg.eigvalsh(whole)[:-501:-1], rtol=1e-9)

    def test_a_single_level_and_a_number_that_is_always_missing_change_nothing(self):
        X = np.array([[0.2, 0.0, np.nan], [-0.4, 0.0, np.nan]])
        levels = [None, Levels((1.0,)), Levels((0.0, 1.0), category=False)]
        box = InputScaling([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], domain=(-1, 1))
        found = SpectrumKernel(3, Spectrum((0.5, 2.0), levels))(X, scaling=box)
        expected = SpectrumKernel(1, (0.5, 2.0))(X[:, :1])
        np.testing.assert_allclose(found, expected, rtol=1e-15)

    def test_what_is_missing_without_levels_of_its_own_has_a_factor_of_one(self):
        X = np.array([[0.2, np.nan], [-0.4, 0.3]])
        found = SpectrumKernel(2, Spectrum((0.5, 2.0), [None, None]))(X)
        alone = SpectrumKernel(1, (0.5, 2.0))(X[:, :1])
        assert found[0, 0] == alone[0, 0]
        assert found[0, 1] == alone[0, 1]
        assert found[1, 1] == pytest.approx(SpectrumKernel(2, (0.5, 2.0))(X[1:])[0, 0], rel=1e-15)

    def test_a_constant_number_can_be_missing(self):
        X = np.array([[7.0], [np.nan], [7.0]])
        box = InputScaling.fit(X, domain=(-1, 1))
        np.testing.assert_array_equal(box.transform(X), [[0.0], [np.nan], [0.0]])
        spectrum = Spectrum((0.5, 2.0), [Levels((2 / 3, 1 / 3), category=False)])
        found = SpectrumKernel(1, spectrum)(X, scaling=box)
        assert found[0, 0] == found[0, 2] == found[2, 2]
        assert found[0, 1] < 1.0 < found[0, 0] < found[1, 1]

    def test_missing_numbers_need_levels(self):
        with pytest.raises(ValueError, match="X must be finite, but column 0 holds NaN"):
            SpectrumKernel(1, (0.5, 2.0))([[np.nan]])

    def test_infinity_is_refused_with_levels(self):
        with pytest.raises(ValueError, match="column 0 holds infinity, first in row 1"):
            SpectrumKernel(1, Spectrum((0.5, 2.0), [None]))([[np.nan], [np.inf]])

    @pytest.mark.parametrize(
        ("given", "error", "message"),
        [
            ((), ValueError, "`shares` must have a positive sum"),
            ((0.0, 0.0), ValueError, "`shares` must have a positive sum"),
            ((0.5, -0.5), ValueError, "`shares` must be a finite number of at least 0"),
            ((0.5, np.nan), ValueError, "`shares` must be a finite number of at least 0"),
        ],
    )
    def test_bad_shares(self, given, error, message):
        with pytest.raises(error, match=message):
            Levels(given)

    @pytest.mark.parametrize("n", [6, 20, 30, 49, 75, 150])
    def test_shares_come_back_as_they_are(self, n):
        for shares in (np.full(n, 1 / n), np.random.default_rng(n).dirichlet(np.ones(n))):
            one = Levels(tuple((3 * shares).tolist()))
            assert Levels(one.shares) == one
            assert sum(one.shares) == pytest.approx(1, rel=1e-15 * n)

    def test_a_number_has_two_levels(self):
        with pytest.raises(ValueError, match=r"`shares` of a number are two.*got 3"):
            Levels((0.2, 0.3, 0.5), category=False)

    def test_one_entry_an_input(self):
        with pytest.raises(
            ValueError, match=r"`levels` must have one entry an input.*are 2; got 1"
        ):
            Spectrum(PowerDecay((0.5, 0.5), 2), [None])
        with pytest.raises(ValueError, match="one an input; got 1"):
            SpectrumKernel(2, Spectrum((0.5, 2.0), [None]))
        with pytest.raises(TypeError, match="`levels` must hold a Levels or None"):
            Spectrum((0.5, 2.0), [3])

    def test_a_spectrum_is_a_value(self):
        _, levels = samples()
        one, other = (Spectrum((0.5, 2.0), levels) for _ in range(2))
        assert one == other == pickle.loads(pickle.dumps(one)) == Spectrum(one)
        assert hash(one) == hash(other)
        assert one != Spectrum((0.5, 2.0))
        assert repr(one) == "<Spectrum((0.5, 2.0)) with levels of inputs [0, 1]>"
        kernel = SpectrumKernel(3, one)
        assert pickle.loads(pickle.dumps(kernel)) == kernel


class TestWithKernels:
    """What stands on kernels takes their levels."""

    def test_solutions_and_leave_one_out_equal_those_of_the_matrix(self):
        X, levels = samples()
        rng = np.random.default_rng(1)
        Y, weight = rng.normal(size=(len(X), 2)), rng.uniform(0.5, 2, len(X))
        kernel = SpectrumKernel(3, Spectrum((0.3, 2.0), levels))
        K = kernel(X, scaling=BOX)
        options = {"sample_weight": weight, "scaling": BOX}
        fit = solve_kernel(kernel, X, Y, 0.1, **options)
        expected = np.linalg.solve(K + np.diag(0.1 / weight), Y)
        np.testing.assert_allclose(fit.dual_coef, expected, rtol=1e-10, atol=1e-10)
        found = leave_one_out(kernel, X, Y, 0.1, **options).predictions[0]
        for i in (0, 13, 40):
            rest = np.delete(np.arange(len(X)), i)
            one = np.linalg.solve(K[np.ix_(rest, rest)] + np.diag(0.1 / weight[rest]), Y[rest])
            np.testing.assert_allclose(found[i], K[i, rest] @ one, rtol=1e-9, atol=1e-9)

    def test_landmarks_of_all_samples_are_the_kernel(self):
        X, levels = samples()
        kernel = SpectrumKernel(3, Spectrum((0.3, 2.0), levels))
        landmarks, _ = choose_landmarks(kernel, X, len(X), scaling=BOX)
        phi = landmarks.evaluate(X, scaling=BOX)
        np.testing.assert_allclose(phi @ phi.T, kernel(X, scaling=BOX), atol=1e-9)

    def test_searches_keep_levels(self):
        X, levels = samples(120)
        y = np.nan_to_num(X[:, 0]) + np.isnan(X[:, 0]) + (X[:, 1] == 0)
        start = Spectrum(PowerDecay(0.3, 2.0), levels)
        kernel, _ = learn_spectrum(X, y, components=start, scaling=BOX)
        assert kernel.spectrum.levels == tuple(levels)
        q = kernel.spectrum.interactions(3)[:, 0]
        assert q[2] < 0.01 * q[:2].min()

        def loss(left_out, rows):
            return ((left_out[:, :, 0] - y[rows]) ** 2).mean(axis=1)

        found = search_spectrum(X, y, loss, levels=levels, scaling=BOX)
        assert found.kernel.spectrum.levels == tuple(levels)
        assert all(start.spectrum.levels == tuple(levels) for start, _ in found.starts)
        assert found.loss < 0.05 * y.var()

    def test_gradients_are_those_of_the_numbers(self):
        X, levels = samples()
        components = [PowerDecay((0.3, 0.5, 0.2), 3), GeometricDecay((0.1, 0.2, 0.3), 0.2)]
        kernel = SpectrumKernel(3, Spectrum(components, levels))
        coef = np.random.default_rng(1).normal(size=len(X))
        function = KernelExpansion(kernel, X, coef, BOX)
        Z = samples(12, seed=1)[0] * [0.9, 1.0, 0.9]
        found = function.gradient(Z)
        assert not found[:, 1].any()
        for t in (0, 2):
            step = np.zeros(3)
            step[t] = 1e-5
            ends = [function.evaluate(Z + sign * step) for sign in (1, -1)]
            expected = (ends[0] - ends[1]) / 2e-5
            np.testing.assert_allclose(found[:, t], expected, rtol=0, atol=1e-6)
        assert (found[np.isnan(Z[:, 0]), 0] == 0).all()


@pytest.mark.parametrize("distribution", ["uniform", "chebyshev"])
def test_shares_of_the_variance_equal_those_of_a_grid(distribution):
    """Numbers by quadrature, levels by their shares; exact for functions so smooth."""
    X, levels = samples(40)
    components = [PowerDecay((0.3, 0.5, 0.2), 3), GeometricDecay((0.1, 0.2, 0.3), 0.2)]
    kernel = SpectrumKernel(3, Spectrum(components, levels))
    coef = np.random.default_rng(1).normal(size=(len(X), 1))
    found = kernel_sobol_indices(
        kernel, X, coef, intercept=[2.0], scaling=BOX, distribution=distribution, extent=0.9
    )
    if distribution == "uniform":
        nodes, w = np.polynomial.legendre.leggauss(50)
        w = w / 2
    else:
        nodes, w = np.cos((np.arange(50) + 0.5) * np.pi / 50), np.full(50, 0.02)
    p = np.array(levels[1].shares)
    grid = np.meshgrid(0.9 * nodes, np.arange(float(N_LEVELS)), 0.9 * nodes, indexing="ij")
    points = np.column_stack([part.ravel() for part in grid])
    F = 2.0 + predict_kernel(kernel, points, X, coef, scaling=BOX).reshape(grid[0].shape)
    mean = np.einsum("ijk,i,j,k", F, w, p, w)
    variance = np.einsum("ijk,i,j,k", (F - mean) ** 2, w, p, w)
    assert found.mean[0] == pytest.approx(mean, rel=1e-11)
    assert found.variance[0] == pytest.approx(variance, rel=1e-9)
    for t, keep in enumerate("ijk"):
        weights = dict(zip("ijk", (w, p, w), strict=True))
        own = weights.pop(keep)
        others = "".join(weights)
        effect = np.einsum(f"ijk,{','.join(others)}->{keep}", F, *weights.values())
        first = own @ (effect - mean) ** 2 / variance
        rest = np.einsum(f"ijk,{keep}->{others}", F, own)
        without = np.einsum("ab,a,b", (rest - mean) ** 2, *weights.values()) / variance
        assert found.first_order[0, t] == pytest.approx(first, abs=1e-10)
        assert found.total[0, t] == pytest.approx(1 - without, abs=1e-10)
