"""What all exports have in common: the description, refusals, and the command line."""

from __future__ import annotations

import builtins
import re
import subprocess
import sys

import numpy as np
import pytest
from export_models import case
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    save,
)
from gegenbauer.basis import gegenbauer_vander
from gegenbauer.cli import main
from gegenbauer.export import register_skl2onnx, to_c, to_numpy_source, to_onnx, to_sql
from gegenbauer.export.recurrence import recurrence

TEXTS = [to_c, to_numpy_source, to_sql]


@pytest.fixture(params=[*TEXTS, to_onnx], ids=lambda target: target.__name__)
def target(request):
    if request.param is to_onnx:
        pytest.importorskip("onnx")
    return request.param


@pytest.mark.parametrize("lam", [-0.4, 0.0, 0.05, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("kind", ["raw", "orthonormal"])
def test_recurrence_is_that_of_the_core(lam, kind):
    x = np.linspace(-1.0, 1.0, 21)
    expected = gegenbauer_vander(x, 12, lam, normalization=kind)
    a, b = recurrence(lam, 12, raw=kind == "raw")
    values = [np.ones_like(x), a[1] * x]
    for n in range(2, 13):
        values.append(a[n] * x * values[-1] - b[n] * values[-2])
    np.testing.assert_allclose(np.array(values).T, expected, rtol=1e-13, atol=1e-14)


class TestRefusals:
    def test_what_is_not_fitted(self, target):
        for model in (GegenbauerRegressor(), GegenbauerRegressorCV()):
            with pytest.raises(NotFittedError, match="not fitted"):
                target(model)

    def test_other_estimators(self, target):
        X = np.random.default_rng(0).uniform(size=(20, 2))
        features = GegenbauerFeatures(n_terms=5)
        for model, hint in (
            (Ridge().fit(X, X[:, 0]), "got Ridge$"),
            (features.fit(X), "got GegenbauerFeatures$"),
            (make_pipeline(features, Ridge()).fit(X, X[:, 0]), "skl2onnx"),
            (None, "got NoneType$"),
        ):
            with pytest.raises(TypeError, match=rf"^`model` must be a fitted regressor.*{hint}"):
                target(model)

    def test_parameters_that_were_set_since(self, target):
        X = np.random.default_rng(1).uniform(size=(20, 2))
        model = GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(X, X[:, 0])
        with pytest.raises(ValueError, match="'extrapolate'` needs a finite set of terms"):
            target(model.set_params(out_of_range="extrapolate"))
        with pytest.raises(ValueError, match="'out_of_range' parameter"):
            target(model.set_params(out_of_range="no"))

    def test_a_stream_of_a_single_class(self, target):
        X = np.random.default_rng(2).uniform(size=(20, 2))
        model = GegenbauerClassifier(n_terms=5).fit_stream([(X, np.ones(20, int))])
        with pytest.raises(ValueError, match="needs at least two classes"):
            target(model)

    @pytest.mark.parametrize("to_source", [to_c, to_numpy_source])
    def test_too_many_numbers(self, to_source):
        X = np.random.default_rng(3).uniform(size=(30, 2))
        Y = np.tile(X[:, :1], (1, 20_000))
        model = GegenbauerRegressor(n_terms=30).fit(X, Y)
        with pytest.raises(
            ValueError, match=r"30 terms, .* at most 500000: fit with fewer `n_terms`"
        ):
            to_source(model)

    def test_too_many_centres(self, monkeypatch):
        monkeypatch.setattr("gegenbauer.export.c_source.MOST_NUMBERS", 100)
        with pytest.raises(ValueError, match=r"50 centres of kernels, .* a lower `kernel_samples`"):
            to_c(case("five_kernels").model)

    @pytest.mark.parametrize("function", [lambda: to_onnx(case("raw").model), register_skl2onnx])
    def test_missing_packages(self, function, monkeypatch):
        genuine = builtins.__import__

        def without(name, *args, **kwargs):
            if name.partition(".")[0] in ("onnx", "skl2onnx"):
                raise ImportError(name)
            return genuine(name, *args, **kwargs)

        monkeypatch.setattr(builtins, "__import__", without)
        with pytest.raises(
            ImportError, match=r"needs \w*onnx: run pip install 'gegenbauer\[onnx\]'"
        ):
            function()


def test_model_is_as_it_was(target):
    X = np.random.default_rng(4).uniform(size=(30, 2))
    model = GegenbauerRegressor(n_terms=5).partial_fit(X, X[:, 0])
    before = model.predict(X)
    target(model)
    np.testing.assert_array_equal(model.predict(X), before)
    model.partial_fit(X, X[:, 0])


class TestCommand:
    @pytest.fixture
    @staticmethod
    def folder(tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        save(case("mixed").model, "m.safetensors")
        return tmp_path

    @pytest.mark.parametrize(
        ("kind", "to_source"), [("c", to_c), ("numpy", to_numpy_source), ("sql", to_sql)]
    )
    def test_writes_text(self, folder, capsys, kind, to_source):
        expected = to_source(case("mixed").model).rstrip("\n") + "\n"
        assert main(["export", "m.safetensors", "--to", kind]) == 0
        assert capsys.readouterr().out == expected
        assert main(["export", "m.safetensors", "--to", kind, "--out", "model"]) == 0
        assert (folder / "model").read_text(encoding="utf-8") == expected
        assert "written to model" in capsys.readouterr().out

    def test_writes_onnx(self, folder, capsys):
        onnx = pytest.importorskip("onnx")
        for options, kind in (([], 11), (["--float32"], 1)):
            command = ["export", "m.safetensors", "--to", "onnx", "--out", "m.onnx", *options]
            assert main(command) == 0
            made = onnx.load("m.onnx")
            assert made.graph.input[0].type.tensor_type.elem_type == kind

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--to", "onnx"], r"a model of ONNX is no text: give --out FILE, such as model\.onnx"),
            (
                ["--to", "c", "--float32"],
                "--float32 is for --to onnx; the other targets are float64",
            ),
            (["--to", "java"], r"'java' is not one of 'onnx', 'c', 'numpy', 'sql'"),
            ([], "gegenbauer export needs --to TARGET"),
            (["--to", "c", "--out", "m.safetensors"], "is what is read; choose another name"),
            (["--to", "c", "--out", "no/m.c"], "does not exist; make it, or choose another place"),
            (
                ["--to", "sql", "--out-of-range", "error"],
                "set --out-of-range clip, --out-of-range warn",
            ),
        ],
    )
    def test_refuses_in_a_line(self, folder, capsys, options, message):
        before = sorted(folder.iterdir())
        assert main(["export", "m.safetensors", *options]) == 2
        streams = capsys.readouterr()
        assert streams.out == ""
        (line,) = streams.err.splitlines()
        assert re.match(rf"error: .*{message}", line)
        assert sorted(folder.iterdir()) == before

    def test_refuses_features(self, folder, capsys):
        save(GegenbauerFeatures(n_terms=5).fit([[0.0], [1.0]]), "f.safetensors")
        assert main(["export", "f.safetensors", "--to", "c"]) == 3
        assert "holds features, which predict nothing" in capsys.readouterr().err

    def test_policy_of_the_option(self, folder, capsys):
        command = ["export", "m.safetensors", "--to", "numpy", "--out-of-range"]
        assert main([*command, "clip"]) == 0
        assert "warnings" not in capsys.readouterr().out
        assert main([*command, "warn"]) == 0
        assert "import warnings" in capsys.readouterr().out


def test_import_is_light():
    code = (
        "import sys, gegenbauer.export; "
        "print([name for name in ('onnx', 'skl2onnx', 'duckdb') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
