"""Levels of inputs in finite sets of terms: contrasts beside polynomials, or in their place."""

from __future__ import annotations

import itertools
import math
import pickle
import re

import numpy as np
import pandas as pd
import pytest

from gegenbauer import (
    GegenbauerClassifierCV,
    GegenbauerDecay,
    GegenbauerRegressorCV,
    GeometricDecay,
    GramStatistics,
    InputScaling,
    MomentStatistics,
    PowerDecay,
    Spectrum,
    TensorBasis,
    load,
    polynomial_text,
    reference,
    save,
    sobol_indices,
    solve_kernel,
    solve_ridge,
    to_sympy,
)
from gegenbauer.basis import (
    Levels,
    SpectrumKernel,
    TotalDegreeKernel,
    count_terms,
    gegenbauer_vander,
)
from gegenbauer.errors import OutOfRangeWarning
from gegenbauer.inspection import kernel_sobol_indices, term_sobol_indices
from gegenbauer.ridge import TermExpansion, fit_cost, predict, predict_kernel
from gegenbauer.ridge.cost import moments_serve
from gegenbauer.selection import RidgePath, kfold_predictions

SHARES = {
    "two": (0.9, 0.1),
    "equal": (0.25,) * 4,
    "distinct": (0.05, 0.4, 0.1, 0.3, 0.15),
    "ties": (0.2, 0.1, 0.2, 0.1, 0.1, 0.3),
    "not in the samples": (0.5, 0.0, 0.3, 0.0, 0.2),
    "none of two": (0.0, 1.0 / 3, 1.0 / 3, 1.0 / 3, 0.0),
    "nearly equal": (0.2, np.nextafter(0.2, 1), 0.2 + 1e-14, 0.4),
    "nearly one": (1.0 - 3e-9, 2e-9, 1e-9),
    "of all sizes": tuple(10.0 ** -np.arange(12.0) / (10.0 ** -np.arange(12.0)).sum()),
    "many": tuple(np.arange(1.0, 61) / np.arange(1.0, 61).sum()),
}


def kappa(shares):
    """The kernel of levels by its formula."""
    p = np.array(shares)
    square = p @ p
    return (np.eye(p.size) - p - p[:, np.newaxis] + square) / (p @ (1 - p))


@pytest.mark.parametrize("name", SHARES)
class TestContrasts:
    def test_their_products_sum_to_the_kernel_of_levels(self, name):
        p = SHARES[name]
        found = Levels(p).contrasts()
        assert found.shape == (len(p), len(p) - 1)
        expected = kappa(Levels(p).shares)
        np.testing.assert_allclose(
            found @ found.T, expected, rtol=0, atol=2e-14 * np.abs(expected).max()
        )

    def test_are_centred_and_uncorrelated_by_falling_variance(self, name):
        p = np.array(SHARES[name]) / sum(SHARES[name])
        found = Levels(SHARES[name]).contrasts()
        covariance = (found * p[:, np.newaxis]).T @ found
        variances = covariance.diagonal()
        np.testing.assert_allclose(p @ found, 0.0, atol=2e-15)
        np.testing.assert_allclose(covariance, np.diag(variances), rtol=0, atol=5e-15)
        assert (np.diff(variances) <= 1e-15).all()
        # 1 - sum p^2 has the digits that 1 - p has
        np.testing.assert_allclose(variances.sum(), 1.0, rtol=1e-14 + 1e-16 / (1 - p.max()))

    def test_have_the_variances_of_the_covariance_among_vectors_of_sum_zero(self, name):
        p = np.array(SHARES[name]) / sum(SHARES[name])
        found = Levels(SHARES[name]).contrasts()
        centre = np.eye(p.size) - 1.0 / p.size
        expected = np.linalg.eigvalsh(centre @ (np.diag(p) - np.outer(p, p)) @ centre)[::-1][:-1]
        variances = p @ found**2
        np.testing.assert_allclose(variances * (p @ (1 - p)), expected, rtol=0, atol=1e-15)

    def test_are_those_of_the_reference(self, name):
        # an eigensolver has few digits where variances are nearly equal, or far apart
        digits = {"nearly equal": 0, "nearly one": 6, "of all sizes": 4}.get(name, 12)
        found, expected = Levels(SHARES[name]).contrasts(), reference.level_contrasts(SHARES[name])
        if digits:
            scale = np.abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=0, atol=10.0**-digits * scale)
        assert found.shape == expected.shape

    def test_first_ones_are_those_of_all(self, name):
        levels = Levels(SHARES[name])
        for n in range(levels.n_contrasts + 1):
            np.testing.assert_array_equal(levels.contrasts(n), levels.contrasts()[:, :n])


class TestSigns:
    def test_commoner_levels_are_positive(self):
        found = Levels((0.2, 0.5, 0.3)).contrasts()
        assert np.sign(found[:, 0]).tolist() == [-1.0, 1.0, -1.0]
        assert np.sign(found[:, 1]).tolist() == [-1.0, 1.0, 1.0]

    def test_later_of_equal_levels_are_positive(self):
        found = Levels((0.25,) * 4).contrasts() * np.sqrt(0.75)
        root = np.sqrt([2.0, 6.0, 12.0])
        expected = np.array([[-1, -1, -1], [1, -1, -1], [0, 2, -1], [0, 0, 3]]) / root
        np.testing.assert_allclose(found, expected, rtol=1e-15)

    def test_number_that_is_mostly_given(self):
        found = Levels((0.8, 0.2), category=False).contrasts()
        np.testing.assert_allclose(found[:, 0], [0.5, -2.0], rtol=1e-15)

    @pytest.mark.parametrize("shares", [(1.0,), (0.0, 1.0), (1.0, 0.0, 0.0)])
    def test_one_level_has_none(self, shares):
        assert Levels(shares).n_contrasts == 0
        assert Levels(shares).contrasts().shape == (len(shares), 0)

    def test_more_than_there_are(self):
        with pytest.raises(ValueError, match="`n_contrasts` must be at most 2, got 3"):
            Levels((0.2, 0.5, 0.3)).contrasts(3)


# --- sums over all terms --------------------------------------------------------------------------

N_LEVELS = 5
LEVELS = [
    Levels((0.7, 0.3), category=False),
    Levels((0.4, 0.3, 0.15, 0.15, 0.0)),
    None,
    Levels((0.5, 0.5)),
    Levels((1.0, 0.0), category=False),
    Levels((1.0,)),
]
Q = (0.3, 0.5, 0.2, 0.4, 0.25, 0.3)
SPECTRA = {
    "power": [PowerDecay(Q, 1.5)],
    "geometric": [GeometricDecay(Q, 0.3), PowerDecay(0.2, 2)],
    "raw polynomials": [GegenbauerDecay(Q, 0.05)],
}


def samples(n=60, seed=0):
    """Missing numbers and unknown levels among others, in [-1, 1]."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 6))
    X[:, 1] = rng.integers(0, N_LEVELS, n) / 2 - 1
    X[:, 3] = 2 * rng.integers(0, 2, n) - 1
    X[:, 5] = -1.0
    for t, share in ((0, 0.3), (1, 0.1), (2, 0.1), (3, 0.1), (4, 0.2), (5, 0.1)):
        X[rng.random(n) < share, t] = np.nan
    return X


class TestFeatures:
    @pytest.mark.parametrize("lam", [0.0, 0.3])
    @pytest.mark.parametrize("name", SPECTRA)
    def test_all_terms_sum_to_the_kernel(self, name, lam):
        degree = 3
        spectrum = Spectrum(SPECTRA[name], LEVELS)
        # one function more of the number with a contrast
        degrees = [degree + 1, N_LEVELS - 1, degree, 1, degree, 0]
        basis = TensorBasis(6, degree=degrees, index_set="tensor", lam=lam, spectrum=spectrum)
        assert basis.n_terms == math.prod(d + 1 for d in degrees)
        X = samples()
        G = basis.evaluate(X)
        kernel = SpectrumKernel(6, spectrum, lam=lam, max_degree=degree)
        np.testing.assert_allclose(G @ G.T, kernel(X), rtol=1e-13, atol=1e-13)
        rows = G @ G[:7].T
        np.testing.assert_allclose(rows, kernel(X, X[:7]), rtol=1e-13, atol=1e-13)

    def test_features_are_those_of_the_reference(self):
        spectrum = Spectrum(PowerDecay(Q[:4], 1.5), LEVELS[:4])
        basis = TensorBasis(4, degree=4, lam=0.3, spectrum=spectrum)
        X = samples()[:, :4]
        q = Q[:4]
        functions = []
        for t, one in enumerate(LEVELS[:4]):
            x, missing = np.nan_to_num(X[:, t]), np.isnan(X[:, t])
            polynomials = reference.orthonormal_gegenbauer(x, 4, 0.3)[:, 1:]
            polynomials *= np.sqrt(q[t]) * np.arange(1.0, 5) ** -1.5
            polynomials[missing] = 0.0
            if one is None:
                functions.append(polynomials)
                continue
            contrasts = np.sqrt(q[t]) * reference.level_contrasts(one.shares)
            n = len(contrasts)
            place = np.rint((x + 1) / 2 * (n - 1)).astype(int) if one.category else missing * 1
            own = contrasts[place]
            if one.category:
                own[missing] = 0.0
                functions.append(own)
            else:
                functions.append(np.hstack([own, polynomials]))
        expected = np.ones((len(X), basis.n_terms))
        for t, values in enumerate(functions):
            at = basis.indices[:, t]
            expected[:, at > 0] *= values[:, at[at > 0] - 1]
        np.testing.assert_allclose(basis.evaluate(X), expected, rtol=0, atol=1e-12)

    def test_degree_beyond_the_contrasts_makes_all_of_them(self):
        spectrum = Spectrum((0.4, 1.0), [Levels((0.5, 0.3, 0.2)), Levels((0.6, 0.4))])
        basis = TensorBasis(2, degree=7, index_set="tensor", spectrum=spectrum)
        assert basis.indices.max(axis=0).tolist() == [2, 1]
        assert basis.n_terms == 6

    def test_scaled_and_in_float32_and_by_columns(self):
        spectrum = Spectrum(SPECTRA["power"], LEVELS)
        basis = TensorBasis(6, degree=4, spectrum=spectrum)
        X = samples(131)
        box = InputScaling([-3.0] * 6, [5.0] * 6, domain=(-1, 1))
        wide = 4.0 * X + 1.0
        expected = basis.evaluate(X)
        np.testing.assert_allclose(basis.evaluate(wide, scaling=box), expected, atol=1e-14)
        np.testing.assert_array_equal(basis.evaluate(X, order="F"), expected)
        single = basis.evaluate(X.astype(np.float32), dtype=np.float32)
        np.testing.assert_allclose(single, expected, atol=1e-5)

    def test_functions_one_by_one(self):
        missing, category = Levels((0.8, 0.2), category=False), Levels((0.2, 0.5, 0.3))
        spectrum = Spectrum((0.25, 1.0), [missing, category])
        basis = TensorBasis(2, degree=[3, 2], index_set="tensor", lam=0.5, spectrum=spectrum)
        X = np.array([[0.5, -1.0], [np.nan, 0.0], [-0.2, np.nan]])
        G = dict(zip(map(tuple, basis.indices.tolist()), basis.evaluate(X).T, strict=True))
        half = 0.5  # sqrt of q
        legendre = np.sqrt(3) * np.array([0.5, 0.0, -0.2])
        np.testing.assert_allclose(G[1, 0], half * np.array([0.5, -2.0, 0.5]))
        np.testing.assert_allclose(G[2, 0], half * legendre)
        second = np.sqrt(5) * (3 * X[:, 0] ** 2 - 1) / 2
        np.testing.assert_allclose(G[3, 0], half / 2 * np.nan_to_num(second))
        for k in (1, 2):
            own = half * category.contrasts()[:, k - 1]
            np.testing.assert_allclose(G[0, k], [own[0], own[1], 0.0])
            np.testing.assert_allclose(G[2, k], G[2, 0] * G[0, k])


# --- index sets -----------------------------------------------------------------------------------

CAPS = (2, 10**6, 1, 3)
OF_CAPS = [Levels((0.5, 0.3, 0.2)), None, Levels((0.5, 0.5)), Levels((0.25,) * 4)]


def members(degree, index_set, most):
    """All multi-indices by trying every one."""
    belongs = {
        "tensor": lambda k: True,
        "total_degree": lambda k: sum(k) <= degree,
        "hyperbolic_cross": lambda k: math.prod(n + 1 for n in k) <= degree + 1,
    }[index_set]
    box = itertools.product(*(range(min(degree, cap) + 1) for cap in CAPS))
    return [k for k in box if belongs(k) and sum(n > 0 for n in k) <= most]


ORDERS = {
    "grlex": lambda k: (sum(k), tuple(-n for n in k)),
    "grlex_ascending": lambda k: (sum(k), k),
    "grevlex": lambda k: (sum(k), k[::-1]),
}


class TestIndexSets:
    @pytest.mark.parametrize("order", ORDERS)
    @pytest.mark.parametrize("most", [1, 2, 4])
    @pytest.mark.parametrize("index_set", ["tensor", "total_degree", "hyperbolic_cross"])
    def test_graded_sets_end_at_the_last_contrast(self, index_set, most, order):
        for degree in range(9):
            basis = TensorBasis(
                4, degree=degree, index_set=index_set, max_interaction=most, term_order=order,
                spectrum=Spectrum((0.5, 1.0), OF_CAPS),
            )  # fmt: skip
            expected = sorted(members(degree, index_set, most), key=ORDERS[order])
            assert list(map(tuple, basis.indices.tolist())) == expected
            count = count_terms(
                4, degree=degree, index_set=index_set, max_interaction=most, levels=OF_CAPS
            )
            assert count == len(expected)

    @pytest.mark.parametrize("index_set", ["tensor", "total_degree", "hyperbolic_cross"])
    def test_smallest_degree_of_so_many_terms(self, index_set):
        for n_terms in (1, 2, 5, 17, 40):
            basis = TensorBasis(
                4, n_terms=n_terms, index_set=index_set, spectrum=Spectrum((0.5, 1.0), OF_CAPS)
            )
            degree = next(d for d in itertools.count() if len(members(d, index_set, 4)) >= n_terms)
            expected = sorted(members(degree, index_set, 4), key=ORDERS["grlex"])[:n_terms]
            assert list(map(tuple, basis.indices.tolist())) == expected

    @pytest.mark.parametrize("index_set", ["tensor", "total_degree", "hyperbolic_cross"])
    def test_categories_have_no_more_terms_than_all(self, index_set):
        levels = [OF_CAPS[t] for t in (0, 2, 3)]
        spectrum = Spectrum((0.5, 1.0), levels)
        for n_terms in (23, 24, 1000):
            basis = TensorBasis(3, n_terms=n_terms, index_set=index_set, spectrum=spectrum)
            assert basis.n_terms == min(n_terms, 3 * 2 * 4)
            assert len({tuple(k) for k in basis.indices.tolist()}) == basis.n_terms
            found = count_terms(3, n_terms=n_terms, index_set=index_set, levels=levels)
            assert found == basis.n_terms

    @pytest.mark.parametrize("most", [None, 2])
    @pytest.mark.parametrize("degree", [None, 4, [2, 2, 1, 2]])
    def test_largest_weight(self, degree, most):
        spectrum = Spectrum(PowerDecay((0.5, 0.3, 0.1, 0.4), 1.25), OF_CAPS)
        basis = TensorBasis(
            4, n_terms=40, degree=degree, index_set="largest_weight", spectrum=spectrum,
            max_interaction=most,
        )  # fmt: skip
        caps = [min(n, 40) for n in CAPS]
        if isinstance(degree, list):
            caps = list(map(min, zip(caps, degree, strict=True)))
        box = itertools.product(*(range(cap + 1) for cap in caps))
        kept = [
            k for k in box
            if sum(n > 0 for n in k) <= (most or 4) and (not isinstance(degree, int) or sum(k) <= 4)
        ]  # fmt: skip
        counted = self.counted(spectrum, np.array(kept))
        expected = np.sort(counted)[::-1][:40]
        found = self.counted(spectrum, basis.indices)
        np.testing.assert_allclose(found, expected[: basis.n_terms], rtol=1e-8)
        assert basis.n_terms == min(40, len(kept))

    @staticmethod
    def counted(spectrum, indices):
        """Weights of terms times the deviations of their contrasts over the samples."""
        found = spectrum.term_weights(indices)
        for t, one in enumerate(spectrum.levels):
            if one is not None:
                deviations = np.sqrt(np.array(one.shares) @ one.contrasts() ** 2)
                own = np.concatenate([[1.0], deviations, np.ones(1000)])
                found = found * own[indices[:, t]]
        return found

    def test_rare_levels_come_after_degrees_that_matter_more(self):
        levels = [Levels(tuple([1.0 / 3000] * 3000)), None]
        spectrum = Spectrum(PowerDecay((0.5, 0.5), 2), levels)
        basis = TensorBasis(2, n_terms=1000, index_set="largest_weight", spectrum=spectrum)
        first = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7)]  # 7^4 < 2999
        assert list(map(tuple, basis.indices.tolist()))[:8] == first
        assert basis.indices[:, 0].max() > 300

    def test_levels_that_no_sample_has_come_last(self):
        levels = [Levels((0.5, 0.5, 0.0))]
        basis = TensorBasis(
            1, n_terms=3, index_set="largest_weight", spectrum=Spectrum((0.5, 2.0), levels)
        )
        assert basis.indices.tolist() == [[0], [1], [2]]

    def test_largest_weight_of_categories_alone(self):
        levels = [OF_CAPS[t] for t in (0, 2, 3)]
        spectrum = Spectrum(PowerDecay((0.5, 0.0, 0.4), 1.25), levels)
        basis = TensorBasis(3, n_terms=500, index_set="largest_weight", spectrum=spectrum)
        assert basis.n_terms == 3 * 4
        assert basis.indices[:, 1].max() == 0

    def test_counts_of_many_inputs(self):
        levels = [Levels((0.2,) * 5)] * 30 + [None] * 20
        found = count_terms(50, degree=3, levels=levels)
        # pairs and triples of degrees below the cap are all there
        assert found == count_terms(50, degree=3)
        assert count_terms(27, degree=108, levels=levels[:27]) == 5**27
        beyond = count_terms(50, degree=5, levels=levels)
        # of total degree 5, one input of degree 5 is what a category does not have
        assert beyond == count_terms(50, degree=5) - 30


class TestTensorBasis:
    def test_weights_of_terms(self):
        levels = [Levels((0.7, 0.3), category=False), Levels((0.5, 0.3, 0.2))]
        spectrum = Spectrum([PowerDecay((0.5, 0.2), 1), GeometricDecay((0.1, 0.3), 0.5)], levels)
        indices = [[0, 0], [1, 0], [2, 0], [3, 0], [0, 1], [0, 2], [3, 2]]
        squares = [1, 0.6, 0.6, 0.5 / 4 + 0.05, 0.5, 0.5, (0.5 / 4 + 0.05) * 0.5]
        np.testing.assert_allclose(spectrum.term_weights(indices), np.sqrt(squares), rtol=1e-15)

    def test_names(self):
        levels = [Levels((0.7, 0.3), category=False), Levels((0.5, 0.3, 0.2)), None]
        basis = TensorBasis(3, degree=2, spectrum=Spectrum((0.5, 1.0), levels))
        assert basis.term_names(["age", "colour", "size"]) == [
            "1", "missing(age)", "level1(colour)", "C1(size)", "C1(age)",
            "missing(age) level1(colour)", "missing(age) C1(size)", "level2(colour)",
            "level1(colour) C1(size)", "C2(size)",
        ]  # fmt: skip

    def test_complete_degree(self):
        spectrum = Spectrum((0.5, 1.0), OF_CAPS)
        basis = TensorBasis(4, degree=3, spectrum=spectrum)
        assert basis.complete_degree() == (3, 0)
        more = TensorBasis(4, n_terms=basis.n_terms + 2, spectrum=spectrum)
        assert more.complete_degree() == (3, 2)

    def test_equality_hash_and_pickle(self):
        spectrum = Spectrum((0.5, 1.0), OF_CAPS)
        basis = TensorBasis(4, degree=3, spectrum=spectrum)
        again = pickle.loads(pickle.dumps(basis))
        assert again == basis
        assert hash(again) == hash(basis)
        other = [Levels((0.5, 0.2, 0.3)), *OF_CAPS[1:]]
        assert TensorBasis(4, degree=3, spectrum=Spectrum((0.5, 1.0), other)) != basis
        assert TensorBasis(4, degree=3, spectrum=(0.5, 1.0)) != basis
        X = np.nan_to_num(samples()[:, [1, 0, 3, 1]])
        np.testing.assert_array_equal(again.evaluate(X), basis.evaluate(X))

    def test_bases_without_levels_take_no_missing_numbers(self):
        with pytest.raises(ValueError, match="NaN"):
            TensorBasis(1, degree=2).evaluate([[np.nan]])
        basis = TensorBasis(1, degree=2, spectrum=Spectrum((0.5, 1.0), [None]))
        np.testing.assert_array_equal(basis.evaluate([[np.nan]]), [[1.0, 0.0, 0.0]])

    def test_infinity_is_no_level(self):
        basis = TensorBasis(4, degree=2, spectrum=Spectrum((0.5, 1.0), OF_CAPS))
        with pytest.raises(ValueError, match="infinit"):
            basis.evaluate(np.full((1, 4), np.inf))

    def test_levels_need_the_whole_domain(self):
        basis = TensorBasis(4, degree=2, spectrum=Spectrum((0.5, 1.0), OF_CAPS))
        box = InputScaling([0.0] * 4, [1.0] * 4)
        with pytest.raises(ValueError, match=r"must have `domain=\(-1, 1\)`, or column 0 among"):
            basis.evaluate(np.zeros((1, 4)), scaling=box)

    def test_levels_beside_numbers_from_0_to_1(self):
        """Boxes may map the columns of categories to another interval than those of numbers."""
        levels = [Levels((0.5, 0.3, 0.2)), None, Levels((0.7, 0.3), category=False)]
        basis = TensorBasis(3, degree=3, spectrum=Spectrum((0.5, 1.0), levels))
        X = np.array([[0.0, 2.0, 1.0], [1.0, 3.0, np.nan], [2.0, 4.0, 3.0], [np.nan, 2.5, 0.0]])
        given = {"lower": [0.0, 2.0, 0.0], "upper": [2.0, 4.0, 3.0], "domain": (0, 1)}
        box = InputScaling(**given, categories=[True, False, False])
        u = np.column_stack([X[:, 0] - 1.0, (X[:, 1] - 2.0) / 2.0, X[:, 2] / 3.0])
        np.testing.assert_allclose(box.transform(X), u)
        np.testing.assert_allclose(basis.evaluate(X, scaling=box), basis.evaluate(u), atol=1e-15)
        slopes = box.slopes(np.array([[1.0, 3.0, 1.0]]))
        np.testing.assert_allclose(slopes, [[1.0, 0.5, 1.0 / 3.0]])
        assert pickle.loads(pickle.dumps(box)) == box
        assert box != InputScaling(**given)
        with pytest.raises(ValueError, match="boxes can be joined"):
            box.union(InputScaling(**given))
        # from -1 to 1 there is no difference
        assert box.replace(domain=(-1, 1)) == InputScaling(**{**given, "domain": (-1, 1)})

    def test_total_degree_kernel_takes_numbers_alone(self):
        with pytest.raises(ValueError, match="must have no `levels`"):
            TotalDegreeKernel(4, 2, spectrum=Spectrum((0.5, 1.0), OF_CAPS))


# --- fits -----------------------------------------------------------------------------------------


def problem(n=60, **how):
    """Samples, a set of terms, and targets of two columns."""
    spectrum = Spectrum(SPECTRA["power"], LEVELS)
    X = samples(n)
    Y = np.random.default_rng(5).standard_normal((n, 2))
    return X, Y, TensorBasis(6, spectrum=spectrum, **how)


class TestFits:
    @pytest.mark.parametrize("solver", ["cholesky", "orthogonal"])
    @pytest.mark.parametrize("engine", ["primal", "dual", "kernel"])
    @pytest.mark.parametrize("degree", [1, 2, 4])
    def test_ways_solve_the_normal_equations(self, degree, engine, solver):
        X, Y, basis = problem(degree=degree)
        weight = np.random.default_rng(6).uniform(0.5, 2, len(X))
        found = solve_ridge(
            basis, X, Y, 1e-2, sample_weight=weight, engine=engine, solver=solver
        ).weights
        G = basis.evaluate(X)
        normal = G.T @ (weight[:, np.newaxis] * G) + 1e-2 * np.eye(basis.n_terms)
        normal[0, 0] -= 1e-2
        expected = np.linalg.solve(normal, G.T @ (weight[:, np.newaxis] * Y))
        free = solve_ridge(
            basis, X, Y, 1e-2, sample_weight=weight, engine=engine, solver=solver,
            penalize_constant=False,
        ).weights  # fmt: skip
        np.testing.assert_allclose(free, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
        normal[0, 0] += 1e-2
        expected = np.linalg.solve(normal, G.T @ (weight[:, np.newaxis] * Y))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())

    def test_all_terms_fit_as_the_kernel_does(self):
        spectrum = Spectrum([PowerDecay((0.3, 0.5, 0.2), 1.5)], LEVELS[:3])
        basis = TensorBasis(3, degree=[4, 4, 3], index_set="tensor", lam=0.0, spectrum=spectrum)
        kernel = SpectrumKernel(3, spectrum, max_degree=3)
        X, Z = samples()[:, :3], samples(20, seed=1)[:, :3]
        y = np.sin(np.arange(60.0))
        dual = solve_kernel(kernel, X, y, 0.05, penalize_constant=False)
        expected = predict_kernel(kernel, Z, X, dual.dual_coef) + dual.intercept
        primal = solve_ridge(basis, X, y, 0.05, penalize_constant=False)
        found = predict(basis, Z, primal.weights)
        np.testing.assert_allclose(found, expected.reshape(found.shape), atol=1e-12)

    def test_tiny_penalties_are_refined_in_extended_precision(self):
        X, Y, basis = problem(400, degree=2)
        found = solve_ridge(basis, X, Y, 1e-13)
        assert found.solver == "qr"
        G = basis.evaluate(X)
        alpha = 1e-13
        rows = np.vstack([G, np.sqrt(alpha) * np.eye(basis.n_terms)])
        sides = np.vstack([Y, np.zeros((basis.n_terms, 2))])
        expected = np.linalg.lstsq(rows, sides, rcond=None)[0]
        residuals = [np.linalg.norm(rows @ w - sides) for w in (found.weights, expected)]
        np.testing.assert_allclose(residuals[0], residuals[1], rtol=1e-12)
        np.testing.assert_allclose(G @ found.weights, G @ expected, atol=1e-7)

    def test_sums_of_parts_are_those_of_all(self):
        X, Y, basis = problem(degree=2)
        parts = [GramStatistics.from_data(basis, X[rows], Y[rows]) for rows in
                 (slice(0, 20), slice(20, 60))]  # fmt: skip
        whole = solve_ridge(basis, X, Y, 1e-3)
        np.testing.assert_allclose(
            (parts[0] + parts[1]).solve(1e-3).weights, whole.weights, atol=1e-9
        )

    def test_leave_one_out_is_that_of_refits(self):
        X, Y, basis = problem(degree=2)
        loo = RidgePath(basis, X, Y).leave_one_out([1e-2])
        for i in (0, 7, 41):
            kept = np.arange(len(X)) != i
            fit = solve_ridge(basis, X[kept], Y[kept], 1e-2)
            expected = predict(basis, X[i : i + 1], fit.weights)[0]
            np.testing.assert_allclose(loo.predictions[0, i], expected, atol=1e-9)

    def test_many_samples_take_no_grid_of_angles(self):
        rng = np.random.default_rng(3)
        levels = [Levels((0.5, 0.3, 0.2))]
        basis = TensorBasis(1, degree=2, spectrum=Spectrum((0.5, 1.0), levels))
        X = rng.integers(0, 3, (5000, 1)) - 1.0
        y = rng.standard_normal(5000)
        loo = RidgePath(basis, X, y).leave_one_out([1e-1])
        fit = solve_ridge(basis, X[1:], y[1:], 1e-1)
        np.testing.assert_allclose(
            loo.predictions[0, 0], predict(basis, X[:1], fit.weights)[0], atol=1e-10
        )

    def test_folds(self):
        X, Y, basis = problem(degree=2)
        folds = np.arange(60).reshape(4, 15)
        found = kfold_predictions(basis, X, Y, folds, [1e-2])
        for rows in folds:
            kept = np.setdiff1d(np.arange(60), rows)
            expected = predict(basis, X[rows], solve_ridge(basis, X[kept], Y[kept], 1e-2).weights)
            np.testing.assert_allclose(found.predictions[0, rows], expected, atol=1e-9)

    def test_moments_are_never_taken(self):
        X, Y, basis = problem(degree=2)
        assert fit_cost(basis, 10**9)["moments"] == np.inf
        assert not moments_serve(basis, 1)
        with pytest.raises(ValueError, match="moments are sums of Chebyshev polynomials"):
            solve_ridge(basis, X, Y, 1e-3, engine="moments")
        with pytest.raises(ValueError, match="moments are sums of Chebyshev polynomials"):
            MomentStatistics.from_data(basis, X, Y)

    def test_boxes_of_categories_do_not_grow(self):
        X, Y, basis = problem(degree=2)
        box = InputScaling([-1.0] * 6, [1.0] * 6, domain=(-1, 1))
        sums = GramStatistics.from_data(basis, X, Y, scaling=box)
        with pytest.raises(ValueError, match=r"the box of a category does not grow.*give input 1"):
            sums.rescaled(box.replace(lower=[-2.0] * 6))

    def test_derivatives(self):
        spectrum = Spectrum(SPECTRA["geometric"], LEVELS)
        basis = TensorBasis(6, degree=4, lam=0.3, spectrum=spectrum)
        coef = np.random.default_rng(4).standard_normal((basis.n_terms, 2))
        box = InputScaling([-2.0] * 6, [2.0] * 6, domain=(-1, 1))
        function = TermExpansion(basis, coef, box)
        X = 1.6 * samples(30)
        found = function.gradient(X)
        step = 1e-5
        for t, one in enumerate(LEVELS):
            moved = [X.copy(), X.copy()]
            moved[0][:, t] += step
            moved[1][:, t] -= step
            values = [function.evaluate(x) for x in moved]
            expected = (values[0] - values[1]) / (2 * step)
            if one is not None and one.category:
                expected[:] = 0.0
            np.testing.assert_allclose(found[:, t], expected, atol=1e-7)
        assert (found[np.isnan(X)] == 0.0).all()

    def test_missing_where_no_sample_misses_any(self):
        basis = TensorBasis(2, degree=3, spectrum=(0.5, 1.0))
        coef = np.arange(1.0, basis.n_terms + 1)
        box = InputScaling([-1.0] * 2, [1.0] * 2, domain=(-1, 1))
        function = TermExpansion(basis, coef, box).with_missing()
        X = np.array([[0.3, np.nan], [0.3, -0.7]])
        alone = basis.indices[:, 1] == 0
        G = basis.evaluate([[0.3, 0.0], [0.3, -0.7]])
        expected = [G[0, alone] @ coef[alone], G[1] @ coef]
        np.testing.assert_allclose(function.evaluate(X), expected, rtol=1e-14)


class TestSobol:
    def decomposed(self, distribution):
        """Values of a function at all levels and at nodes, with their shares."""
        levels = [Levels((0.7, 0.3), category=False), Levels((0.5, 0.3, 0.2)), None]
        spectrum = Spectrum(PowerDecay((0.5, 0.4, 0.3), 1), levels)
        basis = TensorBasis(3, degree=3, lam=0.2, spectrum=spectrum)
        coef = np.random.default_rng(8).standard_normal(basis.n_terms)
        found = term_sobol_indices(basis, coef, domain=(-1, 1), distribution=distribution)
        x, w = np.polynomial.legendre.leggauss(8)
        w = w / 2
        if distribution == "chebyshev":
            x, w = np.cos((np.arange(8) + 0.5) * np.pi / 8), np.full(8, 1 / 8)
        axes = [x, np.array([-1.0, 0.0, 1.0]), x]
        shares = [w, np.array(levels[1].shares), w]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        values = (basis.evaluate(grid) @ coef).reshape(8, 3, 8)
        return found, values, shares

    @pytest.mark.parametrize("distribution", ["uniform", "chebyshev"])
    def test_shares_are_those_of_enumeration(self, distribution):
        found, values, shares = self.decomposed(distribution)
        whole = np.einsum("abc,a,b,c->", values, *shares)
        variance = np.einsum("abc,a,b,c->", (values - whole) ** 2, *shares)
        np.testing.assert_allclose(found.mean, [whole], rtol=1e-12)
        np.testing.assert_allclose(found.variance, [variance], rtol=1e-12)
        for t in range(3):
            others = [s for s in range(3) if s != t]
            means = values
            for s in reversed(others):
                means = np.tensordot(means, shares[s], (s, 0))
            first = shares[t] @ (means - whole) ** 2
            np.testing.assert_allclose(found.first_order[0, t], first / variance, rtol=1e-10)
            left = np.tensordot(values, shares[t], (t, 0))
            rest = np.einsum("ab,a,b->", (left - whole) ** 2, *(shares[s] for s in others))
            np.testing.assert_allclose(found.total[0, t], 1 - rest / variance, rtol=1e-10)

    def test_are_those_of_the_kernel(self):
        levels = LEVELS[:3]
        spectrum = Spectrum([PowerDecay((0.3, 0.5, 0.2), 1.5)], levels)
        kernel = SpectrumKernel(3, spectrum, max_degree=3)
        X, y = samples()[:, :3], np.sin(np.arange(60.0))
        dual = solve_kernel(kernel, X, y, 0.05, penalize_constant=False)
        expected = kernel_sobol_indices(kernel, X, dual.dual_coef, intercept=dual.intercept)
        basis = TensorBasis(3, degree=[4, 4, 3], index_set="tensor", lam=0.0, spectrum=spectrum)
        primal = solve_ridge(basis, X, y, 0.05, penalize_constant=False)
        found = term_sobol_indices(basis, primal.weights, domain=(-1, 1))
        np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-9)
        np.testing.assert_allclose(found.first_order, expected.first_order, atol=1e-9)
        np.testing.assert_allclose(found.total, expected.total, atol=1e-9)


# --- estimators -----------------------------------------------------------------------------------

COLOURS = ["blue", "green", "red", "white"]


def table(n=200, seed=0):
    """A category, a number that is missing in some, a number, a truth value."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "colour": rng.choice(COLOURS, n, p=[0.4, 0.3, 0.2, 0.1]),
            "z": rng.uniform(-1, 1, n),
            "x": rng.uniform(size=n),
            "old": rng.random(n) < 0.5,
        }
    )
    X.loc[rng.random(n) < 0.2, "z"] = np.nan
    y = X.colour.map(dict(zip(COLOURS, [0.0, 1.0, -1.0, 0.5], strict=True)))
    y += np.sin(5 * X.x) * (X.colour == "blue") + X.z.fillna(1.5) ** 2 + 0.3 * X.old
    return X, y.to_numpy() + 0.1 * rng.normal(size=n)


def encoded(X):
    """The same as numbers of levels."""
    found = X.assign(colour=X.colour.map({c: k for k, c in enumerate(COLOURS)}), old=X.old)
    return found.to_numpy(dtype=float)


STEEP = GeometricDecay((0.5, 0.4, 0.3, 0.2), 1e-3)


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return GegenbauerRegressorCV(n_terms=150).fit(X, y)


class TestEstimators:
    @pytest.mark.parametrize("kind", [GegenbauerRegressorCV, GegenbauerClassifierCV])
    def test_nearly_all_terms_fit_as_all_do(self, kind):
        X, y = table()
        if kind is GegenbauerClassifierCV:
            y = np.where(y > 0.8, "high", "low")
        given = {"spectrum": STEEP, "alphas": [0.05]}
        # 4 levels, 2 truth values, degrees up to 4
        few = kind(n_terms=500, **given).fit(X, y)
        everything = kind(**given).fit(X, y)
        Z, _ = table(80, seed=1)
        outputs = "predict_proba" if kind is GegenbauerClassifierCV else "predict"
        found, expected = (getattr(model, outputs)(Z) for model in (few, everything))
        np.testing.assert_allclose(found, expected, atol=1e-8)
        np.testing.assert_allclose(few.loo_predictions_, everything.loo_predictions_, atol=1e-8)
        assert few.categories_ == everything.categories_ == [COLOURS, None, None, [False, True]]
        assert few.spectrum_ == everything.spectrum_
        np.testing.assert_array_equal(few.relevances_, everything.relevances_)
        if kind is GegenbauerRegressorCV:
            stds = [model.predict(Z, return_std=True)[1] for model in (few, everything)]
            np.testing.assert_allclose(stds[0], stds[1], rtol=1e-6)

    def test_categories_alone_are_fitted_as_by_the_kernel(self):
        X, y = table()
        X = X[["colour", "old"]]
        given = {"spectrum": PowerDecay((0.5, 0.3), 2), "alphas": [0.05]}
        few = GegenbauerRegressorCV(n_terms=100, **given).fit(X, y)
        assert few.n_terms_ == 8
        everything = GegenbauerRegressorCV(**given).fit(X, y)
        np.testing.assert_allclose(few.predict(X), everything.predict(X), atol=1e-12)

    def test_leave_one_out_is_that_of_refits(self, fitted):
        X, y = table()
        codes = encoded(X)
        for i in (0, 17, 101):
            kept = np.arange(len(X)) != i
            fit = solve_ridge(
                fitted.basis_, codes[kept], y[kept], fitted.alpha_, scaling=fitted.scaling_,
                penalize_constant=False,
            )  # fmt: skip
            expected = predict(
                fitted.basis_, codes[i : i + 1], fit.weights, scaling=fitted.scaling_
            )
            assert fitted.loo_predictions_[i] == pytest.approx(expected[0, 0], abs=1e-9)

    def test_learns_what_the_kernel_learns(self, fitted):
        X, y = table(300, seed=3)
        assert fitted.score(X, y) > 0.97
        names = fitted.basis_.term_names(["colour", "z", "x", "old"])
        assert {"level3(colour)", "missing(z)", "level1(old)"} <= set(names)
        assert fitted.basis_.spectrum == fitted.spectrum_

    def test_what_is_not_known_is_the_mean(self, fitted):
        X, _ = table(1)
        with pytest.warns(OutOfRangeWarning, match=r"column 0 \('colour'\) has a level"):
            found = fitted.predict(X.assign(colour="violet"))[0]
        shares = fitted.spectrum_.levels[0].shares
        each = [fitted.predict(X.assign(colour=name))[0] for name in COLOURS]
        assert found == pytest.approx(np.dot(shares, each), abs=1e-10)
        with pytest.warns(OutOfRangeWarning, match=r"column 2 \('x'\) has no value"):
            found = fitted.predict(X.assign(x=np.nan))[0]
        nodes = np.cos((np.arange(200) + 0.5) * np.pi / 200)
        lower, upper = fitted.scaling_.lower[2], fitted.scaling_.upper[2]
        at = X.loc[[0] * 200].assign(x=lower + (upper - lower) * (nodes + 1) / 2)
        mean = fitted.predict(at).mean()
        assert found == pytest.approx(mean, abs=1e-6)

    def test_deviations_of_what_is_not_known_are_those_over_the_levels(self, fitted):
        X, _ = table(1)
        model = pickle.loads(pickle.dumps(fitted)).set_params(out_of_range="clip")
        _, std = model.predict(X.assign(colour="violet"), return_std=True)
        each = np.array([model.predict(X.assign(colour=name))[0] for name in COLOURS])
        shares = np.array(model.spectrum_.levels[0].shares)
        spread = shares @ (each - shares @ each) ** 2
        assert std[0] ** 2 > 0.9 * spread
        assert std[0] ** 2 < 1.1 * spread + 3 * model.noise_variance_[0]
        X = X.assign(colour="blue")  # where x matters
        _, std = model.predict(X.assign(x=np.nan), return_std=True)
        each = model.predict(X.loc[[0] * 100].assign(x=(np.arange(100) + 0.5) / 100))
        assert std[0] ** 2 == pytest.approx(np.var(each), rel=0.3)

    def test_gradients(self, fitted):
        X, _ = table(30, seed=4)
        model = pickle.loads(pickle.dumps(fitted)).set_params(out_of_range="clip")
        found = model.expansion_.gradient(encoded(X))
        assert (found[:, [0, 3]] == 0.0).all()
        assert (found[X.z.isna(), 1] == 0.0).all()
        step = 1e-5
        moved = [model.predict(X.assign(x=X.x + h)) for h in (step, -step)]
        inside = (X.x > 0.05) & (X.x < 0.95)
        expected = (moved[0] - moved[1]) / (2 * step)
        np.testing.assert_allclose(found[inside, 2, 0], expected[inside], rtol=1e-4, atol=1e-6)

    def test_sobol_indices_are_those_of_all_terms(self):
        X, y = table()
        given = {"spectrum": STEEP, "alphas": [0.05]}
        few = GegenbauerRegressorCV(n_terms=500, **given).fit(X, y)
        everything = GegenbauerRegressorCV(**given).fit(X, y)
        found, expected = sobol_indices(few), sobol_indices(everything)
        np.testing.assert_allclose(found.mean, expected.mean, atol=1e-8)
        np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-7)
        np.testing.assert_allclose(found.total, expected.total, atol=1e-7)

    @pytest.mark.parametrize("kind", [GegenbauerRegressorCV, GegenbauerClassifierCV])
    def test_model_files(self, kind, tmp_path):
        X, y = table(120)
        if kind is GegenbauerClassifierCV:
            y = np.where(y > 0.8, "high", "low")
        model = kind(n_terms=40).fit(X, y)
        save(model, tmp_path / "model.gegenbauer")
        again = load(tmp_path / "model.gegenbauer")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.basis_ == model.basis_
        assert again.spectrum_ == model.spectrum_
        assert again.categories_ == model.categories_
        assert pickle.loads(pickle.dumps(again)).basis_ == model.basis_

    def test_missing_error_and_sums_of_weights(self):
        X, y = table()
        with pytest.raises(ValueError, match="NaN"):
            GegenbauerRegressorCV(n_terms=20, missing="error").fit(X, y)
        weight = np.random.default_rng(0).integers(1, 3, len(X))
        given = {"n_terms": 60, "spectrum": STEEP, "alphas": [0.05]}
        by_weight = GegenbauerRegressorCV(**given).fit(X, y, sample_weight=weight)
        repeated = X.loc[X.index.repeat(weight)], np.repeat(y, weight)
        by_rows = GegenbauerRegressorCV(**given).fit(*repeated)
        np.testing.assert_allclose(by_weight.predict(X), by_rows.predict(X), atol=1e-10)

    def test_many_samples_of_an_automatic_choice(self):
        """Beyond the kernel a finite set takes the place of all terms."""
        X, y = table(1500, seed=2)
        model = GegenbauerRegressorCV(n_terms=300, search_samples=200).fit(X, y)
        Z, z = table(500, seed=5)
        assert model.score(Z, z) > 0.98


class TestPolynomials:
    """The model as text and as an expression, read back."""

    @staticmethod
    def read(text, X):
        """Evaluate a text by what its lines define."""
        first, *lines = text.splitlines()
        lam, low, high = 0.0, -1.0, 1.0
        assert f"lam = {lam}, of x scaled to [-1, 1]" in lines[0]
        box = {}
        for part in re.findall(r"(\w+) in \[([^,]+), ([^\]]+)\]", lines[1]):
            box[part[0]] = float(part[1]), float(part[2])
        contrasts = {}
        for line in lines[2:]:
            name, values = line.split(": ", 1)
            if " of '" in values or " of False" in values:
                pairs = re.findall(r"(\S+) of ('?)(\w+)\2(?:,|$)", values)
                contrasts[name] = {level: float(value) for value, _, level in pairs}
                assert values.endswith(", 0 of others")
            elif name.startswith("missing"):
                contrasts[name] = [float(v) for v in re.findall(r"(\S+) where", values)]
        total = np.zeros(len(X))
        for term in re.split(r" (?=[+-] )", first):
            sign = -1.0 if term.startswith("-") else 1.0
            weight, *factors = term.lstrip("+- ").split(" ")
            values = np.full(len(X), sign * float(weight))
            for factor in factors:
                kind, x = re.fullmatch(r"(\w+)\((\w+)\)", factor).groups()
                column = X[x]
                if kind.startswith("level"):
                    own = contrasts[factor]
                    values *= [own.get(str(level), 0.0) for level in column]
                elif kind == "missing":
                    values *= np.where(column.isna(), *contrasts[factor][::-1])
                else:
                    lower, upper = box[x]
                    u = low + (high - low) * (column - lower) / (upper - lower)
                    degree = int(kind[1:])
                    own = gegenbauer_vander(
                        np.nan_to_num(u), degree, lam, normalization="orthonormal"
                    )[:, degree]
                    values *= np.where(column.isna(), 0.0, own)
            total += values
        return total

    def test_text_is_the_model(self, fitted):
        X, _ = table(60, seed=6)
        text = polynomial_text(fitted, max_terms=1000, digits=17)
        assert "Cn(z): 0 where z is missing" in text.splitlines()
        inside = ((X[["x"]] > 0.01) & (X[["x"]] < 0.99)).all(axis=1)
        found = self.read(text, X)[inside]
        model = pickle.loads(pickle.dumps(fitted)).set_params(out_of_range="extrapolate")
        np.testing.assert_allclose(found, model.predict(X)[inside], atol=1e-10)

    @pytest.mark.slow
    def test_expression_is_the_model_where_numbers_are_given(self, fitted):
        sympy = pytest.importorskip("sympy")
        X, _ = table(12, seed=7)
        X = X.assign(z=X.z.fillna(0.3))
        expression = to_sympy(fitted)
        symbols = [sympy.Symbol(name) for name in X.columns]
        model = pickle.loads(pickle.dumps(fitted)).set_params(out_of_range="extrapolate")
        for row, expected in zip(encoded(X), model.predict(X), strict=True):
            values = {s: (int(v) if t in (0, 3) else v) for t, (s, v) in
                      enumerate(zip(symbols, row.tolist(), strict=True))}  # fmt: skip
            assert float(expression.subs(values)) == pytest.approx(expected, abs=1e-9)

    def test_one_number_or_missing(self):
        """An input that is constant where it is given is its contrast alone."""
        rng = np.random.default_rng(0)
        X = pd.DataFrame({"z": np.where(rng.random(80) < 0.3, np.nan, 2.5), "x": rng.random(80)})
        y = X.z.isna() * 1.0 + X.x
        model = GegenbauerRegressorCV(n_terms=20, spectrum=(0.5, 2.0)).fit(X, y)
        text = polynomial_text(model, max_terms=100, digits=17)
        assert "missing(z): " in text
        assert "(z)" in text.splitlines()[0]
        assert not re.search(r"C\d\(z\)", text)
        np.testing.assert_allclose(self.read(text, X), model.predict(X), atol=1e-10)
