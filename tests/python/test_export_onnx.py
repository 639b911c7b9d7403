"""Models of ONNX, run by onnxruntime, against the estimators."""

from __future__ import annotations

import json

import numpy as np
import pytest
from export_models import NAMES, case, is_real, random_case

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
)
from gegenbauer.export import to_onnx

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

OUTPUTS = {"decision_function": "decision", "predict_proba": "probabilities"}


def run(model, X):
    """Return the outputs of a model of ONNX by name."""
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, {"X": X}), strict=True))
    for output in session.get_outputs():
        assert found[output.name].ndim == len(output.shape)
        assert list(found[output.name].shape[1:]) == output.shape[1:]
    return found


def answers(one, found):
    """Return outputs by the methods of the estimator."""
    first = "label" if "label" in found else "prediction"
    return {method: found[OUTPUTS.get(method, first)] for method in one.methods}


def check(one):
    found = run(to_onnx(one.model), one.codes)
    for method, values in answers(one, found).items():
        expected = one.expected(method)
        assert values.shape == expected.shape
        if is_real(method, one.model):
            assert values.dtype == np.float64
            np.testing.assert_allclose(
                values, expected, rtol=0, atol=one.tolerance(method, 1e-12), err_msg=method
            )
        else:
            np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("name", NAMES)
def test_predicts_as_the_model(name):
    check(case(name))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_predicts_as_models_of_random_kinds(seed):
    check(random_case(seed))


@pytest.mark.parametrize(
    "name", ["raw", "mixed", "calibrated_floats", "three_texts", "mixed_kernel"]
)
def test_float32(name):
    one = case(name)
    with np.errstate(over="ignore"):
        X = one.codes.astype(np.float32)
    keep = np.isfinite(X) | np.isnan(X)
    rows = keep.all(axis=1)  # beyond the range of float32 is infinite there
    found = run(to_onnx(one.model, dtype=np.float32), X[rows])
    for method, values in answers(one, found).items():
        if is_real(method, one.model):
            assert values.dtype == np.float32
            expected = one.expected(method)[rows]
            np.testing.assert_allclose(values, expected, rtol=0, atol=one.tolerance(method, 1e-5))


@pytest.mark.slow
def test_a_thousand_centres():
    X = np.random.default_rng(0).uniform(size=(1200, 5))
    model = GegenbauerRegressorCV().fit(X, np.sin(3.0 * X[:, 0]) * X[:, 1])
    made = to_onnx(model)
    assert len(made.SerializeToString()) < 2_000_000
    Z = np.random.default_rng(1).uniform(-0.2, 1.2, size=(500, 5))
    coef, box = np.abs(model.dual_coef_), model.scaling_
    of_x, of_z = (model.kernel_.diagonal(part, scaling=box) for part in (Z, model.X_fit_))
    atol = 1e-12 * float(np.sqrt(of_x.max()) * (np.sqrt(of_z) @ coef).max())
    np.testing.assert_allclose(run(made, Z)["prediction"], model.predict(Z), rtol=0, atol=atol)


def test_refused_samples_have_no_numbers():
    X = np.random.default_rng(2).uniform(size=(60, 2))
    rows = np.array([[0.5, 0.5], [np.nan, 0.5], [0.5, np.inf], [-np.inf, 0.5]])
    model = GegenbauerClassifierCV(n_terms=10).fit(X, X[:, 0] > 0.5)
    found = run(to_onnx(model), rows)
    np.testing.assert_array_equal(np.isnan(found["decision"]), [False, False, True, True])
    np.testing.assert_array_equal(
        np.isnan(found["probabilities"][:, 1]), [False, False, True, True]
    )
    model = GegenbauerRegressor(n_terms=10, missing="error").fit(X, X[:, 0])
    found = run(to_onnx(model), rows)
    np.testing.assert_array_equal(np.isnan(found["prediction"]), [False, True, True, True])


def test_metadata_hold_the_codes():
    made = to_onnx(case("mixed").model)
    (entry,) = made.metadata_props
    assert entry.key == "inputs"
    assert json.loads(entry.value) == [
        {"name": "length (cm)"},
        {"name": "colour", "categories": ["blue */", "it's", "red", None]},
        {"name": "gap"},
        {"name": "flag", "categories": [False, True]},
    ]
    assert made.producer_name == "gegenbauer"


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_over(name):
    graph = to_onnx(case(name).model).graph
    used = {name for node in graph.node for name in node.input}
    ends = {output.name for output in graph.output}
    assert {tensor.name for tensor in graph.initializer} <= used
    assert {node.output[0] for node in graph.node} <= used | ends


@pytest.mark.parametrize("dtype", ["float16", np.int64, "no", 5])
def test_refuses_other_types(dtype):
    with pytest.raises(TypeError, match="`dtype` must be float64 or float32, got"):
        to_onnx(case("raw").model, dtype=dtype)


def test_refuses_labels_beyond_int64():
    X = np.random.default_rng(3).uniform(size=(30, 2))
    y = np.where(X[:, 0] > 0.5, np.uint64(2**63 + 1), np.uint64(0))
    with pytest.raises(ValueError, match="labels beyond int64"):
        to_onnx(GegenbauerClassifier(n_terms=5).fit(X, y))
