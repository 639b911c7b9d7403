"""Pipelines, and estimators that hold others, converted by skl2onnx and run by onnxruntime."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble, multiclass, multioutput
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
)
from gegenbauer.export import register_skl2onnx

runtime = pytest.importorskip("onnxruntime")
skl2onnx = pytest.importorskip("skl2onnx")
types = pytest.importorskip("skl2onnx.common.data_types")

# What skl2onnx warns of, and models of a part of few samples
pytestmark = pytest.mark.filterwarnings(
    "ignore:Option zipmap is ignored:UserWarning",
    "ignore::gegenbauer.errors.UnderfittingWarning",
)


@pytest.fixture(autouse=True)
def _registered():
    register_skl2onnx()


def samples():
    X = np.random.default_rng(4).normal(2.0, 3.0, size=(150, 4))
    return X, X[:, 0] * X[:, 1] + np.random.default_rng(5).normal(size=150)


def classes(y):
    return np.digitize(y, [0.0, 5.0])


def run(made, feed):
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = runtime.InferenceSession(
        made.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feed), strict=True))


def convert(model, X, kind=None, **options):
    kind = kind or types.DoubleTensorType
    return skl2onnx.convert_sklearn(
        model, initial_types=[("X", kind([None, X.shape[1]]))], options=options or None
    )


def arrays(model, X, **options):
    """Return the outputs of a converted model, in their order, without dictionaries."""
    if is_classifier(model):
        options = {"zipmap": False} | options
    made = skl2onnx.convert_sklearn(
        model,
        initial_types=[("X", types.DoubleTensorType([None, X.shape[1]]))],
        options={id(model): options} if options else None,
    )
    return list(run(made, {"X": X}).values())


# ---- a step alone and in pipelines ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (GegenbauerRegressor(n_terms=30), "number"),
        (GegenbauerRegressor(n_terms=30), "numbers"),
        (GegenbauerRegressorCV(), "number"),
        (GegenbauerClassifier(n_terms=30), "truth"),
        (GegenbauerClassifier(n_terms=30), "text"),
        (GegenbauerClassifierCV(n_terms=30), "truth"),
        (GegenbauerClassifierCV(n_terms=30), "text"),
        (GegenbauerClassifierCV(n_terms=30), "labels"),
    ],
)
@pytest.mark.parametrize("scores", [False, True])
def test_pipelines_convert(model, target, scores):
    X, y = samples()
    targets = {
        "number": y,
        "numbers": np.column_stack([y, -y]),
        "truth": y > 0,
        "text": np.array(["a", "b", "c"])[classes(y)],
        "labels": np.column_stack([y > 0, y > 5]).astype(int),
    }
    pipeline = make_pipeline(StandardScaler(), model).fit(X, targets[target])
    if not is_classifier(model):
        found = run(convert(pipeline, X), {"X": X})
        expected = pipeline.predict(X).reshape(len(X), -1)
        atol = 1e-10 * np.abs(expected).max()  # StandardScaler's rounding, too
        np.testing.assert_allclose(found["prediction"], expected, rtol=0, atol=atol)
        return
    made = skl2onnx.convert_sklearn(
        pipeline,
        initial_types=[("X", types.DoubleTensorType([None, 4]))],
        options={id(pipeline[-1]): {"raw_scores": scores, "zipmap": False}},
    )
    found = run(made, {"X": X})
    np.testing.assert_array_equal(found["label"], pipeline.predict(X))
    if hasattr(model, "predict_proba") and not scores:
        assert list(found) == ["label", "probabilities"]
        expected = pipeline.predict_proba(X)
        np.testing.assert_allclose(found["probabilities"], expected, rtol=0, atol=1e-11)
        return
    assert list(found) == ["label", "decision"]
    expected = pipeline.decision_function(X)
    expected = np.column_stack([-expected, expected]) if expected.ndim == 1 else expected
    np.testing.assert_allclose(found["decision"], expected, rtol=1e-10, atol=1e-10)


def test_inputs_of_float32_give_float32():
    X = np.random.default_rng(5).normal(size=(60, 4)).astype(np.float32)
    pipeline = make_pipeline(StandardScaler(), GegenbauerRegressor(n_terms=30)).fit(X, X[:, 0])
    found = run(convert(pipeline, X, types.FloatTensorType), {"X": X})["prediction"]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[:, 0], pipeline.predict(X), rtol=0, atol=1e-5)


@pytest.mark.parametrize("encoder", [OneHotEncoder(sparse_output=False), OrdinalEncoder()])
def test_columns_of_text_behind_an_encoder(encoder):
    X, y = samples()
    colours = np.where(y > 0.0, "red", "blue")
    table = pd.DataFrame({"colour": colours, "width": X[:, 0], "depth": X[:, 1]})
    encode = make_column_transformer((encoder, ["colour"]), remainder="passthrough")
    pipeline = make_pipeline(encode, GegenbauerRegressor(n_terms=20)).fit(table, y)
    double = types.DoubleTensorType([None, 1])
    kinds = [types.StringTensorType([None, 1]), double, double]
    made = skl2onnx.convert_sklearn(
        pipeline, initial_types=list(zip(table.columns, kinds, strict=True))
    )
    feed = {name: table[[name]].to_numpy() for name in table.columns}
    found = run(made, feed)["prediction"][:, 0]
    np.testing.assert_allclose(found, pipeline.predict(table), rtol=0, atol=1e-5)  # in float32


@pytest.mark.parametrize("category", [True, False])
def test_text_is_refused_at_conversion(category):
    X, y = samples()
    table = pd.DataFrame({"colour": np.where(y > 0.0, "red", "blue"), "width": X[:, 0]})
    if category:
        model = GegenbauerRegressor(n_terms=20).fit(table, y)
        match = "'colour' is text: a category arrives as its code"
    else:
        model = GegenbauerRegressor(n_terms=20).fit(X[:, :2], y)
        match = "'colour' is text: put an encoder before it"
    kinds = [types.StringTensorType([None, 1]), types.DoubleTensorType([None, 1])]
    with pytest.raises(TypeError, match=match):
        skl2onnx.convert_sklearn(model, initial_types=list(zip(table.columns, kinds, strict=True)))


def test_refuses_errors():
    X, y = samples()
    model = GegenbauerRegressor(n_terms=5, out_of_range="error").fit(X, y)
    with pytest.raises(ValueError, match="cannot be exported to ONNX"):
        convert(make_pipeline(model), X)


def test_refuses_features():
    X = np.random.default_rng(0).uniform(size=(30, 2))
    pipeline = make_pipeline(GegenbauerFeatures(n_terms=4), Ridge()).fit(X, X[:, 0])
    with pytest.raises(TypeError, match="put GegenbauerRegressor or GegenbauerClassifier in the"):
        convert(pipeline, X)


def test_names_of_inputs_may_be_like_ours():
    X, y = samples()
    model = GegenbauerRegressor(n_terms=9).fit(X[:, :2], y)
    double = types.DoubleTensorType([None, 1])
    names = ["gegenbauer_g1", "gegenbauer_g2"]
    made = skl2onnx.convert_sklearn(model, initial_types=[(name, double) for name in names])
    found = run(made, {name: X[:, [t]] for t, name in enumerate(names)})
    expected = model.predict(X[:, :2])
    atol = 1e-12 * np.abs(expected).max()
    np.testing.assert_allclose(found["prediction"][:, 0], expected, rtol=0, atol=atol)


# ---- within estimators that hold others ----------------------------------------------------------


def slow(maker):
    return pytest.param(maker, marks=pytest.mark.slow)


def regressor():
    return GegenbauerRegressor(n_terms=20, out_of_range="clip")


def automatic():
    return GegenbauerRegressorCV(n_terms=20, out_of_range="clip")


def behind_scaler():
    return make_pipeline(StandardScaler(), regressor())


REGRESSORS = {
    "grid": lambda own: GridSearchCV(own(), {}, cv=3),
    "voting": lambda own: ensemble.VotingRegressor(
        [("a", own()), ("b", own())], weights=np.array([0.25, 0.75])
    ),
    "bagging": lambda own: ensemble.BaggingRegressor(
        own(), n_estimators=3, max_features=3, random_state=0
    ),
    "ada": lambda own: ensemble.AdaBoostRegressor(own(), n_estimators=3, random_state=0),
    "stacking": lambda own: ensemble.StackingRegressor(
        [("a", own()), ("b", own())], cv=3, passthrough=True
    ),
    "on a stack": lambda own: ensemble.StackingRegressor([("a", Ridge())], own(), cv=3),
    "multioutput": lambda own: multioutput.MultiOutputRegressor(own()),
    "selection": lambda own: make_pipeline(SelectFromModel(regressor()), own()),
}


@pytest.mark.parametrize("own", [regressor, slow(automatic), slow(behind_scaler)])
@pytest.mark.parametrize("around", REGRESSORS)
def test_regressors_within_others(around, own):
    X, y = samples()
    target = np.column_stack([y, X[:, 0]]) if around == "multioutput" else y
    model = REGRESSORS[around](own).fit(X, target)
    expected = model.predict(X)
    (found,) = arrays(model, X)
    # skl2onnx keeps the numbers of scikit-learn's own estimators in float32
    atol = 2e-5 * np.abs(expected).max()
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=0, atol=atol)


def classifier():
    return GegenbauerClassifier(n_terms=20, out_of_range="clip")


def calibrated():
    return GegenbauerClassifierCV(n_terms=20, out_of_range="clip")


def scaled():
    return make_pipeline(StandardScaler(), calibrated())


def voting(own, how):
    others = [("a", own()), ("b", LogisticRegression()), ("c", own())]
    return ensemble.VotingClassifier(others, voting=how, flatten_transform=False)


CLASSIFIERS = {
    "grid": lambda own: GridSearchCV(own(), {}, cv=3),
    "calibration": lambda own: CalibratedClassifierCV(own(), cv=3),
    "one calibration": lambda own: CalibratedClassifierCV(own(), cv=3, ensemble=False),
    "hard voting": lambda own: voting(own, "hard"),
    "soft voting": lambda own: voting(own, "soft"),
    "bagging": lambda own: ensemble.BaggingClassifier(
        own(), n_estimators=3, max_features=3, random_state=0
    ),
    "stacking": lambda own: ensemble.StackingClassifier(
        [("a", own()), ("b", own())], cv=3, passthrough=True
    ),
    "stacked decisions": lambda own: ensemble.StackingClassifier(
        [("a", own())], cv=3, stack_method="decision_function"
    ),
    "on a stack": lambda own: ensemble.StackingClassifier(
        [("a", LogisticRegression())], own(), cv=3
    ),
    "one versus rest": lambda own: multiclass.OneVsRestClassifier(own()),
    "one versus one": lambda own: multiclass.OneVsOneClassifier(own()),
}
NEEDS_SHARES = ("soft voting", "bagging", "one versus rest")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("own", [classifier, calibrated, slow(scaled)])
@pytest.mark.parametrize("around", CLASSIFIERS)
def test_classifiers_within_others(around, own, n_classes):
    if own is classifier and around in NEEDS_SHARES:
        pytest.skip("needs probabilities")
    X, y = samples()
    labels = classes(y) if n_classes == 3 else (y > 0).astype(int)
    model = CLASSIFIERS[around](own).fit(X, labels)
    label, other = arrays(model, X)
    np.testing.assert_array_equal(label.ravel(), model.predict(X))
    if hasattr(model, "predict_proba"):
        expected = model.predict_proba(X)
    elif hasattr(model, "decision_function"):
        expected = model.decision_function(X)
        if expected.ndim == 1:
            expected = np.column_stack([-expected, expected])
    else:  # a vote, whose second output has the shares of votes
        return
    if around != "one versus one" or n_classes == 3:
        np.testing.assert_allclose(other, expected, rtol=0, atol=2e-5 * np.abs(expected).max())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_versus_rest_of_decisions(n_classes):
    X, y = samples()
    labels = classes(y) if n_classes == 3 else (y > 0).astype(int)
    model = multiclass.OneVsRestClassifier(classifier()).fit(X, labels)
    label, scores = arrays(model, X, raw_scores=True)
    np.testing.assert_array_equal(label, model.predict(X))
    expected = model.decision_function(X)
    expected = np.column_stack([-expected, expected]) if n_classes == 2 else expected
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-11)


def test_one_versus_rest_of_several_labels():
    X, y = samples()
    labels = np.column_stack([y > 0, y > 5]).astype(int)
    model = multiclass.OneVsRestClassifier(calibrated()).fit(X, labels)
    label, shares = arrays(model, X)
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(shares, model.predict_proba(X), rtol=0, atol=1e-11)


def test_several_outputs_of_classes():
    X, y = samples()
    labels = np.column_stack([classes(y), classes(-y)])
    model = multioutput.MultiOutputClassifier(calibrated()).fit(X, labels)
    label, shares = arrays(model, X)
    np.testing.assert_array_equal(label, model.predict(X))
    for found, expected in zip(shares, model.predict_proba(X), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("labels", [[3, 7, -2], [False, True, True], ["a", "b", "c"]])
def test_labels_within_others(labels):
    X, y = samples()
    target = np.array(labels)[classes(y)]
    model = CalibratedClassifierCV(classifier(), cv=3).fit(X, target)
    label, shares = arrays(model, X)
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(shares, model.predict_proba(X), rtol=0, atol=2e-6)


def bagging(own):
    return ensemble.BaggingClassifier(own(), n_estimators=2, random_state=0)


@pytest.mark.filterwarnings("ignore::gegenbauer.errors.LightWeightsWarning")  # of AdaBoost's
@pytest.mark.parametrize(
    ("model", "labels", "match"),
    [
        (CalibratedClassifierCV(calibrated(), method="isotonic"), "int", "method='sigmoid'"),
        (bagging(classifier), "int", "in BaggingClassifier cannot be converted: skl2onnx counts"),
        (multiclass.OneVsRestClassifier(classifier()), "int", r"'raw_scores': True"),
        (multiclass.OneVsRestClassifier(classifier()), "table", "needs probabilities"),
        (multiclass.OneVsOneClassifier(calibrated()), "odd", "places of the labels"),
        (CalibratedClassifierCV(scaled(), cv=3), "text", "takes labels for integers"),
        (TunedThresholdClassifierCV(calibrated(), cv=3), "two", "only those of the page Export"),
        (ensemble.AdaBoostClassifier(calibrated(), n_estimators=2), "int", "only those of"),
        (
            ensemble.StackingClassifier([("a", calibrated())], cv=3, stack_method="predict"),
            "int",
            "stacks no labels",
        ),
    ],
)
def test_refuses_what_skl2onnx_makes_something_else_of(model, labels, match):
    X, y = samples()
    found = classes(y)
    target = {
        "int": found,
        "two": (y > 0).astype(int),
        "table": np.column_stack([y > 0, y > 5]).astype(int),
        "odd": 2 * found + 1,
        "text": np.array(["a", "b", "c"])[found],
    }[labels]
    with pytest.raises(ValueError, match=match):
        arrays(model.fit(X, target), X)


@pytest.mark.parametrize("option", ["nocl", "output_class_labels"])
def test_other_options_are_refused(option):
    X, y = samples()
    with pytest.raises(NameError, match=f"Option '{option}' not in"):
        arrays(calibrated().fit(X, classes(y)), X, **{option: True})
