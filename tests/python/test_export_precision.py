"""How many digits exports have: the figure that they report, and what is refused."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import warnings

import numpy as np
import pytest
from export_models import NAMES, case

from gegenbauer import GegenbauerClassifier, GegenbauerRegressor, GegenbauerRegressorCV
from gegenbauer.errors import RoundingWarning
from gegenbauer.export import register_skl2onnx, to_c, to_numpy_source, to_onnx
from gegenbauer.export.description import describe
from gegenbauer.export.precision import rounding

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

TYPES = [np.float64, np.float32]


def onnx_outputs(made, X):
    session = runtime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": X})


def share_of(found, expected):
    """Return the largest difference as a share of the largest output."""
    return float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))


@pytest.fixture(scope="module")
def steep():
    """Return a model of large coefficients, of hardly any noise, and its samples."""
    rng = np.random.default_rng(3)
    X = np.exp(6.0 * rng.uniform(size=(300, 2)))
    y = np.sin(np.log(X[:, 0])) + np.log(X[:, 1]) + 1e-6 * rng.normal(size=300)
    return GegenbauerRegressorCV(out_of_range="clip").fit(X, y), X


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", NAMES)
def test_the_figure_is_what_onnxruntime_differs_by(name, dtype):
    one = case(name)
    method = one.methods[min(1, len(one.methods) - 1)]
    expected = one.expected(method)
    with np.errstate(over="ignore"):
        X = one.codes.astype(dtype)
    rows = (np.isfinite(X) | np.isnan(X)).all(axis=1)
    figure = rounding(describe(one.model), dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RoundingWarning)
        made = to_onnx(one.model, dtype=dtype)
    found = onnx_outputs(made, X[rows])[0 if method == "predict" else 1]
    assert share_of(found, expected[rows]) <= 5.0 * figure
    assert f"by some {figure:.0e} of the largest output" in made.doc_string


def test_sums_of_large_summands_report_what_they_lose(steep):
    model, X = steep
    figure = rounding(describe(model))
    assert 1e-9 < figure < 1e-4
    with pytest.warns(RoundingWarning):
        module = to_numpy_source(model)
    with pytest.warns(RoundingWarning):
        made = to_onnx(model)
    expected = model.predict(X)
    space: dict = {}
    exec(module, space)
    for found in (space["predict"](X), onnx_outputs(made, X)[0]):
        assert share_of(found, expected) <= figure


@pytest.mark.skipif(shutil.which("gcc") is None or os.name == "nt", reason="needs gcc")
def test_c_reports_what_it_loses(steep, tmp_path):
    model, X = steep
    figure = rounding(describe(model))
    with pytest.warns(RoundingWarning, match=rf"float64 .* by some {figure:.0e} of the largest"):
        source = to_c(model)
    assert f"by some {figure:.0e} of the largest output" in source
    (tmp_path / "model.c").write_text(source)
    command = ["gcc", "-O1", "-shared", "-fPIC", "model.c", "-o", "model.so", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "model.so"))
    doubles = ctypes.POINTER(ctypes.c_double)
    found, one = np.empty(len(X)), ctypes.c_double()
    for i, x in enumerate(X):
        library.predict(np.ascontiguousarray(x).ctypes.data_as(doubles), ctypes.byref(one))
        found[i] = one.value
    assert share_of(found, model.predict(X)) <= figure


def test_no_digit_in_float32_is_refused(steep):
    model, _ = steep
    with pytest.raises(ValueError, match=r"no digit in float32: .*: export it in float64"):
        to_onnx(model, dtype=np.float32)


def test_few_digits_in_float32_are_reported():
    model = case("five_kernels").model
    with pytest.warns(RoundingWarning, match="export it in float64, or fit with `n_terms`"):
        to_onnx(model, dtype=np.float32)


def test_steps_of_skl2onnx_report_it(steep):
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import FloatTensorType

    register_skl2onnx()
    with pytest.raises(ValueError, match="no digit in float32"):
        skl2onnx.convert_sklearn(steep[0], initial_types=[("X", FloatTensorType([None, 2]))])


@pytest.mark.parametrize("factor", [1e40, 1e-200])
def test_coefficients_beyond_float32_are_refused(factor):
    X = np.random.default_rng(5).uniform(size=(60, 2))
    y = np.column_stack([X[:, 0], factor * X[:, 1]])
    model = GegenbauerRegressor(n_terms=10, out_of_range="clip").fit(X, y)
    with pytest.raises(ValueError, match=r"has coefficients of .*, which float32 does not hold"):
        to_onnx(model, dtype=np.float32)
    np.testing.assert_allclose(onnx_outputs(to_onnx(model), X)[0], model.predict(X), rtol=1e-11)


@pytest.mark.parametrize(
    ("scale", "shift", "match"),
    [
        (1e300, 0.0, "'x1' from .* which float32 does not hold"),
        (1e-300, 0.0, "'x1' from .* which float32 does not hold"),
        (1e9, 1e15, "no digit in float32"),
    ],
)
def test_inputs_beyond_float32_are_refused(scale, shift, match):
    X = np.random.default_rng(6).uniform(size=(60, 2))
    y = np.sin(9.0 * X[:, 1])
    X[:, 1] = scale * X[:, 1] + shift
    model = GegenbauerRegressor(n_terms=20, out_of_range="clip").fit(X, y)
    with pytest.raises(ValueError, match=match):
        to_onnx(model, dtype=np.float32)
    expected = model.predict(X)
    assert share_of(onnx_outputs(to_onnx(model), X)[0], expected) < 1e-12


def test_labels_keep_their_digits_in_float32():
    X = np.random.default_rng(7).uniform(size=(60, 2))
    model = GegenbauerClassifier(n_terms=10).fit(X, np.where(X[:, 0] > 0.5, 1e15 + 1.0, -3.0))
    label = onnx_outputs(to_onnx(model, dtype=np.float32), X.astype(np.float32))[0]
    np.testing.assert_array_equal(label, model.predict(X))
