"""Models as Python modules that need NumPy alone, against the estimators."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from export_models import NAMES, UNKNOWN, case, is_real, random_case

from gegenbauer import GegenbauerRegressor, GegenbauerRegressorCV
from gegenbauer.export import to_numpy_source


def module_of(model):
    module = {}
    exec(compile(to_numpy_source(model), "<exported>", "exec"), module)
    return module


def check(one):
    module = module_of(one.model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {method: module[method](one.codes) for method in one.methods}
    for method, values in found.items():
        expected = one.expected(method)
        assert values.shape == expected.shape
        if is_real(method, one.model):
            np.testing.assert_allclose(
                values, expected, rtol=0, atol=one.tolerance(method, 1e-13), err_msg=method
            )
        else:
            np.testing.assert_array_equal(values, expected)
            assert values.dtype.kind == expected.dtype.kind


@pytest.mark.parametrize("name", NAMES)
def test_predicts_as_the_model(name):
    check(case(name))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_predicts_as_models_of_random_kinds(seed):
    check(random_case(seed))


def test_needs_numpy_alone(tmp_path):
    one = case("mixed_kernel")
    (tmp_path / "model.py").write_text(to_numpy_source(one.model), encoding="ascii")
    np.save(tmp_path / "X.npy", one.codes[:5])
    code = (
        "import sys, warnings; warnings.simplefilter('ignore'); import numpy as np, model\n"
        "print(*model.predict(np.load('X.npy')).ravel().tolist())\n"
        "ours = ('gegenbauer', 'sklearn', 'scipy')\n"
        "print([name for name in sys.modules if name.startswith(ours)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    values, modules = done.stdout.splitlines()
    expected = one.expected("predict")[:5]
    atol = one.tolerance("predict", 1e-13)
    np.testing.assert_allclose(
        np.array(values.split(), float).reshape(5, -1), expected, rtol=0, atol=atol
    )
    assert modules == "[]"


def test_encodes_rows():
    one = case("mixed")
    found = module_of(one.model)["encode"](one.X.to_numpy(dtype=object).tolist())
    np.testing.assert_array_equal(found, np.where(one.codes == UNKNOWN, np.nan, one.codes))


@pytest.mark.parametrize("library", ["pandas", "polars", "nullable"])
def test_encodes_tables(library):
    rng = np.random.default_rng(8)
    table = pd.DataFrame(
        {
            "colour": rng.choice(["red", "blue", None], 100),
            "kind": rng.choice(["u", "v"], 100),
            "width": np.where(rng.uniform(size=100) < 0.1, np.nan, rng.uniform(size=100)),
        }
    )
    y = (table["colour"] == "red") + 2.0 * (table["kind"] == "u") + table["width"].fillna(0.0)
    model = GegenbauerRegressor(n_terms=20).fit(table, y)
    module = module_of(model)
    if library == "polars":
        given = pytest.importorskip("polars").from_pandas(table)
    else:
        given = table.convert_dtypes() if library == "nullable" else table
    found = module["encode"](given)
    codes = table["colour"].map({"blue": 0.0, "red": 1.0}).fillna(2.0)
    np.testing.assert_array_equal(found[:, 0], codes)
    np.testing.assert_array_equal(found[:, 1], table["kind"] == "v")
    np.testing.assert_array_equal(found[:, 2], table["width"])
    expected = model.predict(table)
    np.testing.assert_allclose(module["predict"](found), expected, rtol=0, atol=1e-12)
    if library == "pandas":
        with pytest.raises(ValueError, match=r"X must hold numbers alone, see encode\(\): "):
            module["predict"](given)


def test_encode_checks_rows():
    encode = module_of(case("mixed").model)["encode"]
    np.testing.assert_array_equal(
        encode([[0.5, "red", pd.NA, True], [None, "it's", 2, False]]),
        [[0.5, 2.0, np.nan, 1.0], [np.nan, 1.0, 2.0, 0.0]],
    )
    assert encode([]).shape == (0, 4)
    for row, n in (([0.5, "red", 1.0], 3), ([0.5, "red", 1.0, True, 2], 5)):
        with pytest.raises(ValueError, match=f"^row 1 must have 4 values, got {n}$"):
            encode([[0.5, "red", 1.0, True], row])
    for row in ("reds", 0.5, {"length (cm)": 0.5}):
        with pytest.raises(TypeError, match=r"^row 0 must be a list of values, one an input, got"):
            encode([row])


def test_docstring_shows_labels_as_they_are():
    table = pd.DataFrame({"a": ['bl"ue', 'q"""', "back\\slash", "end\\"] * 10})
    y = np.arange(40.0) % 4
    module = module_of(GegenbauerRegressor(n_terms=4).fit(table, y))
    codes = ["0 'back\\\\slash'", "1 'bl\"ue'", "2 'end\\\\'", '3 \'q"""\'']
    assert f"0: 'a', a category of the codes {', '.join(codes)}" in module["__doc__"]


def test_refuses_what_the_model_refuses():
    X = np.random.default_rng(0).uniform(size=(30, 2))
    model = GegenbauerRegressor(n_terms=5, missing="error").fit(X, X[:, 0])
    predict = module_of(model)["predict"]
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match=rf"^the model refuses {bad} in x1, first in row 1$"):
            predict([[0.5, 0.5], [0.5, bad]])
    with pytest.raises(ValueError, match=r"must have shape \(n_samples, 2\), got \(2,\)"):
        predict([0.5, 0.5])


@pytest.mark.parametrize("out_of_range", ["error", "warn", "clip"])
def test_policy_is_that_of_the_model(out_of_range):
    X = np.random.default_rng(1).uniform(size=(30, 2))
    model = GegenbauerRegressor(n_terms=5, out_of_range=out_of_range).fit(X, X[:, 0])
    predict = module_of(model)["predict"]
    outside = [[0.5, 0.5], [0.5, 1.5]]
    if out_of_range == "error":
        with pytest.raises(ValueError, match=r"refuses 1\.5 in x1"):
            predict(outside)
        with pytest.raises(ValueError, match="refuses nan in x0"):  # the fit saw no gap
            predict([[np.nan, 0.5]])
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = predict(outside)
    assert [str(one.message).partition(";")[0] for one in caught] == [
        "1 of 2 samples lie outside of what the fit saw"
    ] * (out_of_range == "warn")
    assert all(one.filename == __file__ for one in caught)
    np.testing.assert_allclose(found, model.predict(outside), rtol=1e-14)


@pytest.mark.filterwarnings("ignore::gegenbauer.errors.OutlierWarning")
def test_box_with_fences_has_the_range_of_the_samples_for_its_policy():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 1))
    X[0] = 1e6  # beyond the fence, and seen
    model = GegenbauerRegressorCV(n_terms=10, out_of_range="error").fit(X, np.tanh(X[:, 0]))
    assert model.scaling_.upper[0] < 1e3
    predict = module_of(model)["predict"]
    np.testing.assert_allclose(predict(X), model.predict(X), rtol=0, atol=1e-13)
    with pytest.raises(ValueError, match="refuses 2000000"):
        predict([[2e6]])
