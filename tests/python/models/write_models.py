"""Write the model files of this release; see README.md beside this file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone

import gegenbauer
from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
)

FOLDER = Path(__file__).parent / gegenbauer.__version__


def models():
    """Yield names and fitted estimators, of each kind that the format distinguishes."""
    rng = np.random.default_rng(20190815)
    X = rng.random((40, 3))
    y = X[:, 0] - X[:, 1] * X[:, 2]
    third = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    half = (y > 0).astype(int)

    yield "regressor", GegenbauerRegressor(n_terms=20).fit(X, y)
    yield (
        "regressor-outputs-float32-tensor",
        GegenbauerRegressor(
            n_terms=None, degree=(2, 1, 3), index_set="tensor", lam=0.5, domain=(-1, 1)
        ).fit(X.astype(np.float32), np.c_[y, y**2]),
    )
    yield (
        "regressor-one-column-largest-weight",
        GegenbauerRegressor(
            n_terms=20, index_set="largest_weight", spectrum=(0.3, 1.5), domain=(-1, 1)
        ).fit(X, y[:, np.newaxis]),
    )
    yield (
        "regressor-hyperbolic-cross-extrapolate",
        GegenbauerRegressor(
            n_terms=None,
            degree=4,
            index_set="hyperbolic_cross",
            max_interaction=2,
            term_order="grevlex",
            spectrum="orthonormal",
            out_of_range="extrapolate",
            penalize_constant=False,
            engine="primal",
            solver="orthogonal",
            n_jobs=1,
        ).fit(X, y),
    )
    yield (
        "classifier-named-columns",
        GegenbauerClassifier(n_terms=20, class_weight={0: 1.0, 2: 2.5}).fit(
            pd.DataFrame(X, columns=["width", "length", "größe"]), third
        ),
    )
    yield (
        "classifier-bool-balanced",
        GegenbauerClassifier(n_terms=20, class_weight="balanced").fit(X, half > 0),
    )
    yield (
        "classifier-str",
        GegenbauerClassifier(n_terms=20, class_weight={"ja": 2}).fit(
            X, np.array(["nein", "ja"])[half]
        ),
    )
    yield (
        "classifier-object",
        GegenbauerClassifier(n_terms=20).fit(
            X, np.array(["low", "mittel", "высокий"], dtype=object)[third]
        ),
    )
    yield "classifier-multilabel", GegenbauerClassifier(n_terms=20).fit(X, np.c_[half, third > 1])
    yield "features", GegenbauerFeatures(n_terms=20, lam=0.0, term_order="grlex_ascending").fit(X)

    noise = 0.05 * rng.normal(size=40)
    yield "regressor-cv", GegenbauerRegressorCV().fit(X, y + noise)
    yield (
        "regressor-cv-outputs-weights-terms",
        GegenbauerRegressorCV(n_terms=20, cv=4).fit(X, np.c_[y, y**2], rng.uniform(1, 2, 40)),
    )
    yield (
        "classifier-cv-named-columns",
        GegenbauerClassifierCV().fit(pd.DataFrame(X, columns=["width", "length", "größe"]), third),
    )
    yield (
        "classifier-cv-paper-multilabel",
        GegenbauerClassifierCV(spectrum=None, lam=(0.05, 0.5), n_terms=(5, 20)).fit(
            X, np.c_[half, third > 1]
        ),
    )

    # batches, one of whose inputs is narrow beside its magnitude in the first of them
    for engine in ("primal", "moments"):
        narrow = X.copy()
        narrow[:20, 2] = 0.5 + 5e-16 * np.arange(20) / 20
        model = GegenbauerRegressor(n_terms=20, gamma=0.01, engine=engine)
        model.partial_fit(narrow[:20], 3 + y[:20])
        yield f"regressor-stream-narrow-{engine}", model
        yield f"regressor-stream-{engine}", model + clone(model).partial_fit(X[20:], 3 + y[20:])


def outputs(model, X):
    """Evaluate what a model computes before it rounds to labels."""
    for method in ("decision_function", "transform", "predict"):
        if hasattr(model, method):
            return getattr(model, method)(X)
    raise AssertionError(model)


def main() -> None:
    FOLDER.mkdir()
    X = np.random.default_rng(1).uniform(-0.2, 1.2, size=(6, 3))
    expected = {"X": X.tolist(), "outputs": {}}
    for name, model in models():
        gegenbauer.save(model, FOLDER / f"{name}.safetensors")
        names = getattr(model, "feature_names_in_", None)
        rows = X if names is None else pd.DataFrame(X, columns=names)
        expected["outputs"][name] = outputs(model, rows).tolist()
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
