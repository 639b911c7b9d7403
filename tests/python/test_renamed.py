"""Names of the first candidate that have changed: the error names the new one."""

from __future__ import annotations

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
    solve_kernel,
    solve_ridge,
)
from gegenbauer.basis import SpectrumKernel
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
    with pytest.raises(TypeError, match=f"no argument '{old}' any more: it is called '{new}'"):
        call(**{old: 1})


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
    with pytest.raises(ValueError, match=f"no parameter '{old}' any more: it is called '{new}'"):
        model.set_params(**{old: 1.0}, n_terms=7)
    assert model.get_params() == before
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(no_such_name=1)
    assert model.set_params(n_terms=7) is model
    assert model.n_terms == 7


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("gamma_", "alpha_"), ("choose_gamma", "choose_alpha"),
        ("gamma_results_", "alpha_results_"), ("n_search_rows_", "n_search_samples_"),
    ],
)  # fmt: skip
def test_attributes(old, new):
    model = GegenbauerRegressor(n_terms=3).fit(X, X[:, 0])
    with pytest.raises(AttributeError, match=re.escape(f"{old!r}; it is called {new}")):
        getattr(model, old)


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
