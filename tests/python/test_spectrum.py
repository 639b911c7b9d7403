"""One spectrum: its weights by hand and in extended precision, and what is made of it."""

from __future__ import annotations

import copy
import itertools
import json
import pickle

import mpmath
import numpy as np
import oracles
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import eval_gegenbauer as scipy_gegenbauer
from sklearn.base import clone

import gegenbauer
from gegenbauer import (
    GegenbauerClassifierCV,
    GegenbauerDecay,
    GegenbauerFeatures,
    GegenbauerRegressor,
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
    save,
    solve_ridge,
    to_sympy,
)
from gegenbauer.basis import SpectrumKernel, TotalDegreeKernel
from gegenbauer.errors import ModelFileError
from gegenbauer.inspection import kernel_sobol_indices, term_sobol_indices
from gegenbauer.ridge import fit_cost
from gegenbauer.selection._spectrum_matrices import SpectrumMatrices, WeightedSamples

# of three inputs, the last of which counts for little, or not at all
MIXED = Spectrum([PowerDecay((1.0, 0.3, 0.01), 1.5), GeometricDecay((0.0, 0.5, 0.05), 0.4)])
WITHOUT_ONE = Spectrum([PowerDecay((0.5, 0.0, 0.25), 1.0)])
ALL = Spectrum(
    [
        PowerDecay(0.2, 1.0),
        GeometricDecay((0.1, 0.0, 1.5), 0.3),
        GegenbauerDecay((1.0, 0.5, 0.0), 0.2),
    ]
)
SPECTRA = [MIXED, WITHOUT_ONE, ALL, Spectrum((0.4, 1.0)), Spectrum.paper(0.3), Spectrum.flat()]


def squared_norm(lam, n):
    """Of C_n, for the probability density of its weight, by the formula for the usual weight."""
    with mpmath.workdps(40):
        lam = mpmath.mpf(lam)
        if lam == 0:  # of C_n / lam, the limit
            return float(mpmath.mpf(2) / n**2)
        norm = (
            mpmath.pi * mpmath.power(2, 1 - 2 * lam) * mpmath.gamma(n + 2 * lam)
            / (mpmath.factorial(n) * (n + lam) * mpmath.gamma(lam) ** 2)
        )  # fmt: skip
        mass = mpmath.sqrt(mpmath.pi) * mpmath.gamma(lam + 0.5) / mpmath.gamma(lam + 1)
        return float(norm / mass)


def by_hand(spectrum, n_features, degree):
    out = np.ones((n_features, degree + 1))
    for t, n in itertools.product(range(n_features), range(1, degree + 1)):
        out[t, n] = 0
        for part in spectrum.components:
            q = part.interaction[t] if isinstance(part.interaction, tuple) else part.interaction
            if isinstance(part, PowerDecay):
                c = n ** (-2.0 * part.smoothness)
            elif isinstance(part, GeometricDecay):
                c = part.ratio ** (n - 1.0)
            else:
                c = squared_norm(part.lam, n)
            out[t, n] += q * c
    return out


# --- The object -----------------------------------------------------------------------------------


@pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
def test_weights_by_hand(spectrum):
    v = by_hand(spectrum, 3, 25)
    assert_allclose(spectrum.squared_weights(3, 25), v, rtol=1e-13)
    indices = np.array(list(itertools.product(range(4), repeat=3)))
    expected = [np.prod([np.sqrt(v[t, n]) for t, n in enumerate(k)]) for k in indices]
    assert_allclose(spectrum.term_weights(indices), expected, rtol=1e-13)


@pytest.mark.parametrize("lam", [-0.45, -0.1, 0.0, 1e-8, 0.05, 0.5, 1.0, 2.5])
def test_paper_is_the_squared_norms(lam):
    expected = [1.0] + [squared_norm(lam, n) for n in range(1, 60)]
    assert_allclose(Spectrum.paper(lam).squared_weights(2, 59), [expected] * 2, rtol=1e-12)


def test_paper_by_quadrature():
    nodes, weights = np.polynomial.legendre.leggauss(40)
    norms = [0.5 * weights @ scipy_gegenbauer(n, 0.5, nodes) ** 2 for n in range(20)]
    assert_allclose(Spectrum.paper(0.5).squared_weights(1, 19)[0], norms, rtol=1e-12)


def test_made_from_many_things():
    power = PowerDecay(0.5, 2)
    same = [Spectrum((0.5, 2.0)), Spectrum([0.5, 2]), Spectrum(power), Spectrum([power])]
    same += [Spectrum(same[0]), Spectrum(np.array([0.5, 2.0])), Spectrum(iter([power]))]
    assert len(set(same)) == 1
    assert same[0] != Spectrum((0.5, 1.0))
    assert same[0] != (0.5, 2.0)
    assert same[0].components == (power,)
    assert same[0].n_features is None
    assert MIXED.n_features == 3
    assert_array_equal(MIXED.interactions(3), [[1.0, 0.0], [0.3, 0.5], [0.01, 0.05]])
    assert_array_equal(Spectrum((0.5, 2.0)).interactions(2), [[0.5], [0.5]])
    assert_array_equal(Spectrum.flat().squared_weights(2, 3), 1.0)


@pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
def test_it_does_not_change(spectrum):
    again = pickle.loads(pickle.dumps(spectrum))
    assert again == spectrum
    assert hash(again) == hash(spectrum)
    assert copy.deepcopy(spectrum) == spectrum
    assert eval(repr(spectrum), vars(gegenbauer)) == spectrum
    with pytest.raises(AttributeError, match="does not change"):
        spectrum.components = ()
    assert clone(GegenbauerRegressor(spectrum=spectrum)).spectrum == spectrum


def test_representations():
    assert repr(Spectrum((0.5, 1))) == "Spectrum((0.5, 1.0))"
    assert repr(Spectrum.flat()) == "Spectrum.flat()"
    assert repr(Spectrum.paper(0.3)) == "Spectrum.paper(lam=0.3)"
    assert repr(Spectrum(GeometricDecay((1, 2), 0.5))) == (
        "Spectrum(GeometricDecay(interaction=(1, 2), ratio=0.5))"
    )
    basis = TensorBasis(2, degree=2, lam=0.3, spectrum=Spectrum.paper(0.3))
    assert repr(basis) == "TensorBasis(2, degree=2, lam=0.3)"
    assert repr(TensorBasis(2, degree=2, spectrum=Spectrum((1, 2)))) == (
        "TensorBasis(2, degree=2, lam=0.05, spectrum=(1.0, 2.0))"
    )
    largest = TensorBasis(
        2, n_terms=5, index_set="largest_weight", lam=0.3, spectrum=Spectrum.paper(0.3)
    )
    assert "spectrum=Spectrum.paper(lam=0.3)" in repr(largest)
    assert pickle.loads(pickle.dumps(largest)) == largest


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Spectrum((-1.0, 1.0)), ValueError, r"interaction \(q\) of `spectrum` must be"),
        (lambda: Spectrum((1.0, -0.5)), ValueError, r"smoothness \(s\) of `spectrum` must be"),
        (
            lambda: Spectrum((1.0, True)),
            TypeError,
            r"smoothness \(s\) of `spectrum` must be a number",
        ),
        (
            lambda: Spectrum("flat"),
            TypeError,
            r"components of `spectrum` must be a pair \(q, s\).* got 'flat'",
        ),
        (lambda: Spectrum([]), TypeError, "components of `spectrum` must be"),
        (lambda: PowerDecay(1.0, np.inf), ValueError, r"`smoothness` \(s\)"),
        (lambda: GeometricDecay(1.0, 1.0), ValueError, r"`ratio` \(r\)"),
        (lambda: GegenbauerDecay(1.0, -0.5), ValueError, "`lam` must be"),
        (lambda: PowerDecay((1.0, -1.0)), ValueError, r"`interaction` \(q\)"),
        (lambda: PowerDecay(()), ValueError, r"`interaction` \(q\) must be .*; got none"),
        (
            lambda: Spectrum([PowerDecay((1.0, 2.0)), GeometricDecay((1.0, 2.0, 3.0))]),
            ValueError,
            "one an input; got 2 and 3",
        ),
        (lambda: MIXED.squared_weights(2, 3), ValueError, "one number or 2, one an input; got 3"),
        (lambda: MIXED.squared_weights(3, -1), ValueError, "degree"),
        (lambda: MIXED.term_weights([[1, 2]]), ValueError, "one number or 2"),
        (
            lambda: MIXED.term_weights([[1.0, 2.0, 0.0]]),
            ValueError,
            "`indices` must be .* integers",
        ),
        (lambda: MIXED.term_weights([[1, -2, 0]]), ValueError, "`indices` must be .* integers"),
        (lambda: MIXED.term_weights([1, 2, 0]), ValueError, r"\(n_terms, n_features\)"),
        (lambda: TensorBasis(2, degree=2, spectrum=MIXED), ValueError, "one number or 2"),
        (lambda: TotalDegreeKernel(2, 2, spectrum=MIXED), ValueError, "one number or 2"),
        (lambda: SpectrumKernel(2, MIXED), ValueError, "one number or 2"),
        (lambda: TensorBasis(2, degree=2, spectrum="raw"), ValueError, "'orthonormal', a pair"),
        (
            lambda: TensorBasis(2, n_terms=9, index_set="largest_weight"),
            ValueError,
            r"needs a spectrum.*Spectrum\.paper",
        ),
        (
            lambda: TensorBasis(1, degree=9, lam=0.0, spectrum=Spectrum((1e300, 1.0))),
            ValueError,
            "squares leave the range of float64",
        ),
        (lambda: SpectrumKernel(2, Spectrum.paper(0.3), lam=0.3), ValueError, "no finite kernel"),
        (lambda: SpectrumKernel(2, Spectrum.paper(), lam=0.05), ValueError, "max_degree"),
    ],
)
def test_errors_teach(make, error, message):
    with pytest.raises(error, match=message):
        make()


# --- Terms and their weights ----------------------------------------------------------------------

SETS = [
    {"degree": 5},
    {"degree": (3, 0, 4), "index_set": "tensor"},
    {"degree": 6, "index_set": "hyperbolic_cross"},
    {"n_terms": 40, "index_set": "largest_weight"},
]


def inside(rng, n, m=3):
    return rng.uniform(-1, 1, (n, m))


def close(found, expected, tolerance=1e-13):
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("options", SETS, ids=str)
@pytest.mark.parametrize("lam", [-0.3, 0.0, 0.05, 2.0])
@pytest.mark.parametrize("spectrum", [MIXED, WITHOUT_ONE, ALL])
def test_features_are_orthonormal_ones_times_weights(rng, spectrum, lam, options):
    X = inside(rng, 40)
    basis = TensorBasis(3, lam=lam, spectrum=spectrum, **options)
    plain = oracles.features(X, basis.indices, lam, "orthonormal")
    v = by_hand(spectrum, 3, basis.max_degree)
    weights = np.sqrt([np.prod([v[t, n] for t, n in enumerate(k)]) for k in basis.indices])
    expected = plain * weights
    found = basis.evaluate(X)
    assert np.abs(found - expected).max(axis=0) == pytest.approx(
        0, abs=1e-12 * np.abs(plain).max() * weights.max()
    )
    close(found, expected)
    assert_allclose(spectrum.term_weights(basis.indices), weights, rtol=1e-12)
    assert_array_equal(found, basis.evaluate(X, n_threads=3))
    assert basis.spectrum == spectrum


@pytest.mark.parametrize("lam", [0.0, 0.05, 0.7])
def test_paper_makes_the_raw_polynomials(rng, lam):
    X = inside(rng, 30, 2)
    raw = TensorBasis(2, degree=6, lam=lam)
    assert raw.spectrum == Spectrum.paper(lam)
    assert TensorBasis(2, degree=6, lam=lam, spectrum=Spectrum.paper(lam)) == raw
    weighted = TensorBasis(2, degree=6, lam=lam, spectrum="orthonormal").evaluate(X)
    weighted *= Spectrum.paper(lam).term_weights(raw.indices)
    close(raw.evaluate(X), weighted)
    # the same by the general way, which an input more keeps from being taken for raw ones
    both = Spectrum(GegenbauerDecay((1.0, 1.0, 0.0), lam))
    three = TensorBasis(3, degree=(6, 6, 0), index_set="tensor", lam=lam, spectrum=both)
    two = TensorBasis(2, degree=(6, 6), index_set="tensor", lam=lam)
    close(three.evaluate(np.column_stack([X, X[:, 0]])), two.evaluate(X))


def test_shorthands_mean_the_same():
    for short, spectrum in [
        (None, Spectrum.paper(0.3)),
        ("orthonormal", Spectrum.flat()),
        ((0.5, 1.5), Spectrum(PowerDecay(0.5, 1.5))),
        (
            [PowerDecay(0.5, 1.5), GeometricDecay()],
            Spectrum([PowerDecay(0.5, 1.5), GeometricDecay()]),
        ),
    ]:
        a, b = (TensorBasis(2, degree=4, lam=0.3, spectrum=given) for given in (short, spectrum))
        assert a == b
        assert a._plan is b._plan
        a, b = (TotalDegreeKernel(2, 4, lam=0.3, spectrum=given) for given in (short, spectrum))
        assert a == b
        X = inside(np.random.default_rng(0), 30, 2)
        a, b = (
            GegenbauerFeatures(degree=3, lam=0.3, spectrum=given).fit(X)
            for given in (short, spectrum)
        )
        assert_array_equal(a.transform(X), b.transform(X))


# --- Sets of largest weight -----------------------------------------------------------------------


def largest_by_brute_force(spectrum, n_terms, limit=None, caps=None, box=40):
    """Those of a box of multi-indices of the largest weights; ties by degree and grlex."""
    v = np.minimum.accumulate(np.minimum(1.0, by_hand(spectrum, 3, box)), axis=1)
    beyond = v[:, box].max() if caps is None else 0.0
    k = np.stack(np.meshgrid(*[np.arange(box)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    keep = (k > 0).sum(axis=1) <= (limit or 3)
    if caps is not None:
        keep &= (k <= caps).all(axis=1)
    weight = v[np.arange(3), k].prod(axis=1)
    keep &= weight > beyond * (1 + 1e-7)
    k, rounded = k[keep], np.round(np.log(weight[keep]), 8)
    order = np.lexsort((*-k.T[::-1], k.sum(axis=1), -rounded))
    return k[order[:n_terms]]


@pytest.mark.parametrize("limit", [None, 1, 2])
@pytest.mark.parametrize("caps", [None, (2, 9, 0)])
@pytest.mark.parametrize(
    "spectrum",
    [
        MIXED,
        WITHOUT_ONE,
        ALL,
        Spectrum((0.25, 1.0)),
        Spectrum(PowerDecay((0.25, 3.0, 0.25), 0.5)),  # above one, and ties
        Spectrum.paper(0.05),
        Spectrum.flat(),
        Spectrum(GegenbauerDecay((0.3, 0.5, 0.2), 1.0)),  # all degrees alike
    ],
    ids=repr,
)
def test_largest_weight_against_brute_force(spectrum, caps, limit):
    expected = largest_by_brute_force(spectrum, 45, limit, caps)
    box = {} if caps is None else {"degree": caps}
    basis = TensorBasis(
        3, n_terms=45, index_set="largest_weight", spectrum=spectrum, max_interaction=limit, **box
    )
    assert caps or len(expected) > 5 or spectrum.squared_weights(3, 40)[:, 40].max() > 0.1
    assert_array_equal(basis.indices[: len(expected)], expected)
    if caps is not None:
        assert basis.n_terms == len(expected)


@given(
    q=st.lists(st.tuples(st.floats(0, 2), st.floats(0, 2)), min_size=1, max_size=5),
    s=st.floats(0.3, 2),
    r=st.floats(0.05, 0.9),
    n_terms=st.integers(1, 120),
)
@example(q=[(0.0, 5e-324)], s=1.0, r=0.5, n_terms=3)
def test_largest_weight_sets_are_nested_closed_and_sorted(q, s, r, n_terms):
    first, second = zip(*q, strict=True)
    spectrum = Spectrum([PowerDecay(first, s), GeometricDecay(second, r)])
    options = {"index_set": "largest_weight", "spectrum": spectrum}
    basis = TensorBasis(len(q), n_terms=n_terms, **options)
    indices = basis.indices
    found = {tuple(k) for k in indices.tolist()}
    assert len(found) == basis.n_terms
    for k in found:
        for t, n in enumerate(k):
            assert n == 0 or (*k[:t], n - 1, *k[t + 1 :]) in found
    fewer = TensorBasis(len(q), n_terms=max(1, n_terms // 2), **options).indices
    assert_array_equal(fewer, indices[: len(fewer)])
    # by logarithms: the smallest of the weights are below what float64 holds
    n = np.arange(1, indices.max(initial=1) + 1)
    with np.errstate(divide="ignore"):
        powers, ratios = (np.log(np.array(part))[:, np.newaxis] for part in (first, second))
    log_v = np.logaddexp(powers - 2 * s * np.log(n), ratios + (n - 1) * np.log(r)).clip(max=0.0)
    log_v = np.hstack([np.zeros((len(q), 1)), log_v])
    weights = log_v[np.arange(len(q)), indices].sum(axis=1)
    assert (np.diff(weights) <= 1e-8).all()
    used = indices.max(axis=0) > 0
    assert not used[np.array(first) + np.array(second) == 0].any()
    assert basis.n_terms == n_terms or not used.any()


def test_spectra_beyond_the_range_of_float64():
    """v(n) below 1e-308 still distinguishes terms."""
    spectrum = Spectrum(GeometricDecay((1.0, 1e-200), 1e-100))
    basis = TensorBasis(2, n_terms=8, lam=0.0, index_set="largest_weight", spectrum=spectrum)
    assert basis.indices.tolist() == [
        [0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [3, 0], [0, 2], [2, 1]
    ]  # fmt: skip


# --- Gram matrices and kernels --------------------------------------------------------------------


@pytest.mark.parametrize("options", SETS, ids=str)
@pytest.mark.parametrize("lam", [-0.3, 0.0, 0.05, 2.0])
@pytest.mark.parametrize("spectrum", [MIXED, WITHOUT_ONE, ALL])
def test_moments_equal_features(rng, spectrum, lam, options):
    X, Y = inside(rng, 200), rng.normal(size=(200, 2))
    basis = TensorBasis(3, lam=lam, spectrum=spectrum, **options)
    G = basis.evaluate(X)
    by_moments = MomentStatistics.from_data(basis, X, Y)
    by_features = GramStatistics.from_data(basis, X, Y)
    size = np.sqrt(np.outer(norms := (G**2).sum(axis=0), norms)) + 1e-300
    for found in (by_moments, by_features):
        assert (np.abs(found.gram - G.T @ G) <= 1e-12 * size).all()
        close(found.cross, G.T @ Y)


@pytest.mark.parametrize("limit", [None, 2])
@pytest.mark.parametrize("degree", [1, 4, 9, 20])
@pytest.mark.parametrize("spectrum", [MIXED, WITHOUT_ONE, ALL])
def test_total_degree_kernel(rng, spectrum, degree, limit):
    X, Z = inside(rng, 30), inside(rng, 17)
    basis = TensorBasis(3, degree=degree, lam=0.2, spectrum=spectrum, max_interaction=limit)
    kernel = TotalDegreeKernel(3, degree, lam=0.2, spectrum=spectrum, max_interaction=limit)
    close(kernel(X, Z), basis.evaluate(X) @ basis.evaluate(Z).T)
    assert pickle.loads(pickle.dumps(kernel)) == kernel


@pytest.mark.parametrize("engine", ["primal", "moments", "dual", "kernel"])
def test_engines_agree(rng, engine):
    X, Y = inside(rng, 60), rng.normal(size=(60, 2))
    basis = TensorBasis(3, degree=4, lam=0.3, spectrum=MIXED)
    G = basis.evaluate(X)
    expected = np.linalg.solve(G.T @ G + 0.1 * np.eye(basis.n_terms), G.T @ Y)
    assert_allclose(solve_ridge(basis, X, Y, 0.1, engine=engine).weights, expected, atol=1e-11)
    assert min(fit_cost(basis, 60, 2).values()) > 0


@pytest.mark.parametrize("spectrum", [MIXED, WITHOUT_ONE, ALL])
@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_spectrum_kernel_that_ends_is_a_tensor_set(rng, spectrum, lam):
    X = inside(rng, 25)
    tensor = TensorBasis(3, degree=(5, 5, 5), index_set="tensor", lam=lam, spectrum=spectrum)
    largest = TensorBasis(
        3, n_terms=1000, degree=(5, 5, 5), index_set="largest_weight", lam=lam, spectrum=spectrum
    )
    kernel = SpectrumKernel(3, spectrum, lam=lam, max_degree=5)
    for basis in (tensor, largest):
        G = basis.evaluate(X)
        close(kernel(X), G @ G.T)


def test_largest_weight_sets_tend_to_the_kernel(rng):
    X = inside(rng, 25)
    spectrum = Spectrum([PowerDecay((0.5, 0.2, 0.02), 2), GeometricDecay((0.1, 0.4, 0.0), 0.2)])
    limit = SpectrumKernel(3, spectrum)(X)
    errors = []
    for n_terms in (10, 100, 1000, 10_000):
        G = TensorBasis(
            3, n_terms=n_terms, lam=0.0, index_set="largest_weight", spectrum=spectrum
        ).evaluate(X)
        errors.append(np.abs(G @ G.T - limit).max() / np.abs(limit).max())
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-4 * errors[0]
    assert errors[-1] < 1e-5


def test_kernels_of_the_paper(rng):
    X = inside(rng, 20, 2)
    closed = SpectrumKernel(2, Spectrum.paper(0.0))
    assert closed.n_degrees == 0
    close(closed(X), SpectrumKernel(2, (2.0, 1.0))(X))
    ended = SpectrumKernel(2, Spectrum.paper(0.4), lam=0.4, max_degree=7)
    G = TensorBasis(2, degree=(7, 7), index_set="tensor", lam=0.4).evaluate(X)
    close(ended(X), G @ G.T)


def test_gradient_by_the_interactions(rng):
    X = inside(rng, 20)
    M = rng.normal(size=(20, 20))
    M += M.T
    found = SpectrumKernel(3, ALL, lam=0.1, max_degree=12).log_gradient(X, M)
    q, step = ALL.interactions(3), 1e-6
    for t, j in itertools.product(range(3), range(3)):
        values = []
        for sign in (1, -1):
            moved = q.copy()
            moved[t, j] *= np.exp(sign * step)
            parts = [
                PowerDecay(moved[:, 0], 1.0),
                GeometricDecay(moved[:, 1], 0.3),
                GegenbauerDecay(moved[:, 2], 0.2),
            ]
            values.append((M * SpectrumKernel(3, parts, lam=0.1, max_degree=12)(X)).sum())
        assert found[t, j] == pytest.approx(
            (values[0] - values[1]) / (2 * step), rel=1e-5, abs=1e-5
        )


def test_a_matrix_and_its_derivatives_are_of_one_kernel():
    """Which is made once for each q, also where the caller changes an array in place."""
    rng = np.random.default_rng(0)
    X, M = rng.uniform(-1, 1, size=(9, 2)), np.eye(9)
    made = []

    def kernel_of(q):
        made.append(q.copy())
        return SpectrumKernel(2, PowerDecay(q[:, 0].tolist(), 2.0))

    box = InputScaling([-1, -1], [1, 1], domain=(-1, 1))
    samples = WeightedSamples(X, box._map, np.ones(9), False, 1)
    matrices, q = SpectrumMatrices(samples, kernel_of), np.array([[0.3], [0.2]])
    for expected in (q.copy(), 2.0 * q):
        q[:] = expected
        kernel = SpectrumKernel(2, PowerDecay(expected[:, 0].tolist(), 2.0))
        whole = np.tril(kernel(X, scaling=box) - 1.0)
        assert_allclose(np.tril(matrices.matrix(q)), whole, atol=1e-14)
        slopes = kernel.log_gradient(X, M, scaling=box)
        assert_allclose(matrices.log_gradient(q, M), slopes, rtol=1e-13)
    assert_array_equal(made, [[[0.3], [0.2]], [[0.6], [0.4]]])


def test_sobol_indices_do_not_depend_on_the_spectrum(rng):
    """The same function in differently weighted terms."""
    plain = TensorBasis(3, degree=4, lam=0.2, spectrum="orthonormal")
    weighted = TensorBasis(3, degree=4, lam=0.2, spectrum=MIXED)
    W = rng.normal(size=(plain.n_terms, 2))
    V = W / MIXED.term_weights(weighted.indices)[:, np.newaxis]
    a, b = term_sobol_indices(plain, W), term_sobol_indices(weighted, V)
    assert_allclose(a.total, b.total, atol=1e-12)
    assert_allclose(a.variance, b.variance, rtol=1e-11)


def test_sobol_indices_of_a_kernel_are_those_of_its_terms(rng):
    X, C = inside(rng, 30), rng.normal(size=30)
    kernel = SpectrumKernel(3, MIXED, lam=0.2, max_degree=4)
    basis = TensorBasis(3, degree=(4, 4, 4), index_set="tensor", lam=0.2, spectrum=MIXED)
    W = basis.evaluate(X).T @ C
    a = kernel_sobol_indices(kernel, X, C)
    b = term_sobol_indices(basis, W, domain=(-1.0, 1.0))
    assert_allclose(a.total, b.total, atol=1e-12)
    assert_allclose(a.mean, b.mean, rtol=1e-10)


# --- Estimators -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spectrum", [MIXED, PowerDecay((0.5, 0.1, 0.0), 1.5), [GeometricDecay(0.5)]]
)
def test_regressor(rng, spectrum, tmp_path):
    X = rng.uniform(size=(80, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    options = {"index_set": "largest_weight", "lam": 0.3, "domain": (-1, 1)}
    model = GegenbauerRegressor(n_terms=30, alpha=1e-3, spectrum=spectrum, **options).fit(X, y)
    assert model.basis_.spectrum == Spectrum(spectrum)
    scaling = InputScaling.fit(X, domain=(-1, 1))
    expected = solve_ridge(model.basis_, X, y, 1e-3, scaling=scaling).weights
    assert_allclose(model.term_coef_, expected[:, 0], atol=1e-10)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.basis_ == model.basis_
    assert Spectrum(again.spectrum) == Spectrum(model.spectrum)
    assert isinstance(again.spectrum, (tuple, type(model.spectrum)))
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.fit(X, y).term_coef_, model.term_coef_)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "must be one of PowerDecay, GeometricDecay, GegenbauerDecay; got None"),
        ({"kind": ["PowerDecay"]}, "must be one of PowerDecay"),
        ({"kind": "os.system"}, "must be one of PowerDecay, .* got 'os.system'"),
        ({"kind": "PowerDecay", "interaction": 1.0}, "lacks .*smoothness"),
        ({"kind": "PowerDecay", "interaction": 1.0, "smoothness": 1, "x": 0}, "unknown .*x"),
        ({"kind": "PowerDecay", "interaction": [1.0, "2"], "smoothness": 1}, "float; got '2'"),
        ({"kind": "PowerDecay", "interaction": [1.0, -2.0], "smoothness": 1}, "interaction"),
        ({"kind": "PowerDecay", "interaction": 1.0, "smoothness": [1]}, r"got \[1\]"),
        ({"kind": "GeometricDecay", "interaction": 1.0, "ratio": 2.0}, "ratio"),
        ({"components": [], "x": 0}, "unknown .*x"),
        ({"components": []}, r"a sequence of these three; got \[\]"),
        ({"components": "PowerDecay"}, "must be one of: list"),
        ({"components": [1.0]}, "must be one of: dict"),
        ([{"kind": "PowerDecay", "interaction": 1.0, "smoothness": 1}, 1.0], "one of: dict"),
    ],
)
def test_files_of_foreign_spectra_are_refused(rng, tmp_path, entry, message):
    X = rng.uniform(size=(20, 3))
    model = GegenbauerRegressor(n_terms=10, spectrum=MIXED).fit(X, X[:, 0])
    save(model, tmp_path / "model")
    data = (tmp_path / "model").read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    del header["__metadata__"]["checksum"]  # else that is what is found
    parameters = json.loads(header["__metadata__"]["parameters"])
    parameters["spectrum"] = entry
    header["__metadata__"]["parameters"] = json.dumps(parameters)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (tmp_path / "other").write_bytes(len(text).to_bytes(8, "little") + text + data[end:])
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "other")


def test_polynomials_as_text_and_sympy(rng):
    sympy = pytest.importorskip("sympy")
    X = rng.uniform(-1, 2, (60, 3))
    y = X[:, 0] ** 2 + X[:, 1]
    options = {"n_terms": 20, "index_set": "largest_weight", "alpha": 1e-6}
    model = GegenbauerRegressor(spectrum=MIXED, **options).fit(X, y)
    evaluate = sympy.lambdify(sympy.symbols(["x0", "x1", "x2"]), to_sympy(model))
    assert_allclose(evaluate(*X.T), model.predict(X), rtol=1e-9, atol=1e-9)
    # the weightiest term first: by its coefficient times its largest value
    largest = np.abs(model.term_coef_) * np.abs(
        model.basis_.evaluate(np.array(list(itertools.product(np.linspace(0, 1, 21), repeat=3))))
    ).max(axis=0)
    assert f" {model.basis_.term_names()[largest[1:].argmax() + 1]} " in polynomial_text(
        model, max_terms=2
    )


def test_display_and_description(rng):
    plt = pytest.importorskip("matplotlib.pyplot")
    from gegenbauer.cli.report import parameters_line
    from gegenbauer.plotting import BasisDisplay

    basis = TensorBasis(3, degree=3, lam=0.2, spectrum=MIXED)
    x = np.linspace(-1, 1, 401)[:, np.newaxis] * np.array([0.0, 1.0, 0.0])
    shown = BasisDisplay.from_basis(basis, degree=3, domain=(-1, 1), feature=1)
    alone = (basis.indices[:, [0, 2]] == 0).all(axis=1)
    assert_allclose(shown.values, basis.evaluate(x)[:, alone], atol=1e-13)
    with pytest.raises(ValueError, match="`feature` must be below 3"):
        BasisDisplay.from_basis(basis, feature=3)
    plt.close("all")
    X = rng.uniform(size=(20, 3))
    for spectrum, words in [
        (MIXED, "spectrum of each input its own, a sum of n^-3, 0.4^(n-1) for degree n"),
        (Spectrum.paper(0.3), "spectrum a sum of |C_n|^2 of lam 0.3 for degree n"),
        ((0.3, 1.0), "spectrum q 0.3, s 1"),
    ]:
        model = GegenbauerRegressor(n_terms=5, spectrum=spectrum).fit(X, X[:, 0])
        assert words in parameters_line(model).text


@pytest.mark.parametrize("kind", [GegenbauerRegressorCV, GegenbauerClassifierCV])
@pytest.mark.parametrize("n_terms", [None, 40])
def test_fixed_spectra_of_cv_estimators(rng, kind, n_terms):
    X = rng.uniform(size=(90, 3))
    y = np.sin(6 * X[:, 0]) + X[:, 1]
    if kind is GegenbauerClassifierCV:
        y = (y > np.median(y)).astype(int)
    spectrum = Spectrum([PowerDecay((0.5, 0.2, 0.0), 2), GeometricDecay(0.1, 0.2)])
    model = kind(spectrum=spectrum, n_terms=n_terms).fit(X, y)
    assert model.spectrum_ == spectrum
    assert model.score(X, y) > 0.9
    if n_terms is None:
        assert model.kernel_ == SpectrumKernel(3, spectrum)
    else:
        assert model.basis_.spectrum == spectrum
        assert model.basis_.n_terms == 40
    with pytest.raises(ValueError, match="one number or 3, one an input; got 2"):
        kind(spectrum=PowerDecay((1.0, 2.0)), n_terms=n_terms).fit(X, y)
    with pytest.raises(
        ValueError, match=r"gives no input a weight: .* got `spectrum=\(0.0, 1.0\)`"
    ):
        kind(spectrum=(0.0, 1.0), n_terms=n_terms).fit(X, y)
    # without a finite kernel, but with a largest set
    rough = kind(spectrum=(0.5, 0.75), n_terms=40).fit(X, y)
    assert rough.basis_.spectrum == Spectrum((0.5, 0.75))
    with pytest.raises(ValueError, match=r"needs more than 1000 degrees.*give `n_terms`"):
        kind(spectrum=(0.5, 0.75)).fit(X, y)


@pytest.mark.slow
def test_finite_sets_learn_which_inputs_matter():
    """Two of eight inputs matter: a weight for each beats the best (q, s) for all of them."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1500, 8))
    y = np.sin(6 * X[:, 0]) * np.cos(4 * X[:, 3]) + 0.01 * rng.normal(size=1500)
    Z = rng.uniform(size=(500, 8))
    truth = np.sin(6 * Z[:, 0]) * np.cos(4 * Z[:, 3])
    options = {"n_terms": 200, "search_samples": 300}
    learned = GegenbauerRegressorCV(**options).fit(X, y)
    assert set(np.argsort(learned.relevances_)[-2:]) == {0, 3}
    errors = [np.sqrt(np.mean((learned.predict(Z) - truth) ** 2))]
    scaling = learned.scaling_
    for s in (1.0, 2.0):
        for q in 4.0 ** np.arange(-6, 3) / 8:
            one = GegenbauerRegressorCV(spectrum=(q, s), **options).fit(X, y)
            assert_array_equal(one.scaling_.lower, scaling.lower)
            errors.append(np.sqrt(np.mean((one.predict(Z) - truth) ** 2)))
    assert errors[0] < 0.3 * min(errors[1:])
    assert errors[0] < 0.01
