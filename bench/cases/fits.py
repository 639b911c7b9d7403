"""Whole fits, and whether the engine that is chosen is the fastest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from bench.cases.common import (
    ALPHA,
    LAM,
    OTHER_PENALTY,
    case,
    inputs,
    relative,
    ridge_is_solved,
    same_terms,
    targets,
)
from bench.runner import Agreement, Case, Contest, Contestant, DeclinedError
from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerRegressor,
    TensorBasis,
    reference,
    solve_ridge,
)
from gegenbauer.basis import count_terms
from gegenbauer.ridge import RidgeSolution, fit_cost, predict

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]


def _sklearn_fit(X: Doubles, Y: Doubles, degree: int) -> Pipeline:
    # What makes Ridge fastest: the constant is a term, and the features may be overwritten.
    ridge = Ridge(alpha=ALPHA, fit_intercept=False, copy_X=False)
    return make_pipeline(PolynomialFeatures(degree), ridge).fit(X, Y)


def _fit_contest(X: Doubles, Y: Doubles, test: Doubles, degree: int, n_threads: int) -> Contest:
    m = X.shape[1]
    n_terms = count_terms(m, degree=degree)

    def ours() -> tuple[TensorBasis, Doubles]:
        basis = TensorBasis(m, degree=degree, lam=LAM)
        return basis, solve_ridge(basis, X, Y, ALPHA, n_threads=n_threads).weights

    def numpy() -> tuple[Any, Doubles]:
        indices = reference.graded_lexicographic(m, n_terms)
        return indices, reference.rwdd(reference.activation_matrix(X, indices, LAM), Y, ALPHA)

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        basis, weights = results["ours"]
        indices, other = results["numpy"]
        model = results["scikit-learn"]
        expected = reference.network_output(test, indices, LAM, other)
        return [
            Agreement(
                f"numpy: predictions of {len(test)} new rows",
                relative(predict(basis, test, weights, n_threads=n_threads), expected),
                1e-9,
            ),
            same_terms(basis, model[0]),
            *ridge_is_solved(model, X, Y),
        ]

    return Contest(
        {"S": len(X), "m": m, "L": n_terms, "K": Y.shape[1]},
        [
            Contestant("ours", "TensorBasis and solve_ridge", ours),
            Contestant("numpy", "reference: indices, activation matrix, rwdd", numpy),
            Contestant(
                "scikit-learn",
                "pipeline of PolynomialFeatures and Ridge, fit",
                lambda: _sklearn_fit(X, Y, degree),
            ),
        ],
        check,
        not_compared=OTHER_PENALTY,
    )


def _iris() -> tuple[Doubles, npt.NDArray[Any], Doubles]:
    """Return 105 training rows with their classes, and 45 test rows, as measured."""
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(X))
    return X[rows[:105]], y[rows[:105]], X[rows[105:]]


def fit_iris(*, n_threads: int, degree: int) -> Contest:
    """Small fit, functional API."""
    training, labels, test = _iris()
    Y = reference.class_targets(labels, np.unique(labels))
    X, new = (reference.minmax_scale(part, training) for part in (training, test))
    return _fit_contest(X, Y, new, degree, n_threads)


def fit_iris_estimator(*, n_threads: int, degree: int) -> Contest:
    """Small fit, everything that the user of an estimator pays."""
    training, labels, test = _iris()
    m = training.shape[1]
    n_terms = count_terms(m, degree=degree)
    Y = reference.class_targets(labels, np.unique(labels))
    X = reference.minmax_scale(training, training)

    def ours() -> GegenbauerClassifier:
        model = GegenbauerClassifier(None, degree, lam=LAM, alpha=ALPHA, n_jobs=n_threads)
        return model.fit(training, labels)

    def numpy() -> reference.Network:
        return reference.fit(training, labels, n_terms=n_terms, lam=LAM, gamma=ALPHA)

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        model, network = results["ours"], results["numpy"]
        scaled = reference.minmax_scale(test, network.box, network.domain)
        expected = reference.network_output(scaled, network.indices, network.lam, network.weights)
        other_labels = model.predict(test) != reference.predict_labels(network, test)
        return [
            Agreement(
                f"numpy: decisions of {len(test)} new rows",
                relative(model.decision_function(test), expected),
                1e-9,
            ),
            Agreement("numpy: labels that differ", float(other_labels.sum()), 0.0),
            same_terms(model.basis_, results["scikit-learn"][0]),
            *ridge_is_solved(results["scikit-learn"], X, Y),
        ]

    return Contest(
        {"S": len(X), "m": m, "L": n_terms, "K": Y.shape[1]},
        [
            Contestant("ours", "GegenbauerClassifier.fit of labels, scaling included", ours),
            Contestant("numpy", "reference.fit of labels, scaling included", numpy),
            Contestant(
                "scikit-learn",
                "pipeline of PolynomialFeatures and Ridge, fit of scaled inputs and coded targets",
                lambda: _sklearn_fit(X, Y, degree),
            ),
        ],
        check,
        not_compared=OTHER_PENALTY,
    )


def fit(*, n_threads: int, S: int, m: int, degree: int, K: int) -> Contest:
    """Fit of made data."""
    X, test = inputs(S, m), np.random.default_rng(3).random((1000, m))
    return _fit_contest(X, targets(X, K), test, degree, n_threads)


def fit_ready(
    *, n_threads: int, S: int, m: int, degree: int, K: int, estimator: bool = False
) -> Contest:
    """Fit of many outputs, against a ridge regression that is given the features."""
    X = inputs(S, m)
    Y, basis = targets(X, K), TensorBasis(m, degree=degree, lam=LAM)
    G = np.ascontiguousarray(basis.evaluate(X))
    model = GegenbauerRegressor(None, degree, lam=LAM, alpha=ALPHA, n_jobs=n_threads)

    def ours() -> Doubles:
        if estimator:
            return model.fit(X, Y).term_coef_
        return solve_ridge(basis, X, Y, ALPHA, n_threads=n_threads).weights

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        theirs = results["scikit-learn"]
        A = G - G.mean(axis=0)
        W = theirs.coef_.T
        optimality = np.linalg.norm(A.T @ (Y - Y.mean(axis=0) - A @ W) - ALPHA * W)
        size = np.linalg.norm(A) ** 2 * np.linalg.norm(W) + np.linalg.norm(A) * np.linalg.norm(Y)
        return [
            Agreement(
                "numpy: fitted values",
                relative(G @ results["ours"], G @ results["numpy"]),
                1e-9,
            ),
            Agreement("scikit-learn: optimality of its fit", float(optimality / size), 1e-11),
            Agreement(
                "scikit-learn: falls back from Cholesky (0 no, 1 yes)",
                float(theirs.solver_ != "cholesky"),
                0.0,
            ),
        ]

    return Contest(
        {"S": S, "m": m, "L": basis.n_terms, "K": K},
        [
            Contestant(
                "ours", "GegenbauerRegressor.fit" if estimator else "solve_ridge, from X", ours
            ),
            Contestant(
                "numpy", "reference.rwdd with the features", lambda: reference.rwdd(G, Y, ALPHA)
            ),
            Contestant(
                "scikit-learn",
                "Ridge with the features (their evaluation is not timed)",
                lambda: Ridge(alpha=ALPHA).fit(G, Y),
            ),
        ],
        check,
        not_compared="weights with scikit-learn's: its constant is not penalised",
    )


def engine_choice(*, n_threads: int, S: int, m: int, degree: int, K: int) -> Contest:
    """Solve by the engine that the cost model chooses, against every other engine."""
    X = inputs(S, m)
    Y, basis = targets(X, K), TensorBasis(m, degree=degree, lam=LAM)
    cost = fit_cost(basis, S, K)

    def solve(engine: str) -> RidgeSolution:
        return solve_ridge(basis, X, Y, 2.0**-6, engine=engine, n_threads=n_threads)

    def peer(engine: str) -> RidgeSolution:
        if cost[engine] > 30 * min(cost.values()):
            raise DeclinedError("the cost model expects more than 30 times the best")
        solution = solve(engine)
        if solution.engine != engine:
            raise DeclinedError(f"gave way to {solution.engine!r}")
        return solution

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        chosen = results["ours"].weights
        return [
            Agreement(f"{engine}: weights", relative(chosen, results[engine].weights), 1e-7)
            for engine in cost
            if engine in results
        ]

    return Contest(
        {"S": S, "m": m, "L": basis.n_terms, "K": K},
        [
            Contestant("ours", "solve_ridge with engine='auto'", lambda: solve("auto")),
            *(
                Contestant(engine, f"the same with engine={engine!r}", partial(peer, engine))
                for engine in cost
            ),
        ],
        check,
    )


# --- The list -------------------------------------------------------------------------------------

CASES: tuple[Case, ...] = (
    case(
        "fit-iris",
        "a small fit through the functions: overhead counts",
        fit_iris,
        {"degree": 10},
        {"scikit-learn": 6.0},
        degree=3,
    ),
    case(
        "fit-iris-estimator",
        "the same through the estimator",
        fit_iris_estimator,
        {"degree": 10},
        {"scikit-learn": 2.0},
        degree=3,
    ),
    case(
        "fit-primal",
        "a fit with many more rows than terms",
        fit,
        {"S": 20_000, "m": 6, "degree": 5, "K": 1},
        S=300,
        degree=2,
    ),
    case(
        "fit-dual",
        "a fit with fewer rows than terms",
        fit,
        {"S": 1_000, "m": 21, "degree": 3, "K": 1},
        S=40,
        m=5,
    ),
    case(
        "fit-outputs",
        "a fit of many outputs, whose products with each other nobody needs",
        fit,
        {"S": 4_000, "m": 2, "degree": 13, "K": 1_000},
        {"scikit-learn": 1 / 1.5},
        S=60,
        degree=2,
        K=40,
    ),
    *(
        case(
            f"fit-ready{'-estimator' if estimator else ''}-{K}",
            f"a fit of many outputs {'by the estimator' if estimator else 'from X'}, against one "
            "that is given the features",
            partial(fit_ready, estimator=estimator),
            {"S": 4_000, "m": 2, "degree": 13, "K": K},
            {"scikit-learn": 1 / 1.5},
            S=60,
            degree=2,
            K=40,
        )
        for estimator in (False, True)
        for K in (300, 1_000)
    ),
    *(
        case(
            f"engine-{S}-{m}-{degree}-{K}",
            "the engine that is chosen, against the others (none may be 1.5 times as fast)",
            engine_choice,
            {"S": S, "m": m, "degree": degree, "K": K},
            dict.fromkeys(("primal", "moments", "dual", "kernel"), 1 / 1.5),
            S=min(S, 60),
            m=min(m, 4),
            degree=2,
        )
        for S, m, degree, K in (
            (100, 4, 10, 1),
            (1000, 2, 20, 1),
            (1000, 4, 6, 5),
            (1000, 13, 3, 1),
            (3000, 6, 5, 5),
            (4000, 2, 13, 300),
            (3000, 20, 3, 1),
            (30_000, 2, 30, 1),
            (30_000, 6, 6, 1),
            (30_000, 20, 2, 5),
            (100_000, 10, 3, 1),
        )
    ),
)
