"""Polynomials, index sets, features and scaling, by the public functions of `gegenbauer.basis`."""

from __future__ import annotations

import concurrent.futures
import copy
import gc
import itertools
import math
import pickle
import re
import sys
from fractions import Fraction

import numpy as np
import oracles
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from interrupts import interrupt
from numpy.testing import assert_allclose, assert_array_equal

from gegenbauer import GegenbauerClassifierCV, GegenbauerRegressorCV, reference
from gegenbauer.basis import InputScaling, TensorBasis, count_terms, gegenbauer_vander
from gegenbauer.errors import TooLargeError
from gegenbauer.estimators._search import SearchEstimator

# every parameter of the polynomials at which something special happens
LAMS = [
    float(np.nextafter(-0.5, 0)),
    -0.4999999,
    -0.25,
    -1e-6,
    0.0,
    1e-300,
    1e-6,
    0.05,
    0.5,
    1.0,
    5.0,
    50.0,
]


# --- gegenbauer_vander ---------------------------------------------------------------------------


@pytest.mark.parametrize(("lam", "x", "expected"), oracles.KNOWN_VALUES)
def test_low_degrees(lam, x, expected):
    assert_allclose(gegenbauer_vander(x, 5, lam), expected, rtol=1e-14)


@pytest.mark.parametrize(("lam", "expected"), oracles.KNOWN_AT_DEGREE_30)
def test_degree_30(lam, expected):
    assert_allclose(gegenbauer_vander(0.3, 30, lam)[30], expected, rtol=1e-13)


@pytest.mark.parametrize("normalization", ["raw", "orthonormal"])
@pytest.mark.parametrize("lam", LAMS)
def test_against_extended_precision(lam, normalization):
    """The error counts relative to the largest value of the degree on [-1, 1]."""
    x = np.r_[-1.0, np.cos(np.linspace(0.1, 3.1, 9)), 0.0, 0.3, 0.999, 1.0]
    expected = oracles.table(x, 500, lam, normalization)
    got = gegenbauer_vander(x, 500, lam, normalization=normalization)
    largest = np.abs(expected).max(axis=0)
    error = np.abs(got - expected).max(axis=0) / np.where(largest > 0, largest, 1)
    assert error[:101].max() <= 1e-12
    assert error.max() <= 1e-10


@pytest.mark.parametrize("normalization", ["raw", "orthonormal"])
def test_large_lam_is_accurate_as_far_as_float64_reaches(normalization):
    x = np.array([-1.0, -0.4, 0.0, 0.001, 0.3, 1.0])
    expected = oracles.table(x, 40, 1e6, normalization)
    got = gegenbauer_vander(x, 40, 1e6, normalization=normalization)
    error = np.abs(got - expected).max(axis=0) / np.abs(expected).max(axis=0)
    assert error.max() <= 1e-12
    with pytest.raises(ValueError, match=r"lam.*degree"):  # C_500(1) is about 10^2000
        gegenbauer_vander(x, 500, 1e6, normalization=normalization)


def test_limit_at_zero():
    x = np.linspace(-1, 1, 21)
    n = np.arange(1, 31)
    chebyshev = np.cos(n * np.arccos(x)[:, None])
    assert_allclose(gegenbauer_vander(x, 30, 0.0)[:, 1:], 2 / n * chebyshev, atol=1e-13)
    got = gegenbauer_vander(x, 30, 0.0, normalization="orthonormal")
    assert_allclose(got[:, 1:], math.sqrt(2) * chebyshev, atol=1e-13)
    assert_array_equal(got[:, 0], 1.0)
    # orthonormal polynomials pass through lam = 0 without a step
    near = gegenbauer_vander(x, 30, 1e-12, normalization="orthonormal")
    assert_allclose(near, got, atol=1e-9)


@given(
    lam=st.floats(-0.49, 20.0),
    x=st.floats(-1.0, 1.0),
    degree=st.integers(0, 60),
    normalization=st.sampled_from(["raw", "orthonormal"]),
)
def test_parity(lam, x, degree, normalization):
    signs = (-1.0) ** np.arange(degree + 1)
    there = gegenbauer_vander(x, degree, lam, normalization=normalization)
    back = gegenbauer_vander(-x, degree, lam, normalization=normalization)
    assert_array_equal(back, signs * there)


@pytest.mark.parametrize(
    ("x", "shape"),
    [
        (0.5, ()),
        ([0.5], (1,)),
        (np.zeros((2, 3)), (2, 3)),
        (np.zeros((3, 4, 2))[::2, :, ::-1], (2, 4, 2)),
    ],
)
def test_shape_of_the_values(x, shape):
    values = gegenbauer_vander(x, 4, 0.5)
    assert values.shape == (*shape, 5)
    assert values.dtype == np.float64


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.bool_, np.float32, np.float16])
def test_points_become_float64_before_any_arithmetic(dtype):
    x = np.array([[0, 1], [1, 1]], dtype=dtype)
    assert_array_equal(gegenbauer_vander(x, 9, 0.3), gegenbauer_vander(x.astype(float), 9, 0.3))
    assert gegenbauer_vander(np.int8(100), 2, 1.0)[2] == 4 * 100**2 - 1


@pytest.mark.parametrize("lam", [-0.5, -0.6, -math.inf, math.inf, math.nan])
def test_lam_outside_of_its_range(lam):
    expected = re.compile(rf"lam\b.*-(1/2|0\.5).*{lam}", re.DOTALL)
    with pytest.raises(ValueError, match=expected):
        gegenbauer_vander(0.5, 3, lam)
    with pytest.raises(ValueError, match=expected):
        TensorBasis(2, degree=3, lam=lam)


@pytest.mark.parametrize("x", [math.nan, [0.1, math.inf], [[-math.inf]]])
def test_points_must_be_finite(x):
    with pytest.raises(ValueError, match=r"\bx\b.*(NaN|nan|inf)"):
        gegenbauer_vander(x, 3, 0.5)


@pytest.mark.parametrize("degree", [-1, 2.5, "3", None])
def test_degree_must_be_a_whole_number(degree):
    with pytest.raises((TypeError, ValueError), match=r"\bdegree\b.*" + re.escape(str(degree))):
        gegenbauer_vander(0.5, degree, 0.5)


def test_unknown_normalization():
    with pytest.raises(ValueError, match=r"normalization.*raw.*orthonormal.*monic"):
        gegenbauer_vander(0.5, 3, 0.5, normalization="monic")


# --- Index sets --------------------------------------------------------------------------------

GOLDEN = {  # total degree up to 4
    ("grlex", 2): "00 10 01 20 11 02 30 21 12 03 40 31 22 13 04",
    ("grlex", 3): """000 100 010 001 200 110 101 020 011 002 300 210 201 120 111 102 030 021 012
        003 400 310 301 220 211 202 130 121 112 103 040 031 022 013 004""",
    ("grlex", 4): """0000 1000 0100 0010 0001 2000 1100 1010 1001 0200 0110 0101 0020 0011 0002
        3000 2100 2010 2001 1200 1110 1101 1020 1011 1002 0300 0210 0201 0120 0111 0102 0030 0021
        0012 0003 4000 3100 3010 3001 2200 2110 2101 2020 2011 2002 1300 1210 1201 1120 1111 1102
        1030 1021 1012 1003 0400 0310 0301 0220 0211 0202 0130 0121 0112 0103 0040 0031 0022 0013
        0004""",
    ("grlex_ascending", 2): "00 01 10 02 11 20 03 12 21 30 04 13 22 31 40",
    ("grlex_ascending", 3): """000 001 010 100 002 011 020 101 110 200 003 012 021 030 102 111 120
        201 210 300 004 013 022 031 040 103 112 121 130 202 211 220 301 310 400""",
    ("grlex_ascending", 4): """0000 0001 0010 0100 1000 0002 0011 0020 0101 0110 0200 1001 1010
        1100 2000 0003 0012 0021 0030 0102 0111 0120 0201 0210 0300 1002 1011 1020 1101 1110 1200
        2001 2010 2100 3000 0004 0013 0022 0031 0040 0103 0112 0121 0130 0202 0211 0220 0301 0310
        0400 1003 1012 1021 1030 1102 1111 1120 1201 1210 1300 2002 2011 2020 2101 2110 2200 3001
        3010 3100 4000""",
    ("grevlex", 2): "00 10 01 20 11 02 30 21 12 03 40 31 22 13 04",
    ("grevlex", 3): """000 100 010 001 200 110 020 101 011 002 300 210 120 030 201 111 021 102 012
        003 400 310 220 130 040 301 211 121 031 202 112 022 103 013 004""",
    ("grevlex", 4): """0000 1000 0100 0010 0001 2000 1100 0200 1010 0110 0020 1001 0101 0011 0002
        3000 2100 1200 0300 2010 1110 0210 1020 0120 0030 2001 1101 0201 1011 0111 0021 1002 0102
        0012 0003 4000 3100 2200 1300 0400 3010 2110 1210 0310 2020 1120 0220 1030 0130 0040 3001
        2101 1201 0301 2011 1111 0211 1021 0121 0031 2002 1102 0202 1012 0112 0022 1003 0103 0013
        0004""",
}


@pytest.mark.parametrize(("order", "n_features"), GOLDEN)
def test_golden_order(order, n_features):
    golden = " ".join(GOLDEN[order, n_features].split())
    basis = TensorBasis(n_features, degree=4, term_order=order)
    assert oracles.words(basis.indices) == golden
    assert basis.n_terms == len(basis.indices) == math.comb(n_features + 4, 4)
    # the first terms are the first terms
    first = TensorBasis(n_features, n_terms=12, term_order=order)
    assert oracles.words(first.indices) == " ".join(golden.split()[:12])


def test_the_default_order_is_grlex():
    assert oracles.words(TensorBasis(2, n_terms=10).indices) == "00 10 01 20 11 02 30 21 12 03"


@pytest.mark.parametrize(
    ("n_features", "degree", "beyond"),
    [(2, 43, 10), (4, 9, 285), (9, 4, 285), (13, 3, 440), (18, 2, 810), (33, 2, 405)],
)
def test_last_complete_degree_of_1000_terms(n_features, degree, beyond):
    basis = TensorBasis(n_features, n_terms=1000)
    assert basis.complete_degree() == (degree, beyond)
    totals = basis.indices.sum(axis=1)
    assert_array_equal(totals[1000 - beyond :], degree + 1)
    assert totals[999 - beyond] == degree


def test_complete_degree_without_a_remainder():
    assert TensorBasis(3, degree=4).complete_degree() == (4, 0)
    assert TensorBasis(3, n_terms=1).complete_degree() == (0, 0)


@given(data=st.data())
@settings(max_examples=150)
def test_sets_against_brute_force(data):
    n_features = data.draw(st.integers(1, 4), "n_features")
    kind = data.draw(st.sampled_from(["total_degree", "tensor", "hyperbolic_cross"]), "index_set")
    degree = data.draw(st.integers(0, 5), "degree")
    if kind == "tensor" and data.draw(st.booleans(), "a degree for each input"):
        shape = st.lists(st.integers(0, 4), min_size=n_features, max_size=n_features)
        degree = data.draw(shape, "degrees")
    order = data.draw(st.sampled_from(list(oracles.ORDERS)), "order")
    limit = data.draw(st.none() | st.integers(1, 5), "max_interaction")
    n_terms = data.draw(st.none() | st.integers(1, 60), "n_terms")

    expected = oracles.index_set(n_features, degree, kind, order, limit, n_terms)
    options = {
        "degree": degree,
        "index_set": kind,
        "max_interaction": limit,
        "n_terms": n_terms,
    }
    basis = TensorBasis(n_features, term_order=order, **options)
    assert_array_equal(basis.indices, expected)
    assert basis.indices.dtype == np.int32
    assert basis.n_features == n_features
    assert basis.n_terms == len(expected) == count_terms(n_features, **options)
    assert basis.max_degree == max(max(k) for k in expected)
    check_parents(basis)
    check_downward_closure(basis)


def check_parents(basis):
    """A term is its parent times one polynomial of an input that the parent does not have."""
    for row in range(1, basis.n_terms):
        term, above = basis.indices[row], basis.indices[basis.parents[row]]
        assert 0 <= basis.parents[row] < row
        (added,) = np.flatnonzero(term != above)
        assert above[added] == 0
        assert term[added] > 0


def check_downward_closure(basis):
    """With a term, all terms of lower degrees are in the set, and come earlier."""
    place = {tuple(k): row for row, k in enumerate(basis.indices.tolist())}
    assert len(place) == basis.n_terms
    for k, row in place.items():
        for t in np.flatnonzero(k):
            assert place[(*k[:t], k[t] - 1, *k[t + 1 :])] < row


@pytest.mark.parametrize("kind", ["total_degree", "tensor", "hyperbolic_cross"])
@pytest.mark.parametrize("n_terms", [1, 2, 17, 40])
@pytest.mark.parametrize("limit", [None, 1, 2])
def test_without_a_degree_the_smallest_that_has_enough_terms(kind, n_terms, limit):
    degree = next(d for d in range(99) if len(oracles.members(3, d, kind, limit)) >= n_terms)
    basis = TensorBasis(3, n_terms=n_terms, index_set=kind, max_interaction=limit)
    assert_array_equal(basis.indices, oracles.index_set(3, degree, kind, "grlex", limit, n_terms))


@pytest.mark.parametrize("limit", [None, 1, 2])
@pytest.mark.parametrize(
    ("q", "twice_s"),
    [
        (Fraction(1, 8), 2),
        (Fraction(1, 2), 3),
        (Fraction(1, 4), 4),  # q = 2^-2s: many ties between an interaction and a degree
        (Fraction(1), 2),
        (Fraction(5), 3),  # a factor above one counts as one
        (Fraction(1, 1000), 2),  # nearly additive
    ],
)
@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_largest_weight_against_brute_force(n_features, q, twice_s, limit):
    n_terms, box = {1: (20, 22), 2: (50, 30), 3: (60, 24)}[n_features]
    expected = oracles.largest_weight(n_features, n_terms, q, twice_s, box, limit)
    basis = TensorBasis(
        n_features,
        n_terms=n_terms,
        index_set="largest_weight",
        spectrum=(float(q), twice_s / 2),
        max_interaction=limit,
    )
    assert_array_equal(basis.indices, expected)
    check_parents(basis)
    check_downward_closure(basis)


@given(
    n_features=st.integers(1, 6),
    q=st.floats(1e-3, 3.0),
    s=st.floats(0.3, 3.0),
    n_terms=st.integers(2, 200),
)
def test_largest_weight_is_nested_downward_closed_and_sorted(n_features, q, s, n_terms):
    options = {"index_set": "largest_weight", "spectrum": (q, s)}
    basis = TensorBasis(n_features, n_terms=n_terms, **options)
    check_parents(basis)
    check_downward_closure(basis)
    fewer = TensorBasis(n_features, n_terms=n_terms // 2, **options)
    assert_array_equal(fewer.indices, basis.indices[: n_terms // 2])
    degrees = np.maximum(basis.indices, 1).astype(float)
    factors = np.where(basis.indices > 0, np.minimum(1.0, q * degrees ** (-2 * s)), 1.0)
    weights = factors.prod(axis=1)
    assert (weights[1:] <= weights[:-1] * (1 + 1e-8)).all()


@pytest.mark.parametrize("order", oracles.ORDERS)
@pytest.mark.parametrize("kind", ["total_degree", "tensor", "hyperbolic_cross"])
def test_sets_are_nested(order, kind):
    options = {"degree": 7, "index_set": kind, "term_order": order}
    whole = TensorBasis(3, **options).indices
    for n_terms in (1, 2, 5, 19, len(whole), len(whole) + 1):
        cut = TensorBasis(3, n_terms=n_terms, **options)
        assert_array_equal(cut.indices, whole[:n_terms])


def test_a_hundred_thousand_terms_in_fifty_inputs():
    basis = TensorBasis(50, n_terms=100_000)
    assert_array_equal(basis.indices, reference.graded_lexicographic(50, 100_000))


@pytest.mark.parametrize(
    ("n_features", "options", "expected"),
    [
        (39, {"degree": 3}, math.comb(42, 3)),
        (60, {"degree": 20}, math.comb(80, 20)),  # the largest here that fits into 63 bits
        (200, {"degree": 3, "max_interaction": 2}, 1 + 200 * 3 + math.comb(200, 2) * 3),
        (10, {"degree": 9, "index_set": "tensor"}, 10**10),
        (3, {"degree": [1, 0, 4], "index_set": "tensor"}, 10),
        (1000, {"degree": 3, "index_set": "hyperbolic_cross"}, 1 + 3000 + math.comb(1000, 2)),
        (5, {"degree": 8, "n_terms": 77}, 77),
        (5, {"degree": 1, "n_terms": 77}, 6),
    ],
)
def test_counting(n_features, options, expected):
    assert count_terms(n_features, **options) == expected


def test_counting_beyond_63_bits_does_not_wrap():
    for n_features, degree in ((200, 40), (61, 30), (1000, 1000)):
        assert count_terms(n_features, degree=degree) >= 2**63 - 1


@pytest.mark.parametrize("index_set", ["total_degree", "tensor"])
@pytest.mark.parametrize("n_features", [1, 2, 5, 33, 64, 200, 1000])
def test_counts_against_exact_arithmetic(index_set, n_features):
    for degree, most in itertools.product((0, 1, 2, 3, 7, 50, 1000), (None, 1, 2, 3, 7)):
        inputs = n_features if most is None else min(most, n_features)
        if index_set == "tensor":
            ways = [degree**j for j in range(inputs + 1)]
        else:
            ways = [math.comb(degree, j) for j in range(inputs + 1)]
        exact = sum(math.comb(n_features, j) * way for j, way in enumerate(ways))
        got = count_terms(n_features, degree=degree, index_set=index_set, max_interaction=most)
        if exact < 2**63:
            assert got == exact
        elif exact < 2**1023:
            assert abs(got - exact) <= exact // 10**9
        else:
            assert got >= 2**1000
        if exact > 10**8:
            with pytest.raises(ValueError, match="terms"):
                TensorBasis(n_features, degree=degree, index_set=index_set, max_interaction=most)


@pytest.mark.parametrize(
    ("n_features", "options", "count"),
    [
        (200, {"degree": 40}, math.comb(240, 40)),
        (60, {"degree": 20}, math.comb(80, 20)),
        (40, {"degree": 9, "index_set": "tensor"}, 10**40),
        (
            10**5,
            {"degree": 3, "index_set": "hyperbolic_cross"},
            math.comb(10**5, 2) + 3 * 10**5 + 1,
        ),
        (50, {"degree": 10, "n_terms": 10**10}, 10**10),
        (50, {"n_terms": 10**10}, 10**10),
    ],
)
def test_too_large_requests_are_refused_by_number(n_features, options, count):
    with pytest.raises(ValueError, match=r"terms.*bytes") as caught:
        TensorBasis(n_features, **options)
    message = str(caught.value)
    number = r"\d[\d,_]*(?:\.\d+)?(?:e\+?\d+)?"
    numbers = [float(re.sub("[,_]", "", text)) for text in re.findall(number, message)]
    for wanted in (count, 8 * count):
        near = [abs(n - wanted) <= 0.01 * wanted for n in numbers]
        # beyond 63 bits "more than 2^63" is as good an answer
        assert any(near) or (wanted >= 2**63 and max(numbers) >= 2**63)
    advice = message.partition(" can be handled: ")[2]
    given = "n_terms" if "n_terms" in options else "degree"
    assert advice.startswith(f"lower `{given}`")
    assert "`n_terms`" in advice


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"n_features": 0, "degree": 2}, "n_features"),
        ({"n_features": -3, "degree": 2}, "n_features"),
        ({"n_features": 2.5, "degree": 2}, "n_features"),
        ({"n_features": 2}, "degree.*n_terms|n_terms.*degree"),
        ({"n_features": 2, "degree": -1}, "degree"),
        ({"n_features": 2, "degree": 1.5}, "degree"),
        ({"n_features": 2, "degree": [1, 2]}, "degree.*tensor"),
        ({"n_features": 2, "degree": [1, 2, 3], "index_set": "tensor"}, "degree"),
        ({"n_features": 2, "degree": [1, -2], "index_set": "tensor"}, "degree"),
        ({"n_features": 2, "n_terms": 0}, "n_terms"),
        ({"n_features": 2, "n_terms": -5}, "n_terms"),
        ({"n_features": 2, "n_terms": 2.5}, "n_terms"),
        ({"n_features": 2, "degree": 2, "max_interaction": 0}, "max_interaction"),
        ({"n_features": 2, "degree": 2, "index_set": "simplex"}, "index_set.*simplex"),
        ({"n_features": 2, "degree": 2, "term_order": "lex"}, "term_order.*lex"),
        ({"n_features": 2, "degree": 2, "lam": "small"}, "lam.*small"),
        ({"n_features": 2, "degree": 2, "spectrum": "white"}, "spectrum.*white"),
        ({"n_features": 2, "degree": 2, "spectrum": (1.0,)}, "spectrum"),
        ({"n_features": 2, "degree": 2, "spectrum": (-1.0, 1.0)}, r"spectrum|\bq\b"),
        ({"n_features": 2, "degree": 2, "spectrum": (1.0, math.nan)}, r"spectrum|\bs\b"),
        ({"n_features": 2, "n_terms": 9, "index_set": "largest_weight"}, "spectrum"),
        (
            {"n_features": 2, "degree": 9, "index_set": "largest_weight", "spectrum": (1.0, 1.0)},
            "n_terms",
        ),
    ],
)
def test_bad_requests_name_the_argument(arguments, named):
    with pytest.raises((TypeError, ValueError), match=named):
        TensorBasis(**arguments)


HIGH = 100_000


@pytest.mark.parametrize("order", oracles.ORDERS)
@pytest.mark.parametrize(
    ("n_features", "options"),
    [
        (1, {}),
        (2, {"max_interaction": 1}),
        (2, {"index_set": "tensor", "degree": [HIGH, 1]}),
        (2, {"index_set": "tensor", "degree": [1, HIGH]}),
        (2, {"index_set": "hyperbolic_cross"}),
    ],
)
def test_high_degrees_cost_no_more_than_their_terms(n_features, options, order):
    # Work in proportion to the squared degree would take hours.
    basis = TensorBasis(
        n_features, **({"degree": HIGH} | options), term_order=order, spectrum="orthonormal"
    )
    limits = options.get("degree", [HIGH] * n_features)
    expected = np.zeros((1, n_features), dtype=np.int32)
    for t, limit in enumerate(limits):
        powers = np.arange(limit + 1)
        if "max_interaction" in options:
            keep = [powers if k == 0 else [0] for k in expected.any(axis=1)]
        elif options.get("index_set") == "hyperbolic_cross":
            keep = [powers[: (HIGH + 1) // k] for k in (expected + 1).prod(axis=1)]
        else:
            keep = [powers] * len(expected)
        expected = np.repeat(expected, [len(k) for k in keep], axis=0)
        expected[:, t] = np.concatenate(keep)
    first, last = expected[:, 0], expected[:, -1]
    ties = {"grlex": -first, "grlex_ascending": first, "grevlex": last}[order]
    assert_array_equal(basis.indices, expected[np.lexsort((ties, expected.sum(axis=1)))])


def test_terms_that_leave_the_range_of_float64():
    with pytest.raises(ValueError, match=r"lam.*degree"):
        TensorBasis(3, degree=60, lam=1e6)


@pytest.mark.parametrize("n_features", [1, 2, 15, 200])
def test_term_names(n_features):
    basis = TensorBasis(n_features, degree=2)
    names = basis.term_names()
    assert len(set(names)) == basis.n_terms
    for name, index in zip(names, basis.indices.tolist(), strict=True):
        factors = [f"C{n}(x{t})" for t, n in enumerate(index) if n > 0]
        assert name == (" ".join(factors) or "1")


def test_term_names_of_named_inputs():
    basis = TensorBasis(2, degree=3)
    expected = "1|C1(u)|C1(v)|C2(u)|C1(u) C1(v)|C2(v)|C3(u)|C2(u) C1(v)|C1(u) C2(v)|C3(v)"
    assert basis.term_names(["u", "v"]) == expected.split("|")
    with pytest.raises(ValueError, match=r"names.*2.*3"):
        basis.term_names(["u", "v", "w"])


# --- Features ----------------------------------------------------------------------------------


@pytest.mark.parametrize("spectrum", [None, "orthonormal", (0.25, 1.5), (3.0, 0.7)])
@pytest.mark.parametrize("lam", [-0.3, 0.0, 0.05, 2.0])
@pytest.mark.parametrize(
    "options",
    [
        {"n_terms": 44},
        {"degree": 4, "index_set": "tensor", "max_interaction": 2, "term_order": "grevlex"},
        {"degree": 7, "index_set": "hyperbolic_cross", "term_order": "grlex_ascending"},
    ],
)
def test_features_against_extended_precision(spectrum, lam, options, rng):
    X = np.vstack([rng.uniform(-1, 1, (5, 3)), np.ones((1, 3)), np.zeros((1, 3))])
    basis = TensorBasis(3, lam=lam, spectrum=spectrum, **options)
    expected = oracles.features(X, basis.indices, lam, spectrum)
    largest = np.abs(expected).max(axis=0)
    assert (np.abs(basis.evaluate(X) - expected) <= 1e-13 * largest).all()


def test_features_of_the_terms_of_largest_weight(rng):
    X = rng.uniform(-1, 1, (6, 4))
    options = {"index_set": "largest_weight", "spectrum": (0.3, 1.0)}
    basis = TensorBasis(4, n_terms=70, lam=0.0, **options)
    expected = oracles.features(X, basis.indices, 0.0, (0.3, 1.0))
    assert_allclose(basis.evaluate(X), expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("n_samples", [1, 2, 7, 8, 9, 63, 64, 65, 511, 513, 1300])
@pytest.mark.parametrize("n_terms", [1, 2, 8, 37])
def test_features_at_the_edges_of_blocks(n_samples, n_terms, rng):
    X = rng.uniform(0, 1, (n_samples, 3))
    basis = TensorBasis(3, n_terms=n_terms)
    expected = reference.activation_matrix(X, basis.indices, 0.05)
    for order in "CF":
        got = basis.evaluate(X, order=order)
        assert got.shape == (n_samples, n_terms)
        assert got.flags[f"{order}_CONTIGUOUS"]
        assert got.flags.owndata
        assert_allclose(got, expected, rtol=1e-13, atol=1e-16)


@given(
    n_features=st.integers(1, 8),
    n_terms=st.integers(1, 300),
    lam=st.floats(-0.45, 3.0),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=30)
def test_features_against_the_reference(n_features, n_terms, lam, seed):
    X = np.random.default_rng(seed).uniform(-1, 1, (19, n_features))
    basis = TensorBasis(n_features, n_terms=n_terms, lam=lam)
    expected = reference.activation_matrix(X, basis.indices, lam)
    scale = np.abs(expected).max(axis=0)
    if lam == 0.0 or abs(lam) > 1e-100:  # products of tiny raw values underflow
        # both sides have rounding errors, of 7e-13 at degree 93 against 40 digits
        assert (np.abs(basis.evaluate(X) - expected) <= 3e-12 * scale).all()


def layouts(X, folder):
    """The same numbers in every layout that a caller may have."""
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    wide[::2, 1::3] = X
    read_only = X.copy()
    read_only.flags.writeable = False
    np.save(folder / "X.npy", X)
    shifted = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:]  # not aligned
    return {
        "C": X,
        "F": np.asfortranarray(X),
        "strided": wide[::2, 1::3],
        "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
        "read-only": read_only,
        "memory-mapped": np.load(folder / "X.npy", mmap_mode="r"),
        "list": X.tolist(),
        "big-endian": X.astype(">f8"),
        "unaligned": shifted.view(np.float64).reshape(X.shape),
        "object": X.astype(object),
    }


def test_layouts_give_identical_results(rng, tmp_path):
    X = rng.uniform(0, 1, (70, 4))
    basis = TensorBasis(4, n_terms=60)
    expected = basis.evaluate(X)
    for name, same in layouts(X, tmp_path).items():
        assert_array_equal(basis.evaluate(same), expected, err_msg=name)


def test_broadcast_rows_have_stride_zero(rng):
    row = rng.uniform(0, 1, 4)
    basis = TensorBasis(4, n_terms=20)
    got = basis.evaluate(np.broadcast_to(row, (9, 4)))
    assert_array_equal(got, basis.evaluate(np.tile(row, (9, 1))))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.bool_, np.float16, np.float32])
def test_other_numbers_become_float64_before_any_arithmetic(dtype, rng):
    X = rng.integers(0, 2, (40, 3)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        X = rng.uniform(0, 1, (40, 3)).astype(dtype)
    basis = TensorBasis(3, n_terms=40, lam=0.7)
    assert_array_equal(basis.evaluate(X), basis.evaluate(X.astype(np.float64)))


def test_int8_does_not_wrap():
    assert TensorBasis(1, degree=2, lam=1.0).evaluate(np.array([[100]], np.int8))[0, 2] == 39_999


def test_float32_output_is_rounded_once(rng):
    X = rng.uniform(0, 1, (67, 3))
    basis = TensorBasis(3, n_terms=50)
    for order in "CF":
        got = basis.evaluate(X, dtype=np.float32, order=order)
        assert got.dtype == np.float32
        assert_array_equal(got, basis.evaluate(X).astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_out_is_filled(dtype, rng):
    X = rng.uniform(0, 1, (67, 3))
    basis = TensorBasis(3, n_terms=50)
    expected = basis.evaluate(X, dtype=dtype)
    frame = np.full((200, 150), -7.0, dtype=dtype)
    for out in (
        np.empty((67, 50), dtype),
        np.empty((67, 50), dtype, order="F"),
        frame[:67, :50],
        frame[1:135:2, 60:110],
        frame.T[80:147, 100:200:2],
    ):
        assert basis.evaluate(X, out=out, dtype=dtype) is out
        assert_array_equal(out, expected)
    # entries beside the strided pieces stay as they were
    assert (frame[:67, 50:60] == -7.0).all()
    assert (frame[0:135:2, 60:80] == -7.0).all()


@pytest.mark.parametrize(
    "out",
    [
        np.empty((66, 50)),
        np.empty((50, 67)),
        np.empty(67 * 50),
        np.empty((67, 50), dtype=np.int64),
        np.empty((67, 50), dtype=complex),
        [[0.0] * 50] * 67,
        np.broadcast_to(np.zeros(50), (67, 50)),  # read-only
    ],
)
def test_out_that_does_not_fit_is_refused_untouched(out, rng):
    before = copy.deepcopy(np.asarray(out))
    with pytest.raises((TypeError, ValueError), match=r"\bout\b"):
        TensorBasis(3, n_terms=50).evaluate(rng.uniform(0, 1, (67, 3)), out=out)
    assert np.asarray(out).tobytes() == before.tobytes()


def test_threads_do_not_change_a_bit(rng):
    X = rng.uniform(0, 1, (3001, 5))
    basis = TensorBasis(5, n_terms=300)
    expected = basis.evaluate(X, n_threads=1)
    for n_threads in (2, 3, None):
        assert_array_equal(basis.evaluate(X, n_threads=n_threads), expected)
    # nor does the company: a row has the same value alone
    assert_array_equal(basis.evaluate(X[1234:1235]), expected[1234:1235])


def test_many_callers_at_once(rng):
    X = rng.uniform(0, 1, (500, 4))
    basis = TensorBasis(4, n_terms=200)
    expected = basis.evaluate(X)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: basis.evaluate(X, n_threads=2), range(12)):
            assert_array_equal(got, expected)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_features_of_nan_and_infinity_are_refused_by_column(bad, dtype, rng):
    X = rng.uniform(0, 1, (40, 7)).astype(dtype)
    X[31, 5] = bad
    basis = TensorBasis(7, n_terms=20)
    with pytest.raises(ValueError, match=r"\bX\b.*\b5\b"):
        basis.evaluate(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((5, 4)), r"\bX\b.*\b4\b.*\b3\b|\bX\b.*\b3\b.*\b4\b"),
        (np.zeros(3), r"\bX\b.*(2|two)"),
        (np.zeros((2, 3, 1)), r"\bX\b.*(2|two)"),
        (1.0, r"\bX\b"),
        (np.zeros((5, 3), dtype=complex), r"\bX\b.*complex"),
        ([["a", "b", "c"]], r"\bX\b"),
        ([[None, 1.0, 2.0]], r"\bX\b"),
        ([[0.0, 1.0, 2.0], [0.0, 1.0]], r"\bX\b"),
    ],
)
def test_wrong_samples_are_refused(X, message):
    with pytest.raises((TypeError, ValueError), match=message):
        TensorBasis(3, n_terms=20).evaluate(X)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"n_threads": 0}, "n_threads"),
        ({"n_threads": -2}, "n_threads"),
        ({"n_threads": 1.5}, "n_threads"),
        ({"order": "K"}, "order"),
        ({"dtype": np.int32}, "dtype"),
        ({"scaling": "minmax"}, "scaling"),
    ],
)
def test_wrong_options_are_refused(options, named):
    with pytest.raises((TypeError, ValueError), match=named):
        TensorBasis(3, n_terms=20).evaluate(np.zeros((2, 3)), **options)


@pytest.mark.parametrize(
    "options",
    [
        {"n_terms": 30},
        {"degree": [2, 3, 1], "index_set": "tensor", "lam": 0.5, "spectrum": "orthonormal"},
        {"n_terms": 25, "index_set": "largest_weight", "spectrum": (0.2, 1.5), "lam": 0.0},
        {
            "degree": 6,
            "index_set": "hyperbolic_cross",
            "max_interaction": 2,
            "term_order": "grevlex",
        },
    ],
)
def test_a_basis_survives_pickling_and_copying(options, rng):
    X = rng.uniform(0, 1, (9, 3))
    basis = TensorBasis(3, **options)
    expected = basis.evaluate(X)
    for twin in (pickle.loads(pickle.dumps(basis)), copy.copy(basis), copy.deepcopy(basis)):
        assert_array_equal(twin.indices, basis.indices)
        assert_array_equal(twin.evaluate(X), expected)
    assert len(pickle.dumps(basis)) < 2000  # the parameters, not the table


def test_arrays_outlive_the_basis(rng):
    X = rng.uniform(0, 1, (9, 3))
    basis = TensorBasis(3, n_terms=50)
    indices, parents, G = basis.indices, basis.parents, basis.evaluate(X)
    kept = indices.copy(), parents.copy(), G.copy()
    del basis
    gc.collect()
    TensorBasis(3, n_terms=50, term_order="grevlex").evaluate(X)  # would overwrite freed memory
    for array, copied in zip((indices, parents, G), kept, strict=True):
        assert_array_equal(array, copied)


# --- Scaling -----------------------------------------------------------------------------------

DOMAINS = [(0.0, 1.0), (-1.0, 1.0)]


@pytest.mark.parametrize("domain", DOMAINS)
def test_scaling_is_that_of_the_paper(domain, iris):
    training, test = iris.split(3, 105)
    scaling = InputScaling.fit(training.X, domain=domain)
    assert_array_equal(scaling.lower, training.X.min(axis=0))
    assert_array_equal(scaling.upper, training.X.max(axis=0))
    for X in (training.X, test.X):
        expected = reference.minmax_scale(X, training.X, domain)
        assert_allclose(scaling.transform(X), expected, rtol=0, atol=1e-15)
    assert scaling.transform(training.X).min(axis=0).tolist() == [domain[0]] * 4
    assert scaling.transform(training.X).max(axis=0).tolist() == [domain[1]] * 4


@pytest.mark.parametrize("clip", [True, False])
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_core_scales_as_transform_does(clip, domain, dtype, rng):
    training = rng.normal(5, 3, (50, 3))
    training[:, 1] = 4.0
    X = rng.normal(5, 4, (70, 3)).astype(dtype)
    scaling = InputScaling.fit(training, domain=domain, clip=clip)
    basis = TensorBasis(3, n_terms=20)
    expected = basis.evaluate(scaling.transform(X.astype(np.float64)))
    assert_allclose(basis.evaluate(X, scaling=scaling), expected, rtol=1e-12, atol=1e-13)


def test_without_clipping_the_line_goes_on():
    scaling = InputScaling.fit([[0.0], [4.0]], clip=False)
    assert_array_equal(scaling.transform([[-4.0], [1.0], [6.0]]), [[-1.0], [0.25], [1.5]])


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("clip", [True, False])
def test_a_constant_input_is_zero_also_when_it_varies_later(domain, clip):
    training = np.array([[7.0, 0.0, 1.0], [7.0, 0.0, 2.0]])
    scaling = InputScaling.fit(training, domain=domain, clip=clip)
    assert scaling.is_constant.tolist() == [True, True, False]
    later = [[1e6, -3.0, 1.0], [7.0, 0.0, 2.0]]
    assert_array_equal(scaling.transform(later)[:, :2], 0.0)
    assert_array_equal(
        TensorBasis(3, n_terms=10).evaluate(later, scaling=scaling),
        TensorBasis(3, n_terms=10).evaluate([[0, 0, domain[0]], [0, 0, domain[1]]]),
    )


@pytest.mark.parametrize(
    ("low", "high", "constant"),
    [
        (1e9, 1e9 * (1 + 4e-16), True),  # one or two rounding errors
        (-1e300, -1e300 * (1 + 1e-15), True),
        (1e9, 1e9 + 1, False),
        (1e-9, 1.1e-9, False),  # small is not constant
        (0.0, 1e-300, False),
        (1e-300, 3e-300, False),
        (0.0, 0.0, True),
        (-0.0, 0.0, True),
    ],
)
def test_constancy_is_relative_to_the_magnitude(low, high, constant):
    scaling = InputScaling.fit([[low], [high]])
    assert scaling.is_constant.tolist() == [constant]
    assert_array_equal(scaling.transform([[low], [high]]), [[0.0], [0.0 if constant else 1.0]])


def test_constancy_of_float32_counts_in_float32():
    X = np.array([[1.0], [1.0 + 4 * np.finfo(np.float32).eps]])
    assert InputScaling.fit(X.astype(np.float32)).is_constant.tolist() == [True]
    assert InputScaling.fit(X).is_constant.tolist() == [False]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize(
    ("low", "high"),
    [(-1e308, 1e308), (-1.7e308, 1.7e308), (0.0, 1.7e308), (0.0, 1e-307), (0.0, 5e-324)],
)
def test_extreme_ranges_do_not_overflow(domain, low, high):
    column = np.array([[low], [low / 2 + high / 2], [high]])
    scaling = InputScaling.fit(column, domain=domain)
    got = scaling.transform(column)
    assert np.isfinite(got).all()
    assert (got >= domain[0]).all()
    assert (got <= domain[1]).all()
    if high > 1e-308:  # below, the half of the range is not a number of its own
        middle = (domain[0] + domain[1]) / 2
        assert_allclose(got[:, 0], [domain[0], middle, domain[1]], atol=1e-15)
    basis = TensorBasis(1, degree=3)
    assert_allclose(basis.evaluate(column, scaling=scaling), basis.evaluate(got), atol=1e-15)


def test_rows_outside_of_the_box():
    scaling = InputScaling.fit([[0.0, 10.0, 5.0], [1.0, 20.0, 5.0]])
    X = [
        [0.5, 15.0, 5.0],
        [0.0, 20.0, 5.0],  # on the border
        [np.nextafter(1.0, 2.0), 15.0, 5.0],
        [0.5, 9.9, 5.0],
        [-3.0, 99.0, 5.0],
        [0.5, 15.0, 5.1],  # the constant input varies, which changes nothing
    ]
    outside = scaling.outside(X)
    assert outside.dtype == np.bool_
    assert outside.tolist() == [False, False, True, True, True, False]


@pytest.mark.parametrize("method", ["fit", "transform", "outside"])
def test_scaling_refuses_what_is_no_sample(method):
    fitted = InputScaling.fit([[0.0, 1.0], [1.0, 2.0]])
    call = getattr(InputScaling if method == "fit" else fitted, method)
    with pytest.raises(ValueError, match=r"\bX\b.*\b1\b"):
        call([[0.0, 1.0], [0.0, math.inf]])
    with pytest.raises(ValueError, match=r"\bX\b.*\b0\b"):
        call([[-math.inf, 1.0]])
    with pytest.raises(ValueError, match=r"\bX\b"):
        call([0.0, 1.0])
    with pytest.raises((TypeError, ValueError), match=r"\bX\b"):
        call([["a", "b"]])
    if method == "fit":
        with pytest.raises(ValueError, match=r"\bX\b.*(0|no|at least)"):
            call(np.empty((0, 2)))
    else:
        with pytest.raises(ValueError, match=r"\bX\b.*3.*2|\bX\b.*2.*3"):
            call(np.zeros((4, 3)))


def test_scaling_of_missing_numbers():
    """They have no part in the box, and are where they are."""
    X = np.array([[0.0, math.nan, 3.0], [math.nan, math.nan, 3.0], [4.0, math.nan, math.nan]])
    scaling = InputScaling.fit(X, domain=(-1, 1))
    assert scaling.lower.tolist() == [0.0, 0.0, 3.0]
    assert scaling.upper.tolist() == [4.0, 0.0, 3.0]
    assert scaling.is_constant.tolist() == [False, True, True]
    nan = math.nan
    np.testing.assert_array_equal(
        scaling.transform(X), [[-1, nan, 0], [nan, nan, 0], [1, nan, nan]]
    )
    assert scaling.outside([[nan, 7.0, nan], [5.0, 0.0, 3.0]]).tolist() == [False, True]
    np.testing.assert_array_equal(scaling.slopes(X)[:, 0], [0.5, 0.0, 0.5])


@pytest.mark.parametrize("domain", [(0, 2), (1, -1), "unit", (0.0,), None])
def test_other_domains_are_refused(domain):
    with pytest.raises((TypeError, ValueError), match="domain"):
        InputScaling.fit([[0.0], [1.0]], domain=domain)


def test_a_scaling_for_other_inputs_is_refused():
    scaling = InputScaling.fit([[0.0, 1.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match=r"scaling|X"):
        TensorBasis(3, n_terms=5).evaluate(np.zeros((4, 3)), scaling=scaling)


def test_a_scaling_survives_pickling():
    scaling = InputScaling.fit([[0.0, 1.0], [1.0, 1.0]], domain=(-1, 1), clip=False)
    twin = pickle.loads(pickle.dumps(scaling))
    X = [[0.3, 1.0], [5.0, 2.0]]
    assert_array_equal(twin.transform(X), scaling.transform(X))
    assert twin.is_constant.tolist() == [False, True]
    assert (tuple(twin.domain), twin.clip) == ((-1, 1), False)


@given(
    values=st.lists(
        st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=8, unique=True
    ),
    domain=st.sampled_from(DOMAINS),
)
def test_any_column_is_scaled_into_the_domain(values, domain):
    column = np.array(values)[:, None]
    scaling = InputScaling.fit(column, domain=domain)
    got = scaling.transform(column)[:, 0]
    assert np.isfinite(got).all()
    if scaling.is_constant[0]:
        assert_array_equal(got, 0.0)
    else:
        assert domain[0] <= got.min() <= got.max() <= domain[1]
        assert (np.diff(got[np.argsort(values)]) >= 0).all()  # the order is kept


def test_every_order_and_set_together_with_scaling(iris):
    """One matrix by all parts at once, against the reference."""
    scaling = InputScaling.fit(iris.X, domain=(-1, 1))
    X = reference.minmax_scale(iris.X, iris.X, (-1.0, 1.0))
    kinds = ["total_degree", "tensor", "hyperbolic_cross"]
    for kind, order in itertools.product(kinds, oracles.ORDERS):
        basis = TensorBasis(4, degree=3, index_set=kind, term_order=order)
        expected = reference.activation_matrix(X, basis.indices, 0.05)
        assert_allclose(basis.evaluate(iris.X, scaling=scaling), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["n_features", "n_terms", "degree", "max_interaction"])
def test_numbers_beyond_64_bits(name):
    options = {"n_features": 2, "degree": 2, name: 10**30}
    with pytest.raises(ValueError, match=rf"`{name}` must be at most"):
        TensorBasis(**options)


def test_inputs_are_bounded():
    with pytest.raises(ValueError, match="`n_features` must be at most"):
        TensorBasis(10**9, n_terms=6)


def test_a_basis_does_not_change():
    basis = TensorBasis(2, n_terms=6)
    with pytest.raises(AttributeError, match="lam"):
        basis.lam = 3.0


def test_values_beyond_float64():
    basis = TensorBasis(2, n_terms=6)
    with pytest.raises(
        ValueError, match=r"range of float64, first in row 1.*InputScaling\(.*clip=True"
    ):
        basis.evaluate([[0.0, 0.0], [1e200, 0.0]])
    with pytest.raises(ValueError, match="range of float64"):
        gegenbauer_vander(1e200, 3, 0.5)


def test_out_with_entries_that_overlap():
    basis = TensorBasis(2, n_terms=6)
    overlapping = np.lib.stride_tricks.as_strided(np.zeros(400), (30, 6), (8, 8))
    with pytest.raises(ValueError, match="repeated"):
        basis.evaluate(np.zeros((30, 2)), out=overlapping)
    spread = np.zeros((6, 2, 30))[:, 0].T  # neither C nor F order, but all entries apart
    assert basis.evaluate(np.ones((30, 2)), out=spread)[0, 0] == 1.0


def test_masks_and_sparse_matrices_are_refused():
    basis = TensorBasis(2, n_terms=6)
    with pytest.raises(ValueError, match="masked"):
        basis.evaluate(np.ma.array([[1.0, 2.0]], mask=[[True, False]]))
    with pytest.raises(TypeError, match="sparse"):
        basis.evaluate(scipy.sparse.csr_array([[1.0, 2.0]]))


@pytest.mark.skipif(sys.platform == "win32", reason="no timer signals")
@pytest.mark.parametrize(
    "prepare",
    [
        lambda: TensorBasis(50, n_terms=9 * 10**6, index_set="largest_weight", spectrum=(0.5, 1.0)),
        lambda: TensorBasis(50, n_terms=10**7),
        lambda: gegenbauer_vander(np.linspace(-1, 1, 10_000), 20_000, 0.5),
    ],
    ids=["largest_weight", "total_degree", "univariate"],
)
def test_long_preparations_can_be_interrupted(prepare):
    interrupt(prepare)


@pytest.mark.parametrize(
    ("n_features", "options", "begin"),
    [
        (30, {"n_terms": 10**8}, "`n_terms=100000000` makes 100000000 terms"),
        (3, {"n_terms": 10**7 + 1, "degree": 999}, "`n_terms=10000001` makes 10000001 terms"),
        (3, {"n_terms": 10**9, "degree": 999}, "`degree=999` makes 167167000 terms"),
        (
            2,
            {"degree": (9999, 1000), "index_set": "tensor"},
            "`degree=[9999, 1000]` makes 10010000",
        ),
        (3, {"n_terms": 10**8, "index_set": "largest_weight", "spectrum": (0.5, 2)}, "`n_terms="),
    ],
)
def test_too_many_terms_are_refused_before_they_are_listed(n_features, options, begin, monkeypatch):
    def listed(*_):
        raise AssertionError("the terms were listed")

    monkeypatch.setattr("gegenbauer.basis.tensor_basis._core_basis", listed)
    with pytest.raises(TooLargeError) as error:
        TensorBasis(n_features, **options)
    assert str(error.value).startswith(begin)


def test_more_terms_than_a_small_set_has_are_no_matter():
    assert TensorBasis(2, degree=2, n_terms=10**9).n_terms == 6


@pytest.mark.parametrize("spectrum", ["auto", None])
def test_searches_refuse_too_many_terms_at_once(spectrum, monkeypatch):
    def searched(*_, **__):
        raise AssertionError("the search has begun")

    monkeypatch.setattr(SearchEstimator, "_fit", searched)
    X, y = np.zeros((10, 3)), np.arange(10) % 2
    for kind in (GegenbauerRegressorCV, GegenbauerClassifierCV):
        with pytest.raises(TooLargeError, match="`n_terms=100000000` makes 100000000 terms"):
            kind(spectrum=spectrum, n_terms=10**8).fit(X, y)


# --- Bases that are kept ------------------------------------------------------------------------


def test_equal_bases_share_their_plans():
    first, again = (TensorBasis(3, degree=4, lam=0.125) for _ in range(2))
    assert first._plan is again._plan
    for other in (
        TensorBasis(3, degree=4, lam=0.25),
        TensorBasis(3, degree=4, lam=0.125, spectrum="orthonormal"),
        TensorBasis(3, degree=4, lam=0.125, term_order="grevlex"),
        TensorBasis(3, degree=4, lam=0.125, n_terms=34),
    ):
        assert other._plan is not first._plan
    tensor = {"index_set": "tensor", "lam": 0.125}
    assert TensorBasis(2, degree=(2, 1), **tensor)._plan.n_terms == 6
    assert TensorBasis(2, degree=(1, 2), **tensor).indices.tolist() != (
        TensorBasis(2, degree=(2, 1), **tensor).indices.tolist()
    )


def test_few_and_only_ordinary_bases_are_kept():
    small = [TensorBasis(2, degree=d, lam=0.5)._plan for d in range(1, 30)]
    assert TensorBasis(2, degree=1, lam=0.5)._plan is not small[0]
    large = [TensorBasis(2, n_terms=60_000, lam=0.5) for _ in range(2)]
    assert large[0]._plan is not large[1]._plan
