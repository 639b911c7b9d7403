"""Derivatives at samples of tables: numbers by central differences and complex steps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    PowerDecay,
    to_sympy,
)
from gegenbauer.errors import OutOfRangeWarning
from gegenbauer.inspection import gradient

NUMBERS = ["x", "z"]


def table(n=250, seed=0):
    """Two numbers, of which one has gaps, between a category and truth values."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "colour": rng.choice(["blue", "green", "red"], n),
            "x": rng.uniform(2, 5, size=n),
            "old": rng.random(n) < 0.4,
            "z": rng.uniform(-1, 1, size=n),
        }
    )
    X.loc[rng.random(n) < 0.2, "z"] = np.nan
    y = np.sin(X.x) * (X.colour == "blue") + X.z.fillna(0.5) ** 2 * (1 + X.old)
    return X, y.to_numpy() + 0.05 * rng.normal(size=n)


def inner(n=12, seed=1):
    """Samples away from the ends of the box, with gaps."""
    X, _ = table(n, seed)
    return X.assign(x=X.x.clip(2.2, 4.8), z=X.z.clip(-0.9, 0.9))


def outputs_of(model, X):
    """Return what is differentiated, (n_samples, n_outputs)."""
    if hasattr(model, "decision_function"):
        codes = model._validate_inputs(X, reset=False)
        found = model.expansion_.with_missing().evaluate(codes)
    else:
        found = model.predict(X)
    return found.reshape(len(X), -1)


def require_differences(model, X, atol=1e-6):
    found = gradient(model, X)
    outputs = outputs_of(model, X)
    assert found.shape == ((*X.shape,) if outputs.shape[1] == 1 else (*X.shape, outputs.shape[1]))
    found = found.reshape(*X.shape, -1)
    assert np.isnan(found[:, [0, 2]]).all()
    np.testing.assert_array_equal(np.isnan(found[:, 3, 0]), X.z.isna())
    step = 1e-4
    for t, name in ((1, "x"), (3, "z")):
        moved = [outputs_of(model, X.assign(**{name: X[name] + h})) for h in (step, -step)]
        expected = (moved[0] - moved[1]) / (2 * step)
        given = X[name].notna().to_numpy()
        np.testing.assert_allclose(found[given, t], expected[given], rtol=1e-5, atol=atol)
    assert np.abs(found[:, 1]).max() > 0.1


MODELS = {
    "terms": GegenbauerRegressor(degree=4, alpha=1e-3),
    "terms in [-1, 1]": GegenbauerRegressor(
        degree=4, spectrum=PowerDecay(0.5, 2), domain=(-1, 1), alpha=1e-3
    ),
    "all terms": GegenbauerRegressorCV(intervals="one_spectrum"),
    "five spectra": GegenbauerRegressorCV(intervals="five_spectra"),
    "terms of largest weight": GegenbauerRegressorCV(n_terms=80, intervals="one_spectrum"),
}


class TestTables:
    @pytest.mark.parametrize("name", MODELS)
    def test_are_those_of_predictions(self, name):
        X, y = table()
        require_differences(MODELS[name].fit(X, y), inner(), atol=1e-5)

    def test_of_several_outputs(self):
        X, y = table()
        model = GegenbauerRegressor(degree=3, alpha=1e-3).fit(X, np.column_stack([y, y**2, -y]))
        require_differences(model, inner())
        found = gradient(model, inner())
        np.testing.assert_allclose(found[..., 2], -found[..., 0], atol=1e-9)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_of_classes(self, n_classes):
        X, y = table()
        labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
        require_differences(GegenbauerClassifier(degree=3, alpha=1e-2).fit(X, labels), inner())
        model = GegenbauerClassifierCV(n_terms=60).fit(X, labels)
        require_differences(model, inner(), atol=1e-5)

    def test_by_complex_steps_of_the_expression(self):
        sympy = pytest.importorskip("sympy")
        X, y = table()
        model = GegenbauerRegressor(degree=4, alpha=1e-3).fit(X, y)
        X = inner().dropna()
        codes = model._validate_inputs(X, reset=False)
        symbols = {name: sympy.Symbol(name) for name in X.columns}
        found = gradient(model, X)
        for row, own in zip(codes.tolist(), found, strict=True):
            known = {symbols["colour"]: int(row[0]), symbols["old"]: int(row[2])}
            function = sympy.lambdify(
                [symbols[name] for name in NUMBERS], to_sympy(model).subs(known)
            )
            h = 1e-30
            by_x = function(row[1] + 1j * h, row[3]).imag / h
            by_z = function(row[1], row[3] + 1j * h).imag / h
            np.testing.assert_allclose(own[[1, 3]], [by_x, by_z], rtol=1e-9, atol=1e-10)

    @pytest.mark.parametrize("library", ["polars", "pyarrow"])
    def test_any_library(self, library):
        made = pytest.importorskip(library)
        X, y = table()
        model = GegenbauerRegressor(degree=3).fit(X, y)
        Z = inner()
        given = {name: [None if v != v else v for v in Z[name].tolist()] for name in Z}
        other = made.DataFrame(given) if library == "polars" else made.table(given)
        np.testing.assert_array_equal(gradient(model, other), gradient(model, Z))

    def test_partially_fitted(self):
        X, y = table()
        whole = GegenbauerRegressor(degree=3).fit(X, y)
        model = GegenbauerRegressor(degree=3).fit_stream([(X[:100], y[:100]), (X[100:], y[100:])])
        np.testing.assert_allclose(gradient(model, inner()), gradient(whole, inner()), atol=1e-8)


class TestGaps:
    @pytest.mark.parametrize("name", ["terms", "all terms", "five spectra"])
    def test_a_number_that_was_never_missing(self, name):
        X, y = table()
        model = MODELS[name].fit(X, y)
        Z = inner().dropna()
        Z.loc[Z.index[::2], "x"] = np.nan
        with pytest.warns(OutOfRangeWarning, match="has no value"):
            found = gradient(model, Z)
        np.testing.assert_array_equal(np.isnan(found[:, 1]), Z.x.isna())
        model.set_params(out_of_range="clip")
        step = 1e-4
        ends = [model.predict(Z.assign(z=Z.z + h)) for h in (step, -step)]
        expected = (ends[0] - ends[1]) / (2 * step)
        model.set_params(out_of_range="warn")
        np.testing.assert_allclose(found[:, 3], expected, rtol=1e-4, atol=1e-5)

    def test_clipped_and_ignored_inputs_have_none(self):
        X, y = table()
        X = X.assign(same=3.0, gone=np.nan)
        model = GegenbauerRegressor(degree=3, out_of_range="clip").fit(X, y)
        Z = X.dropna(subset="z")[:4].assign(x=[9.0, -9.0, 3.0, 3.0], same=[1.0, 2.0, 3.0, 4.0])
        found = gradient(model, Z)
        assert (found[:2, 1] == 0).all()
        assert (found[2:, 1] != 0).all()
        assert (found[:, 4] == 0).all()
        assert np.isnan(found[:, 5]).all()
        assert (gradient(model, Z.assign(gone=1.0))[:, 5] == 0).all()

    def test_a_category_has_none_even_where_it_is_ignored(self):
        X, y = table()
        model = GegenbauerRegressor(degree=3, out_of_range="clip").fit(X.assign(colour="blue"), y)
        assert np.isnan(gradient(model, X)[:, 0]).all()


class TestRefusals:
    def test_policy(self):
        X, y = table()
        model = GegenbauerRegressor(degree=3, out_of_range="error").fit(X, y)
        with pytest.raises(ValueError, match="1 of 5 samples lie outside"):
            gradient(model, X[:5].assign(x=[3.0, 3.0, 30.0, 3.0, 3.0]))

    def test_what_has_none(self):
        X, _ = table()
        with pytest.raises(TypeError, match="regressor or classifier"):
            gradient(GegenbauerFeatures(degree=2).fit(X), X)
        with pytest.raises(NotFittedError):
            gradient(GegenbauerRegressor(), X)
