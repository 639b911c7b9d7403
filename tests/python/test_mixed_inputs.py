"""Estimators that choose, on tables with categories and missing values."""

from __future__ import annotations

import json
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from gegenbauer import (
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    InputScaling,
    load,
    save,
    sobol_indices,
)
from gegenbauer.basis import SpectrumKernel
from gegenbauer.errors import (
    ModelFileError,
    NotNumbersError,
    OutOfRangeWarning,
    UnderfittingWarning,
)


def one_model(**parameters):
    """A model of one spectrum, which has a kernel to be looked at; see TestSeveralSpectra."""
    return GegenbauerRegressorCV(intervals="one_spectrum", **parameters)


EFFECTS = {"blue": 0.0, "green": 1.0, "red": -1.0, "white": 0.5}


def table(n=300, seed=0):
    """Colours with effects, one that makes x matter, and a number whose absence matters."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "x": rng.uniform(size=n),
            "colour": rng.choice([*EFFECTS], n),
            "z": rng.normal(size=n).clip(-2, 2),
            "old": rng.random(n) < 0.5,
        }
    )
    X.loc[rng.random(n) < 0.2, "z"] = np.nan
    y = np.sin(6 * X.x) * (X.colour == "blue") + X.colour.map(EFFECTS) + 1.0 * X.z.isna()
    return X, y.to_numpy() + 0.1 * rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return one_model().fit(X, y)


@pytest.fixture(scope="module")
def classifier():
    X, y = table()
    return GegenbauerClassifierCV().fit(X, np.where(y > 0.3, "high", "low"))


class TestWhatIsLearned:
    def test_a_table_is_learned_whole(self, fitted):
        X, y = table(1000, seed=1)
        fitted = pickle.loads(pickle.dumps(fitted)).set_params(out_of_range="clip")
        assert fitted.score(X, y) > 0.975  # noise leaves 0.987
        assert fitted.engine_ == "kernel"
        assert fitted.n_features_in_ == 4
        assert fitted.categories_ == [None, [*EFFECTS], None, [False, True]]
        weights = fitted.relevances_
        assert weights[3] < 0.05 * weights[:2].min()

    def test_better_than_one_hot_columns_and_means(self, fitted):
        """Which lose what a missing value means, and share the weight of a category."""
        X, y = table()
        numbers = ["x", "z", "old"]
        encoder = ColumnTransformer(
            [("c", OneHotEncoder(), ["colour"]), ("n", SimpleImputer(), numbers)]
        )
        plain = make_pipeline(encoder, one_model(out_of_range="clip"))
        X_new, y_new = table(1000, seed=1)
        fitted = pickle.loads(pickle.dumps(fitted)).set_params(out_of_range="clip")
        lost, lost_by_others = (1 - one.score(X_new, y_new) for one in (fitted, plain.fit(X, y)))
        assert lost < 0.6 * lost_by_others

    def test_classes(self, classifier):
        X, y = table(1000, seed=1)
        model = pickle.loads(pickle.dumps(classifier)).set_params(out_of_range="clip")
        assert model.score(X, np.where(y > 0.3, "high", "low")) > 0.95
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(len(X)))

    def test_leave_one_out_equals_refits(self, fitted):
        """With the spectrum and alpha that were found, and the shares of all samples."""
        X, _ = table()
        kernel, box = fitted.kernel_, fitted.scaling_
        K = kernel(fitted.X_fit_, scaling=box)
        # what the model was fitted to, from its own coefficients
        dual = fitted.dual_coef_[:, 0]
        y = K @ dual + fitted.alpha_ * dual + fitted.intercept_[0]
        here = fitted._encoder.compact(fitted._validate_inputs(X, reset=False))[1]
        for i in (0, 17, 200):
            at = int(np.flatnonzero(_same(fitted.X_fit_, here[i]))[0])
            rest = np.delete(np.arange(len(y)), at)
            n = rest.size
            system = np.block(
                [
                    [K[np.ix_(rest, rest)] + fitted.alpha_ * np.eye(n), np.ones((n, 1))],
                    [np.ones((1, n)), np.zeros((1, 1))],
                ]
            )
            solved = np.linalg.solve(system, np.append(y[rest], 0.0))
            expected = K[at, rest] @ solved[:-1] + solved[-1]
            assert fitted.loo_predictions_[i] == pytest.approx(expected, abs=1e-8)

    def test_a_category_is_the_same_by_any_name(self, fitted):
        """Levels have no order: renaming them permutes, and changes nothing but rounding."""
        X, y = table()
        names = {"blue": "z", "green": "y", "red": "x", "white": "w"}
        other = one_model().fit(X.assign(colour=X.colour.map(names)), y)
        assert other.alpha_ == pytest.approx(fitted.alpha_, rel=1e-3)
        np.testing.assert_allclose(other.loo_predictions_, fitted.loo_predictions_, atol=1e-4)

    def test_weights_are_repeats(self):
        X, y = table(80)
        weight = np.random.default_rng(2).integers(0, 3, len(X))
        again = np.repeat(np.arange(len(X)), weight)
        one = one_model().fit(X, y, sample_weight=weight)
        two = one_model().fit(X.iloc[again], y[again])
        first = np.searchsorted(again, np.flatnonzero(weight))
        np.testing.assert_allclose(
            one.loo_predictions_[weight > 0], two.loo_predictions_[first], atol=1e-6
        )
        assert one.kernel_.spectrum.levels == two.kernel_.spectrum.levels

    def test_samples_of_weight_zero_have_no_level(self):
        X, y = table(60)
        X.loc[0, "colour"] = "none"
        weight = np.ones(len(X))
        weight[0] = 0
        one = one_model(out_of_range="clip").fit(X, y, sample_weight=weight)
        two = one_model(out_of_range="clip").fit(X[1:], y[1:])
        assert one.categories_ == two.categories_
        np.testing.assert_array_equal(one.predict(X), two.predict(X))

    @pytest.mark.parametrize("missing", [True, False])
    def test_landmarks(self, missing):
        X, y = table(400)
        if not missing:
            X = X.drop(columns="z")
        model = one_model(kernel_samples=200).fit(X, y - 1.0 * table(400)[0].z.isna())
        assert model.engine_ == "landmarks"
        assert model.best_score_ > -0.05


def _same(samples, one):
    return ((samples == one) | (np.isnan(samples) & np.isnan(one))).all(axis=1)


class TestTables:
    def _predictions(self, X, y, **parameters):
        return one_model(**parameters).fit(X, y).loo_predictions_

    def test_any_library_gives_the_same(self, fitted):
        X, y = table()
        expected = fitted.loo_predictions_
        tables = {
            "category": X.astype({"colour": "category"}),
            "string": X.astype({"colour": "string"}),
            "nullable": X.astype({"old": "boolean", "z": "Float64"}),
            "polars": pl.from_pandas(X),
            "enum": pl.from_pandas(X).with_columns(
                pl.col("colour").cast(pl.Enum([*reversed(EFFECTS)])), pl.col("z").fill_nan(None)
            ),
            "Arrow": pa.Table.from_pandas(X),
            "Arrow batch": pa.RecordBatch.from_pandas(X),
            "NA": X.assign(z=X["z"].astype(object).where(X["z"].notna(), pd.NA)),
            "polars categories": pl.from_pandas(X).with_columns(
                pl.col("colour").cast(pl.Categorical)
            ),
        }
        for name, other in tables.items():
            model = one_model().fit(other, y)
            np.testing.assert_array_equal(model.loo_predictions_, expected, err_msg=name)
            np.testing.assert_array_equal(
                model.predict(other[:5]), fitted.predict(X[:5]), err_msg=name
            )

    def test_tables_of_narwhals(self, fitted):
        narwhals = pytest.importorskip("narwhals")
        X, y = table()
        for native in (X, pl.from_pandas(X), pa.Table.from_pandas(X)):
            other = narwhals.from_native(native)
            model = one_model().fit(other, y)
            np.testing.assert_array_equal(model.loo_predictions_, fitted.loo_predictions_)
            np.testing.assert_array_equal(model.predict(other[:5]), fitted.predict(X[:5]))

    def test_tables_of_dask_have_categories_on_request(self, fitted):
        dataframe = pytest.importorskip("dask.dataframe")
        X, y = table()
        other = dataframe.from_pandas(X, npartitions=2)
        model = one_model(categorical_features=["colour", "old"]).fit(other, y)
        np.testing.assert_array_equal(model.loo_predictions_, fitted.loo_predictions_)
        with pytest.raises(ValueError, match=r"column 1 \('colour'\).*`categorical_features`"):
            one_model().fit(other, y)

    def test_columns_of_batches_have_names(self):
        """Columns in another order were predicted as if they were in the order of the fit."""
        X, _ = table()
        y, columns = np.sin(6 * X["x"]), {"x": X["x"], "w": X["x"] ** 2}
        for given in (pa.table(columns), pa.RecordBatch.from_pydict(columns)):
            model = one_model().fit(given, y)
            assert model.feature_names_in_.tolist() == ["x", "w"]
            expected = model.predict(pa.table(columns))
            found = model.predict(pa.RecordBatch.from_pydict(columns))
            np.testing.assert_array_equal(found, expected)
            with pytest.raises(ValueError, match="must be in the same order"):
                model.predict(pa.RecordBatch.from_pydict({"w": columns["w"], "x": columns["x"]}))

    def test_missing_values_of_pandas_in_arrays_and_rows(self, fitted):
        X, _ = table()
        X["z"] = X["z"].astype(object).where(X["z"].notna(), pd.NA)
        numbers = X[["x", "z"]]
        expected = one_model().fit(numbers, numbers["x"])
        array = numbers.to_numpy(dtype=object)
        for given in (array, array.tolist(), [*map(tuple, array.tolist())]):
            model = one_model().fit(given, numbers["x"].to_numpy())
            np.testing.assert_array_equal(model.loo_predictions_, expected.loo_predictions_)
        with pytest.warns(UserWarning, match="feature names"):
            found = fitted.predict(X.to_numpy(dtype=object))
        np.testing.assert_array_equal(found, fitted.predict(X))

    def test_masks_numbers_and_names(self, fitted):
        X, y = table()
        for given in (["colour", "old"], [1, 3], [False, True, False, True]):
            found = self._predictions(X, y, categorical_features=given)
            np.testing.assert_array_equal(found, fitted.loo_predictions_)
        objects = X.to_numpy(dtype=object)
        found = self._predictions(objects, y, categorical_features=[1, 3])
        np.testing.assert_array_equal(found, fitted.loo_predictions_)
        found = self._predictions(objects.tolist(), y, categorical_features=[1, 3])
        np.testing.assert_array_equal(found, fitted.loo_predictions_)

    def test_numbers_can_be_categories(self):
        X, y = table()
        codes = X.colour.map({name: 7 * k for k, name in enumerate(EFFECTS)})
        whole = np.column_stack([X.x, codes, X.z, X.old])
        model = one_model(categorical_features=[1, 3]).fit(whole, y)
        assert model.categories_ == [None, [0.0, 7.0, 14.0, 21.0], None, [0.0, 1.0]]
        expected = one_model().fit(X, y).loo_predictions_
        np.testing.assert_array_equal(model.loo_predictions_, expected)

    def test_pipelines_and_searches(self):
        X, y = table(120)
        model = one_model(out_of_range="clip")
        assert cross_val_score(model, X, y, cv=3).min() > 0.8
        search = GridSearchCV(model, {"missing": ["indicator", "error"]}, cv=2, error_score=-9.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert search.fit(X, y).best_params_ == {"missing": "indicator"}
        assert clone(model).get_params() == model.get_params()

    def test_tags_of_what_is_taken(self):
        from sklearn.utils import get_tags

        for model in (
            one_model(),
            GegenbauerRegressorCV(n_terms=10),
            GegenbauerRegressor(degree=2),
            GegenbauerFeatures(degree=2),
        ):
            tags = get_tags(model).input_tags
            assert tags.allow_nan
            assert tags.categorical
        for model in (
            GegenbauerRegressorCV(missing="error"),
            GegenbauerRegressorCV(spectrum=None),
            GegenbauerRegressor(degree=2, missing="error"),
        ):
            assert not get_tags(model).input_tags.allow_nan
        numbers = GegenbauerRegressor(degree=2, categorical_features=None)
        assert not get_tags(numbers).input_tags.categorical


class TestPrediction:
    def test_what_is_not_known_is_the_mean(self, fitted):
        """The shares make the mean over the levels of the samples that of an unknown one."""
        X, _ = table(1)
        unknown = X.assign(colour="violet")
        with pytest.warns(
            OutOfRangeWarning, match=r"1 of 1 samples.*column 1 \('colour'\) has a level"
        ):
            found = fitted.predict(unknown)
        shares = fitted.kernel_.spectrum.levels[1].shares
        each = [fitted.predict(X.assign(colour=name))[0] for name in EFFECTS]
        assert found[0] == pytest.approx(np.dot(shares, each), abs=1e-10)

    def test_a_number_that_was_never_missing_counts_as_its_mean(self, fitted):
        X, _ = table(1)
        gone = X.assign(x=np.nan)
        with pytest.warns(OutOfRangeWarning, match=r"column 0 \('x'\) has no value in 1 of them"):
            found = fitted.predict(gone)[0]
        # by Chebyshev's weight, for which its polynomials have a mean of zero
        nodes = np.cos((np.arange(400) + 0.5) * np.pi / 400)
        lower, upper = fitted.scaling_.lower[0], fitted.scaling_.upper[0]
        at = X.loc[[0] * 400].assign(x=lower + (upper - lower) * (nodes + 1) / 2)
        shift = fitted.set_params(out_of_range="clip").predict(at).mean()
        fitted.set_params(out_of_range="warn")
        assert found == pytest.approx(shift, abs=1e-3)

    def test_policies(self, fitted):
        X, _ = table(3)
        X.loc[1, "colour"] = None
        fitted = pickle.loads(pickle.dumps(fitted))
        with pytest.raises(ValueError, match=r"1 of 3 samples.*first in row 1.*Set `out_of_range`"):
            fitted.set_params(out_of_range="error").predict(X)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fitted.set_params(out_of_range="clip").predict(X)

    def test_numbers_alone_can_lack_values_in_prediction(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(80, 2))
        y = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=80)
        model = one_model().fit(X, y)
        assert model.kernel_.spectrum.levels is None
        X_new = np.array([[0.5, np.nan], [0.5, 0.5]])
        with pytest.warns(OutOfRangeWarning, match="column 1 has no value"):
            found, std = model.predict(X_new, return_std=True)
        assert found[1] == model.predict(X_new[1:])[0]
        assert found[0] == pytest.approx(1.0, abs=0.1)
        assert std[0] > 1.5 * std[1]
        with pytest.warns(OutOfRangeWarning):
            lower, upper = model.predict_interval(X_new)
        assert lower[0] < found[0] < upper[0]

    def test_standard_deviations_and_intervals(self, fitted):
        X, y = table(400, seed=3)
        fitted = pickle.loads(pickle.dumps(fitted)).set_params(out_of_range="clip")
        lower, upper = fitted.predict_interval(X)
        assert 0.85 < ((lower <= y) & (y <= upper)).mean() < 0.95
        mean, std = fitted.predict(X, return_std=True)
        assert 0.9 < ((y - mean) / std).std() < 1.1

    def test_columns_in_another_order_are_refused(self, fitted):
        X, _ = table(3)
        with pytest.raises(ValueError, match="feature names"):
            fitted.predict(X[["colour", "x", "z", "old"]])
        with pytest.raises(ValueError, match="feature names"):
            fitted.predict(X[["x", "colour"]])


class TestFiles:
    @pytest.mark.parametrize("model", ["fitted", "classifier"])
    def test_models_come_back(self, model, request, tmp_path):
        model = request.getfixturevalue(model)
        save(model, tmp_path / "m.safetensors")
        back = load(tmp_path / "m.safetensors")
        X, _ = table(20, seed=4)
        X.loc[3, "colour"] = "violet"
        for one in (model, back):
            one.set_params(out_of_range="clip")
        np.testing.assert_array_equal(back.predict(X), model.predict(X))
        model.set_params(out_of_range="warn")
        assert back.categories_ == model.categories_
        assert back.spectrum_ == model.spectrum_
        np.testing.assert_array_equal(sobol_indices(back).total, sobol_indices(model).total)

    def test_numbers_and_truth_values_keep_their_kind(self, tmp_path):
        X, y = table(60)
        X = X.assign(code=np.arange(60) % 3)[["colour", "old", "code", "x"]]
        model = one_model(categorical_features=["colour", "old", "code"]).fit(X, y)
        save(model, tmp_path / "m.safetensors")
        kinds = [type(values[0]) for values in load(tmp_path / "m.safetensors").categories_[:3]]
        assert kinds == [str, bool, int]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda inputs: inputs.pop(), "inputs must hold 4 entries; it has 3"),
            (lambda inputs: inputs[1]["values"].reverse(), "sorted and distinct"),
            (lambda inputs: inputs[1]["values"].append(3), "all text, all numbers or all truth"),
            (lambda inputs: inputs[1]["values"].append("z"), "4 shares and 5 levels do not fit"),
            (lambda inputs: inputs[1].update(shares=[-1.0]), "shares of levels must be numbers"),
            (lambda inputs: inputs[1].update(shares=[0.0] * 4), "Levels refuses"),
            (lambda inputs: inputs[1].update(missing=1), "missing must be true or false"),
            (lambda inputs: inputs.__setitem__(1, 7), "must be null or an object"),
        ],
    )
    def test_hostile_files(self, change, message, fitted, tmp_path):
        from gegenbauer.persistence._format import LENGTH_BYTES

        save(fitted, tmp_path / "m.safetensors")
        data = (tmp_path / "m.safetensors").read_bytes()
        end = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
        header = json.loads(data[LENGTH_BYTES:end])
        of_fit = json.loads(header["__metadata__"]["fitted"])
        change(of_fit["inputs"])
        header["__metadata__"]["fitted"] = json.dumps(of_fit)
        header["__metadata__"].pop("checksum")
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        (tmp_path / "bad").write_bytes(len(text).to_bytes(8, "little") + text + data[end:])
        with pytest.raises(ModelFileError, match=message):
            load(tmp_path / "bad")


class TestBadInput:
    def _refuses(self, X, y, message, error=ValueError, **parameters):
        model = one_model(**parameters)
        with pytest.raises(error, match=message):
            model.fit(X, y)
        assert not hasattr(model, "scaling_")

    def test_values_of_several_kinds(self):
        X, y = table(20)
        X["colour"] = X["colour"].astype(object)
        X.loc[3, "colour"] = 7
        self._refuses(X, y, r"column 1 \('colour'\) holds numbers and text: make them one")

    def test_values_of_another_kind_in_prediction(self, fitted):
        X, _ = table(3)
        with pytest.raises(
            ValueError, match=r"column 1 \('colour'\) holds numbers, such as 5, where fit had text"
        ):
            fitted.predict(X.assign(colour=5))
        with pytest.raises(
            ValueError, match=r"\('colour'\) holds values of type bytes, such as b'red', where fit"
        ):
            fitted.predict(X.assign(colour=[b"red"] * 3))

    @pytest.mark.parametrize("estimator", [one_model(), GegenbauerRegressor(degree=1)])
    def test_what_is_no_table(self, estimator):
        """What there is to do about it is named, and can be done."""
        X, y = table(20)
        lazy = pl.from_pandas(X[["x"]]).lazy()
        cases = [
            ({"x": X["x"]}, TypeError, "X must be an array or a table, got dict: make a table"),
            (X[[]], ValueError, r"Found array with 0 feature\(s\)"),
            (scipy.sparse.csr_array(np.ones((20, 1)) + 1j), NotNumbersError, "got complex numbers"),
            (X[["x"]].assign(x=[b"a"] * 20), ValueError, "make text of bytes by .decode()"),
        ]
        cases.append((lazy, TypeError, r"got LazyFrame, which has no values yet: collect\(\)"))
        for given, error, message in cases:
            with pytest.raises(error, match=message):
                clone(estimator).fit(given, y)

    @pytest.mark.parametrize("estimator", [one_model(), GegenbauerRegressor(degree=1)])
    def test_relations_of_duckdb(self, estimator):
        X, y = table(20)
        relation = pytest.importorskip("duckdb").from_df(X[["x"]])
        for given, target in ((relation, y), (X[["x"]], relation)):
            with pytest.raises(TypeError, match=r"which has no values yet: call its df\(\)"):
                clone(estimator).fit(given, target)

    def test_what_is_no_value_of_a_category(self):
        X, y = table(20)
        X["colour"] = [{"a": 1}] * 20
        self._refuses(X, y, r"column 1 \('colour'\) holds \{'a': 1\}", categorical_features=[1])
        X["colour"] = np.inf
        self._refuses(X, y, r"holds inf", categorical_features=[1])
        X["colour"] = pd.Categorical([np.inf, 1.0, 2.0, 3.0] * 5)
        self._refuses(X, y, r"column 1 \('colour'\) holds inf")

    def test_infinite_numbers(self):
        X, y = table(20)
        X.loc[2, "x"] = np.inf
        self._refuses(X, y, r"infinity.*column 0 \('x'\) \(first in row 2\)")

    def test_missing_targets(self):
        X, y = table(20)
        y[4] = np.nan
        self._refuses(X, y, "y .*NaN")

    @pytest.mark.parametrize("column", ["z", "colour"])
    def test_missing_values_on_request(self, column):
        X, y = table(20)
        X["z"] = X["z"].fillna(0.0)
        X.loc[5, column] = None
        at = [*X.columns].index(column)
        self._refuses(X, y, f"column {at}.* row 5", missing="error")

    @pytest.mark.parametrize("parameters", [{"spectrum": None, "n_terms": 20}, {"spectrum": None}])
    def test_raw_polynomials_take_numbers_alone(self, parameters):
        X, y = table(40)
        message = r"takes numbers alone, but column 1 \('colour'\) is a category"
        given = {**parameters, "categorical_features": ["colour"]}
        self._refuses(X.drop(columns="z"), y, message, **given)
        message = r"column 1 \('colour'\) does not, first in row 0: could not convert string"
        self._refuses(X.drop(columns="z"), y, message, **parameters)
        message = r"NaN(.|\n)*Found in column 1 \('z'\) \(first in row"
        self._refuses(X[["x", "z"]], y, message, **parameters)

    def test_missing_values_in_the_prediction_of_raw_polynomials(self):
        X, _ = table(40)
        model = one_model(spectrum=None, n_terms=20).fit(X[["x"]], X["x"])
        with pytest.raises(ValueError, match=r"NaN.*column 0 \('x'\)"):
            model.predict(X[["x"]].assign(x=np.nan))

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (["color"], "`categorical_features` names 'color'.*did you mean 'colour'"),
            ([4], "numbers of columns from 0 to 3"),
            ([-1], "numbers of columns from 0 to 3"),
            ([True], "a mask of 1 columns, but X has 4"),
            ([[1]], "must have one dimension"),
            ("all", "categorical_features"),
            ([1.5], "must be None, 'from_dtype', a mask, or numbers or names"),
        ],
    )
    def test_bad_categorical_features(self, given, message):
        X, y = table(20)
        self._refuses(X, y, message, (ValueError, TypeError), categorical_features=given)

    def test_names_need_a_table(self):
        X, y = table(20)
        self._refuses(
            X.to_numpy(dtype=object), y, "those of X have no names", categorical_features=["x"]
        )

    @pytest.mark.parametrize("given", ["from_dtype", [0], [True], ["x"]])
    def test_one_dimension(self, given):
        y = np.arange(20.0)
        for X in (y, y.tolist(), pd.Series(y, name="x")):
            self._refuses(X, y, "Expected (2D|a 2-dim)", categorical_features=given)

    def test_text_in_arrays_is_no_category_by_itself(self):
        X, y = table(20)
        self._refuses(X.to_numpy(dtype=object), y, "column 1 .*`categorical_features`")


class TestWhatATrialFound:
    def test_inputs_of_one_level_make_the_mean(self):
        X, y = table(60)
        for nothing in (X[[]].assign(one="a"), X[[]].assign(one=np.nan, other=np.nan)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnderfittingWarning)
                model = GegenbauerRegressorCV().fit(nothing, y)
            np.testing.assert_allclose(model.predict(nothing), y.mean(), rtol=1e-12)
            assert (model.relevances_ == 0).all()

    def test_a_category_of_one_level_is_ignored_whatever_comes(self):
        X, y = table(60)
        y = np.sin(6 * X["x"]).to_numpy()
        model = one_model(out_of_range="error").fit(X[["x"]].assign(one="a"), y)
        X_new = X[["x"]][5:9]
        expected = model.predict(X_new.assign(one="a"), return_std=True)
        for value in ("b", None):
            found = model.predict(X_new.assign(one=value), return_std=True)
            np.testing.assert_array_equal(found, expected)

    def test_unknown_levels_count_as_outside(self, fitted):
        X, _ = table(5)
        assert fitted.count_out_of_range(X) == 0
        assert fitted.count_out_of_range(X.assign(colour="violet")) == 5
        assert fitted.count_out_of_range(X.assign(x=np.nan)) == 5
        assert fitted.count_out_of_range(X.assign(z=np.nan)) == 0

    def test_deviations_of_what_is_unknown_are_those_of_the_outputs(self, fitted):
        """By the law of total variance, over the values that samples of the fit have."""
        X, y = table(1)
        fitted = pickle.loads(pickle.dumps(fitted)).set_params(out_of_range="clip")
        std = fitted.predict(X.assign(colour="violet"), return_std=True)[1]
        levels = fitted.X_fit_[:: -(-len(fitted.X_fit_) // 128), 1]
        names = np.array([*EFFECTS])[levels.astype(int)]
        each = fitted.predict(X.iloc[[0] * len(names)].assign(colour=names))
        assert std[0] ** 2 > np.var(each)
        assert std[0] < 1.5 * y.std() + 2.0

    def test_truth_values_are_numbers_in_raw_polynomials(self):
        X, _ = table(60)
        X = X[["x", "old"]]
        model = GegenbauerRegressorCV(spectrum=None, n_terms=20).fit(X, X["x"] + X["old"])
        assert model.categories_ == [None, None]
        assert model.score(X, X["x"] + X["old"]) > 0.99

    def test_a_sparse_matrix_is_no_table(self, fitted):
        with pytest.raises(TypeError, match="X must be a table as in fit"):
            fitted.predict(scipy.sparse.csr_array(np.zeros((2, 4))))

    def test_text_without_levels_gets_advice_that_can_be_followed(self):
        """The paper's basis takes no categories: to list the column would be refused as well."""
        X = pd.DataFrame({"city": ["a", "b"] * 20, "x": np.arange(40.0)})
        message = r"column 0 \('city'\) .*; leave `spectrum=None` out, .*, encode text"
        with pytest.raises(ValueError, match=message):
            GegenbauerRegressorCV(spectrum=None).fit(X, X["x"])


class TestExtremes:
    def test_all_missing_and_one_level(self):
        """They have no part in the model, whose kernel is that of the other column."""
        X, _ = table(60)
        y = np.sin(6 * X["x"]).to_numpy()
        X = X[["x"]].assign(gone=np.nan, none=pd.Series([None] * 60, dtype=object), one="a")
        model = one_model(categorical_features=["none", "one"]).fit(X, y)
        assert model.categories_[2:] == [[None], ["a"]]
        same = model.kernel_(model.X_fit_, scaling=model.scaling_)
        assert model.score(X, y) > 0.999
        # whatever their weights
        first = model.spectrum_.interactions(4)[0]
        one = SpectrumKernel(
            1,
            [
                replace(part, interaction=q)
                for part, q in zip(model.spectrum_.components, first, strict=True)
            ],
        )
        box = InputScaling(model.scaling_.lower[:1], model.scaling_.upper[:1], domain=(-1, 1))
        np.testing.assert_allclose(same, one(model.X_fit_[:, :1], scaling=box), rtol=1e-14)

    def test_each_sample_its_own_level(self):
        X, y = table(60)
        X["name"] = [f"n{k}" for k in range(60)]
        model = one_model(out_of_range="clip").fit(X, y)
        assert np.isfinite(model.predict(X.assign(name="new"))).all()

    def test_a_level_of_one_sample(self):
        X, y = table(60)
        X.loc[0, "colour"] = "rare"
        model = one_model().fit(X, y)
        assert model.kernel_.spectrum.levels[1].shares[2] == pytest.approx(1 / 60)

    @pytest.mark.slow
    def test_a_million_levels(self):
        n = 1_000_000
        names = np.arange(n).astype(str).astype(object)
        from gegenbauer.estimators._categories import CategoryEncoder

        encoder = CategoryEncoder.fit(pd.DataFrame({"a": names}), [0])
        codes = encoder.encode(pd.DataFrame({"a": names[:5]}), allow_missing=True)["a"].to_numpy()
        assert (np.array(encoder.categories[0][1].values)[codes.astype(int)] == names[:5]).all()

    def test_two_samples(self):
        X = pd.DataFrame({"c": ["a", "b"], "x": [np.nan, 1.0]})
        with pytest.warns(UnderfittingWarning):
            model = one_model(out_of_range="clip").fit(X, [0.0, 1.0])
        assert np.isfinite(model.predict(X)).all()


class TestSeveralSpectra:
    """What models of few samples are by default: the mean of five."""

    @pytest.fixture(scope="class")
    @staticmethod
    def several():
        X, y = table(150)
        return GegenbauerRegressorCV(out_of_range="clip").fit(X, y)

    def test_their_levels_are_the_same(self, several):
        levels = [spectrum.levels for spectrum in several.spectra_]
        assert len(levels) == 5
        assert len(set(levels)) == 1
        assert levels[0] == one_model().fit(*table(150)).spectrum_.levels

    def test_unknown_levels_and_missing_values_are_means(self, several):
        X, _ = table(1)
        shares = several.spectra_[0].levels[1].shares
        found = several.predict(X.assign(colour="violet"))[0]
        each = [several.predict(X.assign(colour=name))[0] for name in EFFECTS]
        assert found == pytest.approx(np.dot(shares, each), abs=1e-10)
        blue = X.assign(colour="blue")  # of which x matters
        whole = several.predict(blue, return_std=True)[1]
        assert several.predict(blue.assign(x=np.nan), return_std=True)[1] > 2 * whole

    def test_files_and_shares_of_the_variance(self, several, tmp_path):
        save(several, tmp_path / "m.safetensors")
        back = load(tmp_path / "m.safetensors")
        X, _ = table(30, seed=4)
        X.loc[3, "colour"] = "violet"
        np.testing.assert_array_equal(back.predict(X), several.predict(X))
        for ends, others in zip(back.predict_interval(X), several.predict_interval(X), strict=True):
            np.testing.assert_array_equal(ends, others)
        shares = several.feature_importances_
        np.testing.assert_array_equal(back.feature_importances_, shares)
        assert shares[1] > shares[0] > shares[3]


def test_samples_with_gaps_are_no_copies():
    """Where nothing else is given than a category they are equal by chance, and stay many."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"c": rng.choice(["a", "b", "c"], 200), "x": rng.uniform(size=200)})
    y = np.where(X["c"] == "a", np.sin(6 * X["x"]), 0.5)
    X.loc[::7, "x"] = np.nan
    model = one_model().fit(X, y)
    others = (X["c"] != "a").to_numpy()
    np.testing.assert_allclose(model.loo_predictions_[others], 0.5, atol=0.1)
