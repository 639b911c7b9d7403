"""Cases of choosing a penalty and a number of terms. Data are made from fixed seeds, or shipped."""

from __future__ import annotations

import warnings
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.lapack import dpotrf
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from bench.cases.common import LAM, case, ridge_is_solved
from bench.runner import Agreement, Case, Contest, Contestant
from gegenbauer import (
    GegenbauerClassifierCV,
    GegenbauerRegressorCV,
    InputScaling,
    RidgePath,
    TensorBasis,
    solve_ridge,
)
from gegenbauer.ridge import predict_kernel, solve_kernel
from gegenbauer.selection import prefix_surface

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]

ALPHAS = 2.0 ** np.arange(-20.0, 11.0)  # 31 of them
ONE_ALPHA = 2.0**-6
N_SPOTS = 20
SCORERS = (
    "roc_auc", "neg_log_loss", "neg_brier_score", "f1", "balanced_accuracy", "accuracy",
    "average_precision",
)  # fmt: skip
# Those that know labels, and what they know instead
OF_LABELS = {"f1": "f1_macro", "balanced_accuracy": "f1_samples"}


def _problem(S: int, m: int) -> tuple[Doubles, Doubles]:
    rng = np.random.default_rng(1)
    X = rng.random((S, m))
    return X, np.sin(X @ rng.standard_normal((m, 1))) + 0.1 * rng.standard_normal((S, 1))


def leave_one_out(*, n_threads: int, S: int, m: int, degree: int) -> Contest:
    """Exact leave-one-out for 31 alphas against one fit, and against a grid search."""
    X, Y = _problem(S, m)
    basis = TensorBasis(m, degree=degree, lam=LAM)

    def ours() -> Doubles:
        path = RidgePath(basis, X, Y, n_threads=n_threads)
        return path.leave_one_out(ALPHAS).predictions

    def grid_search() -> Any:
        pipe = make_pipeline(PolynomialFeatures(degree), Ridge(fit_intercept=False))
        return GridSearchCV(pipe, {"ridge__alpha": ALPHAS}, cv=4).fit(X, Y).best_estimator_

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        worst = 0.0
        for g in (10, 20, 30):
            for i in (0, S // 2, S - 1):
                keep = np.arange(S) != i
                fit = solve_ridge(basis, X[keep], Y[keep], ALPHAS[g], n_threads=n_threads)
                refit = basis.evaluate(X[i : i + 1]) @ fit.weights
                worst = max(worst, abs(float(results["ours"][g, i, 0] - refit[0, 0])))
        path = RidgePath(basis, X, Y, n_threads=n_threads)
        fitted = path.predict(X[:50], [ONE_ALPHA])[0]
        alone = np.abs(basis.evaluate(X[:50]) @ results["one fit"] - fitted).max()
        return [
            Agreement("ours: predictions of 9 refits without a row", worst, 1e-8),
            Agreement("one fit: predictions of ours with its alpha", float(alone), 1e-8),
            *ridge_is_solved(results["scikit-learn"], X, Y),
        ]

    return Contest(
        {"S": S, "m": m, "L": basis.n_terms, "alphas": ALPHAS.size},
        [
            Contestant("ours", "RidgePath and leave_one_out", ours),
            Contestant(
                "one fit",
                "solve_ridge with one alpha",
                lambda: solve_ridge(basis, X, Y, ONE_ALPHA, n_threads=n_threads).weights,
            ),
            Contestant(
                "scikit-learn", "GridSearchCV with 4 folds of PolynomialFeatures and Ridge",
                grid_search,
            ),
        ],
        check,
    )  # fmt: skip


def leave_one_out_by_moments(
    *, n_threads: int, S: int, degree: int, n_alphas: int, n_spots: int
) -> Contest:
    """Leave-one-out for 31 alphas of many rows with two inputs, against one fit by moments."""
    X, Y = _problem(S, 2)
    basis = TensorBasis(2, degree=degree, lam=LAM)
    alphas = ALPHAS[:: max(1, ALPHAS.size // n_alphas)][:n_alphas]

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        path = RidgePath(basis, X, Y, n_threads=n_threads)
        fitted = path.predict(X[:50], [ONE_ALPHA])[0]
        alone = np.abs(basis.evaluate(X[:50]) @ results["one fit"] - fitted).max()
        at = int(np.flatnonzero(alphas == ONE_ALPHA)[0])
        found, worst = results["ours"], 0.0
        rows = np.random.default_rng(2).choice(S, n_spots, replace=False)
        for i in rows:
            weight = np.ones(S)
            weight[i] = 0.0
            fit = solve_ridge(
                basis, X, Y, ONE_ALPHA, sample_weight=weight, engine="moments",
                n_threads=n_threads,
            )  # fmt: skip
            refit = basis.evaluate(X[i : i + 1]) @ fit.weights
            worst = max(worst, abs(float(found[at, i, 0] - refit[0, 0])))
        return [
            Agreement(f"ours: predictions of {n_spots} refits without a row", worst, 1e-8),
            Agreement("one fit: predictions of ours with its alpha", float(alone), 1e-8),
        ]

    return Contest(
        {"S": S, "m": 2, "L": basis.n_terms, "alphas": alphas.size},
        [
            Contestant(
                "ours", "RidgePath and leave_one_out",
                lambda: (
                    RidgePath(basis, X, Y, n_threads=n_threads).leave_one_out(alphas).predictions
                ),
            ),
            Contestant(
                "one fit", "solve_ridge by moments with one alpha",
                lambda: (
                    solve_ridge(
                        basis, X, Y, ONE_ALPHA, engine="moments", n_threads=n_threads
                    ).weights
                ),
            ),
        ],
        check,
    )  # fmt: skip


def surface(*, n_threads: int, n_terms: int, n_alphas: int) -> Contest:
    """Leave-one-out errors of every number of terms on Liver, against one factorisation."""
    path = Path(__file__).parents[1] / "data" / "liver.csv"
    table = np.genfromtxt(path, delimiter=",", skip_header=1, dtype=None, encoding="utf-8")
    X = np.array([[float(v) for v in list(row)[:-1]] for row in table])
    labels = np.unique([str(list(row)[-1]) for row in table], return_inverse=True)[1]
    rows = np.random.default_rng(0).permutation(len(X))[: round(0.7 * len(X))]
    X, Y = X[rows], np.where(labels[rows, np.newaxis] == 1, 1.0, -1.0)
    scaling = InputScaling.fit(X)
    basis = TensorBasis(X.shape[1], n_terms=n_terms, lam=LAM)
    alphas = ALPHAS[:: max(1, ALPHAS.size // n_alphas)][:n_alphas]
    square = np.random.default_rng(1).standard_normal((n_terms, n_terms))
    square = np.asfortranarray(square @ square.T + n_terms * np.eye(n_terms))

    def ours() -> Any:
        return prefix_surface(basis, X, Y, alphas, scaling=scaling, n_threads=n_threads).losses

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        found, rng, worst = results["ours"], np.random.default_rng(2), 0.0
        for _ in range(N_SPOTS):
            g, size = int(rng.integers(alphas.size)), int(rng.integers(1, n_terms + 1))
            spot = TensorBasis(X.shape[1], n_terms=size, lam=LAM)
            path = RidgePath(spot, X, Y, scaling=scaling, method="svd")
            left_out = path.leave_one_out([alphas[g]]).predictions[0]
            true = float(((left_out - Y) ** 2).mean())
            worst = max(worst, abs(float(found[g, size - 1]) / true - 1))
        lower = np.tril(results["one factorisation"])
        apart = np.abs(lower @ lower.T - square).max() / np.abs(square).max()
        return [
            Agreement(f"ours: {N_SPOTS} spots against leave-one-out of those terms", worst, 1e-8),
            Agreement("one factorisation: product of the factor", float(apart), 1e-12),
        ]

    return Contest(
        {"S": len(X), "L": n_terms, "alphas": alphas.size},
        [
            Contestant("ours", "prefix_surface, leave-one-out", ours),
            Contestant(
                "one factorisation", "SciPy's dpotrf of size L",
                lambda: dpotrf(square, lower=1, overwrite_a=0)[0],
            ),
        ],
        check,
    )  # fmt: skip


def all_terms(*, n_threads: int, S: int, m: int) -> Contest:
    """Fit the kernel of all terms with everything chosen, against one factorisation of its size."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (S, m))
    y = np.sin(3.0 * X[:, 0]) * X[:, 1] + np.exp(X[:, 2]) * (X[:, 3] > 0) + X[:, 4:8].sum(1) ** 2
    y += 0.3 * rng.standard_normal(S)
    square = np.asfortranarray(np.exp(-np.abs(np.subtract.outer(X[:, 0], X[:, 0]))))

    def ours() -> GegenbauerRegressorCV:
        model = GegenbauerRegressorCV(kernel_samples=S, intervals="one_spectrum", n_jobs=n_threads)
        return model.fit(X, y)

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        model = results["ours"]
        sample, rest = S // 3, np.delete(np.arange(S), S // 3)
        # targets are standardised for the fit, so alpha is of theirs
        center, unit = y.mean(), y.std()

        def fit(rows: npt.NDArray[np.intp]) -> Any:
            return solve_kernel(
                model.kernel_, X[rows], (y[rows] - center) / unit, model.alpha_,
                scaling=model.scaling_, penalize_constant=False, n_threads=n_threads,
            )  # fmt: skip

        without, whole = fit(rest), fit(np.arange(S))
        # the fit has its samples in an order of its own
        expected = predict_kernel(
            model.kernel_, X[:50], X, whole.dual_coef, intercept=whole.intercept,
            scaling=model.scaling_,
        )[:, 0]  # fmt: skip
        off = np.abs(model.predict(X[:50]) - (center + unit * expected)).max() / unit
        refit = predict_kernel(
            model.kernel_, X[[sample]], X[rest], without.dual_coef, intercept=without.intercept,
            scaling=model.scaling_,
        )[0, 0]  # fmt: skip
        apart = abs(model.loo_predictions_[sample] - (center + unit * refit)) / unit
        lower = np.tril(results["one factorisation"])[:200]
        product = np.abs(lower @ lower.T - square[:200, :200]).max()
        return [
            Agreement("ours: 50 predictions by its alpha", float(off), 1e-8),
            Agreement("ours: one sample left out against a refit", float(apart), 1e-8),
            Agreement("one factorisation: product of the factor", float(product), 1e-12),
        ]

    return Contest(
        {"S": S, "m": m},
        [
            Contestant("ours", "GegenbauerRegressorCV of all terms", ours),
            Contestant(
                "one factorisation", "SciPy's dpotrf of size S",
                lambda: dpotrf(square, lower=1, overwrite_a=0)[0],
            ),
        ],
        check,
    )  # fmt: skip


def scorers(*, n_threads: int, S: int, m: int, n_labels: int, n_alphas: int) -> Contest:
    """Choose by scorers of scikit-learn, against our own score; one of them is called for each."""
    rng = np.random.default_rng(1)
    X = rng.random((S, m))
    sides = np.sin(3.0 * X @ rng.standard_normal((m, n_labels)))
    Y = (sides + 0.5 * rng.standard_normal(sides.shape) > np.median(sides, axis=0)).astype(int)
    y = Y[:, 0] if n_labels == 1 else Y
    names = [name if n_labels == 1 else OF_LABELS.get(name, name) for name in SCORERS]
    alphas = 2.0 ** np.linspace(-30.0, 30.0, n_alphas)
    one_by_one = f"{names[3]}, one by one"

    def choose(scoring: Any) -> GegenbauerClassifierCV:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = GegenbauerClassifierCV(
                spectrum=None,
                n_terms=[10, 30, 60],
                alphas=alphas,
                scoring=scoring,
                n_jobs=n_threads,
            )
            return model.fit(X, y)

    @cache
    def called(name: str) -> float:
        return choose(get_scorer(name)).best_score_

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        targets = np.where(Y == 1, 1.0, -1.0)
        agreements = []
        for name, model in results.items():
            basis = TensorBasis(m, n_terms=model.n_terms_, lam=model.lam_)
            weights = solve_ridge(
                basis, X, targets, model.alpha_, scaling=model.scaling_, n_threads=n_threads
            ).weights
            apart = np.abs(weights - model.term_coef_).max() / np.abs(weights).max()
            agreements.append(Agreement(f"{name}: weights of what it chose", float(apart), 1e-8))
        for name in names:
            apart = abs(results[name].best_score_ - called(name)) / (1.0 + abs(called(name)))
            agreements.append(
                Agreement(f"{name}: best score when the scorer is called for each", apart, 1e-9)
            )
        return agreements

    return Contest(
        {"S": S, "m": m, "labels": n_labels, "alphas": n_alphas},
        [
            Contestant("ours", "GegenbauerClassifierCV by its own score", lambda: choose(None)),
            *(
                Contestant(name, f"the same by scoring={name!r}", partial(choose, name))
                for name in names
            ),
            Contestant(
                one_by_one, "the same by a scorer that is called for each candidate",
                lambda: choose(get_scorer(names[3])),
            ),
        ],
        check,
    )  # fmt: skip


# --- The list -------------------------------------------------------------------------------------

CASES: tuple[Case, ...] = (
    case(
        "loo-alphas",
        "exact leave-one-out for 31 alphas",
        leave_one_out,
        {"S": 1_000, "m": 6, "degree": 7},
        {"one fit": 1 / 3, "scikit-learn": 200.0},
        S=60,
        degree=2,
    ),
    case(
        "loo-moments",
        "exact leave-one-out for 31 alphas by moments",
        leave_one_out_by_moments,
        {"S": 1_000_000, "degree": 53, "n_alphas": 31, "n_spots": 3},
        {"one fit": 1 / 10},
        S=3_000,
        degree=8,
        n_spots=2,
    ),
    case(
        "prefix-surface",
        "leave-one-out for 31 alphas and every number of terms",
        surface,
        {"n_terms": 1_500, "n_alphas": 31},
        {"one factorisation": 1 / 60},
        n_terms=40,
        n_alphas=4,
    ),
    case(
        "all-terms-chosen",
        "the kernel of all terms, everything chosen",
        all_terms,
        {"S": 10_000, "m": 16},
        {"one factorisation": 1 / 12},
        S=120,
        m=8,
    ),
    case(
        "scorers-classes",
        "a search by scikit-learn's scorers, two classes",
        scorers,
        {"S": 400, "m": 4, "n_labels": 1, "n_alphas": 61},
        S=40,
        n_alphas=3,
    ),
    case(
        "scorers-labels",
        "a search by scikit-learn's scorers, three labels",
        scorers,
        {"S": 400, "m": 4, "n_labels": 3, "n_alphas": 61},
        S=40,
        n_alphas=3,
    ),
)
