"""Models as functions of C, compiled as strictly as gcc can, against the estimators."""

from __future__ import annotations

import copy
import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest
from export_models import NAMES, case, is_real, random_case

from gegenbauer import GegenbauerClassifier, GegenbauerRegressor, GegenbauerRegressorCV
from gegenbauer.export import to_c

needs_compiler = pytest.mark.skipif(
    shutil.which("gcc") is None or not hasattr(ctypes, "CDLL"), reason="needs gcc"
)

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]


def library_of(folder, sources):
    """Compile functions, given by their names, into one library."""
    for name, text in sources.items():
        (folder / f"{name}.c").write_text(text, encoding="ascii")
    path = folder / "models.so"
    files = [folder / f"{name}.c" for name in sources]
    command = ["gcc", *STRICT, "-O1", "-shared", "-fPIC", "-o", path, *files, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(path))


def call(function, rows, width):
    """Return what a function gives for each row, and what it returns."""
    pointer = ctypes.POINTER(ctypes.c_double)
    function.argtypes = [pointer, pointer]
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    found = np.full((len(rows), width + 1), 1234.5)  # one more, which must stay
    codes = [
        function(x.ctypes.data_as(pointer), y.ctypes.data_as(pointer))
        for x, y in zip(rows, found, strict=True)
    ]
    assert (found[:, width] == 1234.5).all()
    return found[:, :width], codes


def check(one, function):
    model, expected = one.model, {name: one.expected(name) for name in one.methods}
    columns = {name: values.reshape(len(values), -1) for name, values in expected.items()}
    if hasattr(model, "classes_") and not model.multilabel_:
        places = {label: k for k, label in enumerate(model.classes_.tolist())}
        columns["predict"] = np.array([[places[label]] for label in expected["predict"].tolist()])
    widths = [values.shape[1] for values in columns.values()]
    found, codes = call(function, one.codes, sum(widths))
    assert codes == [0] * len(codes)
    for method, values in zip(columns, np.split(found, np.cumsum(widths)[:-1], 1), strict=True):
        if is_real(method, model):
            np.testing.assert_allclose(
                values, columns[method], rtol=0, atol=one.tolerance(method, 1e-13), err_msg=method
            )
        else:
            np.testing.assert_array_equal(values, columns[method])


@needs_compiler
class TestCompiled:
    @pytest.fixture(scope="class")
    @staticmethod
    def library(tmp_path_factory):
        folder = tmp_path_factory.mktemp("c")
        return library_of(folder, {name: to_c(case(name).model, name=name) for name in NAMES})

    @pytest.mark.parametrize("name", NAMES)
    def test_predicts_as_the_model(self, library, name):
        check(case(name), getattr(library, name))

    @pytest.mark.slow
    def test_predicts_as_models_of_random_kinds(self, tmp_path):
        ones = {f"m{seed}": random_case(seed) for seed in range(100)}
        library = library_of(
            tmp_path, {name: to_c(one.model, name=name) for name, one in ones.items()}
        )
        for name, one in ones.items():
            check(one, getattr(library, name))

    def test_refuses_what_the_model_refuses(self, tmp_path):
        X = np.random.default_rng(0).uniform(size=(30, 3))
        y = np.column_stack([X[:, 0], X[:, 1]])
        models = {
            "gaps": GegenbauerRegressor(n_terms=5),
            "full": GegenbauerRegressor(n_terms=5, missing="error"),
            "strict": GegenbauerRegressor(n_terms=5, out_of_range="error"),
        }
        rows = np.full((5, 3), 0.5)
        rows[1, 2], rows[2, 1], rows[3, 0], rows[4, 1:] = np.inf, np.nan, 1.5, -np.inf
        library = library_of(
            tmp_path, {name: to_c(model.fit(X, y), name=name) for name, model in models.items()}
        )
        for name, expected in (
            ("gaps", [0, 3, 0, 0, 2]), ("full", [0, 3, 2, 0, 2]), ("strict", [0, 3, 2, 1, 2]),
        ):  # fmt: skip
            found, codes = call(getattr(library, name), rows, 2)
            assert codes == expected
            refused = np.array(codes) > 0
            assert np.isnan(found[refused]).all()
            assert np.isfinite(found[~refused]).all()
            for row, code in zip(rows, codes, strict=True):
                if code:  # so does the model
                    with pytest.raises(ValueError, match=r"infinity|NaN|outside|what no sample"):
                        models[name].predict([row])

    def test_strict_about_levels(self, tmp_path):
        one = case("mixed")
        model = copy.copy(one.model).set_params(out_of_range="error")
        library = library_of(tmp_path, {"predict": to_c(model)})
        rows = np.array([[0.5, 0.0, 0.5, 1.0], [0.5, 9.0, 0.5, 1.0], [0.5, 0.5, 0.5, 1.0]])
        rows = np.vstack([rows, [0.5, 3.0, np.nan, 0.0], [0.5, 4.0, 0.5, 0.0]])
        assert call(library.predict, rows, 2)[1] == [0, 2, 2, 0, 2]

    def test_names_cannot_leave_the_comment(self, tmp_path):
        pd = pytest.importorskip("pandas")
        names = ["*/ int x;", "/*", "??/", "back\\", "Größe", "a" * 500]
        X = pd.DataFrame(np.random.default_rng(3).uniform(size=(30, 6)), columns=names)
        y = np.where(X["/*"] > 0.5, "*/", "??/")
        text = to_c(GegenbauerClassifier(n_terms=7).fit(X, y))
        assert text.count("*/") == text.count("/*") == 1
        library_of(tmp_path, {"predict": text})


def test_sixty_terms_of_ten_inputs_are_below_five_kilobytes():
    X = np.random.default_rng(4).uniform(size=(300, 10))
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2])
    for model in (GegenbauerRegressor(n_terms=60), GegenbauerRegressorCV(n_terms=60)):
        text = to_c(model.fit(X, y))
        assert len(text.encode("ascii")) < 5000
        assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("name", ["mixed", "five_kernels", "calibrated_texts"])
def test_is_one_function_that_allocates_nothing(name):
    text = to_c(case(name).model, name="f")
    assert re.findall(r"#.*", text) == ["#include <math.h>"]
    assert re.findall(r"^\w.*\(.*", text, re.MULTILINE) == ["int f(const double *x, double *y)"]
    assert not re.search(r"\b(malloc|calloc|realloc|free|printf)\b", text)


BAD_NAMES = ["", "1f", "a b", "f;", "int", "é", "_f", "sin", "logf", "fabs", "isfinite", "isnan"]
BAD_NAMES += ["NAN", "INFINITY", "class", "int32_t", "y0", "constexpr", "a__b", "f\n"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_refuses_what_is_no_name(name):
    with pytest.raises(ValueError, match="`name` must be"):
        to_c(case("constant").model, name=name)


@pytest.mark.parametrize("name", [None, 5, b"predict"])
def test_refuses_names_that_are_no_texts(name):
    with pytest.raises(TypeError, match=f"`name` must be a text, such as 'predict'; got {name!r}"):
        to_c(case("constant").model, name=name)


@needs_compiler
@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_names_that_are_taken_compile_as_c_and_as_c_plus_plus(compiler, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    for name in ("predict", "f", "x", "y", "z", "a", "model_2", "Model", "sine", "logit"):
        path = tmp_path / f"{name}.{'c' if compiler == 'gcc' else 'cpp'}"
        path.write_text(to_c(case("mixed").model, name=name), encoding="ascii")
        command = [compiler, "-Wall", "-Werror", "-c", path, "-o", path.with_suffix(".o")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_comment_lists_the_codes():
    text = to_c(case("mixed").model)
    assert " *   0: 'length (cm)'\n" in text
    assert (
        """ *   1: 'colour', a category of the codes 0 'blue * /', 1 "it's", 2 'red', 3 missing\n"""
        in text
    )
    assert " *   3: 'flag', a category of the codes 0 False, 1 True\n" in text
