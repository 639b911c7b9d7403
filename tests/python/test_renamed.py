"""Names of the first candidate that have changed: the error names the new one."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re

import numpy as np
import pytest

import gegenbauer
from gegenbauer import (
    ArrayBatches,
    Checkpoint,
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    MomentStatistics,
    RidgePath,
    TableBatches,
    TensorBasis,
    basis,
    batches,
    estimators,
    inspection,
    persistence,
    plotting,
    ridge,
    selection,
    solve_kernel,
    solve_ridge,
)
from gegenbauer._renamed import NEW_NAMES
from gegenbauer.basis import SpectrumKernel
from gegenbauer.plotting import PathDisplay
from gegenbauer.selection import (
    kfold_predictions,
    leave_one_out,
    prefix_surface,
    search_alpha,
    search_basis,
    search_spectrum,
)

X = np.linspace(-1, 1, 12)[:, np.newaxis]
BASIS = TensorBasis(1, n_terms=3)
KERNEL = SpectrumKernel(1, (0.5, 1.0))
PATH = RidgePath(BASIS, X, X)


def loss(predictions, rows):
    """Return the mean squared errors in some rows of X."""
    return ((predictions - X[rows]) ** 2).mean(axis=(-2, -1))


@pytest.mark.parametrize(
    ("call", "old", "new"),
    [
        *[
            (cls, old, new)
            for cls in (GegenbauerRegressor, GegenbauerClassifier, GegenbauerFeatures)
            for old, new in [
                ("gamma", "alpha"), ("order", "term_order"), ("feature_range", "bounds"),
            ]
            if (cls, old) != (GegenbauerFeatures, "gamma")
        ],
        *[
            (cls, old, new)
            for cls in (GegenbauerRegressorCV, GegenbauerClassifierCV)
            for old, new in [
                ("gammas", "alphas"), ("search_rows", "search_samples"),
                ("kernel_rows", "kernel_samples"),
            ]
        ],
        (lambda **old: TensorBasis(2, n_terms=3, **old), "order", "term_order"),
        (lambda **old: solve_ridge(BASIS, X, X, **old), "gamma", "alpha"),
        (lambda **old: solve_kernel(KERNEL, X, X, **old), "gamma", "alpha"),
        (lambda **old: leave_one_out(KERNEL, X, X, **old), "gamma", "alpha"),
        (PATH.leave_one_out, "gammas", "alphas"),
        (PATH.gcv, "gammas", "alphas"),
        (lambda **old: kfold_predictions(BASIS, X, X, [[0], [1]], **old), "gammas", "alphas"),
        (lambda **old: prefix_surface(BASIS, X, X, **old), "gammas", "alphas"),
        (lambda **old: search_basis(X, X, **old), "gammas", "alphas"),
        (lambda **old: PathDisplay.from_path(PATH, **old), "gammas", "alphas"),
        (lambda **old: search_basis(X, X, **old), "score", "loss"),
        (lambda **old: search_alpha(KERNEL, X, X, **old), "splits", "cv"),
        (lambda **old: search_spectrum(X, X, **old), "splits", "cv"),
        (lambda **old: prefix_surface(BASIS, X, X, [1.0], **old), "score", "loss"),
        (lambda **old: MomentStatistics(BASIS, 1).solve(**old), "gamma", "alpha"),
        (lambda **old: ArrayBatches(X, X, **old), "batch_rows", "batch_size"),
        (lambda **old: TableBatches("t.csv", target="y", **old), "batch_rows", "batch_size"),
        (lambda **old: Checkpoint("run", **old), "every_rows", "every_samples"),
    ],
)  # fmt: skip
def test_arguments(call, old, new):
    with pytest.raises(TypeError, match=f"no argument '{old}' any more: it is called `{new}`"):
        call(**{old: 1})


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("GegenbauerRegressor", "gamma", "alpha"),
        ("GegenbauerClassifier", "feature_range", "bounds"),
        ("GegenbauerFeatures", "order", "term_order"),
        ("GegenbauerRegressorCV", "gammas", "alphas"),
        ("GegenbauerClassifierCV", "search_rows", "search_samples"),
    ],
)
def test_arguments_on_clusters(name, old, new):
    kind = getattr(pytest.importorskip("gegenbauer.dask"), name)
    message = rf"^{name}\(\) has no argument '{old}' any more: it is called `{new}`$"
    with pytest.raises(TypeError, match=message):
        kind(**{old: 1})


@pytest.mark.parametrize(
    ("model", "old", "new"),
    [
        (GegenbauerRegressor(), "gamma", "alpha"),
        (GegenbauerFeatures(), "order", "term_order"),
        (GegenbauerClassifierCV(), "gammas", "alphas"),
    ],
)
def test_parameters(model, old, new):
    before = model.get_params()
    with pytest.raises(ValueError, match=f"no parameter '{old}' any more: it is called `{new}`"):
        model.set_params(**{old: 1.0}, n_terms=7)
    assert model.get_params() == before
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(no_such_name=1)
    assert model.set_params(n_terms=7) is model
    assert model.n_terms == 7


REGRESSOR = GegenbauerRegressor(n_terms=3)
SEARCH = GegenbauerRegressorCV(n_terms=3, spectrum=None)


@pytest.mark.parametrize(
    ("thing", "old", "new"),
    [
        (REGRESSOR, "gamma", "alpha"),
        (REGRESSOR, "order", "term_order"),
        (REGRESSOR, "feature_range", "bounds"),
        (REGRESSOR, "choose_gamma", "choose_alpha"),
        (REGRESSOR, "gamma_results_", "alpha_results_"),
        (GegenbauerFeatures(), "order", "term_order"),
        (SEARCH, "gammas", "alphas"),
        (SEARCH, "gamma_", "alpha_"),
        (SEARCH, "gamma_results_", "alpha_results_"),
        (SEARCH, "n_search_rows_", "n_search_samples_"),
        (SEARCH, "kernel_rows", "kernel_samples"),
        (BASIS, "order", "term_order"),
        (PATH.leave_one_out([1.0]), "gammas", "alphas"),
        (kfold_predictions(BASIS, X, X, [[0], [1]], [1.0]), "gammas", "alphas"),
        (prefix_surface(BASIS, X, X, [1.0]), "gammas", "alphas"),
        (search_basis(X, X, loss), "gamma", "alpha"),
        (search_basis(X, X, loss), "score", "loss"),
        (search_spectrum(X, X, loss), "scores", "losses"),
        (ArrayBatches(X, X), "batch_rows", "batch_size"),
        (Checkpoint("run"), "every_rows", "every_samples"),
        (PathDisplay([1.0], {"error": [1.0]}), "gammas", "alphas"),
    ],
)
def test_attributes(thing, old, new):
    fitted = thing.fit(X, X[:, 0]) if hasattr(thing, "fit") else thing
    for one in {id(thing): thing, id(fitted): fitted}.values():
        with pytest.raises(AttributeError, match=re.escape(f"{old!r}; it is called {new}")):
            getattr(one, old)
    assert not hasattr(thing, old)
    assert hasattr(fitted, new) or new == "alpha_results_"  # once it has chosen


@pytest.mark.parametrize("model", [REGRESSOR, GegenbauerClassifier()])
def test_who_has_the_penalty_that_was_chosen(model):
    """Fitted or not: those that choose none never had it."""
    if model is REGRESSOR:
        model = GegenbauerRegressor(n_terms=3).fit(X, X[:, 0])
    with pytest.raises(AttributeError, match=r"no attribute 'gamma_'; .* alpha_; .* alpha$"):
        _ = model.gamma_


@pytest.mark.parametrize(
    ("thing", "old"),
    [
        (SEARCH, "choose_gamma"),
        (GegenbauerFeatures(), "gamma"),
        (GegenbauerFeatures(), "choose_gamma"),
        (REGRESSOR, "gamma_"),
        (REGRESSOR, "n_search_rows_"),
        (REGRESSOR, "no_such_name"),
        (BASIS, "gamma"),
    ],
)
def test_no_hint_at_what_is_not_there(thing, old):
    with pytest.raises(AttributeError) as caught:
        getattr(thing, old)
    assert "is called" not in str(caught.value)


def test_properties_still_explain_why_they_refuse():
    model = GegenbauerRegressor(n_terms=3).fit(X, X[:, 0])
    with pytest.raises(AttributeError, match="no statistics_: it was not learned by partial_fit"):
        model.statistics_  # noqa: B018


def public_callables():
    """Return all functions and methods of the packages, by their names."""
    found = {}
    for package in (gegenbauer, basis, batches, estimators, inspection, persistence, plotting,
                    ridge, selection):  # fmt: skip
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isfunction(thing):
                found[name] = thing
            elif inspect.isclass(thing) and not dataclasses.is_dataclass(thing):
                methods = [key for key in dir(thing) if key[0] != "_" or key == "__init__"]
                found |= {f"{name}.{key}": getattr(thing, key) for key in methods
                          if inspect.isroutine(getattr(thing, key))}  # fmt: skip
    return found


def test_every_renamed_argument_is_refused():
    """Whatever takes an argument of a new name refuses the old one; before it looks at others."""
    n_tried = 0
    for name, function in public_callables().items():
        try:
            known = inspect.signature(function).parameters
        except ValueError:  # of C
            continue
        for old, new in {**NEW_NAMES, "score": "loss"}.items():
            if new in known and old not in known:
                with pytest.raises(TypeError, match=f"'{old}' any more: it is called `{new}`"):
                    function(**{old: 1})
                n_tried += 1
                assert name
    assert n_tried > 40


@pytest.mark.parametrize(
    ("old", "new", "home"),
    [
        ("LeaveOneOut", "LeaveOneOutPredictions", "selection"),
        ("eval_gegenbauer", "gegenbauer_vander", "basis"),
        ("search_gamma", "search_alpha", "selection"),
    ],
)
def test_functions(old, new, home):
    with pytest.raises(AttributeError, match=f"it is called {new} and is in gegenbauer.{home}$"):
        getattr(gegenbauer, old)
    assert new in getattr(gegenbauer, home).__all__
    with pytest.raises(ImportError, match=f"it is called {new} and is in gegenbauer.{home}"):
        exec(f"from gegenbauer import {old}")
    with pytest.raises(ImportError, match=f"import name '{old}' .*: it is called {new}$"):
        exec(f"from gegenbauer.{home} import {old}")
    package = importlib.import_module(f"gegenbauer.{home}")
    assert not hasattr(package, old)
    with pytest.raises(AttributeError, match=f": it is called {new}$"):
        getattr(package, old)
    assert not hasattr(gegenbauer, old)
    assert getattr(gegenbauer, old, None) is None


def test_imports_of_what_is_elsewhere():
    with pytest.raises(
        ImportError, match=r"'SpectrumKernel' from 'gegenbauer': it is in gegenbauer\.basis"
    ):
        from gegenbauer import SpectrumKernel  # noqa: F401
    with pytest.raises(ImportError, match="cannot import name 'no_such_name' from 'gegenbauer'"):
        from gegenbauer import no_such_name  # noqa: F401
    from gegenbauer import cli, persistence  # which are modules

    assert cli.main
    assert persistence.save
