"""What is no number is refused by every entry point alike, and errors name it and its place."""

from __future__ import annotations

import datetime as dt
import re
import subprocess
import sys
from fractions import Fraction

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.special import softmax
from sklearn.model_selection import GroupKFold

import gegenbauer
from gegenbauer import (
    ArrayBatches,
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    GramStatistics,
    InputScaling,
    MomentStatistics,
    PowerDecay,
    RidgePath,
    TensorBasis,
    solve_kernel,
    solve_ridge,
)
from gegenbauer import dask as on_dask
from gegenbauer.basis import SpectrumKernel, TotalDegreeKernel, count_terms, gegenbauer_vander
from gegenbauer.errors import BeyondRangeError, PenalizedConstantWarning
from gegenbauer.inspection import kernel_sobol_indices, term_sobol_indices
from gegenbauer.plotting import ReliabilityDisplay
from gegenbauer.ridge import predict, predict_kernel
from gegenbauer.selection import (
    kfold_predictions,
    leave_one_out,
    prefix_surface,
    search_alpha,
    search_basis,
)
from gegenbauer.selection.calibration import ProbabilityMap

# Twelve samples are few, and classifiers warn of it.
pytestmark = pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")

N = 12
DAYS = np.datetime64("2020-01-01") + np.arange(N)
SPANS = DAYS - DAYS[0]
PLAIN = np.linspace(0.0, 1.0, N)
X, LABELS = PLAIN[:, np.newaxis], np.arange(N) % 2
BASIS, KERNEL = TensorBasis(1, degree=2), SpectrumKernel(1, (0.5, 2.0))


def masked():
    """Values that would do, one of which is masked."""
    return np.ma.array(LABELS.astype(float), mask=np.arange(N) == 3)


def narwhals(table):
    return pytest.importorskip("narwhals").from_native(table, allow_series=True)


def polars(**columns):
    return pytest.importorskip("polars").DataFrame(columns)


PY_DAYS = [dt.date(2020, 1, 1) + dt.timedelta(day) for day in range(N)]

# One column of what is no number, as it may come
COLUMNS = {
    "masked": masked,
    "masked in a list": lambda: [1.0, np.ma.masked] * (N // 2),
    "masked objects": lambda: np.ma.array(
        [0, 1] * (N // 2), mask=[1] + [0] * (N - 1), dtype=object
    ),
    "complex": lambda: PLAIN + 1j * LABELS,
    "complex objects": lambda: [*PLAIN[1:].tolist(), 1j],
    "dates": lambda: DAYS,
    "spans": lambda: SPANS,
    "date objects": lambda: np.array(list(DAYS), dtype=object),
    "span objects": lambda: np.array(list(SPANS), dtype=object),
    "Python's dates": lambda: PY_DAYS,
    "Python's times": lambda: [dt.time(hour) for hour in range(N)],
    "Python's spans": lambda: [dt.timedelta(day) for day in range(N)],
    "a list of spans": lambda: list(SPANS),
    "numbers and a span": lambda: [*range(N - 1), SPANS[1]],
    "pandas' dates": lambda: pd.Series(DAYS),
    "pandas' dates of a zone": lambda: pd.Series(DAYS).dt.tz_localize("UTC"),
    "pandas' spans": lambda: pd.Series(SPANS),
    "pandas' categories": lambda: pd.Series(pd.Series(DAYS).astype("category")),
    "pandas' index": lambda: pd.DatetimeIndex(DAYS),
    "pandas' timestamps": lambda: list(pd.DatetimeIndex(DAYS)),
    "pandas with Arrow": lambda: pd.Series(pa.array(PY_DAYS), dtype=pd.ArrowDtype(pa.date32())),
    "Arrow's dates": lambda: pa.array(PY_DAYS),
    "Arrow's spans": lambda: pa.chunked_array([pa.array(SPANS.astype("m8[s]"))]),
    "narwhals": lambda: narwhals(pa.chunked_array([pa.array(PY_DAYS)])),
    "polars' dates": lambda: polars(day=PY_DAYS)["day"],
    "polars' spans": lambda: polars(day=[dt.timedelta(day) for day in range(N)])["day"],
}

# The same as a table
TABLES = {
    **{
        f"array of {name}": lambda make=COLUMNS[name]: make()[:, np.newaxis]
        for name in (
            "masked",
            "masked objects",
            "complex",
            "dates",
            "spans",
            "date objects",
            "span objects",
        )
    },
    "rows of dates": lambda: [[day] for day in PY_DAYS],
    "rows of spans": lambda: [[span] for span in SPANS],
    "a masked entry in rows": lambda: [[1.0], [np.ma.masked]] * (N // 2),
    "rows of complex numbers": lambda: [[1.0], [1j]] * (N // 2),
    "masked rows": lambda: list(masked()[:, np.newaxis]),
    "records": lambda: np.array([[(day,)] for day in DAYS], dtype=[("day", "M8[D]")]),
    **{
        f"frame of {name}": lambda make=COLUMNS[name]: pd.DataFrame({"day": make()})
        for name in COLUMNS
        if name.startswith(("pandas", "date", "span", "Python"))
    },
    "Arrow's table of dates": lambda: pa.table({"day": pa.array(PY_DAYS)}),
    "Arrow's table of spans": lambda: pa.table({"day": pa.array(SPANS.astype("m8[s]"))}),
    "Arrow's batch": lambda: pa.RecordBatch.from_pydict({"day": pa.array(PY_DAYS)}),
    "narwhals' table": lambda: narwhals(pa.table({"day": pa.array(PY_DAYS)})),
    "polars' table of dates": lambda: polars(day=PY_DAYS),
    "polars' table of spans": lambda: polars(day=[dt.timedelta(day) for day in range(N)]),
}


def regressor():
    return GegenbauerRegressor(degree=2, n_terms=None)


def classifier():
    return GegenbauerClassifier(degree=2, n_terms=None)


@pytest.fixture(scope="module")
def fitted():
    return {
        "regressor": regressor().fit(X, PLAIN),
        "stream": regressor().partial_fit(X, PLAIN),
        "classifier": classifier().fit(X, LABELS),
        "classes": classifier().partial_fit(X, LABELS, classes=[0, 1]),
        "features": GegenbauerFeatures(degree=2).fit(X),
        "regressor CV": GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(X, PLAIN),
        "classifier CV": GegenbauerClassifierCV(spectrum=(0.5, 2.0)).fit(X, LABELS),
        "path": RidgePath(BASIS, X, PLAIN),
    }


TAKES_X = {
    "fit": lambda m, x: regressor().fit(x, PLAIN),
    "partial_fit": lambda m, x: regressor().partial_fit(x, PLAIN),
    "fit_stream": lambda m, x: regressor().fit_stream([(x, PLAIN)]),
    "ArrayBatches": lambda m, x: regressor().fit_stream(ArrayBatches(x, PLAIN)),
    "forget": lambda m, x: m["stream"].forget(x, PLAIN),
    "held out": lambda m, x: m["stream"].choose_alpha(held_out=[(x, PLAIN)]),
    "predict": lambda m, x: m["regressor"].predict(x),
    "score": lambda m, x: m["regressor"].score(x, PLAIN),
    "count_out_of_range": lambda m, x: m["regressor"].count_out_of_range(x),
    "fit of classes": lambda m, x: classifier().fit(x, LABELS),
    "decision_function": lambda m, x: m["classifier"].decision_function(x),
    "features": lambda m, x: GegenbauerFeatures().fit(x),
    "transform": lambda m, x: m["features"].transform(x),
    "regression CV": lambda m, x: GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(x, PLAIN),
    "predict CV": lambda m, x: m["regressor CV"].predict(x),
    "predict_interval": lambda m, x: m["regressor CV"].predict_interval(x),
    "classification CV": lambda m, x: GegenbauerClassifierCV(spectrum=(0.5, 2.0)).fit(x, LABELS),
    "predict_proba": lambda m, x: m["classifier CV"].predict_proba(x),
    "Dask's predict": lambda m, x: (
        on_dask.GegenbauerRegressor(degree=2, n_terms=None)
        .fit(da.from_array(X, chunks=5), PLAIN)
        .predict(x)
    ),
    "InputScaling.fit": lambda m, x: InputScaling.fit(x),
    "transform of a scaling": lambda m, x: m["regressor"].scaling_.transform(x),
    "evaluate": lambda m, x: BASIS.evaluate(x),
    "kernel": lambda m, x: KERNEL(x),
    "kernel, others": lambda m, x: KERNEL(X, x),
    "diagonal": lambda m, x: KERNEL.diagonal(x),
    "log_gradient": lambda m, x: KERNEL.log_gradient(x, np.eye(N)),
    "solve_ridge": lambda m, x: solve_ridge(BASIS, x, PLAIN, 1.0),
    "function predict": lambda m, x: predict(BASIS, x, np.ones(3)),
    "solve_kernel": lambda m, x: solve_kernel(KERNEL, x, PLAIN, 1.0),
    "predict_kernel": lambda m, x: predict_kernel(KERNEL, X, x, PLAIN),
    "GramStatistics": lambda m, x: GramStatistics.from_data(BASIS, x, PLAIN),
    "MomentStatistics": lambda m, x: MomentStatistics.from_data(BASIS, x, PLAIN),
    "leave_one_out": lambda m, x: leave_one_out(KERNEL, x, PLAIN, 1.0),
    "kfold_predictions": lambda m, x: kfold_predictions(
        BASIS, x, PLAIN, np.split(np.arange(N), 3), [1.0]
    ),
    "RidgePath": lambda m, x: RidgePath(BASIS, x, PLAIN),
    "search_alpha": lambda m, x: search_alpha(KERNEL, x, PLAIN, None, 1.0),
    "kernel_sobol_indices": lambda m, x: kernel_sobol_indices(KERNEL, x, PLAIN),
}
TAKES_TARGETS = {
    "fit": lambda m, y: regressor().fit(X, y),
    "partial_fit": lambda m, y: regressor().partial_fit(X, y),
    "fit_stream": lambda m, y: regressor().fit_stream([(X, y)]),
    "ArrayBatches": lambda m, y: regressor().fit_stream(ArrayBatches(X, y)),
    "forget": lambda m, y: m["stream"].forget(X, y),
    "held out": lambda m, y: m["stream"].choose_alpha(held_out=[(X, y)]),
    "score": lambda m, y: m["regressor"].score(X, y),
    "score CV": lambda m, y: m["regressor CV"].score(X, y),
    "regression CV": lambda m, y: GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(X, y),
    "Dask, y in memory": lambda m, y: on_dask.GegenbauerRegressor(n_terms=3).fit(
        da.from_array(X, chunks=5), y
    ),
    "solve_ridge": lambda m, y: solve_ridge(BASIS, X, y, 1.0),
    "solve_kernel": lambda m, y: solve_kernel(KERNEL, X, y, 1.0),
    "weights": lambda m, y: predict(BASIS, X, y),
    "GramStatistics": lambda m, y: GramStatistics.from_data(BASIS, X, y),
    "leave_one_out": lambda m, y: leave_one_out(KERNEL, X, y, 1.0),
    "RidgePath": lambda m, y: RidgePath(BASIS, X, y),
    "alphas": lambda m, y: m["stream"].choose_alpha(y),
    "term_sobol_indices": lambda m, y: term_sobol_indices(TensorBasis(1, degree=N - 1), y),
    "gegenbauer_vander": lambda m, y: gegenbauer_vander(y, 2, 0.5),
    "lower": lambda m, y: InputScaling(y, np.full(N, 100.0)),
}
TAKES_LABELS = {
    "fit": lambda m, y: classifier().fit(X, y),
    "partial_fit": lambda m, y: classifier().partial_fit(X, y, classes=[0, 1]),
    "classes": lambda m, y: classifier().partial_fit(X, LABELS, classes=y),
    "fit_stream": lambda m, y: classifier().fit_stream([(X, y)]),
    "ArrayBatches": lambda m, y: classifier().fit_stream(ArrayBatches(X, y)),
    "forget": lambda m, y: m["classes"].forget(X, y),
    "score": lambda m, y: m["classifier"].score(X, y),
    "score CV": lambda m, y: m["classifier CV"].score(X, y),
    "CV": lambda m, y: GegenbauerClassifierCV(spectrum=(0.5, 2.0)).fit(X, y),
    "Dask, y in memory": lambda m, y: on_dask.GegenbauerClassifier(n_terms=3).fit(
        da.from_array(X, chunks=5), y
    ),
}
TAKES_WEIGHTS = {
    "fit": lambda m, w: regressor().fit(X, PLAIN, sample_weight=w),
    "partial_fit": lambda m, w: regressor().partial_fit(X, PLAIN, sample_weight=w),
    "fit_stream": lambda m, w: regressor().fit_stream([(X, PLAIN, w)]),
    "ArrayBatches": lambda m, w: regressor().fit_stream(ArrayBatches(X, PLAIN, w)),
    "forget": lambda m, w: m["stream"].forget(X, PLAIN, sample_weight=w),
    "score": lambda m, w: m["regressor"].score(X, PLAIN, sample_weight=w),
    "fit of classes": lambda m, w: classifier().fit(X, LABELS, sample_weight=w),
    "regression CV": lambda m, w: GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(
        X, PLAIN, sample_weight=w
    ),
    "classification CV": lambda m, w: GegenbauerClassifierCV(spectrum=(0.5, 2.0)).fit(
        X, LABELS, sample_weight=w
    ),
    "Dask, weights in memory": lambda m, w: on_dask.GegenbauerRegressor(n_terms=3).fit(
        da.from_array(X, chunks=5), PLAIN, sample_weight=w
    ),
    "solve_ridge": lambda m, w: solve_ridge(BASIS, X, PLAIN, 1.0, sample_weight=w),
    "solve_kernel": lambda m, w: solve_kernel(KERNEL, X, PLAIN, 1.0, sample_weight=w),
    "GramStatistics": lambda m, w: GramStatistics.from_data(BASIS, X, PLAIN, sample_weight=w),
    "leave_one_out": lambda m, w: leave_one_out(KERNEL, X, PLAIN, 1.0, sample_weight=w),
    "RidgePath": lambda m, w: RidgePath(BASIS, X, PLAIN, sample_weight=w),
    "search_basis": lambda m, w: search_basis(
        X, PLAIN, lambda p, rows: np.zeros(p.shape[0]), lams=[0.5], n_terms=[2], sample_weight=w
    ),
}
REFUSED = r"must hold .*, got (masked entries|dates or times|records|complex numbers)"


def not_refused(take, fitted, values):
    """Return what is no number that an entry point does not refuse as such, and what came of it."""
    found = {}
    for kind, make in values.items():
        try:
            value = make()
        except pytest.skip.Exception:  # of a library that is not installed
            continue
        try:
            found[kind] = take(fitted, value)
        except ValueError as error:
            if not re.search(REFUSED, str(error)):
                found[kind] = error
    return found


@pytest.mark.parametrize("entry", TAKES_X)
def test_inputs(fitted, entry):
    assert not_refused(TAKES_X[entry], fitted, TABLES) == {}


@pytest.mark.parametrize("entry", TAKES_TARGETS)
def test_targets(fitted, entry):
    assert not_refused(TAKES_TARGETS[entry], fitted, COLUMNS) == {}


@pytest.mark.parametrize("entry", TAKES_LABELS)
def test_labels(fitted, entry):
    assert not_refused(TAKES_LABELS[entry], fitted, COLUMNS) == {}


@pytest.mark.parametrize("entry", TAKES_WEIGHTS)
def test_weights(fitted, entry):
    assert not_refused(TAKES_WEIGHTS[entry], fitted, COLUMNS) == {}


@pytest.mark.parametrize("estimator", ["GegenbauerRegressor", "GegenbauerRegressorCV"])
@pytest.mark.parametrize("kind", ["masked", "dates", "spans", "date objects"])
@pytest.mark.parametrize("what", ["X", "y", "sample_weight"])
def test_partitions(estimator, kind, what):
    value = COLUMNS[kind]()
    given = {
        name: da.from_array(value if name == what else np.abs(PLAIN), chunks=5)
        for name in ("X", "y", "sample_weight")
    }
    given["X"] = given["X"][:, np.newaxis]
    with pytest.raises(ValueError, match=rf"partition \d \(rows .*\): {what} {REFUSED}"):
        getattr(on_dask, estimator)(n_terms=3).fit(**given)


@pytest.mark.parametrize("kind", ["dates", "pandas' dates of a zone", "spans"])
def test_partitions_of_frames(kind):
    frame = pd.DataFrame({"day": COLUMNS[kind](), "y": PLAIN, "label": LABELS})
    parts = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(ValueError, match=r"dates or times in column 'day'"):
        on_dask.GegenbauerRegressor(n_terms=3).fit(parts[["day"]], parts["y"])
    with pytest.raises(ValueError, match=r"y must hold labels .* got dates"):
        on_dask.GegenbauerClassifier(n_terms=3).fit(parts[["y"]], parts["day"])
    model = on_dask.GegenbauerRegressor(n_terms=3).fit(parts[["y"]], parts["y"])
    with pytest.raises(ValueError, match=r"y must hold real numbers, got dates"):
        model.score(parts[["y"]], parts["day"])


def test_both_kinds_of_errors():
    """For those who catch the one or the other; scikit-learn raises both."""
    for error in (TypeError, ValueError):
        with pytest.raises(error, match=r"^X must hold real numbers, got dates or times in column"):
            regressor().fit(pd.DataFrame({"x": PLAIN, "day": DAYS}), PLAIN)


def test_masks_that_mask_nothing():
    """They are arrays like others."""
    whole = np.ma.array(X, mask=np.zeros(X.shape, bool))
    y, w = np.ma.array(LABELS, mask=False), np.ma.array(PLAIN + 1)
    expected = classifier().fit(X, LABELS, sample_weight=PLAIN + 1).decision_function(X)
    found = classifier().fit(whole, y, sample_weight=w).decision_function(whole)
    np.testing.assert_array_equal(found, expected)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(BASIS.evaluate(whole), BASIS.evaluate(X))


def test_groups_may_be_dates():
    """Groups are compared and nothing else; but masks have no place there either."""
    model = GegenbauerRegressorCV(spectrum=(0.5, 2.0), cv=GroupKFold(3))
    numbers, dates = np.arange(N) // 2, DAYS[np.arange(N) // 2]
    expected = model.fit(X, PLAIN, groups=numbers).predict(X)
    np.testing.assert_array_equal(model.fit(X, PLAIN, groups=dates).predict(X), expected)
    with pytest.raises(ValueError, match=r"groups must hold .* got masked entries"):
        model.fit(X, PLAIN, groups=masked())


@pytest.mark.parametrize("kind", ["dates", "spans", "masked"])
def test_bounds(kind):
    with pytest.raises(ValueError, match=REFUSED):
        GegenbauerRegressor(n_terms=3, bounds=[COLUMNS[kind]()[[0, 3]]]).fit(X, PLAIN)


# --- Text and what is missing ---------------------------------------------------------------------

ISLANDS = pd.DataFrame({"depth": PLAIN, "island": ["Dream"] * N, "sex": ["f", "m"] * (N // 2)})


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("entry", ["fit", "predict", "transform", "fit_stream"])
@pytest.mark.parametrize("form", ["frame", "objects", "Arrow"])
def test_text_names_the_column_and_the_remedy(fitted, entry, form):
    frame = ISLANDS[["island", "depth", "sex"]]
    X = {"frame": frame, "objects": frame.to_numpy(dtype=object), "Arrow": pa.table(frame)}[form]
    column = "0" if form == "objects" else r"0 \('island'\)"
    if entry.startswith("fit") and form != "objects":  # tables have types, by which it is taken
        TAKES_X[entry](fitted, X)
        return
    with pytest.raises(
        ValueError,
        match=rf"column {column} does not, first in row 0( of these)? \(the same holds of 1 more "
        r"column\): could not convert string to float: 'Dream'; list the column in "
        "`categorical_features`",
    ):
        TAKES_X[entry](fitted, X)


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("form", ["frame", "objects", "Arrow"])
def test_text_where_no_categories_are_taken(form):
    frame = ISLANDS[["island", "depth", "sex"]]
    X = {"frame": frame, "objects": frame.to_numpy(dtype=object), "Arrow": pa.table(frame)}[form]
    model = regressor().set_params(categorical_features=None)
    for call in (model.fit, lambda X, y: model.fit_stream([(X, y)])):
        with pytest.raises(ValueError, match=r"'Dream'; encode text, .*OneHotEncoder.* or leave"):
            call(X, PLAIN)


def test_text_of_arrays_can_be_categories(fitted):
    """Of tables it is, without a request."""
    X = ISLANDS[["island", "depth", "sex"]].to_numpy(dtype=object)
    with pytest.raises(ValueError, match=r"'Dream'; list the column in `categorical_features`"):
        TAKES_X["regression CV"](fitted, X)


def test_first_row_of_text():
    X = [[1.0, 2.0], [3.0, "4"], [5.0, "five"]]
    with pytest.raises(ValueError, match=r"column 1 does not, first in row 2: .*'five'"):
        regressor().fit(np.array(X, dtype=object), PLAIN[:3])
    with pytest.raises(
        ValueError, match=r"X must hold real numbers, got text such as '4', .*row 1"
    ):
        solve_ridge(TensorBasis(2, degree=1), np.array(X, dtype=object), PLAIN[:3], 1.0)


@pytest.mark.parametrize("digits", ["1.5", b"1.5"])
@pytest.mark.parametrize("kind", [GegenbauerRegressor, GegenbauerRegressorCV])
def test_targets_of_digits_are_text(kind, digits):
    y = np.array([1.0, digits, 2.0, 3.0], dtype=object)
    with pytest.raises(ValueError, match="y must hold real numbers for a regressor"):
        kind().fit([[0.0], [1.0], [2.0], [3.0]], y)
    with pytest.raises(ValueError, match="Y must hold real numbers, got text such as"):
        solve_ridge(TensorBasis(1, degree=1), [[0.0], [1.0], [2.0], [3.0]], y, 1.0)


def test_a_single_number_beyond_float64_for_an_array():
    path = RidgePath(TensorBasis(1, degree=1), [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0])
    for query in (path.gcv, path.leave_one_out, path.log_marginal_likelihood):
        with pytest.raises(TypeError, match=r"sequence of numbers, such as .*got a single int"):
            query(10**400)


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA])
def test_missing_values_name_the_column_and_the_remedy(missing):
    frame = pd.DataFrame({"x": PLAIN, "z": pd.Series([0.0, missing] * (N // 2), dtype=object)})
    with pytest.raises(
        (ValueError, TypeError), match=r"column 1 \('z'\).*first in row 1.*SimpleImputer"
    ):
        regressor().set_params(missing="error").fit(frame, PLAIN)


def test_integers_beyond_float64():
    huge = [[10**400], [1]]
    for given in (huge, np.array(huge, dtype=object), [[10**5000], [1]]):
        with pytest.raises(ValueError, match=r"column 0 does not, first in row 0: an integer bey"):
            regressor().fit(given, [1, 2])
        with pytest.raises(ValueError, match=r"column 0 does not, first in row 0: an integer bey"):
            BASIS.evaluate(given)
    with pytest.raises(ValueError, match="y must hold real numbers for a regressor"):
        regressor().fit([[0], [1]], [10**5000, 1])
    for weight in (10**400, 10**5000):
        with pytest.raises(ValueError, match="`sample_weight` must be within the range of float64"):
            regressor().fit([[0], [1]], [0, 1], sample_weight=weight)
        with pytest.raises(ValueError, match="sample_weight must hold numbers"):
            regressor().fit([[0], [1]], [0, 1], sample_weight=[weight, 1])


# --- Names of columns -----------------------------------------------------------------------------


TWICE = pd.DataFrame(np.random.default_rng(0).uniform(size=(30, 3)), columns=["a", "b", "a"])
ONCE = TWICE.set_axis(["a", "b", "c"], axis=1)
Y_TWICE = TWICE.iloc[:, 1]
FITS = {
    "regressor": lambda X: GegenbauerRegressor(n_terms=5).fit(X, Y_TWICE),
    "classifier": lambda X: GegenbauerClassifier(n_terms=5).fit(X, Y_TWICE > 0.5),
    "regressor_cv": lambda X: GegenbauerRegressorCV().fit(X, Y_TWICE),
    "classifier_cv": lambda X: GegenbauerClassifierCV().fit(X, Y_TWICE > 0.5),
    "features": lambda X: GegenbauerFeatures(degree=2).fit(X),
    "partial_fit": lambda X: GegenbauerRegressor(n_terms=5).partial_fit(X, Y_TWICE),
    "stream": lambda X: GegenbauerRegressor(n_terms=5).fit_stream([(X, Y_TWICE)]),
    "predict": lambda X: GegenbauerRegressor(n_terms=5).fit(ONCE, Y_TWICE).predict(X),
    "score": lambda X: GegenbauerRegressorCV(n_terms=5).fit(ONCE, Y_TWICE).score(X, Y_TWICE),
}


@pytest.mark.parametrize("way", FITS)
def test_two_columns_of_the_same_name(way):
    """Whichever is meant: the error names both, not the library that found them."""
    message = (
        "X must have columns of different names, but columns 0 and 2 are all called 'a': rename or "
        "drop them, or give an array without names"
    )
    with pytest.raises(ValueError, match=message):
        FITS[way](TWICE)
    FITS[way](ONCE)


def test_several_columns_of_the_same_name_and_tables_of_arrow():
    four = pd.DataFrame(np.ones((9, 6)), columns=["p", "q", "q", "q", "r", "r"])
    with pytest.raises(ValueError, match=r"columns 1, 2 and 3 are .* 'q' \(1 more names are alike"):
        GegenbauerRegressor(n_terms=5).fit(four, np.arange(9.0))
    arrow = pa.table([pa.array(np.arange(9.0))] * 2, names=["a", "a"])
    with pytest.raises(ValueError, match="columns 0 and 1 are all called 'a'"):
        GegenbauerRegressorCV().fit(arrow, np.arange(9.0))


# --- Parameters -----------------------------------------------------------------------------------


def test_any_real_number_is_a_parameter():
    third = 1 / 3
    expected = GegenbauerRegressor(5, alpha=third, lam=third).fit(X, PLAIN).term_coef_
    for number in (Fraction(1, 3), np.float64(third)):
        model = GegenbauerRegressor(5, alpha=number, lam=number).fit(X, PLAIN)
        np.testing.assert_array_equal(model.term_coef_, expected)
        stream = GegenbauerRegressor(5, alpha=number, lam=number).partial_fit(X, PLAIN)
        np.testing.assert_allclose(stream.predict(X), model.predict(X), rtol=1e-12)
        loaded = GegenbauerRegressorCV(spectrum=None, lam=number, n_terms=5, alphas=[number])
        assert loaded.fit(X, PLAIN).alpha_ == third
    # of many samples, and targets far from zero
    many, far = np.tile(X, (5, 1)), np.tile(PLAIN, 5) + 100.0
    with pytest.warns(PenalizedConstantWarning):
        GegenbauerRegressor(3, alpha=Fraction(1, 3)).fit(many, far)
    # beyond 64 bits, which NumPy knows as objects alone
    heavy = GegenbauerRegressor(5, alpha=10**30).fit(X, PLAIN)
    assert heavy.term_coef_.tolist() == (
        GegenbauerRegressor(5, alpha=1e30).fit(X, PLAIN).term_coef_.tolist()
    )


@pytest.mark.parametrize(
    "value", [10**400, 10**5000, Fraction(10**400), Fraction(10**5000, 3)], ids="abcd"
)
@pytest.mark.parametrize("name", ["alpha", "lam"])
def test_numbers_beyond_float64(name, value):
    with pytest.raises(ValueError, match=f"^`{name}` must be within the range of float64, got "):
        GegenbauerRegressor(5, **{name: value}).fit(X, PLAIN)


@pytest.mark.parametrize("value", [10**400, 10**5000], ids=["400", "5000"])
@pytest.mark.parametrize("name", ["n_terms", "degree", "max_interaction"])
def test_integers_beyond_64_bits(name, value):
    with pytest.raises(ValueError, match=f"^`{name}` must be at most 4611686018427387904, got "):
        GegenbauerRegressor(**{"n_terms": 5, name: value}).fit(X, PLAIN)
    with pytest.raises(ValueError, match=f"^`{name}` must be at most 4611686018427387904, got "):
        count_terms(3, **{"degree": 2, name: value})


@pytest.mark.parametrize(
    "value", [np.timedelta64(3, "s"), np.timedelta64(3, "D"), DAYS[0], np.ma.masked]
)
@pytest.mark.parametrize("name", ["alpha", "lam", "n_terms", "degree", "n_jobs"])
def test_parameters_that_are_no_numbers(name, value):
    with pytest.raises((ValueError, TypeError), match=rf"\b{name}\b.* must be an? "):
        GegenbauerRegressor(**{"n_terms": 5, name: value}).fit(X, PLAIN)
    if name == "alpha":
        with pytest.raises(TypeError, match="`alpha` must be a number"):
            solve_ridge(BASIS, X, PLAIN, value)


@pytest.mark.parametrize("cls", [GegenbauerRegressor, GegenbauerClassifier, GegenbauerFeatures])
@pytest.mark.parametrize("domain", [[0, 1], [-1.0, 1.0]])
def test_domain_as_json_gives_it(cls, domain):
    model = cls(n_terms=5, domain=domain).fit(X, LABELS)
    assert model.scaling_.domain == tuple(domain)
    assert model.get_params()["domain"] is domain
    if hasattr(model, "partial_fit"):
        options = {} if cls is GegenbauerRegressor else {"classes": [0, 1]}
        parts = [cls(5, domain=each).partial_fit(X, LABELS, **options) for each in (domain, domain)]
        assert sum(parts).n_samples_seen_ == 2 * N


@pytest.mark.parametrize("domain", [[0, 2], [1, 0], [0], [[0, 1]], "01", None, [0, "1"], 0.5])
def test_other_domains(domain):
    with pytest.raises(ValueError, match="domain"):
        GegenbauerRegressor(5, domain=domain).fit(X, PLAIN)


# --- What is not there ----------------------------------------------------------------------------


def test_missing_methods_name_the_estimator_that_has_them():
    with pytest.raises(AttributeError, match="GegenbauerClassifierCV has it"):
        GegenbauerClassifier().predict_proba  # noqa: B018
    with pytest.raises(AttributeError, match="GegenbauerRegressorCV has it"):
        regressor().fit(X, PLAIN).predict_interval  # noqa: B018
    assert not hasattr(GegenbauerClassifier(), "predict_proba")
    assert hasattr(GegenbauerClassifierCV, "predict_proba")
    assert hasattr(GegenbauerRegressorCV, "predict_interval")


def test_tab_completion_offers_public_names():
    packages = set(dir(gegenbauer)) - set(gegenbauer.__all__)
    assert packages == {
        "basis", "batches", "errors", "estimators", "export", "inspection", "persistence",
        "plotting", "report", "ridge", "selection",
    }  # fmt: skip
    for name in dir(gegenbauer):
        assert getattr(gegenbauer, name) is not None


def test_dask_is_missing():
    program = (
        "import sys; sys.modules['dask'] = None\n"
        "try:\n    import gegenbauer.dask\n"
        "except ImportError as error:\n    print(error)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert "needs Dask" in found.stdout, found.stderr
    assert "extra 'dask'" in found.stdout


# --- Inputs far outside ---------------------------------------------------------------------------

# inputs of about 1e-3, and a sample at 0.9, which is a small number but 900 ranges away
NARROW = InputScaling([0.0], [1e-3], domain=(0, 1), clip=False)
NEAR = np.linspace(0.0, 1e-3, 20)[:, np.newaxis]
FAR = np.vstack([NEAR[:19], [[0.9]]])
STEEP = TensorBasis(1, degree=150)
STEEP_KERNEL = TotalDegreeKernel(1, 150)
RISE = np.linspace(-1.0, 2.0, 20)
FOLDS = np.array_split(np.arange(20), 4)

FAR_OUT = {
    "evaluate": lambda: STEEP.evaluate(FAR, scaling=NARROW),
    "evaluate, float32": lambda: TensorBasis(1, degree=20).evaluate(
        FAR, scaling=NARROW, dtype=np.float32
    ),
    "evaluate into": lambda: STEEP.evaluate(FAR, scaling=NARROW, out=np.empty((20, 151))),
    "predict": lambda: predict(STEEP, FAR, np.ones(151), scaling=NARROW),
    **{
        f"solve_ridge, {engine}, {solver}": lambda engine=engine, solver=solver: solve_ridge(
            STEEP, FAR, RISE, 1e-3, scaling=NARROW, engine=engine, solver=solver
        )
        for engine in ("auto", "primal", "moments", "dual", "kernel")
        for solver in ("auto", "orthogonal")
    },
    "kernel": lambda: STEEP_KERNEL(FAR, scaling=NARROW),
    "kernel, others": lambda: STEEP_KERNEL(NEAR, FAR, scaling=NARROW),
    "diagonal": lambda: STEEP_KERNEL.diagonal(FAR, scaling=NARROW),
    "solve_kernel": lambda: solve_kernel(STEEP_KERNEL, FAR, RISE, 1e-3, scaling=NARROW),
    "predict_kernel": lambda: predict_kernel(STEEP_KERNEL, FAR, NEAR, RISE, scaling=NARROW),
    "leave_one_out": lambda: leave_one_out(STEEP_KERNEL, FAR, RISE, 1e-3, scaling=NARROW),
    "GramStatistics": lambda: GramStatistics.from_data(STEEP, FAR, RISE, scaling=NARROW),
    "MomentStatistics": lambda: MomentStatistics.from_data(STEEP, FAR, RISE, scaling=NARROW),
    "kfold_predictions": lambda: kfold_predictions(STEEP, FAR, RISE, FOLDS, [1e-3], scaling=NARROW),
    **{
        f"RidgePath, {method}": lambda method=method: RidgePath(
            STEEP, FAR, RISE, scaling=NARROW, method=method
        )
        for method in ("auto", "svd", "dual", "primal")
    },
    "RidgePath of a kernel": lambda: RidgePath(STEEP_KERNEL, FAR, RISE, scaling=NARROW),
    "predict of a path": lambda: RidgePath(STEEP, NEAR, RISE, scaling=NARROW).predict(
        FAR, [1e-9, 1e-3]
    ),
    "prefix_surface": lambda: prefix_surface(STEEP, FAR, RISE, [1e-3], scaling=NARROW),
    "prefix_surface, test": lambda: prefix_surface(
        STEEP, NEAR, RISE, [1e-3], scaling=NARROW, X_test=FAR, Y_test=RISE
    ),
    **{
        f"{cls.__name__}.{method}": lambda cls=cls, method=method: getattr(
            cls(n_terms=151, out_of_range="extrapolate").fit(
                NEAR, LABELS[:1].repeat(20) + (RISE > 0)
            ),
            method,
        )(FAR)
        for cls, method in (
            (GegenbauerFeatures, "transform"),
            (GegenbauerRegressor, "predict"),
            (GegenbauerClassifier, "predict"),
            (GegenbauerClassifier, "decision_function"),
        )
    },
}


@pytest.mark.filterwarnings("ignore:The linear system of this fit is ill-conditioned")
@pytest.mark.parametrize("call", FAR_OUT)
def test_far_outside(call):
    """An error that names it, and neither infinities nor what came of them."""
    with pytest.raises(BeyondRangeError, match=r"clip|is too large"):
        FAR_OUT[call]()


# --- What else takes numbers ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["masked", "spans", "dates"])
def test_other_arguments(kind):
    value = COLUMNS[kind]()
    classes = GegenbauerClassifierCV(spectrum=(0.5, 2.0)).fit(X, LABELS)
    for call in (
        lambda: PowerDecay(value, 2.0),
        lambda: ReliabilityDisplay.from_predictions(value, np.full(N, 0.5)),
        lambda: ReliabilityDisplay.from_predictions(LABELS, value),
        lambda: ReliabilityDisplay.from_estimator(classes, value),
        lambda: kernel_sobol_indices(KERNEL, X, PLAIN, intercept=value[3:4]),
    ):
        with pytest.raises(ValueError, match=REFUSED):
            call()


def test_class_weights():
    expected = GegenbauerClassifier(5, class_weight={0: 1 / 3, 1: 2.0}).fit(X, LABELS)
    found = GegenbauerClassifier(5, class_weight={0: Fraction(1, 3), 1: 2}).fit(X, LABELS)
    np.testing.assert_array_equal(found.term_coef_, expected.term_coef_)
    with pytest.raises(ValueError, match="`class_weight` must be within the range of float64"):
        GegenbauerClassifier(5, class_weight={0: 10**400, 1: 1}).fit(X, LABELS)
    with pytest.raises(TypeError, match="`class_weight` must hold numbers, got np"):
        GegenbauerClassifier(5, class_weight={0: np.timedelta64(3), 1: 1}).fit(X, LABELS)


def test_points_of_any_kind_of_number():
    found = gegenbauer_vander([Fraction(3, 10), 1], 3, 0.5)
    np.testing.assert_array_equal(found, gegenbauer_vander([0.3, 1.0], 3, 0.5))
    with pytest.raises(ValueError, match=r"x must hold real numbers, .* beyond float64"):
        gegenbauer_vander([10**400], 3, 0.5)


# --- Probabilities far outside --------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_probabilities_of_any_finite_outputs(scale):
    """exp and its arguments overflow; what they stand for does not."""
    most = np.finfo(float).max
    two = ProbabilityMap(scale, np.array([0.5, -0.5]))(np.array([[most], [-most], [0.0]]))
    expected = 1 / (1 + np.exp(1.0))
    np.testing.assert_allclose(two, [[0, 1], [1, 0], [1 - expected, expected]], atol=1e-15)
    three = ProbabilityMap(scale, np.array([0.0, 1.0, -1.0]))(
        np.array([[most, -most, 0.0], [-most, -most, -most], [most, most, -most]])
    )
    e = np.exp([0.0, 1.0, -1.0])
    np.testing.assert_allclose(
        three, [[1, 0, 0], e / e.sum(), [*(e[:2] / e[:2].sum()), 0]], atol=1e-15
    )


def test_probabilities_near_are_the_softmax():
    rng = np.random.default_rng(0)
    outputs, bias = rng.normal(size=(50, 4)), rng.normal(size=4)
    expected = softmax(3.7 * outputs + bias, axis=1)
    np.testing.assert_allclose(ProbabilityMap(3.7, bias)(outputs), expected, rtol=1e-13)


@pytest.mark.parametrize("n_classes", [2, 3, "multilabel"])
def test_predict_proba_far_outside(n_classes):
    """Probabilities as long as outputs are finite, then an error; logits give out earlier."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    y = (X[:, 0] > 0.5).astype(int) + (n_classes == 3) * (X[:, 1] > 0.5)
    if n_classes == "multilabel":
        y = np.column_stack([y, X[:, 1] > 0.3])
    model = GegenbauerClassifierCV(n_terms=20, out_of_range="extrapolate").fit(X, y)
    # so steep that logits overflow where outputs do not
    model.probability_maps_ = [ProbabilityMap(1e9, m.bias) for m in model.probability_maps_]
    far = (X[:5] + 0.1)[:, ::-1]
    probable = logits = 0
    for exponent in np.linspace(20, 160, 281):
        try:
            proba = model.predict_proba(far * 10**exponent)
        except BeyondRangeError:
            proba = None
        else:
            probable += 1
            assert np.isfinite(proba).all()
            assert ((proba >= 0) & (proba <= 1)).all()
            if n_classes != "multilabel":
                np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-14)
        try:
            decision = model.decision_function(far * 10**exponent)
        except BeyondRangeError:
            continue
        logits += 1
        assert np.isfinite(decision).all()
        assert proba is not None
    assert 0 < logits < probable < 281
