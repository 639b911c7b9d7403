"""The named cases. Data are made from fixed seeds; nothing here takes a time.

Every case starts from inputs that lie in [0, 1], so that no contestant has to scale them; where
ours is an estimator, which always scales, the peers are told so. Sets of terms that scikit-learn
takes part in are of complete total degree: its ``PolynomialFeatures`` makes no others, and all
contestants have the same number of terms.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from bench import selection
from bench.runner import PEAK, Agreement, Case, Contest, Contestant, DeclinedError
from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerFeatures,
    RidgeSolution,
    SpectrumKernel,
    TensorBasis,
    TotalDegreeKernel,
    count_terms,
    fit_cost,
    predict,
    predict_kernel,
    reference,
    solve_dual,
    solve_kernel,
    solve_ridge,
)
from gegenbauer._dispatch import core

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]

LAM, GAMMA = 0.05, 2.0**-12  # the paper's setting

OTHER_PENALTY = (
    "predictions with scikit-learn's: its basis is the monomials of the same span, so the same "
    "penalty acts on other coefficients and another function is fitted"
)


# --- Data -----------------------------------------------------------------------------------------


def _inputs(n_samples: int, n_features: int) -> Doubles:
    """Fill the unit box evenly, both corners included: an estimator's scaling changes nothing."""
    X = np.random.default_rng(1).random((n_samples, n_features))
    X[0], X[1] = 0.0, 1.0
    return X


def _targets(X: Doubles, n_outputs: int) -> Doubles:
    """Return smooth functions of all inputs with a little noise."""
    rng = np.random.default_rng(2)
    directions = rng.standard_normal((X.shape[1], n_outputs))
    return np.sin(X @ directions) + 0.1 * rng.standard_normal((len(X), n_outputs))


# --- Comparisons ----------------------------------------------------------------------------------


def _relative(a: Doubles, b: Doubles) -> float:
    """Return the largest difference relative to the largest value of b."""
    return float(np.abs(a - b).max() / np.abs(b).max())


def _relative_to_columns(a: Doubles, b: Doubles) -> float:
    """Return the largest difference relative to the largest value of its column of b."""
    return float((np.abs(a - b).max(axis=0) / np.abs(b).max(axis=0)).max())


def _same_product(ours: Doubles, other: Doubles, peer: str, tolerance: float = 1e-12) -> Agreement:
    """Compare the lower triangles of two Gram or kernel matrices."""
    lower = np.tril_indices(len(other))
    scale = np.sqrt(other.diagonal())
    scale = (scale[:, np.newaxis] * scale)[lower]
    return Agreement(
        f"{peer}: entries (a, b) of the product, relative to the square root of (a, a) (b, b)",
        float((np.abs(ours - other)[lower] / scale).max()),
        tolerance,
    )


def _same_terms(basis: TensorBasis, features: PolynomialFeatures) -> Agreement:
    same = features.powers_.shape == basis.indices.shape
    different = (features.powers_ != basis.indices).any(axis=1).sum() if same else basis.n_terms
    return Agreement(
        f"scikit-learn: terms with other degrees than ours, of {basis.n_terms}",
        float(different),
        0.0,
    )


def ridge_is_solved(model: Pipeline, X: Doubles, Y: Doubles) -> list[Agreement]:
    """Check that scikit-learn solved its own problem, by the way that it is meant to."""
    A, ridge = model[0].transform(X), model[-1]
    W = ridge.coef_.reshape(Y.shape[1], -1).T
    residual = np.linalg.norm(A.T @ (Y - A @ W) - ridge.alpha * W)
    scale = np.linalg.norm(A)
    scale *= scale * np.linalg.norm(W) + np.linalg.norm(Y)
    return [
        Agreement(
            "scikit-learn: optimality of its fit for its own basis", float(residual / scale), 1e-11
        ),
        Agreement(
            "scikit-learn: falls back from Cholesky (0 no, 1 yes)",
            float(ridge.solver_ != "cholesky"),
            0.0,
        ),
    ]


# --- Fits -----------------------------------------------------------------------------------------


def _sklearn_fit(X: Doubles, Y: Doubles, degree: int) -> Pipeline:
    # What makes Ridge fastest: the constant is a term, and the features may be overwritten.
    ridge = Ridge(alpha=GAMMA, fit_intercept=False, copy_X=False)
    return make_pipeline(PolynomialFeatures(degree), ridge).fit(X, Y)


def _fit_contest(X: Doubles, Y: Doubles, test: Doubles, degree: int, n_threads: int) -> Contest:
    m = X.shape[1]
    n_terms = count_terms(m, degree=degree)

    def ours() -> tuple[TensorBasis, Doubles]:
        basis = TensorBasis(m, degree=degree, lam=LAM)
        return basis, solve_ridge(basis, X, Y, GAMMA, n_threads=n_threads).weights

    def numpy() -> tuple[Any, Doubles]:
        indices = reference.graded_lexicographic(m, n_terms)
        return indices, reference.rwdd(reference.activation_matrix(X, indices, LAM), Y, GAMMA)

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        basis, weights = results["ours"]
        indices, other = results["numpy"]
        model = results["scikit-learn"]
        expected = reference.network_output(test, indices, LAM, other)
        return [
            Agreement(
                f"numpy: predictions of {len(test)} new rows",
                _relative(predict(basis, test, weights, n_threads=n_threads), expected),
                1e-9,
            ),
            _same_terms(basis, model[0]),
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
        model = GegenbauerClassifier(None, degree, lam=LAM, gamma=GAMMA, n_jobs=n_threads)
        return model.fit(training, labels)

    def numpy() -> reference.Network:
        return reference.fit(training, labels, n_terms=n_terms, lam=LAM, gamma=GAMMA)

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        model, network = results["ours"], results["numpy"]
        scaled = reference.minmax_scale(test, network.box, network.domain)
        expected = reference.network_output(scaled, network.indices, network.lam, network.weights)
        other_labels = model.predict(test) != reference.predict_labels(network, test)
        return [
            Agreement(
                f"numpy: decisions of {len(test)} new rows",
                _relative(model.decision_function(test), expected),
                1e-9,
            ),
            Agreement("numpy: labels that differ", float(other_labels.sum()), 0.0),
            _same_terms(model.basis_, results["scikit-learn"][0]),
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
    X, test = _inputs(S, m), np.random.default_rng(3).random((1000, m))
    return _fit_contest(X, _targets(X, K), test, degree, n_threads)


def engine_choice(*, n_threads: int, S: int, m: int, degree: int, K: int) -> Contest:
    """Solve by the engine that the cost model chooses, against every other engine."""
    X = _inputs(S, m)
    Y, basis = _targets(X, K), TensorBasis(m, degree=degree, lam=LAM)
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
            Agreement(f"{engine}: weights", _relative(chosen, results[engine].weights), 1e-7)
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


# --- Products and factorisations ------------------------------------------------------------------


def gram(*, n_threads: int, S: int, m: int, L: int) -> Contest:
    """Normal equations by features against a bare product."""
    X, nothing = _inputs(S, m), np.empty((S, 0))
    basis = TensorBasis(m, n_terms=L, lam=LAM)
    # Column-major: dsyrk takes it without a copy, and was no slower than with row-major, at
    # L = 4000 even 1.1 times as fast.
    G = reference.activation_matrix(X, basis.indices, LAM)

    def ours() -> Doubles:
        total = np.zeros((L, L), order="F")
        core.accumulate_gram(basis._plan, X, None, nothing, None, total, n_threads)
        return total

    def numpy() -> Doubles:
        features = reference.activation_matrix(X, basis.indices, LAM)
        return features.T @ features

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        return [_same_product(results["ours"], results[peer], peer) for peer in ("dsyrk", "numpy")]

    return Contest(
        {"S": S, "m": m, "L": L},
        [
            Contestant("ours", "accumulate_gram, from X", ours),
            Contestant(
                "dsyrk",
                "SciPy's dsyrk on a G that exists (its evaluation is not timed)",
                lambda: dsyrk(1.0, G, trans=1, lower=1),
            ),
            Contestant("numpy", "reference.activation_matrix, then G.T @ G, from X", numpy),
        ],
        check,
        flops=float(S) * L * (L + 1),
    )


def gram_moments(*, n_threads: int, S: int, m: int, degree: int, rows: int) -> Contest:
    """Normal equations by moments against a bare product, timed on `rows` of the S rows."""
    X, nothing = _inputs(S, m), np.empty((S, 0))
    basis = TensorBasis(m, degree=degree, lam=LAM)
    L = basis.n_terms
    G = reference.activation_matrix(X[:rows], basis.indices, LAM)

    def by_moments(X: Doubles) -> Doubles:
        statistic = np.zeros(core.count_moments(basis._plan, 0))
        total = np.zeros((L, L), order="F")
        core.accumulate_moments(basis._plan, X, None, nothing[: len(X)], None, statistic, n_threads)
        core.assemble_moments(basis._plan, statistic, total, n_threads)
        return total

    def by_features(X: Doubles) -> Doubles:
        total = np.zeros((L, L), order="F")
        core.accumulate_gram(basis._plan, X, None, nothing[: len(X)], None, total, n_threads)
        return total

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        def difference(ours: Doubles, theirs: Doubles) -> float:
            lower = np.tril_indices(len(ours))
            scale = np.sqrt(theirs.diagonal())
            scale = (scale[:, np.newaxis] * scale)[lower]
            return float((np.abs(ours - theirs)[lower] / scale).max())

        # All rows, but a few terms; and all terms, but the rows that the peers take.
        some = np.linspace(0, L - 1, min(L, 20), dtype=int)
        features = reference.activation_matrix(X, basis.indices[some], LAM)
        ours, what = results["ours"], "entries of G'G, relative to sqrt(G_aa G_bb)"
        fewer = by_moments(X[:rows])
        return [
            Agreement(
                f"numpy: {what}, of {len(some)} terms",
                difference(ours[np.ix_(some, some)], features.T @ features),
                1e-12,
            ),
            *(
                Agreement(
                    f"{peer}: {what}, of {rows} rows", difference(fewer, results[peer]), 1e-12
                )
                for peer in ("dsyrk", "by features")
            ),
        ]

    return Contest(
        {"S": S, "m": m, "L": L, "moments": core.count_moments(basis._plan, 0)},
        [
            Contestant("ours", "moments from X, then the Gram matrix", lambda: by_moments(X)),
            Contestant(
                "dsyrk",
                f"SciPy's dsyrk on a G of {rows} rows that exists; the time is scaled to S rows",
                lambda: dsyrk(1.0, G, trans=1, lower=1),
                share=rows / S,
            ),
            Contestant(
                "by features",
                f"accumulate_gram of {rows} rows; the time is scaled to S rows",
                lambda: by_features(X[:rows]),
                share=rows / S,
            ),
        ],
        check,
        flops=float(S) * L * (L + 1),
    )


def float32_products(*, n_threads: int, S: int, m: int, L: int, dual: bool) -> Contest:
    """Our float32 form of G'G or G G' against our float64 form, both from float32 inputs."""
    X, nothing = _inputs(S, m).astype(np.float32), np.empty((S, 0))
    basis = TensorBasis(m, n_terms=L, lam=LAM)

    def product(precision: str) -> Doubles:
        if dual:
            total = np.zeros((S, S), order="F")
            core.accumulate_kernel(basis._plan, X, None, None, total, n_threads, precision)
        else:
            total = np.zeros((L, L), order="F")
            core.accumulate_gram(basis._plan, X, None, nothing, None, total, n_threads, precision)
        return total

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        return [_same_product(results["ours"], results["float64"], "float64", 1e-6)]

    return Contest(
        {"S": S, "m": m, "L": L},
        [
            Contestant("ours", "terms and short sums in float32", partial(product, "float32")),
            Contestant("float64", "the same in float64", partial(product, "float64")),
        ],
        check,
        flops=float(L) * S * (S + 1) if dual else float(S) * L * (L + 1),
    )


def gram_threads(*, n_threads: int, S: int, m: int, degree: int, moments: bool) -> Contest:
    """All threads against one."""
    X, nothing = _inputs(S, m), np.empty((S, 0))
    basis = TensorBasis(m, degree=degree, lam=LAM)
    L = basis.n_terms

    def product(threads: int) -> Doubles:
        total = np.zeros((L, L), order="F")
        if moments:
            statistic = np.zeros(core.count_moments(basis._plan, 0))
            core.accumulate_moments(basis._plan, X, None, nothing, None, statistic, threads)
            core.assemble_moments(basis._plan, statistic, total, threads)
        else:
            core.accumulate_gram(basis._plan, X, None, nothing, None, total, threads)
        return total

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        return [_same_product(results["ours"], results["one thread"], "one thread", 0.0)]

    way = "moments and their Gram matrix" if moments else "accumulate_gram"
    return Contest(
        {"S": S, "m": m, "L": L},
        [
            Contestant("ours", f"{way}, all threads", partial(product, n_threads)),
            Contestant("one thread", f"{way}, one thread", partial(product, 1)),
        ],
        check,
        flops=float(S) * L * (L + 1),
    )


def cholesky(*, n_threads: int, n: int) -> Contest:
    """Factorisation in place."""
    B = np.random.default_rng(4).standard_normal((n, n))
    A = np.asfortranarray(B @ B.T / n + np.eye(n))
    del B
    # Each works in its own array, refilled before each run, so that both results can be compared.
    our_work, their_work = np.empty_like(A), np.empty_like(A)

    def ours() -> Doubles:
        core.cholesky_in_place(our_work, n_threads)
        return our_work

    def lapack() -> Doubles:
        factor: Doubles
        factor, failed = dpotrf(their_work, lower=1, clean=0, overwrite_a=1)
        if failed or not np.shares_memory(factor, their_work):
            raise RuntimeError("dpotrf failed or made a copy")
        return factor

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        L = np.tril(results["ours"])
        return [
            Agreement(
                "residual |L L' - A| / |A|",
                float(np.linalg.norm(L @ L.T - A) / np.linalg.norm(A)),
                1e-14,
            ),
            Agreement("dpotrf: entries of L", _relative(L, np.tril(results["dpotrf"])), 1e-13),
            Agreement("numpy: entries of L", _relative(L, results["numpy"]), 1e-13),
        ]

    return Contest(
        {"n": n},
        [
            Contestant("ours", "cholesky_in_place", ours, lambda: np.copyto(our_work, A)),
            Contestant(
                "dpotrf", "SciPy's dpotrf, in place", lapack, lambda: np.copyto(their_work, A)
            ),
            Contestant(
                "numpy", "numpy.linalg.cholesky, not in place", lambda: np.linalg.cholesky(A)
            ),
        ],
        check,
        flops=n**3 / 3,
    )


def solve(*, n_threads: int, n: int, K: int) -> Contest:
    """Solve with a Cholesky factor and K right-hand sides, in place."""
    rng = np.random.default_rng(4)
    B = rng.standard_normal((n, n))
    A = np.asfortranarray(B @ B.T / n + np.eye(n))
    right = np.asfortranarray(rng.standard_normal((n, K)))
    del B
    factor, _ = dpotrf(A, lower=1)
    our_work, their_work = np.empty_like(right), np.empty_like(right)

    def ours() -> Doubles:
        core.solve_factored(factor, our_work, n_threads)
        return our_work

    def lapack() -> Doubles:
        solution: Doubles
        solution, failed = dpotrs(factor, their_work, lower=1, overwrite_b=1)
        if failed or not np.shares_memory(solution, their_work):
            raise RuntimeError("dpotrs failed or made a copy")
        return solution

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        X = results["ours"]
        residual = np.linalg.norm(right - A @ X)
        residual /= np.linalg.norm(A) * np.linalg.norm(X)
        return [
            Agreement("residual |B - A X| / (|A| |X|)", float(residual), 1e-14),
            Agreement("dpotrs: entries of X", _relative(X, results["dpotrs"]), 1e-12),
            Agreement("numpy: entries of X", _relative(X, results["numpy"]), 1e-12),
        ]

    return Contest(
        {"n": n, "K": K},
        [
            Contestant(
                "ours", "solve_factored, in place", ours, lambda: np.copyto(our_work, right)
            ),
            Contestant(
                "dpotrs", "SciPy's dpotrs, in place", lapack, lambda: np.copyto(their_work, right)
            ),
            Contestant(
                "numpy",
                "numpy.linalg.solve, which factors as well",
                lambda: np.linalg.solve(A, right),
            ),
        ],
        check,
        flops=2.0 * n * n * K,
    )


# --- Kernels --------------------------------------------------------------------------------------


def kernel_build(*, n_threads: int, S: int, m: int, degree: int) -> Contest:
    """Sum over all terms of a total degree, for every pair of rows, with and without the terms."""
    X = _inputs(S, m)
    basis = TensorBasis(m, degree=degree, lam=LAM)
    kernel = TotalDegreeKernel(m, degree, lam=LAM)

    def ours() -> Doubles:
        K = np.zeros((S, S), order="F")
        kernel._plan.accumulate(X, None, None, True, K, n_threads)
        return K

    def features() -> Doubles:
        K = np.zeros((S, S), order="F")
        core.accumulate_kernel(basis._plan, X, None, None, K, n_threads)
        return K

    def numpy() -> Doubles:
        G = reference.activation_matrix(X, basis.indices, LAM)
        return G @ G.T

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        lower = np.tril_indices(S)
        return [
            Agreement(
                f"{peer}: entries of the lower triangle",
                _relative(results["ours"][lower], results[peer][lower]),
                1e-13,
            )
            for peer in ("features", "numpy")
        ]

    return Contest(
        {"S": S, "m": m, "L": basis.n_terms},
        [
            Contestant("ours", "accumulate of a TotalDegreeKernel, from X", ours),
            Contestant(
                "features", "accumulate_kernel, from X, a block of terms at a time", features
            ),
            Contestant("numpy", "reference.activation_matrix, then G @ G.T, from X", numpy),
        ],
        check,
    )


def kernel_solve(*, n_threads: int, S: int, m: int, degree: int) -> Contest:
    """Fit by a kernel against a fit by its terms."""
    X, test = _inputs(S, m), np.random.default_rng(3).random((500, m))
    Y = _targets(X, 1)
    basis = TensorBasis(m, degree=degree, lam=LAM)
    kernel = TotalDegreeKernel(m, degree, lam=LAM)

    def numpy() -> Doubles:
        return reference.rwdd_dual(reference.activation_matrix(X, basis.indices, LAM), Y, GAMMA)

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        found = predict_kernel(kernel, test, X, results["ours"], n_threads=n_threads)
        return [
            Agreement(
                f"{peer}: predictions of {len(test)} new rows",
                _relative(found, predict(basis, test, results[peer], n_threads=n_threads)),
                1e-8,
            )
            for peer in ("features", "numpy")
        ]

    return Contest(
        {"S": S, "m": m, "L": basis.n_terms, "K": 1},
        [
            Contestant(
                "ours",
                "solve_kernel of a TotalDegreeKernel",
                lambda: solve_kernel(kernel, X, Y, GAMMA, n_threads=n_threads).dual_coef,
            ),
            Contestant(
                "features",
                "solve_dual of the TensorBasis",
                lambda: solve_dual(basis, X, Y, GAMMA, n_threads=n_threads).weights,
            ),
            Contestant("numpy", "reference: activation matrix, rwdd_dual", numpy),
        ],
        check,
    )


def kernel_spectrum(*, n_threads: int, S: int, m: int) -> Contest:
    """The kernel of all terms against the usual one."""
    X = 2 * _inputs(S, m) - 1
    q, rows = 1 / m, slice(0, max(1, S // 10))
    kernel = SpectrumKernel(m, (q, 2.0))

    def numpy() -> Doubles:
        angles = np.arccos(X)
        K = np.ones((rows.stop, S))
        for a in angles.T:
            k = np.zeros_like(K)
            for u in (np.abs(a[rows, np.newaxis] - a), a[rows, np.newaxis] + a):
                k += np.pi**4 / 90 - u * u * (np.pi**2 / 12 - u * (np.pi / 12 - u / 48))
            K *= 1 + q * k
        return K

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        distances = ((X[rows, np.newaxis] - X) ** 2).sum(axis=2)
        return [
            Agreement(
                f"numpy: entries of the first {rows.stop} rows",
                _relative(results["ours"][rows], results["numpy"]),
                1e-13,
            ),
            Agreement(
                f"scikit-learn: the first {rows.stop} rows against the definition of its kernel",
                _relative(results["scikit-learn"][rows], np.exp(-q * distances)),
                1e-12,
            ),
        ]

    return Contest(
        {"S": S, "m": m},
        [
            Contestant("ours", "SpectrumKernel with s = 2", lambda: kernel(X, n_threads=n_threads)),
            Contestant(
                "numpy",
                "the closed form, in a tenth of the rows (time scaled up)",
                numpy,
                share=rows.stop / S,
            ),
            Contestant(
                "scikit-learn", "rbf_kernel of the same shape", lambda: rbf_kernel(X, gamma=q)
            ),
        ],
        check,
        not_compared="entries with scikit-learn's: it is another kernel",
    )


# --- Prediction and features ----------------------------------------------------------------------


def prediction(*, n_threads: int, S: int, m: int, degree: int, K: int) -> Contest:
    """Evaluate one function, given in our basis and in that of scikit-learn."""
    X = _inputs(S, m)
    basis = TensorBasis(m, degree=degree, lam=LAM)
    indices = basis.indices
    W = np.random.default_rng(5).standard_normal((basis.n_terms, K))
    # The polynomial has coefficients in the monomials, too: fitted to its values, with a penalty
    # far below rounding.
    nodes = np.random.default_rng(6).random((3 * basis.n_terms, m))
    ridge = Ridge(alpha=1e-300, fit_intercept=False, solver="svd")
    theirs = make_pipeline(PolynomialFeatures(degree), ridge)
    theirs.fit(nodes, reference.network_output(nodes, indices, LAM, W))

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        return [
            _same_terms(basis, theirs[0]),
            Agreement("numpy: predictions", _relative(results["ours"], results["numpy"]), 1e-13),
            Agreement(
                "scikit-learn: predictions, with the coefficients of the same function",
                _relative(results["ours"], results["scikit-learn"]),
                1e-11,
            ),
        ]

    return Contest(
        {"S": S, "m": m, "L": basis.n_terms, "K": K},
        [
            Contestant("ours", "predict", lambda: predict(basis, X, W, n_threads=n_threads)),
            Contestant(
                "numpy",
                "reference.network_output",
                lambda: reference.network_output(X, indices, LAM, W),
            ),
            Contestant(
                "scikit-learn",
                "pipeline of PolynomialFeatures and Ridge, predict",
                lambda: theirs.predict(X),
            ),
        ],
        check,
    )


def transform(
    *,
    n_threads: int,
    S: int,
    m: int,
    degree: int,
    reuse: bool,
    order: Literal["C", "F"] = "C",
    dtype: str = "float64",
) -> Contest:
    """Store all features."""
    X = _inputs(S, m).astype(dtype)
    transformer = GegenbauerFeatures(degree=degree, lam=LAM, n_jobs=n_threads).fit(X)
    basis = transformer.basis_
    indices = basis.indices
    theirs = PolynomialFeatures(degree).fit(X)
    if reuse:
        out = np.empty((S, basis.n_terms), dtype=dtype, order=order)
        ours = Contestant(
            "ours",
            "TensorBasis.evaluate into an array that exists",
            lambda: basis.evaluate(X, out=out, n_threads=n_threads),
        )
    else:
        ours = Contestant("ours", "GegenbauerFeatures.transform", lambda: transformer.transform(X))
    single = dtype == "float32"
    rows = slice(0, min(S, 2 * basis.n_terms))

    def theirs_agrees(G: Doubles, A: Doubles) -> Agreement:
        if single:  # too coarse to compare spans: the monomials themselves
            powers = X[rows].astype(float)[:, np.newaxis] ** theirs.powers_
            return Agreement(
                "scikit-learn: its monomials, relative to the largest of the column",
                _relative_to_columns(A[rows], powers.prod(axis=2)),
                4e-7,
            )
        # Columns of ours beside their projections on the columns of scikit-learn's
        Q = np.linalg.qr(A[rows])[0]
        outside = G[rows] - Q @ (Q.T @ G[rows])
        return Agreement(
            "scikit-learn: part of our features outside of the span of theirs",
            float((np.linalg.norm(outside, axis=0) / np.linalg.norm(G[rows], axis=0)).max()),
            1e-12,
        )

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        G, expected, A = (results[name] for name in ("ours", "numpy", "scikit-learn"))
        return [
            Agreement(
                "numpy: features, relative to the largest of the column",
                _relative_to_columns(G, expected),
                1e-7 if single else 1e-13,
            ),
            _same_terms(basis, theirs),
            theirs_agrees(G, A),
        ]

    return Contest(
        {"S": S, "m": m, "L": basis.n_terms},
        [
            ours,
            Contestant(
                "numpy",
                "reference.activation_matrix (column-major, float64)",
                lambda: reference.activation_matrix(X.astype(float), indices, LAM),
            ),
            Contestant(
                "scikit-learn",
                "PolynomialFeatures.transform, which always makes a new array",
                lambda: theirs.transform(X),
            ),
        ],
        check,
        not_compared="features with scikit-learn's one by one: they are other polynomials",
    )


# --- The list -------------------------------------------------------------------------------------


def _case(
    name: str,
    shows: str,
    build: Callable[..., Contest],
    full: dict[str, int],
    goals: Mapping[str, float] | None = None,
    **quick: int,
) -> Case:
    """Make a case; `quick` replaces some of the sizes."""
    return Case(name, shows, build, full, {**full, **quick}, goals or {})


_GRAM = "Gram matrix by features, from X, against dsyrk on a G that exists"
_MOMENTS = "Gram matrix by moments, from X, against dsyrk on a G that exists"
_FLOAT32 = "Gram matrix by features, float32 against our float64"
_GRAM32 = partial(float32_products, dual=False)
_CHOLESKY = "Cholesky factorisation, against LAPACK's of OpenBLAS"
_SOLVE = "Solve with a Cholesky factor and K right-hand sides, against LAPACK's of OpenBLAS"
_TRANSFORM = {"S": 65_536, "m": 6, "degree": 6}

CASES: tuple[Case, ...] = (
    _case(
        "fit-iris",
        "a small fit through the functions: overhead counts",
        fit_iris,
        {"degree": 10},
        {"scikit-learn": 6.0},
        degree=3,
    ),
    _case(
        "fit-iris-estimator",
        "the same through the estimator",
        fit_iris_estimator,
        {"degree": 10},
        {"scikit-learn": 2.0},
        degree=3,
    ),
    _case(
        "fit-primal",
        "a fit with many more rows than terms",
        fit,
        {"S": 20_000, "m": 6, "degree": 5, "K": 1},
        S=300,
        degree=2,
    ),
    _case(
        "fit-dual",
        "a fit with fewer rows than terms",
        fit,
        {"S": 1_000, "m": 21, "degree": 3, "K": 1},
        S=40,
        m=5,
    ),
    _case(
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
        _case(
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
    _case("gram-500", _GRAM, gram, {"S": 200_000, "m": 6, "L": 500}, {"dsyrk": 1.3}, S=700, L=50),
    _case(
        "gram-1500",
        _GRAM,
        gram,
        {"S": 100_000, "m": 6, "L": 1500},
        {"dsyrk": 1.1, PEAK: 0.7},
        S=600,
        L=90,
    ),
    _case("gram-4000", _GRAM, gram, {"S": 20_000, "m": 6, "L": 4000}, {"dsyrk": 1.0}, S=300, L=200),
    *(
        _case(
            f"gram-moments-{m}",
            _MOMENTS,
            gram_moments,
            {"S": S, "m": m, "degree": degree, "rows": 10_000},
            {"dsyrk": goal},
            S=400,
            degree=2,
            rows=200,
        )
        for S, m, degree, goal in (
            (500_000, 2, 53, 100.0),
            (200_000, 3, 19, 40.0),
            (200_000, 4, 11, 25.0),
            (200_000, 6, 6, 12.0),
            (100_000, 8, 5, 8.0),
            (50_000, 13, 4, 5.0),
        )
    ),
    _case(
        "gram-float32-500",
        _FLOAT32,
        _GRAM32,
        {"S": 200_000, "m": 6, "L": 500},
        {"float64": 1.5},
        S=700,
        L=50,
    ),
    _case(
        "gram-float32-1500",
        _FLOAT32,
        _GRAM32,
        {"S": 100_000, "m": 6, "L": 1500},
        {"float64": 1.5},
        S=600,
        L=90,
    ),
    _case(
        "gram-float32-4000",
        _FLOAT32,
        _GRAM32,
        {"S": 20_000, "m": 6, "L": 4000},
        {"float64": 1.5},
        S=300,
        L=200,
    ),
    _case(
        "kernel-float32",
        "kernel matrix by features, float32 against our float64",
        partial(float32_products, dual=True),
        {"S": 2000, "m": 33, "L": 7140},
        {"float64": 1.5},
        S=90,
        m=5,
        L=300,
    ),
    *(
        _case(
            f"threads-{way}",
            f"Gram matrix by {way}, all threads against one",
            partial(gram_threads, moments=way == "moments"),
            {"S": S, "m": 6, "degree": 6},
            {"one thread": 1.8},
            S=600,
            degree=3,
        )
        for way, S in (("features", 50_000), ("moments", 200_000))
    ),
    _case("cholesky-500", _CHOLESKY, cholesky, {"n": 500}, {"dpotrf": 1.3}, n=20),
    _case("cholesky-1500", _CHOLESKY, cholesky, {"n": 1500}, {"dpotrf": 1.3}, n=100),
    _case("cholesky-4000", _CHOLESKY, cholesky, {"n": 4000}, {"dpotrf": 1.0}, n=300),
    *(
        _case(f"solve-{n}-{K}", _SOLVE, solve, {"n": n, "K": K}, n=60)
        for n in (500, 1500, 4000)
        for K in (1, 10, 100, 1000)
    ),
    _case(
        "kernel-build",
        "sums over all terms for every pair of rows, without the terms",
        kernel_build,
        {"S": 2000, "m": 33, "degree": 3},
        S=60,
        m=5,
    ),
    _case(
        "kernel-solve",
        "a fit with fewer rows than terms, without the terms",
        kernel_solve,
        {"S": 2000, "m": 33, "degree": 3},
        {"features": 5.0},
        S=60,
        m=5,
    ),
    _case(
        "kernel-spectrum",
        "the kernel of all terms of a spectrum, against a Gaussian one",
        kernel_spectrum,
        {"S": 4000, "m": 13},
        {"scikit-learn": 1.0},
        S=100,
        m=3,
    ),
    _case(
        "predict",
        "prediction without holding the features",
        prediction,
        {"S": 65_536, "m": 6, "degree": 6, "K": 3},
        {"scikit-learn": 20.0},
        S=1000,
        degree=3,
    ),
    _case(
        "transform-fresh",
        "features as an array, made anew",
        partial(transform, reuse=False),
        _TRANSFORM,
        {"scikit-learn": 4.0},
        S=1000,
        degree=3,
    ),
    _case(
        "transform-reused",
        "features into an array that exists",
        partial(transform, reuse=True),
        _TRANSFORM,
        {"scikit-learn": 8.0},
        S=1000,
        degree=3,
    ),
    _case(
        "transform-columns",
        "features into a column-major array that exists",
        partial(transform, reuse=True, order="F"),
        _TRANSFORM,
        S=1000,
        degree=3,
    ),
    _case(
        "transform-float32-fresh",
        "float32 features as an array, made anew",
        partial(transform, reuse=False, dtype="float32"),
        _TRANSFORM,
        S=1000,
        degree=3,
    ),
    _case(
        "transform-float32-reused",
        "float32 features into an array that exists",
        partial(transform, reuse=True, dtype="float32"),
        _TRANSFORM,
        S=1000,
        degree=3,
    ),
    _case(
        "loo-gammas",
        "exact leave-one-out for 31 gammas",
        selection.leave_one_out,
        {"S": 1_000, "m": 6, "degree": 7},
        {"one fit": 1 / 3, "scikit-learn": 200.0},
        S=60,
        degree=2,
    ),
    _case(
        "loo-moments",
        "exact leave-one-out for 31 gammas by moments",
        selection.leave_one_out_by_moments,
        {"S": 1_000_000, "degree": 53, "n_gammas": 31, "n_spots": 3},
        {"one fit": 1 / 10},
        S=3_000,
        degree=8,
        n_spots=2,
    ),
    _case(
        "prefix-surface",
        "leave-one-out for 31 gammas and every number of terms",
        selection.surface,
        {"n_terms": 1_500, "n_gammas": 31},
        {"one factorisation": 1 / 60},
        n_terms=40,
        n_gammas=4,
    ),
)
