"""What is no argument at all is refused by its name, as scikit-learn's users expect it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from gegenbauer import (
    ArrayBatches,
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    Spectrum,
    TensorBasis,
    polynomial_text,
    sobol_indices,
)
from gegenbauer.basis import Levels, SpectrumKernel
from gegenbauer.errors import StreamError, parameters_of
from gegenbauer.export import to_sql
from gegenbauer.inspection import term_sobol_indices
from gegenbauer.persistence import library_version
from gegenbauer.plotting import BasisDisplay, LeverageDisplay, PathDisplay, ReliabilityDisplay
from gegenbauer.report import html_report
from gegenbauer.selection import prefix_surface, search_alpha, search_basis, search_spectrum

X = np.random.default_rng(0).uniform(size=(40, 2))
Y = X[:, 0] + X[:, 1] ** 2
LABELS = (np.median(Y) < Y).astype(int)
BASIS, KERNEL = TensorBasis(2, degree=3), SpectrumKernel(2, (0.5, 2.0))


def regressor():
    return GegenbauerRegressor(n_terms=5)


def classifier():
    return GegenbauerClassifier(n_terms=5)


MODELS = {
    GegenbauerRegressor: regressor,
    GegenbauerClassifier: classifier,
    GegenbauerRegressorCV: lambda: GegenbauerRegressorCV(spectrum=(0.5, 2.0), alphas=[0.1, 1.0]),
    GegenbauerClassifierCV: lambda: GegenbauerClassifierCV(spectrum=(0.5, 2.0), alphas=[0.1, 1.0]),
}


def targets_of(kind):
    return Y if kind.__name__.startswith("GegenbauerRegressor") else LABELS


@pytest.fixture(scope="module")
def fitted():
    return {kind: make().fit(X, targets_of(kind)) for kind, make in MODELS.items()}


INPUTS = {
    "none": (None, ValueError, r"^X must be an array of shape \(n_samples, n_features\), got None"),
    "number": (3.0, ValueError, r"^X must be an array of shape .*, got 3.0$"),
    "text": ("a", ValueError, r"^X must be an array of shape .*, got 'a'$"),
    "set": ({1, 2}, TypeError, r"^X must be an array or a table, got set: make a list"),
    "keys": ({"a": 1}.keys(), TypeError, r"^X must be an array or a table, got dict_keys: make a"),
    "iterator": (iter(X), TypeError, r"^X must be an array or a table, got .*iterator: make a"),
    "ragged": ([[1.0], [1.0, 2.0]] * 20, ValueError, r"^X must be rectangular, got rows of un"),
}


class TestInputs:
    @pytest.mark.parametrize("case", INPUTS)
    @pytest.mark.parametrize("kind", MODELS)
    def test_of_estimators(self, kind, case, fitted):
        value, error, text = INPUTS[case]
        with pytest.raises(error, match=text):
            MODELS[kind]().fit(value, targets_of(kind))
        with pytest.raises(error, match=text):
            fitted[kind].predict(value)

    @pytest.mark.parametrize("case", INPUTS)
    def test_of_features(self, case):
        value, error, text = INPUTS[case]
        with pytest.raises(error, match=text):
            GegenbauerFeatures(n_terms=3).fit(value)

    def test_of_batches(self):
        with pytest.raises(ValueError, match=r"^X must hold the inputs of the samples, got None"):
            ArrayBatches(None, Y)


class TestTargets:
    @pytest.mark.parametrize("kind", MODELS)
    @pytest.mark.parametrize(
        ("change", "text"),
        [
            (lambda y: y[:30], r"^X and y have inconsistent numbers of samples: 40 and 30$"),
            (lambda y: y[:0], r"^X and y have inconsistent numbers of samples: 40 and 0$"),
            (lambda y: y[:, np.newaxis, np.newaxis],
             r"^y must have shape \(n_samples,\) or \(n_samples, n_outputs\), got shape \(40, 1"),
            (lambda y: 2, r"^y must have shape \(n_samples,\) or .*, got 2$"),
        ],
    )  # fmt: skip
    def test_of_other_shapes(self, kind, change, text, fitted):
        y = change(targets_of(kind))
        with pytest.raises(ValueError, match=text):
            MODELS[kind]().fit(X, y)
        with pytest.raises(ValueError, match=text):
            fitted[kind].score(X, y)

    def test_of_batches(self):
        text = (
            r"^batch 1 \(rows 40 to 79\): X and y have inconsistent numbers of samples: 40 and 9$"
        )
        with pytest.raises(StreamError, match=text):
            regressor().fit_stream([(X, Y), (X, Y[:9])])

    @pytest.mark.parametrize("kind", [GegenbauerRegressor, GegenbauerRegressorCV])
    def test_names_of_columns_may_be_equal(self, kind):
        """They are no names of inputs, and nothing looks for one of them."""
        twice = np.column_stack([Y, 2 * Y])
        found = MODELS[kind]().fit(X, pd.DataFrame(twice, columns=["a", "a"])).predict(X)
        np.testing.assert_array_equal(found, MODELS[kind]().fit(X, twice).predict(X))

    def test_announced_classes(self):
        with pytest.raises(ValueError, match=r"got classes of dtype object .* the values 1, 'a'"):
            classifier().partial_fit(X, LABELS, classes=[1, "a"])
        with pytest.raises(ValueError, match=r"missing labels, .* got classes of dtype"):
            classifier().partial_fit(X, LABELS, classes=np.array([0.0, 1.0, np.nan]))


class TestWeights:
    @pytest.mark.parametrize("kind", MODELS)
    @pytest.mark.parametrize(
        ("weight", "error", "text"),
        [
            (np.where(np.arange(40) == 7, -1.0, 1.0), ValueError, "negative; got -1 in row 7"),
            (np.ones(39), ValueError, r"sample_weight must have shape \(40,\)"),
            (["1"] * 40, TypeError, "sample_weight must hold real numbers, got text such as '1'"),
            (-1.0, ValueError, "`sample_weight` must be a finite number of at least 0, got -1.0"),
            (True, TypeError, "`sample_weight` must be a number, got True"),
            (np.full(40, np.inf), ValueError, "Input sample_weight contains infinity, first"),
        ],
    )  # fmt: skip
    def test_of_scores_as_of_fits(self, kind, weight, error, text, fitted):
        with pytest.raises(error, match=text):
            MODELS[kind]().fit(X, targets_of(kind), sample_weight=weight)
        with pytest.raises(error, match=text):
            fitted[kind].score(X, targets_of(kind), sample_weight=weight)

    @pytest.mark.parametrize("kind", [GegenbauerRegressorCV, GegenbauerClassifierCV])
    @pytest.mark.parametrize(("size", "bound"), [(1e-60, "at most"), (1e60, "as large as")])
    def test_that_leave_float64(self, kind, size, bound):
        with pytest.raises(ValueError, match=f"sample_weight is {bound} 1e.*average one"):
            MODELS[kind]().fit(X, targets_of(kind), sample_weight=np.full(40, size))


class TestParameters:
    @pytest.mark.parametrize("cv", [b"x", b"12"])
    def test_cv_of_bytes(self, cv):
        """They have a split() of their own, as splitters have."""
        model = GegenbauerRegressorCV(spectrum=(0.5, 2.0), cv=cv)
        with pytest.raises(TypeError, match="`cv` must be a number of folds, a splitter, or pairs"):
            model.fit(X, Y)

    @pytest.mark.parametrize("kind", MODELS)
    def test_bounds_are_marked(self, kind):
        with pytest.raises(TypeError) as caught:
            MODELS[kind]().set_params(bounds={"a": 1}).fit(X, targets_of(kind))
        assert parameters_of(caught.value) == ("bounds",)

    def test_held_out_is_called_so(self):
        model = regressor().partial_fit(X, Y)
        with pytest.raises(TypeError, match=r"^held_out must be a source of rows, got int"):
            model.choose_alpha(held_out=3)
        with pytest.raises(TypeError) as caught:
            model.choose_alpha({"a": 1})
        assert parameters_of(caught.value) == ("alphas",)


def loss(predictions, rows):
    return ((predictions - Y[rows, np.newaxis]) ** 2).mean(axis=(1, 2))


FUNCTIONS = {
    "levels": (lambda v: Spectrum((0.5, 2.0), levels=v), "sequence of Levels or None"),
    "shares": (Levels, "sequence of shares of levels"),
    "loss": (lambda v: search_alpha(KERNEL, X, Y, v, 0.1), "a function of predictions"),
    "loss of bases": (lambda v: search_basis(X, Y, v), "a function of predictions"),
    "loss of spectra": (lambda v: search_spectrum(X, Y, v), "a function of predictions"),
    "loss of first terms": (lambda v: prefix_surface(BASIS, X, Y, [1.0], loss=v), "a function of"),
    "kernel": (lambda v: search_alpha(v, X, Y, loss, 0.1), "a SpectrumKernel"),
    "lams": (lambda v: search_basis(X, Y, loss, lams=v), "sequence of numbers"),
    "n_terms": (lambda v: search_basis(X, Y, loss, n_terms=v), "sequence of numbers of terms"),
    "alphas": (lambda v: search_basis(X, Y, loss, alphas=v), "sequence of numbers"),
    "domain": (lambda v: term_sobol_indices(BASIS, np.ones(10), domain=v), r"\(0, 1\) or"),
    "names": (lambda v: polynomial_text(regressor().fit(X, Y), names=v), "sequence of texts"),
    "names of columns": (lambda v: to_sql(regressor().fit(X, Y), names=v), "sequence of texts"),
    "path": (library_version, "the name of a file"),
    "path of penalties": (lambda v: PathDisplay.from_path(v, [1.0]), "a RidgePath"),
    "path of leverages": (lambda v: LeverageDisplay.from_path(v, 1.0), "a RidgePath"),
    "out": (lambda v: html_report(regressor().fit(X, Y), X, out=v), "the name of a file"),
    "target": (lambda v: html_report(regressor().fit(X, Y), X, target=v), "a text or None"),
    "title": (lambda v: html_report(regressor().fit(X, Y), X, title=v), "a text or None"),
}


class TestFunctions:
    @pytest.mark.parametrize("value", [2.5, 3, 1j], ids=repr)
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_name_what_they_want(self, name, value):
        call, wanted = FUNCTIONS[name]
        with pytest.raises((TypeError, ValueError), match=rf"`\w+` must be .*{wanted}") as caught:
            call(value)
        assert parameters_of(caught.value) == (name.split()[0],)

    @pytest.mark.parametrize("domain", [3, "ab", [1.0], [0.0, 1.0, 2.0], [0.0, np.nan]])
    def test_domain_of_a_plot(self, domain):
        with pytest.raises((TypeError, ValueError), match="`domain` must"):
            BasisDisplay.from_basis(BASIS, domain=domain)

    def test_outcomes_of_a_plot(self):
        with pytest.raises(ValueError, match="y_true must have one outcome for each of the 40"):
            ReliabilityDisplay.from_predictions(LABELS[:30], np.full(40, 0.5))
        with pytest.raises(ValueError, match="y_prob must have 1 columns"):
            ReliabilityDisplay.from_predictions(LABELS, np.full((40, 2), 0.5))
        with pytest.raises(TypeError, match="y_prob must hold real numbers, got text"):
            ReliabilityDisplay.from_predictions(LABELS, ["a"] * 40)

    @pytest.mark.parametrize("background", [{"a": 1}, object(), scipy.sparse.csr_matrix((3, 5))])
    def test_background_is_called_so(self, background, fitted):
        with pytest.raises((TypeError, ValueError), match=r"^`background` must hold samples like"):
            sobol_indices(fitted[GegenbauerRegressor], background=background)
