"""Additive statistics, by features and by moments: values, merging, solving, refusals."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from problems import make_problem, relative

from gegenbauer import GegenbauerRegressor
from gegenbauer._dispatch import core
from gegenbauer.basis import InputScaling, TensorBasis
from gegenbauer.errors import BeyondRangeError, TooLargeError
from gegenbauer.ridge import GramStatistics, MomentStatistics, solve_ridge
from gegenbauer.ridge.statistics.choice import choose_statistics
from gegenbauer.selection import RidgePath


@pytest.fixture(params=[GramStatistics, MomentStatistics])
def statistics_of(request):
    """Statistics of a problem's rows, by features and by moments."""

    def make(p, rows=slice(None), basis=None, **options):
        return request.param.from_data(basis or p.basis, p.X[rows], p.Y[rows], **options)

    return make


def same_statistics(a, b, tolerance=1e-13):
    assert a.n_samples == b.n_samples
    assert relative(a.gram, b.gram) <= tolerance
    assert relative(a.cross, b.cross) <= tolerance


class TestChoice:
    LOW, HIGH = TensorBasis(2, degree=53), TensorBasis(2, degree=53, lam=2.0)

    @pytest.mark.parametrize(
        ("basis", "engine", "kind"),
        [
            (LOW, "auto", MomentStatistics),
            (LOW, "primal", GramStatistics),
            (HIGH, "auto", GramStatistics),  # moments round worse than features there
            (HIGH, "moments", MomentStatistics),
            (TensorBasis(20, degree=2), "auto", GramStatistics),  # moments cost more
            (TensorBasis(20, degree=2), "moments", MomentStatistics),
            (TensorBasis(60, degree=3), "moments", GramStatistics),  # too large a plan
        ],
    )
    def test_what_serves(self, basis, engine, kind):
        assert choose_statistics(basis, engine=engine) is kind

    @pytest.mark.parametrize("lam", [0.5, 2.0])
    def test_a_stream_sums_what_serves(self, lam):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (400, 2))
        y = np.sin(3 * X[:, 0]) * X[:, 1]
        kinds = {}
        for engine in ("auto", "primal", "moments"):
            model = GegenbauerRegressor(degree=40, lam=lam, engine=engine).partial_fit(X, y)
            kinds[engine] = type(model.statistics_)
        served = MomentStatistics if lam == 0.5 else GramStatistics
        expected = {"auto": served, "primal": GramStatistics, "moments": MomentStatistics}
        assert kinds == expected


def test_statistics_are_the_normal_equations(statistics_of):
    p = make_problem(90, 3, 40)
    weight = np.random.default_rng(3).uniform(0, 2, 90)
    plain, weighted = statistics_of(p), statistics_of(p, sample_weight=weight)
    assert plain.n_samples == 90
    assert_allclose(plain.gram, p.G.T @ p.G, rtol=1e-12, atol=1e-12)
    assert_allclose(plain.cross, p.G.T @ p.Y, rtol=1e-12, atol=1e-12)
    assert_allclose(weighted.gram, p.G.T @ (weight[:, None] * p.G), rtol=1e-12, atol=1e-12)
    assert_allclose(weighted.cross, p.G.T @ (weight[:, None] * p.Y), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_outputs", [1, 47, 48, 49, 131])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [GramStatistics, MomentStatistics])
def test_products_of_any_number_of_targets(kind, order, n_outputs):
    """Y'Y, of which residuals are made; cross products and solutions do not show it."""
    rng = np.random.default_rng(n_outputs)
    X, weight = rng.uniform(-1, 1, size=(57, 2)), rng.uniform(0, 2, size=57)
    Y = np.asarray(rng.normal(size=(57, n_outputs)) + 3.0, order=order)
    statistics = kind(TensorBasis(2, degree=2, lam=0.5), n_outputs)
    statistics.update(X, Y, sample_weight=weight)
    products = statistics._target_products()
    # sums are those of the targets less a shift that each statistic keeps
    Z = Y - statistics._shift
    expected = Z.T @ (weight[:, None] * Z)  # of which only the lower triangle is read
    assert_allclose(np.tril(products), np.tril(expected), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("penalize_constant", [True, False])
def test_statistics_solve_like_the_data(statistics_of, penalize_constant):
    p = make_problem(90, 3, 40)
    for alpha in (2.0**-6, 1.0, 2.0**10):
        expected = solve_ridge(p.basis, p.X, p.Y, alpha, penalize_constant=penalize_constant)
        got = statistics_of(p).solve(alpha, penalize_constant=penalize_constant)
        assert relative(got.weights, expected.weights) <= 1e-8


@given(
    cuts=st.lists(st.integers(0, 60), max_size=6),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_split_in_any_order_is_one_fit(statistics_of, cuts, seed):
    p = make_problem(60, 2, 15, seed=seed % 7)
    edges = [0, *sorted({c for c in cuts if 0 < c < 60}), 60]
    batches = [slice(a, b) for a, b in itertools.pairwise(edges)]
    np.random.default_rng(seed).shuffle(batches)
    total = statistics_of(p, batches[0])
    for rows in batches[1:]:
        total = total + statistics_of(p, rows)
    same_statistics(total, statistics_of(p))
    expected = solve_ridge(p.basis, p.X, p.Y, 0.1).weights
    assert relative(total.solve(0.1).weights, expected) <= 1e-9


def test_merging_commutes_associates_and_can_be_taken_back(statistics_of):
    p = make_problem(60, 2, 15)
    a, b, c = (statistics_of(p, rows) for rows in (slice(0, 1), slice(1, 33), slice(33, 60)))
    assert_array_equal((a + b).gram, (b + a).gram)
    same_statistics((a + b) + c, a + (b + c))
    same_statistics((a + b + c) - b, a + c)
    assert a.n_samples == 1  # `+` left its arguments alone
    same_statistics(a, statistics_of(p, slice(0, 1)))
    twin = pickle.loads(pickle.dumps(b))
    same_statistics(twin, b, tolerance=0)
    same_statistics(twin + a, a + b, tolerance=0)


def test_equal_statistics_have_equal_numbers(statistics_of):
    p = make_problem(60, 2, 15)
    a, b = statistics_of(p, slice(0, 33)), statistics_of(p, slice(33, 60))
    assert a == statistics_of(
        p._replace(X=p.X.copy()), slice(0, 33), basis=TensorBasis(2, n_terms=15, lam=p.basis.lam)
    )
    assert a + b == b + a
    assert pickle.loads(pickle.dumps(a)) == a
    box = [InputScaling.fit(p.X) for _ in range(2)]
    assert statistics_of(p, scaling=box[0]) == statistics_of(p, scaling=box[1])
    nearly = p.Y.copy()
    nearly[7, 0] += 1e-9
    others = [
        b,
        statistics_of(p, slice(0, 33), sample_weight=np.full(33, 1.5)),
        statistics_of(p._replace(Y=nearly), slice(0, 33)),
        statistics_of(p, slice(0, 33), scaling=box[0]),
        statistics_of(p, slice(0, 33), basis=TensorBasis(2, n_terms=15, lam=0.7)),
        a.gram,
        "text",
    ]
    for other in others:
        assert not np.any(a == other)
    assert GramStatistics(p.basis) != MomentStatistics(p.basis)
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


def test_sum_of_statistics(statistics_of):
    p = make_problem(60, 2, 15)
    a, b, c = (statistics_of(p, rows) for rows in (slice(0, 1), slice(1, 33), slice(33, 60)))
    assert sum([a, b, c]) == (a + b) + c
    alone = sum([a])
    assert alone == a
    alone.update(p.X, p.Y)
    assert a == statistics_of(p, slice(0, 1))  # it was a copy
    for other in (1, 0.5, "", None):
        with pytest.raises(TypeError):
            other + a


def test_statistics_show_what_they_are(statistics_of):
    p = make_problem(60, 2, 15)
    statistics = statistics_of(p, sample_weight=np.full(60, 0.5), scaling=InputScaling.fit(p.X))
    assert repr(statistics) == (
        f"<{type(statistics).__name__} of 60 samples (weight_sum=30): {p.basis!r}, n_outputs=2, "
        f"scaling={statistics.scaling!r}>"
    )
    assert repr(type(statistics)(p.basis)) == (
        f"<{type(statistics).__name__} of 0 samples (weight_sum=0): {p.basis!r}, n_outputs=1>"
    )


def test_update_adds_in_place(statistics_of):
    p = make_problem(60, 2, 15)
    total = statistics_of(p, slice(0, 20))
    total.update(p.X[20:45], p.Y[20:45])
    total.update(p.X[45:], p.Y[45:], sample_weight=np.ones(15))
    same_statistics(total, statistics_of(p))


def test_statistics_are_bitwise_identical_for_any_threads(statistics_of):
    p = make_problem(5000, 4, 300)
    one = statistics_of(p, n_threads=1)
    for n_threads in (2, 3):
        many = statistics_of(p, n_threads=n_threads)
        assert_array_equal(many.gram, one.gram)
        assert_array_equal(many.cross, one.cross)


def test_statistics_of_different_things_do_not_mix(statistics_of):
    p = make_problem(30, 2, 15)
    a = statistics_of(p)
    others = [
        statistics_of(p, basis=TensorBasis(2, n_terms=14)),
        statistics_of(p, basis=TensorBasis(2, n_terms=15, lam=0.5)),
        statistics_of(p._replace(Y=p.Y[:, :1])),
        statistics_of(p, scaling=InputScaling.fit(p.X)),
    ]
    for other in others:
        with pytest.raises(ValueError, match=r"basis|outputs|scaling"):
            a + other
        with pytest.raises(ValueError, match=r"basis|outputs|scaling"):
            a - other
    with pytest.raises(TypeError):
        a + 1
    other = {GramStatistics: MomentStatistics, MomentStatistics: GramStatistics}[type(a)]
    with pytest.raises(TypeError):
        a + other.from_data(p.basis, p.X, p.Y)
    same_statistics(a, statistics_of(p), tolerance=0)
    with pytest.raises(ValueError, match="alpha"):
        a.solve(-1.0)
    with pytest.raises(ValueError, match=r"\bY\b"):
        a.update(p.X, p.Y[:, :1])
    same_statistics(a, statistics_of(p), tolerance=0)


@pytest.mark.parametrize(
    ("options", "n_features"),
    [
        ({"degree": 30}, 1),
        ({"degree": 40}, 2),
        ({"n_terms": 300}, 4),
        ({"degree": 3, "index_set": "tensor"}, 3),
        ({"degree": [5, 0, 2], "index_set": "tensor"}, 3),
        ({"degree": 9, "index_set": "hyperbolic_cross"}, 5),
        ({"degree": 4, "max_interaction": 2, "term_order": "grevlex"}, 6),
        ({"n_terms": 150, "index_set": "largest_weight", "spectrum": (0.3, 1.5)}, 5),
        ({"degree": 6, "spectrum": "orthonormal"}, 3),
    ],
)
@pytest.mark.parametrize("lam", [-0.3, 0.0, 0.05, 0.5, 2.0, 5.0])
@pytest.mark.parametrize("domain", [(0, 1), (-1, 1)])
@pytest.mark.parametrize("spread", ["uniform", "normal"])
def test_moments_make_the_gram_matrix_of_features(options, n_features, lam, domain, spread):
    rng = np.random.default_rng(4)
    X, Y = getattr(rng, spread)(size=(200, n_features)), rng.normal(size=(200, 2))
    basis = TensorBasis(n_features, lam=lam, **options)
    weights = rng.uniform(0, 3, 200)
    given = {"scaling": InputScaling.fit(X, domain=domain), "sample_weight": weights}
    moments = MomentStatistics.from_data(basis, X, Y, **given)
    features = GramStatistics.from_data(basis, X, Y, **given)
    error = np.abs(moments.gram - features.gram)
    # Each moment is a sum of numbers of at most the weights, so what rounding leaves behind is
    # measured by the terms where they are largest: at 1 (for lam >= 0).
    largest = np.abs(basis.evaluate(np.ones((1, n_features)))[0])
    if lam >= 0:
        eps = np.finfo(float).eps
        assert (error <= 100 * eps * weights.sum() * np.outer(largest, largest)).all()
    # Where terms are not much smaller in the data than there, that is next to nothing.
    size = np.sqrt(np.diag(features.gram))
    if spread == "uniform" and lam <= 0.5:
        assert (error <= 1e-12 * np.outer(size, size)).all()
    target_size = np.sqrt(np.diag(features.target_gram))
    assert (np.abs(moments.cross - features.cross) <= 1e-8 * np.outer(size, target_size)).all()
    assert_allclose(moments.target_gram, features.target_gram, rtol=1e-13)


def test_float32_and_float64_of_the_same_numbers_have_the_same_moments():
    X = np.random.default_rng(0).uniform(size=(300, 3)).astype(np.float32)
    y = np.ones(300)
    basis = TensorBasis(3, degree=5)
    narrow, wide = (MomentStatistics.from_data(basis, A, y) for A in (X, X.astype(np.float64)))
    assert_array_equal(narrow.gram, wide.gram)


def test_few_inputs_have_few_moments():
    """All sums of two multi-indices of total degree 53 in 2 inputs are those of degree 106."""
    statistics = MomentStatistics(TensorBasis(2, degree=53))
    n_targets = 1
    assert statistics.size == 107 * 108 // 2 + 54 * 55 // 2 * n_targets + n_targets**2


def test_what_cannot_be_kept_is_refused(statistics_of):
    p = make_problem(60, 2, 15)
    statistics = statistics_of(p)
    for X, Y in ((p.X, p.Y * 1e200), (p.X * 1e120, p.Y)):
        with pytest.raises(ValueError, match=r"^the sums are beyond the range of float64: X "):
            statistics.update(X, Y)
    spread = ((p.Y - p.Y.mean(axis=0)) ** 2).sum(axis=0).max()
    large = np.sqrt(0.7 * np.finfo(float).max / spread)
    half = type(statistics).from_data(p.basis, p.X, p.Y * large)  # which twice is too large
    with pytest.raises(ValueError, match=r"^the sums are beyond the range of float64: X "):
        half + half
    same_statistics(statistics, statistics_of(p), tolerance=0)
    with pytest.raises(TypeError, match="penalize_constant"):
        statistics.solve(1.0, penalize_constant="auto")
    with pytest.raises(np.linalg.LinAlgError, match=r"raise `alpha`$"):
        statistics_of(make_problem(3, 2, 15)).solve(0.0)


def test_moments_are_kept_where_their_normal_equations_would_not_fit(monkeypatch):
    """What needs memory is made when it is needed."""
    monkeypatch.setattr("gegenbauer._memory.available_memory", lambda: 1.5e8)
    X, y = np.random.default_rng(0).uniform(size=(50, 2)), np.ones(50)
    basis = TensorBasis(2, degree=90)  # 4186 terms: a matrix takes 140 MB
    statistics = MomentStatistics(basis).update(X, y)
    statistics = statistics + MomentStatistics.from_data(basis, X, y)
    assert (statistics.n_samples, statistics.size) == (100, 20658)
    solve = lambda: statistics.solve(1.0)  # noqa: E731
    for what, call in [("normal matrix", solve), ("Gram matrix", lambda: statistics.gram)]:
        with pytest.raises(TooLargeError, match=rf"{what} of 4187 x 4187 numbers needs .*n_terms"):
            call()
    with pytest.raises(TooLargeError, match="a statistic of 4187 x 4187 numbers needs 280 MB"):
        GramStatistics(basis)
    monkeypatch.setattr("gegenbauer._memory.available_memory", lambda: 1e8)
    for call in (lambda: statistics.cross, lambda: statistics.target_gram):
        with pytest.raises(TooLargeError, match="normal matrix of 4187 x 4187 numbers"):
            call()


def test_moments_of_very_many_inputs_are_refused_at_once():
    basis = TensorBasis(60, degree=3)
    with pytest.raises(ValueError, match=r"moments of 39711 terms in 60 inputs.*GramStatistics"):
        core.count_moments(basis._plan, 1)
    # MomentStatistics raises the same where its (L, L) matrix would fit at all
    for basis in (TensorBasis(36, degree=3), TensorBasis(2000, degree=1)):
        with pytest.raises(ValueError, match=r"too large a plan"):
            MomentStatistics(basis)


@pytest.mark.parametrize("lam", [-0.45, -0.3, -0.1, 0.0, 0.5, 5.0])
def test_errors_of_moments_stay_below_their_bound(lam):
    """For negative lam the coefficients cancel, so that values show nothing of errors."""
    basis = TensorBasis(1, degree=80, lam=lam, spectrum="orthonormal")
    X = np.random.default_rng(0).uniform(-1, 1, (2000, 1))
    found = MomentStatistics.from_data(basis, X, X).gram
    G = basis.evaluate(X).astype(np.longdouble)
    error = np.abs(found - np.asarray(G.T @ G, dtype=np.float64))
    nodes = np.cos(np.pi * (np.arange(200) + 0.5) / 200)  # Chebyshev coefficients by quadrature
    T = np.cos(np.outer(np.arange(81), np.arccos(nodes)))
    coefficients = basis.evaluate(nodes[:, None]).T @ T.T * (2 / 200)
    coefficients[:, 0] /= 2
    sums = np.abs(coefficients).sum(axis=1)
    # features themselves are off by about the degree times eps
    assert (error <= 100 * np.finfo(float).eps * len(X) * np.outer(sums, sums)).all()


def test_too_many_terms_are_refused_at_once(monkeypatch):
    """Before the plan of their moments is made, which takes minutes for a million terms."""
    monkeypatch.setattr("gegenbauer.ridge.cost.core.fit_cost", pytest.fail)
    model = GegenbauerRegressor(n_terms=10**6)
    with pytest.raises(
        TooLargeError, match="normal matrix of 1000000 x 1000000 numbers needs 8 TB"
    ):
        model.partial_fit(np.zeros((5, 2)), np.zeros(5))


class TestBoxes:
    """The same samples in a wider box."""

    @given(
        m=st.integers(1, 4),
        lam=st.sampled_from([-0.3, 0.0, 0.05, 0.5, 2.0]),
        domain=st.sampled_from([(0.0, 1.0), (-1.0, 1.0)]),
        index_set=st.sampled_from(["total_degree", "hyperbolic_cross"]),
        spectrum=st.sampled_from([None, "orthonormal", (0.2, 1.5)]),
        n_terms=st.integers(1, 60),
        seed=st.integers(0, 2**32 - 1),
    )
    @settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def test_equals_statistics_made_there(self, m, lam, domain, index_set, spectrum, n_terms, seed):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, (40, m)) * 10.0 ** rng.integers(-3, 4, m)
        X[:, rng.random(m) < 0.3] = 2.5  # constant so far
        Y = rng.normal(size=(40, 2))
        weight = rng.uniform(0, 2, 40)
        basis = TensorBasis(m, n_terms=n_terms, lam=lam, index_set=index_set, spectrum=spectrum)
        tight = InputScaling.fit(X, domain=domain)
        room = rng.exponential(1.0, (2, m)) * np.abs(X).max(axis=0)
        room[:, rng.random(m) < 0.3] = 0.0
        wide = InputScaling(tight.lower - room[0], tight.upper + room[1], domain=domain)
        # rounding is relative to the largest values of two terms on the domain
        grid = np.vstack([np.ones(m), rng.uniform(-1, 1, (300, m))])
        size = np.abs(basis.evaluate(grid)).max(axis=0)
        for cls in (GramStatistics, MomentStatistics):
            got = cls.from_data(basis, X, Y, sample_weight=weight, scaling=tight).rescaled(wide)
            expected = cls.from_data(basis, X, Y, sample_weight=weight, scaling=wide)
            assert got.scaling == wide
            off = np.abs(got.gram - expected.gram) / np.outer(size, size)
            assert off.max() <= 1e-12 * weight.sum()
            assert (np.abs(got.cross - expected.cross) / size[:, np.newaxis]).max() <= 1e-12 * 200
            assert_array_equal(got.target_gram, expected.target_gram)

    def test_high_degrees_lose_nothing(self):
        x = np.random.default_rng(0).normal(size=(500, 1))
        basis = TensorBasis(1, degree=100, lam=0.5)
        for cls in (GramStatistics, MomentStatistics):
            got = cls(basis, scaling=InputScaling.fit(x[:1], domain=(-1, 1)))
            for part in np.array_split(x[np.argsort(x[:, 0] ** 2)], 60):
                got.update(part, part[:, 0], widen=True)
            whole = InputScaling.fit(x, domain=(-1, 1))
            assert got.scaling == whole
            expected = cls.from_data(basis, x, x[:, 0], scaling=whole)
            assert_allclose(got.gram, expected.gram, rtol=0, atol=1e-12 * 500)

    def test_sums_and_differences_of_different_boxes(self):
        p = make_problem(90, 3, 40)
        for cls in (GramStatistics, MomentStatistics):
            whole = InputScaling.fit(p.X)
            left, right = (
                cls.from_data(p.basis, p.X[part], p.Y[part], scaling=InputScaling.fit(p.X[part]))
                for part in (slice(0, 50), slice(50, 90))
            )
            expected = cls.from_data(p.basis, p.X, p.Y, scaling=whole)
            assert (left + right).scaling == whole
            same_statistics(left + right, expected, 1e-12)
            same_statistics(right + left, expected, 1e-12)
            difference = (left + right) - right
            same_statistics(difference, left.rescaled(whole), 1e-11)
            with pytest.raises(ValueError, match="a box can only grow"):
                left - right

    def test_refusals(self):
        p = make_problem(30, 2, 10)
        box = InputScaling([0, 0], [1, 1])
        statistics = GramStatistics.from_data(p.basis, p.X, p.Y, scaling=box)
        with pytest.raises(ValueError, match=r"column 1 has the range \[0, 1\], which \[0.5, 1\]"):
            statistics.rescaled(InputScaling([0, 0.5], [1, 1]))
        with pytest.raises(ValueError, match="`domain` and `clip` must stay"):
            statistics.rescaled(InputScaling([0, 0], [1, 1], domain=(-1, 1)))
        with pytest.raises(ValueError, match="domain and clip are the same"):
            statistics + GramStatistics(
                p.basis, 2, scaling=InputScaling([0, 0], [1, 1], clip=False)
            )
        with pytest.raises(TypeError, match="need an InputScaling"):
            statistics.rescaled(None)
        with pytest.raises(ValueError, match="`widen=True` needs statistics with a scaling"):
            GramStatistics(p.basis, 2).update(p.X, p.Y, widen=True)
        before = statistics._packed()
        with pytest.raises(ValueError, match="sums are beyond"):
            statistics.update(p.X + 3, np.full_like(p.Y, 1e200), widen=True)
        assert_array_equal(statistics._packed(), before)
        assert statistics.scaling == box


class TestOutputs:
    def test_more_of_them(self, statistics_of):
        p = make_problem(60, 2, 20)
        got = statistics_of(p).with_outputs([3, 1], 4)
        Y = np.zeros((60, 4))
        Y[:, [3, 1]] = p.Y
        expected = type(got).from_data(p.basis, p.X, Y)
        same_statistics(got, expected)
        assert_allclose(got.target_gram, expected.target_gram, rtol=1e-13)
        for bad in ([0, 0], [0, 4], [-1, 0], [0]):
            with pytest.raises(ValueError, match="`places` must hold 2 different numbers"):
                statistics_of(p).with_outputs(bad, 4)
        with pytest.raises(ValueError, match="`n_outputs` must be at least 2"):
            statistics_of(p).with_outputs([0, 1], 1)

    def test_packed(self, statistics_of):
        statistics = statistics_of(make_problem(60, 2, 20))
        twin = pickle.loads(pickle.dumps(statistics))
        assert twin == statistics
        assert twin.update([[0.5, 0.5]], [[1.0, 2.0]]) != statistics
        assert statistics._packed().size == type(statistics)._n_packed(statistics.basis, 2)


class TestScores:
    ALPHAS = 2.0 ** np.arange(-16, 12, 4)

    @pytest.mark.parametrize("penalize", [True, False])
    def test_gcv_is_that_of_the_data(self, statistics_of, penalize):
        p = make_problem(90, 3, 40)
        weight = np.random.default_rng(0).uniform(0.5, 2, 90)
        got = statistics_of(p, sample_weight=weight)
        path = RidgePath(p.basis, p.X, p.Y, sample_weight=weight, penalize_constant=penalize)
        assert_allclose(
            got.gcv(self.ALPHAS, penalize_constant=penalize), path.gcv(self.ALPHAS), rtol=1e-8
        )
        with pytest.raises(ValueError, match="`alphas` must be positive"):
            got.gcv([0.0])
        with pytest.raises(ValueError, match="no samples"):
            type(got)(p.basis).gcv([1.0])

    def test_squared_error(self, statistics_of):
        p = make_problem(90, 3, 40)
        weights = np.random.default_rng(0).normal(size=(40, 2))
        expected = ((p.Y - p.G @ weights) ** 2).sum(axis=0)
        assert_allclose(statistics_of(p).squared_error(weights), expected, rtol=1e-11)
        with pytest.raises(ValueError, match="weights must have 40 rows"):
            statistics_of(p).squared_error(weights[:3])

    def test_the_engine_that_was_used(self):
        p = make_problem(90, 3, 40)
        for cls, engine in ((GramStatistics, "primal"), (MomentStatistics, "moments")):
            assert cls.from_data(p.basis, p.X, p.Y).solve(1.0).engine == engine


class TestLargeMeans:
    """A constant that is added to the targets is taken out of their sums again, exactly."""

    ALPHAS = 2.0 ** np.arange(-16, 12, 4)

    @staticmethod
    def problem(offset):
        """Targets of spread 0.4 that float64 holds with and without the offset."""
        rng = np.random.default_rng(5)
        X = rng.uniform(-1, 1, (120, 2))
        y = np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=120)
        plain = (np.column_stack([y, -2 * y]) + offset) - offset
        return X, plain, plain + offset, TensorBasis(2, degree=6, spectrum="orthonormal")

    @pytest.mark.parametrize("offset", [0.0, 1e4, 1e8, 1e10])
    def test_scores_and_weights(self, statistics_of, offset):
        X, plain, raised, basis = self.problem(offset)
        cls = type(statistics_of(make_problem(5, 2, 3)))
        weight = np.random.default_rng(0).uniform(0.5, 2, 120)
        rng = np.random.default_rng(1)
        parts = np.array_split(rng.permutation(120), 7)

        def sums(rows):
            return cls.from_data(basis, X[rows], raised[rows], sample_weight=weight[rows])

        got = cls.from_data(basis, X, raised, sample_weight=weight)
        merged = sum(sums(rows) for rows in parts)
        ones = [cls(basis, 2)]
        for row in rng.permutation(120):
            ones[0].update(X[[row]], raised[[row]], sample_weight=weight[[row]])
        more = got + sums(np.arange(50)) - sums(np.arange(50))
        path = RidgePath(basis, X, plain, sample_weight=weight, penalize_constant=False)
        expected = path.gcv(self.ALPHAS)
        fit = solve_ridge(basis, X, plain, 0.1, sample_weight=weight, penalize_constant=False)
        for found in (got, merged, *ones, more):
            assert_allclose(found.gcv(self.ALPHAS, penalize_constant=False), expected, rtol=1e-9)
            weights = found.solve(0.1, penalize_constant=False).weights
            assert_allclose(weights[1:], fit.weights[1:], rtol=0, atol=1e-11)
            assert_allclose(
                weights[0] - offset, fit.weights[0], rtol=0, atol=1e-11 + 4e-16 * offset
            )
            errors = found.squared_error(fit.weights + offset * (np.arange(28) == 0)[:, None])
            residuals = plain - basis.evaluate(X) @ fit.weights
            assert_allclose(errors, weight @ residuals**2, rtol=1e-11 + 1e-14 * offset**0.75)
            assert_allclose(found.target_gram, raised.T @ (weight[:, None] * raised), rtol=1e-13)
            cross = basis.evaluate(X).T @ (weight[:, None] * raised)
            assert_allclose(found.cross, cross, rtol=0, atol=1e-13 * np.abs(cross).max())

    @pytest.mark.parametrize("offset", [0.0, 1e8])
    def test_a_penalised_constant(self, statistics_of, offset):
        """Its fit is not that without the offset; here both are known from the samples."""
        X, _, raised, basis = self.problem(offset)
        got = type(statistics_of(make_problem(5, 2, 3))).from_data(basis, X, raised)
        G = basis.evaluate(X)
        for alpha in (1e-9, 1e-3, 1.0, 1e6):
            expected = solve_ridge(basis, X, raised, alpha)
            found = got.solve(alpha)
            assert_allclose(
                G @ found.weights, G @ expected.weights, rtol=0, atol=1e-12 * (1 + offset)
            )
            path = RidgePath(basis, X, raised, method="svd")
            assert_allclose(got.gcv([alpha]), path.gcv([alpha]), rtol=1e-6)

    def test_weights_are_repetition(self, statistics_of):
        X, _, raised, basis = self.problem(1e8)
        cls = type(statistics_of(make_problem(5, 2, 3)))
        counts = np.random.default_rng(0).integers(0, 4, 120)
        rows = np.repeat(np.arange(120), counts)
        got = cls.from_data(basis, X, raised, sample_weight=counts)
        expected = cls.from_data(basis, X[rows], raised[rows])
        assert_allclose(
            got.solve(0.1, penalize_constant=False).weights[1:],
            expected.solve(0.1, penalize_constant=False).weights[1:],
            atol=1e-12,
        )
        given = np.zeros((28, 2))
        given[0] = 1e8
        assert_allclose(got.squared_error(given), expected.squared_error(given), rtol=1e-12)

    def test_sums_that_were_pickled_without_a_shift(self, statistics_of):
        """As those of versions that summed the targets as they are."""
        p = make_problem(60, 2, 15)
        statistics = statistics_of(p)
        state = statistics.__getstate__()
        old = type(statistics).__new__(type(statistics))
        raised = type(statistics).__new__(type(statistics))
        raised.__dict__.update(statistics.__dict__)
        raised._sums, raised._shift = statistics._shifted_to(np.zeros(2)), np.zeros(2)
        del state["_shift"]
        old.__setstate__({**state, "_sums": raised._packed()})
        same_statistics(old, statistics)
        assert_allclose(old.target_gram, statistics.target_gram, rtol=1e-13)
        same_statistics(old + statistics_of(p), statistics + statistics)

    def test_squares_beyond_the_range(self, statistics_of):
        """Targets whose squares float64 holds have scores, and weights."""
        p = make_problem(90, 3, 40)
        scale = 2.0**500
        plain, scaled = statistics_of(p), statistics_of(p._replace(Y=p.Y * scale))
        alphas = 2.0 ** np.arange(-8, 9, 4)
        assert_allclose(scaled.gcv(alphas) / scale / scale, plain.gcv(alphas), rtol=1e-12)
        weights = plain.solve(1.0).weights
        assert_allclose(scaled.solve(1.0).weights / scale, weights, rtol=1e-9)
        errors = scaled.squared_error(weights * scale) / scale / scale
        assert_allclose(errors, plain.squared_error(weights), rtol=1e-12)


class TestNarrowColumns:
    """Columns that look constant so far are summed with all their digits."""

    @staticmethod
    def columns(kind):
        rng = np.random.default_rng(0)
        if kind == "float32":
            x = np.sort((1000 + rng.uniform(-1e-3, 1e-3, 120)).astype(np.float32))
        elif kind == "nanoseconds":
            x = np.sort(1.7e18 + rng.integers(-3000, 3000, 120))
        else:  # constant, then not
            x = np.concatenate([np.full(60, 3.0), 3.0 + np.arange(60.0)])
        other = rng.uniform(size=120).astype(x.dtype)
        return np.column_stack([x, other])

    @pytest.mark.parametrize("kind", ["float32", "nanoseconds", "constant"])
    @pytest.mark.parametrize("domain", [(0.0, 1.0), (-1.0, 1.0)])
    @pytest.mark.parametrize("size", [1, 7, 60])
    def test_any_split_is_one_sum(self, statistics_of, kind, domain, size):
        X = self.columns(kind)
        Y = np.random.default_rng(1).normal(size=(120, 2))
        cls = type(statistics_of(make_problem(5, 2, 3)))
        basis = TensorBasis(2, degree=4, lam=0.5)
        whole = InputScaling.fit(X, domain=domain)
        assert whole.is_constant.tolist() == [False, False]
        expected = cls.from_data(basis, X, Y, scaling=whole)
        parts = [slice(first, first + size) for first in range(0, 120, size)]

        def box(rows):
            return InputScaling.fit(X[rows], domain=domain)

        widened = cls(basis, 2, scaling=box(parts[0]))
        for rows in parts:
            widened.update(X[rows], Y[rows], widen=True)
        merged = sum(
            cls.from_data(basis, X[rows], Y[rows], scaling=box(rows)) for rows in parts[::-1]
        )
        for got in (widened, merged):
            assert got.scaling == whole
            assert_allclose(got.gram, expected.gram, rtol=0, atol=1e-11 * 120)
            assert_allclose(got.cross, expected.cross, rtol=0, atol=1e-11 * 120)

    @pytest.mark.parametrize("clip", [True, False])
    def test_a_column_that_stays_narrow_is_ignored(self, statistics_of, clip):
        """And one that is flagged is, whatever values come later."""
        X = self.columns("float32")[:20]
        Y = np.random.default_rng(1).normal(size=(20, 2))
        cls = type(statistics_of(make_problem(5, 2, 3)))
        basis = TensorBasis(2, degree=30, lam=0.5)
        box = InputScaling.fit(X, clip=clip)
        assert box.is_constant.tolist() == [True, False]
        G = basis.evaluate(np.column_stack([np.zeros(20), box.transform(X)[:, 1]]))
        later = X.copy()
        later[::3, 0] = 1e6
        for data in (X, later):
            got = cls.from_data(basis, data, Y, scaling=box)
            assert_allclose(got.gram, G.T @ G, rtol=0, atol=1e-10)
            assert_allclose(got.cross, G.T @ Y, rtol=0, atol=1e-10)
        wide = InputScaling([0, 0], [1, 1], clip=clip, constant=[True, False])
        G = basis.evaluate(np.column_stack([np.zeros(20), wide.transform(X)[:, 1]]))
        assert_allclose(
            cls.from_data(basis, later, Y, scaling=wide).gram, G.T @ G, rtol=0, atol=1e-10
        )

    def test_sums_of_older_versions(self, statistics_of):
        """They had put narrow columns to 0, and knew of these no more than the middle."""
        X = self.columns("float32")
        Y = np.random.default_rng(1).normal(size=(120, 2))
        cls = type(statistics_of(make_problem(5, 2, 3)))
        basis = TensorBasis(2, degree=4)
        box = InputScaling.fit(X[:20])
        got = cls.from_data(basis, X[:20], Y[:20], scaling=box)
        closed = np.array([0.0, 1.0])
        state = got.__getstate__()
        put_to_zero = _with(got, got._substitute(closed, np.zeros(2)))
        state["_sums"] = _with(got, put_to_zero._shifted_to(np.zeros(2)))._packed()
        del state["_shift"]
        old = cls.__new__(cls)
        old.__setstate__(state)
        same_statistics(old, got)
        old.update(X[20:], Y[20:], widen=True)
        middle = X.astype(np.float64)
        middle[:20, 0] = 0.5 * (middle[:20, 0].min() + middle[:20, 0].max())
        expected = cls.from_data(basis, middle, Y, scaling=InputScaling.fit(X))
        same_statistics(old, expected, 1e-11)


def _with(statistics, sums):
    twin = pickle.loads(pickle.dumps(statistics))
    twin._sums = sums
    return twin


@pytest.mark.parametrize("kind", [GramStatistics, MomentStatistics])
def test_squares_of_targets_that_float64_does_not_hold(kind):
    """Sums of squares that vanish choose no penalty in silence; smaller ones choose as ever."""
    rng = np.random.default_rng(0)
    X, basis = rng.uniform(-1, 1, (60, 2)), TensorBasis(2, degree=3)
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=60)
    alphas = 4.0 ** np.arange(-8, 4)
    chosen = kind(basis).update(X, y).gcv(alphas).argmin()
    assert kind(basis).update(X, y * 1e-140).gcv(alphas).argmin() == chosen
    assert RidgePath(basis, X, y).gcv(alphas).argmin() == chosen
    assert RidgePath(basis, X, y * 1e-140).gcv(alphas).argmin() == chosen
    with pytest.raises(BeyondRangeError, match="target 0 are below the range of float64: `y` is"):
        kind(basis).update(X, y * 1e-170).gcv(alphas)
    for size in (1e-170, 1e160):
        path = RidgePath(basis, X, y * size)
        for query in (path.gcv, path.log_marginal_likelihood):
            with pytest.raises(BeyondRangeError, match=r"column 0 of Y, .* are beyond the range"):
                query(alphas)
