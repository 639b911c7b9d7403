"""Tables of pandas, polars, Arrow and narwhals keep the names of their columns all the way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gegenbauer import (
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    sobol_indices,
)

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
nw = pytest.importorskip("narwhals")

NAMES = ["width", "height", "depth"]
ARRAY = np.random.default_rng(0).uniform(size=(60, 3))
Y = ARRAY[:, 0] - ARRAY[:, 1] ** 2
MAKE = {
    "pandas": pd.DataFrame,
    "pandas with Arrow": lambda columns: pd.DataFrame(columns).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "polars": pl.DataFrame,
    "Arrow": pa.table,
    "Arrow's batch": pa.RecordBatch.from_pydict,
    "narwhals of pandas": lambda columns: nw.from_native(pd.DataFrame(columns)),
    "narwhals of polars": lambda columns: nw.from_native(pl.DataFrame(columns)),
    "narwhals of Arrow": lambda columns: nw.from_native(pa.table(columns)),
}
ESTIMATORS = {
    "regressor": lambda: GegenbauerRegressor(n_terms=8),
    "terms": lambda: GegenbauerRegressorCV(spectrum=(0.5, 2.0), n_terms=8),
    "all terms": lambda: GegenbauerRegressorCV(spectrum=(0.5, 2.0)),
}


def table(kind, names=NAMES, array=ARRAY):
    return MAKE[kind]({name: array[:, NAMES.index(name)] for name in names})


@pytest.mark.parametrize("kind", MAKE)
class TestNames:
    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_through_fit_and_predict(self, kind, name):
        model = ESTIMATORS[name]().fit(table(kind), Y)
        assert model.feature_names_in_.tolist() == NAMES
        plain = ESTIMATORS[name]().fit(ARRAY, Y)
        np.testing.assert_array_equal(model.predict(table(kind)), plain.predict(ARRAY))
        assert sobol_indices(model).names.tolist() == NAMES
        if name != "all terms":
            assert model.basis_.term_names(model.feature_names_in_)[1] == "C1(width)"

    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_columns_in_another_order_are_refused(self, kind, name):
        model = ESTIMATORS[name]().fit(table(kind), Y)
        with pytest.raises(ValueError, match="Feature names must be in the same order"):
            model.predict(table(kind, ["height", "width", "depth"]))
        other = MAKE[kind]({"width": Y, "height": Y, "length": Y})
        with pytest.raises(ValueError, match=r"unseen at fit time:\n- length"):
            model.predict(other)

    def test_a_table_of_another_library_is_the_same(self, kind):
        model = GegenbauerRegressor(n_terms=8).fit(table(kind), Y)
        expected = model.predict(table("pandas"))
        for other in MAKE:
            np.testing.assert_array_equal(model.predict(table(other)), expected)

    def test_batches(self, kind):
        halves = [slice(0, 40), slice(40, 60)]
        model = GegenbauerRegressor(n_terms=8)
        model.fit_stream([(table(kind, array=ARRAY[half]), Y[half]) for half in halves])
        assert model.feature_names_in_.tolist() == NAMES
        again = GegenbauerRegressor(n_terms=8).fit_stream([(ARRAY[h], Y[h]) for h in halves])
        np.testing.assert_array_equal(model.predict(table(kind)), again.predict(ARRAY))

    def test_categories(self, kind):
        colours = np.where(ARRAY[:, 2] > 0.5, "red", "blue").tolist()
        mixed = MAKE[kind]({"width": ARRAY[:, 0], "colour": colours})
        model = GegenbauerClassifierCV(spectrum=(0.5, 2.0)).fit(mixed, ARRAY[:, 2] > 0.5)
        assert model.feature_names_in_.tolist() == ["width", "colour"]
        assert model.categories_ == [None, ["blue", "red"]]
        np.testing.assert_array_equal(model.predict(mixed), ARRAY[:, 2] > 0.5)


@pytest.mark.parametrize("kind", MAKE)
class TestFeatures:
    def test_names_out(self, kind):
        features = GegenbauerFeatures(degree=1).fit(table(kind))
        expected = ["1", "C1(width)", "C1(height)", "C1(depth)"]
        assert features.get_feature_names_out().tolist() == expected
        assert features.get_feature_names_out(NAMES).tolist() == expected
        with pytest.raises(ValueError, match="is not equal to feature_names_in_"):
            features.get_feature_names_out(NAMES[::-1])

    @pytest.mark.parametrize("container", ["pandas", "polars", "default"])
    def test_set_output(self, kind, container):
        features = GegenbauerFeatures(degree=1).set_output(transform=container)
        found = features.fit_transform(table(kind))
        expected = GegenbauerFeatures(degree=1).fit_transform(ARRAY)
        if container == "default":
            assert type(found) is np.ndarray
        else:
            assert type(found) is {"pandas": pd.DataFrame, "polars": pl.DataFrame}[container]
            assert list(found.columns) == features.get_feature_names_out().tolist()
        np.testing.assert_array_equal(np.asarray(found), expected)


def test_the_index_of_pandas_is_kept():
    labels = [f"row {k}" for k in range(60)]
    frame = table("pandas").set_index(pd.Index(labels))
    found = GegenbauerFeatures(degree=1).set_output(transform="pandas").fit_transform(frame)
    assert found.index.tolist() == labels


def test_through_a_pipeline():
    """From a column transformer that makes tables to the terms of the model behind it."""
    scale = make_column_transformer(
        (StandardScaler(), ["width", "depth"]), remainder="drop", verbose_feature_names_out=False
    ).set_output(transform="polars")
    pipe = make_pipeline(scale, GegenbauerFeatures(degree=1)).fit(table("polars"))
    assert pipe[-1].feature_names_in_.tolist() == ["width", "depth"]
    assert pipe.get_feature_names_out().tolist() == ["1", "C1(width)", "C1(depth)"]
