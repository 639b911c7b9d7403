"""Polynomials as expressions of SQL, run by DuckDB, and read by parsers of PostgreSQL."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from export_models import case, is_real, random_case, short_ones

from gegenbauer import GegenbauerClassifier, GegenbauerRegressor
from gegenbauer.export import to_sql
from gegenbauer.ridge import TermExpansion


def table_of(one):
    """Return the samples as a table, with a key."""
    X = one.X
    names = [f"x{t}" for t in range(one.model.n_features_in_)]
    frame = X if hasattr(X, "columns") else pd.DataFrame(X, columns=names)
    return frame.assign(key=np.arange(len(frame)))


def query(one, method):
    return f"SELECT {to_sql(one.model, method=method)} FROM samples ORDER BY key"


def run(text, samples):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        texts = [name for name in samples if samples[name].dtype.kind not in "fib"]
        connection.register("samples", samples.astype(dict.fromkeys(texts, object)))
        return connection.execute(text).fetchall()


def check(one):
    samples = table_of(one)
    for method in one.methods:
        found = np.array(run(query(one, method), samples))
        expected = one.expected(method)
        expected = expected.reshape(len(expected), -1)
        assert found.shape == expected.shape
        if is_real(method, one.model):
            np.testing.assert_allclose(
                found.astype(float), expected, rtol=0, atol=one.tolerance(method, 1e-13)
            )
        else:
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", short_ones())
def test_predicts_as_the_model(name):
    check(case(name))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_predicts_as_models_of_random_kinds(seed):
    one = random_case(seed)
    if isinstance(one.model.expansion_, TermExpansion):
        check(one)
    else:
        with pytest.raises(ValueError, match="infinitely many terms"):
            to_sql(one.model)


@pytest.mark.parametrize("name", short_ones())
def test_is_grammatical(name):
    """By the parser of PostgreSQL itself where it is installed, else by another one."""
    one = case(name)
    for method in one.methods:
        text = query(one, method)
        try:
            import pglast
        except ImportError:
            sqlglot = pytest.importorskip("sqlglot")
            assert sqlglot.parse_one(text, dialect="postgres").selects
        else:
            assert len(pglast.parse_sql(text)) == 1


@pytest.mark.parametrize(
    ("missing", "expected"),
    [("indicator", [True, True, False, False]), ("error", [True, False, False, False])],
)
def test_refused_samples_are_null(missing, expected):
    X = np.random.default_rng(0).uniform(size=(30, 2))
    model = GegenbauerRegressor(n_terms=5, missing=missing).fit(X, X[:, 0])
    rows = pd.DataFrame({"x0": [0.5, np.nan, 0.5, 0.5], "x1": [0.5, 0.5, np.inf, -np.inf]})
    text = f"SELECT {to_sql(model)} FROM samples ORDER BY key"
    found = run(text, rows.assign(key=range(4)))
    assert [value is not None for (value,) in found] == expected


def test_null_is_missing_as_nan_is():
    one = case("mixed")
    text = f"SELECT {to_sql(one.model)} FROM samples ORDER BY key"
    cells = "(0, 0.5, NULL, NULL, TRUE), (1, 0.5, NULL, 'NaN'::double precision, TRUE)"
    columns = '(key, "length (cm)", colour, gap, flag)'
    text = f"WITH samples{columns} AS (VALUES {cells}) {text}"
    found = np.array(run(text, pd.DataFrame({"no": [1]})))
    row = pd.DataFrame({"length (cm)": [0.5], "colour": [None], "gap": [np.nan], "flag": [True]})
    expected = one.model.predict(row.astype({"colour": object}))
    np.testing.assert_allclose(found, np.repeat(expected, 2, axis=0), rtol=1e-13)


@pytest.mark.parametrize("names", [["v0", "V1"], ["vv", "q1"], ['a "b"', "u0"], ["bad", "o0"]])
def test_columns_may_have_the_names_that_the_text_uses(names):
    X = np.random.default_rng(1).uniform(size=(30, 2))
    model = GegenbauerRegressor(n_terms=6).fit(X, X[:, 0] * X[:, 1])
    text = f"SELECT {to_sql(model, names=names)} FROM samples ORDER BY key"
    found = run(text, pd.DataFrame(X, columns=names).assign(key=range(30)))
    np.testing.assert_allclose(np.array(found)[:, 0], model.predict(X), rtol=1e-13)


def test_text_does_not_double_with_degrees():
    """Neither it nor, in PostgreSQL, its plan: queries are kept apart."""
    x = np.linspace(-1.0, 1.0, 80)[:, np.newaxis]
    sizes = []
    for degree in (8, 16, 30):
        model = GegenbauerRegressor(degree=degree, n_terms=None, spectrum="orthonormal")
        text = to_sql(model.fit(x, np.sin(9 * x[:, 0])))
        assert text.count("OFFSET 0") == text.count("FROM (")
        sizes.append(len(text))
    assert sizes[2] < 4 * sizes[0]
    assert text.count("FROM (") <= 14
    found = run(f"SELECT {text} FROM samples ORDER BY key",
                pd.DataFrame({"x0": x[:, 0], "key": range(80)}))  # fmt: skip
    np.testing.assert_allclose(np.array(found)[:, 0], model.predict(x), rtol=0, atol=1e-12)


def test_refuses_what_is_not_short():
    X = np.random.default_rng(2).uniform(size=(40, 3))
    y = X[:, 0]
    with pytest.raises(
        ValueError, match=r"has 501 terms, and SQL is for at most 500: fit with fewer"
    ):
        to_sql(GegenbauerRegressor(n_terms=501).fit(X, y))
    high = GegenbauerRegressor(degree=31, n_terms=None).fit(X[:, :1], y)
    with pytest.raises(ValueError, match=r"degree 31, and SQL is for at most 30: fit with a lower"):
        to_sql(high)
    with pytest.raises(ValueError, match=r"infinitely many terms, .*: fit with `n_terms`"):
        to_sql(case("five_kernels").model)


def test_refuses_what_does_not_fit():
    X = np.random.default_rng(3).uniform(size=(40, 2))
    model = GegenbauerClassifier(n_terms=5).fit(X, X[:, 0] > 0.5)
    with pytest.raises(ValueError, match=r"is not for this .*: give `method='predict'` or"):
        to_sql(model, method="predict_proba")
    with pytest.raises(ValueError, match="`method` must be"):
        to_sql(model, method="score")
    with pytest.raises(ValueError, match="`names` must have 2 entries, got 1"):
        to_sql(model, names=["a"])
    with pytest.raises(ValueError, match=r"`names` must hold no empty text, got \['', 'b'\]"):
        to_sql(model, names=["", "b"])
    with pytest.raises(ValueError, match=r"differ by more than capitals, .* got 'a b' and 'A b': "):
        to_sql(model, names=["a b", "A b"])
    assert '"Ä"' in to_sql(model, names=["ä", "Ä"])  # two columns to DuckDB as well
    for names in ("ab", ["a", None], [1, 2]):
        with pytest.raises(TypeError, match="`names` must be a sequence of texts, got"):
            to_sql(model, names=names)
    with pytest.raises(ValueError, match="character 0"):
        to_sql(model, names=["a", "b\0"])
    model.set_params(out_of_range="error")
    with pytest.raises(ValueError, match=r"to SQL, whose expressions have no errors: set `out_of"):
        to_sql(model)
