"""How good models are with default settings: ``python -m bench.quality classification``.

Or ``regression``. Every contestant gets the same rows. Classification: the ten data sets of the
paper, seeded 70/30 splits, inputs scaled by the training rows and clipped. Regression: simulator
functions without noise, 1000 training rows, errors on 2000 fresh ones divided by their standard
deviation. Times are those of fits, one after the other in one process.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from bench.quality_tables import run_tables, split
from gegenbauer import GegenbauerClassifierCV, GegenbauerRegressorCV

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Maker = Callable[[], Any]

DATA = Path(__file__).parent / "data"
FILES = (
    "australian", "diabetes", "ecoli", "glass", "ionosphere", "liver", "vehicle", "banana",
)  # fmt: skip
N_BINS = 15  # of probabilities, for the calibration error


# --- Classification -------------------------------------------------------------------------------


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield names, inputs and labels as numbers from 0."""
    for name, load in (("iris", load_iris), ("wine", load_wine)):
        yield name, *load(return_X_y=True)
    for name in FILES:
        table = np.genfromtxt(DATA / f"{name}.csv", delimiter=",", names=True, dtype=None,
                              encoding="utf-8")  # fmt: skip
        names = table.dtype.names
        X = np.column_stack([table[c].astype(float) for c in names[:-1]])
        yield name, X, np.unique(table[names[-1]], return_inverse=True)[1]


def classifiers(n_jobs: int, tuned: dict[str, Any]) -> dict[str, Maker]:
    """Return what makes each contestant; those that are not installed are left out.

    The calibrated support vector machine takes its parameters from `tuned`, found by the grid
    search on the same rows.
    """
    grid = {"C": 2.0 ** np.arange(-5, 16, 2), "gamma": 2.0 ** np.arange(-11, 6, 2)}

    makers: dict[str, Maker] = {
        "gegenbauer": lambda: GegenbauerClassifierCV(n_jobs=n_jobs),
        "SVC, 4-fold grid": lambda: GridSearchCV(SVC(), grid, cv=4, n_jobs=n_jobs),
        "calibrated SVC": lambda: CalibratedClassifierCV(SVC(**tuned), cv=4),
        "random forest": lambda: RandomForestClassifier(500, random_state=0, n_jobs=n_jobs),
        "logistic regression": lambda: LogisticRegression(max_iter=2000),
    }
    if util.find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        makers["LightGBM"] = lambda: LGBMClassifier(verbose=-1, n_jobs=n_jobs, random_state=0)
    if util.find_spec("catboost"):
        from catboost import CatBoostClassifier

        makers["CatBoost"] = lambda: CatBoostClassifier(
            verbose=0, thread_count=n_jobs, random_seed=0, allow_writing_files=False
        )
    return makers


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Return the expected difference of the largest probability and the share that is right."""
    bins = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    parts = [bins == b for b in range(N_BINS)]
    return float(
        sum(abs(confidence[part].mean() - right[part].mean()) * part.mean()
            for part in parts if part.any())
    )  # fmt: skip


def judge_classifier(
    make: Maker, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> tuple[Any, dict[str, float], np.ndarray]:
    """Fit and judge one contestant on one split.

    Return it, its measures, and its largest probabilities beside whether they are right, (2, n) or
    (2, 0).
    """
    scaler = MinMaxScaler(clip=True).fit(X[train])
    A, B = scaler.transform(X[train]), scaler.transform(X[test])
    start = time.perf_counter()
    model = make().fit(A, y[train])
    seconds = time.perf_counter() - start
    labels = np.ravel(model.predict(B))  # CatBoost's are a column
    found = {"seconds": seconds, "accuracy": float((labels == y[test]).mean())}
    if hasattr(model, "predict_proba"):
        P = np.zeros((len(test), int(y.max()) + 1))  # a class may be missing from the rows
        P[:, model.classes_.astype(int)] = model.predict_proba(B)
        own = P[np.arange(len(test)), y[test]].clip(1e-15, 1)
        found["log-loss"] = float(-np.log(own).mean())
        sure = np.array([P.max(axis=1), P.argmax(axis=1) == y[test]])
        found["calibration error"] = calibration_error(*sure)
        return model, found, sure
    return model, found, np.empty((2, 0))


def run_classification(
    n_splits: int, n_jobs: int, only: Sequence[str], data: Sequence[str]
) -> dict[str, dict[str, dict[str, float]]]:
    """Return means over splits by contestant, data set and measure."""
    results: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for name, X, y in data_sets():
        if data and name not in data:
            continue
        rows: dict[str, list[dict[str, float]]] = defaultdict(list)
        certain: dict[str, list[np.ndarray]] = defaultdict(list)
        for seed in range(n_splits):
            train, test = split(len(y), seed)
            tuned: dict[str, Any] = {}
            for contestant, make in classifiers(n_jobs, tuned).items():
                if only and contestant not in only:
                    continue
                try:
                    model, found, sure = judge_classifier(make, X, y, train, test)
                except ValueError as error:  # 4 folds need 4 rows of every class
                    print(f"{name}: {contestant} fails: {str(error).splitlines()[0]}", flush=True)
                    continue
                if isinstance(model, GridSearchCV):
                    tuned.update(model.best_params_)
                rows[contestant].append(found)
                certain[contestant].append(sure)
        for contestant, found_rows in rows.items():
            results[contestant][name] = {
                key: float(np.mean([row[key] for row in found_rows])) for key in found_rows[0]
            }
            together = np.concatenate(certain[contestant], axis=1)
            if together.size:
                # of few test rows, a bin holds one or two: their error is mostly noise
                whole = calibration_error(*together)
                results[contestant][name]["calibration error, splits together"] = whole
            shown = ", ".join(f"{k} {v:.4g}" for k, v in results[contestant][name].items())
            print(f"{name}: {contestant} ({len(found_rows)}): {shown}", flush=True)
    return results


# --- Regression -----------------------------------------------------------------------------------


def borehole(u: np.ndarray) -> np.ndarray:
    """Flow of water through a borehole, 8 inputs."""
    low = np.array([0.05, 100, 63070, 990, 63.1, 700, 1120, 9855])
    high = np.array([0.15, 50000, 115600, 1110, 116, 820, 1680, 12045])
    rw, r, tu, hu, tl, hl, length, kw = (low + u * (high - low)).T
    log = np.log(r / rw)
    return np.asarray(
        2 * np.pi * tu * (hu - hl) / (log * (1 + 2 * length * tu / (log * rw**2 * kw) + tu / tl))
    )


def otl_circuit(u: np.ndarray) -> np.ndarray:
    """Output voltage of a push-pull circuit without transformer, 6 inputs."""
    low = np.array([50, 25, 0.5, 1.2, 0.25, 50])
    high = np.array([150, 70, 3, 2.5, 1.2, 300])
    rb1, rb2, rf, rc1, rc2, beta = (low + u * (high - low)).T
    vb1 = 12 * rb2 / (rb1 + rb2)
    gain = beta * (rc2 + 9)
    return np.asarray(
        (vb1 + 0.74) * gain / (gain + rf)
        + 11.35 * rf / (gain + rf)
        + 0.74 * rf * gain / ((gain + rf) * rc1)
    )


def ishigami(u: np.ndarray) -> np.ndarray:
    """Ishigami's function, 3 inputs."""
    x = np.pi * (2 * u - 1)
    return np.asarray(
        np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])
    )


def friedman(u: np.ndarray) -> np.ndarray:
    """Friedman's first function, 10 inputs of which 5 matter."""
    return np.asarray(
        10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2
        + 10 * u[:, 3] + 5 * u[:, 4]
    )  # fmt: skip


FUNCTIONS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], int, float]] = {
    "borehole": (borehole, 8, 7e-4),
    "OTL circuit": (otl_circuit, 6, 1.5e-4),
    "Ishigami": (ishigami, 3, 2e-4),
    "Friedman-1": (friedman, 10, 3e-5),
}


def gaussian_process(m: int) -> Any:
    """Return scikit-learn's Gaussian process with a length for every input, and noise."""
    kernel = ConstantKernel() * RBF(np.ones(m), (1e-2, 1e3)) + WhiteKernel(1e-6, (1e-12, 1e0))
    return GaussianProcessRegressor(kernel, normalize_y=True)


def run_regression(
    n_seeds: int, n_jobs: int, only: Sequence[str], data: Sequence[str]
) -> dict[str, dict[str, dict[str, float]]]:
    """Return means over seeds by contestant, function and measure."""
    results: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for name, (function, m, _) in FUNCTIONS.items():
        if data and name not in data:
            continue
        makers: dict[str, Maker] = {
            "gegenbauer": lambda: GegenbauerRegressorCV(n_jobs=n_jobs),
            "Gaussian process": lambda m=m: gaussian_process(m),  # type: ignore[misc]
        }
        for contestant, make in makers.items():
            if only and contestant not in only:
                continue
            errors, seconds = [], []
            for seed in range(n_seeds):
                rng = np.random.default_rng(seed)
                X, Z = rng.uniform(size=(1000, m)), rng.uniform(size=(2000, m))
                y, z = function(X), function(Z)
                start = time.perf_counter()
                model = make().fit(X, y)
                seconds.append(time.perf_counter() - start)
                wrong = model.predict(Z) - z
                errors.append(float(np.sqrt((wrong**2).mean()) / z.std()))
            results[contestant][name] = {
                "error": float(np.mean(errors)), "seconds": float(np.mean(seconds))
            }  # fmt: skip
            shown = ", ".join(f"{k} {v:.3g}" for k, v in results[contestant][name].items())
            print(f"{name}: {contestant}: {shown}", flush=True)
    return results


RUNS = {
    "classification": run_classification,
    "regression": run_regression,
    "tables": run_tables,
}


def main() -> None:
    """Run one of the comparisons and print means."""
    it = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__)
    it.add_argument("what", choices=[*RUNS])
    it.add_argument("--splits", type=int, default=20, metavar="N", help="splits, or seeds")
    it.add_argument("--threads", type=int, default=2, metavar="N", help="threads of everybody")
    it.add_argument("--only", action="append", default=[], metavar="NAME", help="this contestant")
    it.add_argument("--data", action="append", default=[], metavar="NAME", help="this data set")
    it.add_argument("--json", type=Path, metavar="FILE", help="keep the result as JSON")
    options = it.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peers: convergence, missing classes
        results = RUNS[options.what](options.splits, options.threads, options.only, options.data)
    print("\nmeans over data")
    for contestant, by_data in results.items():
        keys = {k: None for row in by_data.values() for k in row}  # in their order
        means = {k: float(np.mean([row[k] for row in by_data.values() if k in row])) for k in keys}
        shown = ", ".join(f"{k} {v:.4g}" for k, v in means.items())
        print(f"{contestant} ({len(by_data)} of them): {shown}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
