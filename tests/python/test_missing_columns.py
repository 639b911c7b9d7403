"""Columns without a single value: ignored, the same in every library, file, stream and cluster.

Their reference is the fit of the other column alone with the weights that it has beside them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gegenbauer import GegenbauerClassifier, GegenbauerRegressor, GegenbauerRegressorCV, load, save
from gegenbauer.batches import TableBatches
from gegenbauer.errors import StreamError

N, HALF = 80, 40

GIVEN = {"degree": 3, "spectrum": "orthonormal", "alpha": 0.1}


def samples(seed=0):
    """One number, a text, and a target of both."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 2, size=N)
    text = rng.choice(["u", "v", "w"], size=N)
    return x, text, np.sin(2 * x) + (text == "u") + 0.05 * rng.normal(size=N)


def objects(values, n=N):
    return pd.Series([values] * n if not isinstance(values, list) else values, dtype=object)


def as_pandas(column):
    return lambda x: pd.DataFrame({"a": x, "b": column()})


def as_polars(kind):
    def make(x):
        pl = pytest.importorskip("polars")
        return pl.DataFrame({"a": x, "b": pl.Series([None] * N, dtype=getattr(pl, kind))})

    return make


def as_arrow(kind):
    def make(x):
        pa = pytest.importorskip("pyarrow")
        types = {"dictionary": pa.dictionary(pa.int32(), pa.string())}
        type_ = types.get(kind) or getattr(pa, kind)()
        return pa.table({"a": x, "b": pa.array([None] * N, type=type_)})

    return make


WITHOUT_TYPE = {
    "array": lambda x: np.column_stack([x, np.full(N, np.nan)]),
    "array of objects": lambda x: np.column_stack([x.astype(object), objects(None).to_numpy()]),
    "rows": lambda x: [[value, None] for value in x.tolist()],
    "pandas None": as_pandas(lambda: objects(None)),
    "pandas NaN": as_pandas(lambda: np.full(N, np.nan)),
    "pandas NA": as_pandas(lambda: objects(pd.NA)),
    "pandas NaT": as_pandas(lambda: objects(pd.NaT)),
    "pandas Int64": as_pandas(lambda: pd.array([pd.NA] * N, dtype="Int64")),
    "polars Null": as_polars("Null"),
    "polars Float64": as_polars("Float64"),
    "polars Object": as_polars("Object"),
    "arrow null": as_arrow("null"),
    "arrow int64": as_arrow("int64"),
}

OF_CATEGORIES = {
    "pandas string": as_pandas(lambda: pd.array([pd.NA] * N, dtype="string")),
    "pandas category": as_pandas(lambda: pd.Categorical([None] * N)),
    "pandas boolean": as_pandas(lambda: pd.array([pd.NA] * N, dtype="boolean")),
    "polars String": as_polars("String"),
    "polars Boolean": as_polars("Boolean"),
    "arrow string": as_arrow("string"),
    "arrow dictionary": as_arrow("dictionary"),
}


def alone(x, y):
    """Return predictions of a model of the first column."""
    return GegenbauerRegressor(**GIVEN).fit(x[:, np.newaxis], y).predict(x[:, np.newaxis])


class TestInMemory:
    @pytest.mark.parametrize("name", [*WITHOUT_TYPE, *OF_CATEGORIES])
    def test_is_ignored(self, name):
        x, _, y = samples()
        X = {**WITHOUT_TYPE, **OF_CATEGORIES}[name](x)
        model = GegenbauerRegressor(**GIVEN).fit(X, y)
        np.testing.assert_allclose(model.predict(X), alone(x, y), atol=1e-9)
        assert model.categories_ == [None, [None] if name in OF_CATEGORIES else None]
        assert model.count_out_of_range(X) == 0

    @pytest.mark.parametrize("name", [*WITHOUT_TYPE, *OF_CATEGORIES])
    def test_on_request_it_is_an_error(self, name):
        x, _, y = samples()
        X = {**WITHOUT_TYPE, **OF_CATEGORIES}[name](x)
        with pytest.raises(ValueError, match=r"column 1.* row 0"):
            GegenbauerRegressor(**GIVEN, missing="error").fit(X, y)

    @pytest.mark.parametrize("name", [*WITHOUT_TYPE, *OF_CATEGORIES])
    @pytest.mark.parametrize("later", ["text", "numbers", "truth values", "gaps"])
    def test_whatever_comes_later_is_ignored(self, name, later):
        x, text, y = samples()
        X = {**WITHOUT_TYPE, **OF_CATEGORIES}[name](x)
        model = GegenbauerRegressor(**GIVEN).fit(X, y)
        column = {
            "text": text.tolist(), "numbers": (5 * x).tolist(), "truth values": (x > 0).tolist(),
            "gaps": [None, *text[1:].tolist()],
        }[later]  # fmt: skip
        Z = pd.DataFrame({"a": x, "b": objects(column)})
        if "array" in name:
            Z = Z.to_numpy()
        elif name == "rows":
            Z = Z.to_numpy().tolist()
        np.testing.assert_allclose(model.predict(Z), alone(x, y), atol=1e-9)
        assert model.count_out_of_range(Z) == 0

    def test_of_automatic_models_and_their_files(self, tmp_path):
        x, text, y = samples()
        model = GegenbauerRegressorCV(intervals="one_spectrum")
        model.fit(pd.DataFrame({"a": x, "b": objects(None)}), y)
        Z = pd.DataFrame({"a": x, "b": text})
        expected = GegenbauerRegressorCV(intervals="one_spectrum").fit(
            np.column_stack([x, np.full(N, np.nan)]), y
        )
        wanted = expected.predict(np.column_stack([x, np.zeros(N)]))
        np.testing.assert_allclose(model.predict(Z), wanted, rtol=1e-10)
        save(model, tmp_path / "model.safetensors")
        np.testing.assert_array_equal(load(tmp_path / "model.safetensors").predict(Z), wanted)

    @pytest.mark.parametrize("name", ["pandas None", "pandas NaN", "polars Null", "arrow null"])
    def test_missing_throughout_in_prediction(self, name):
        x, text, y = samples()
        model = GegenbauerRegressor(**GIVEN, out_of_range="clip")
        model.fit(pd.DataFrame({"a": x, "b": text}), y)
        # unknown levels are the mean of the levels by their shares
        wanted = sum(
            np.mean(text == level) * model.predict(pd.DataFrame({"a": x, "b": [level] * N}))
            for level in "uvw"
        )
        np.testing.assert_allclose(model.predict(WITHOUT_TYPE[name](x)), wanted, atol=1e-9)


def halves(kind):
    """Return two batches, of which the first has no text."""
    x, text, y = samples()
    if kind == "pandas":
        make = pd.DataFrame
    elif kind == "floats":
        first = pd.DataFrame({"a": x[:HALF], "b": np.full(HALF, np.nan)})
        return [(first, y[:HALF]), (pd.DataFrame({"a": x[HALF:], "b": text[HALF:]}), y[HALF:])]
    else:
        make = pytest.importorskip(kind)
        make = make.DataFrame if kind == "polars" else make.table
    first = make({"a": x[:HALF], "b": [None] * HALF})
    return [(first, y[:HALF]), (make({"a": x[HALF:], "b": text[HALF:].tolist()}), y[HALF:])]


class TestStreams:
    @pytest.mark.parametrize("kind", ["pandas", "floats", "polars", "pyarrow"])
    @pytest.mark.parametrize("order", [1, -1])
    def test_a_batch_without_text_is_of_a_category(self, kind, order):
        x, text, y = samples()
        whole = pd.DataFrame({"a": x, "b": objects([None] * HALF + text[HALF:].tolist())})
        expected = GegenbauerRegressor(**GIVEN).fit(whole, y)
        model = GegenbauerRegressor(**GIVEN).fit_stream(halves(kind)[::order])
        assert model.categories_ == [None, ["u", "v", "w", None]]
        np.testing.assert_allclose(model.predict(whole), expected.predict(whole), atol=1e-8)

    @pytest.mark.parametrize("kind", ["pandas", "floats", "polars", "pyarrow"])
    def test_text_behind_the_first_samples_is_an_error_that_names_the_cause(self, kind):
        first, second = halves(kind)
        model = GegenbauerRegressor(**GIVEN).partial_fit(*first)
        with pytest.raises(
            ValueError, match=r"column 1 \('b'\) has a value in row 0.*none of them"
        ):
            model.partial_fit(*second)
        assert model.n_samples_seen_ == HALF

    def test_classes(self):
        x, _, y = samples()
        labels = np.where(y > 0.5, "high", "low")
        X = pd.DataFrame({"a": x, "b": objects(None)})
        expected = GegenbauerClassifier(**GIVEN).fit(x[:, np.newaxis], labels)
        model = GegenbauerClassifier(**GIVEN)
        model.fit_stream([(X[:HALF], labels[:HALF]), (X[HALF:], labels[HALF:])])
        wanted = expected.decision_function(x[:, np.newaxis])
        np.testing.assert_allclose(model.decision_function(X), wanted, atol=1e-8)


def write(path, columns):
    """Write a table, by the ending of its name."""
    pa = pytest.importorskip("pyarrow")
    if path.suffix == ".csv":
        pd.DataFrame(columns).to_csv(path, index=False)
    else:
        from pyarrow import parquet

        given = {
            name: pa.array(values, type=pa.null()) if None in values else values
            for name, values in columns.items()
        }
        parquet.write_table(pa.table(given), path)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
class TestFiles:
    def test_without_a_value_in_any_file(self, ending, tmp_path):
        x, _, y = samples()
        for k, part in enumerate((slice(0, HALF), slice(HALF, N))):
            columns = {"a": x[part].tolist(), "b": [None] * HALF, "y": y[part].tolist()}
            write(tmp_path / f"{k}{ending}", columns)
        model = GegenbauerRegressor(**GIVEN).fit_stream(TableBatches(tmp_path, "y", mixed=True))
        Z = pd.DataFrame({"a": x, "b": objects("text")})
        np.testing.assert_allclose(model.predict(Z), alone(x, y), atol=1e-8)
        with pytest.raises(StreamError, match=r"column 'b' (has no values|holds no value)"):
            GegenbauerRegressor(**GIVEN).fit_stream(TableBatches(tmp_path, "y"))

    @pytest.mark.parametrize("empty", [0, 1])
    @pytest.mark.parametrize("other", ["text", "numbers", "truth values"])
    def test_without_a_value_in_one_file(self, ending, empty, other, tmp_path):
        x, text, y = samples()
        column = {"text": text.tolist(), "numbers": (3 * x).tolist()}.get(other, (x > 0).tolist())
        names = [f"{k}{ending}" for k in range(2)]
        write(tmp_path / names[empty], {"a": x.tolist(), "b": [None] * N, "y": y.tolist()})
        write(tmp_path / names[1 - empty], {"a": x.tolist(), "b": column, "y": y.tolist()})
        source = TableBatches(tmp_path, "y", mixed=True, batch_size=30)
        model = GegenbauerRegressor(**GIVEN).fit_stream(source)
        whole = pd.DataFrame(
            {"a": np.tile(x, 2), "b": objects(column + [None] * N) if other != "numbers"
             else np.append(column, np.full(N, np.nan))}
        )  # fmt: skip
        expected = GegenbauerRegressor(**GIVEN).fit(whole, np.tile(y, 2))
        assert model.categories_ == expected.categories_
        np.testing.assert_allclose(model.predict(whole), expected.predict(whole), atol=1e-8)


def test_text_that_comes_too_late_in_a_csv_file(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "late.csv"
    path.write_text("a,b,y\n" + "1,,2\n" * 900_000 + "1,word,2\n")
    source = TableBatches(path, "y", mixed=True)
    with pytest.raises(StreamError, match="holds 'word', but had no value in its first rows"):
        list(source.start())


class TestClusters:
    @pytest.fixture(autouse=True)
    def _in_this_thread(self):
        dask = pytest.importorskip("dask")
        pytest.importorskip("dask.dataframe")
        given = {"scheduler": "synchronous", "dataframe.convert-string": False}
        with dask.config.set(given):
            yield

    @staticmethod
    def collection(parts):
        """Return partitions as they are; the second column is one of objects."""
        import dask
        import dask.dataframe as dd

        meta = pd.DataFrame({"a": [0.0], "b": objects(None, 1), "y": [0.0]})[:0]
        frame = dd.from_delayed([dask.delayed(p) for p in parts], meta=meta, verify_meta=False)
        return frame[["a", "b"]], frame["y"]

    @pytest.mark.parametrize("gap", ["objects", "floats"])
    @pytest.mark.parametrize("kind", ["text", "numbers", "nothing"])
    @pytest.mark.parametrize("order", [1, -1])
    def test_a_partition_without_a_value(self, gap, kind, order):
        from gegenbauer.dask import GegenbauerRegressor as OnDask

        x, text, y = samples()
        values = {"text": text, "numbers": 3 * x, "nothing": objects(None).to_numpy()}[kind]
        parts = [
            pd.DataFrame({"a": x[:HALF], "b": objects(None, HALF), "y": y[:HALF]}),
            pd.DataFrame({"a": x[HALF:], "b": values[HALF:], "y": y[HALF:]}),
        ]
        if gap == "floats":
            parts[0]["b"] = np.nan
        parts = parts[::order]
        whole = pd.concat(parts, ignore_index=True)
        expected = GegenbauerRegressor(**GIVEN).fit(whole[["a", "b"]], whole["y"])
        X, target = self.collection(parts)
        model = OnDask(**GIVEN, missing="indicator").fit(X, target)
        assert model.categories_ == expected.categories_
        wanted = expected.predict(whole[["a", "b"]])
        np.testing.assert_allclose(model.predict(X).compute(), wanted, atol=1e-8)
