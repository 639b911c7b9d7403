"""Prediction and features."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from bench.cases.common import (
    LAM,
    case,
    inputs,
    relative,
    relative_to_columns,
    same_terms,
)
from bench.runner import Agreement, Case, Contest, Contestant
from gegenbauer import GegenbauerFeatures, TensorBasis, reference
from gegenbauer.ridge import predict

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]


def prediction(*, n_threads: int, S: int, m: int, degree: int, K: int) -> Contest:
    """Evaluate one function, given in our basis and in that of scikit-learn."""
    X = inputs(S, m)
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
            same_terms(basis, theirs[0]),
            Agreement("numpy: predictions", relative(results["ours"], results["numpy"]), 1e-13),
            Agreement(
                "scikit-learn: predictions, with the coefficients of the same function",
                relative(results["ours"], results["scikit-learn"]),
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
    X = inputs(S, m).astype(dtype)
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
                relative_to_columns(A[rows], powers.prod(axis=2)),
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
                relative_to_columns(G, expected),
                1e-7 if single else 1e-13,
            ),
            same_terms(basis, theirs),
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

_TRANSFORM = {"S": 65_536, "m": 6, "degree": 6}

CASES: tuple[Case, ...] = (
    case(
        "predict",
        "prediction without holding the features",
        prediction,
        {"S": 65_536, "m": 6, "degree": 6, "K": 3},
        {"scikit-learn": 20.0},
        S=1000,
        degree=3,
    ),
    case(
        "transform-fresh",
        "features as an array, made anew",
        partial(transform, reuse=False),
        _TRANSFORM,
        {"scikit-learn": 4.0},
        S=1000,
        degree=3,
    ),
    case(
        "transform-reused",
        "features into an array that exists",
        partial(transform, reuse=True),
        _TRANSFORM,
        {"scikit-learn": 8.0},
        S=1000,
        degree=3,
    ),
    case(
        "transform-columns",
        "features into a column-major array that exists",
        partial(transform, reuse=True, order="F"),
        _TRANSFORM,
        S=1000,
        degree=3,
    ),
    case(
        "transform-float32-fresh",
        "float32 features as an array, made anew",
        partial(transform, reuse=False, dtype="float32"),
        _TRANSFORM,
        S=1000,
        degree=3,
    ),
    case(
        "transform-float32-reused",
        "float32 features into an array that exists",
        partial(transform, reuse=True, dtype="float32"),
        _TRANSFORM,
        S=1000,
        degree=3,
    ),
)
