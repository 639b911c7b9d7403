"""Cholesky factors, and solving with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from bench.cases.common import (
    case,
    relative,
)
from bench.runner import Agreement, Case, Contest, Contestant
from gegenbauer._dispatch import core

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]


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
            Agreement("dpotrf: entries of L", relative(L, np.tril(results["dpotrf"])), 1e-13),
            Agreement("numpy: entries of L", relative(L, results["numpy"]), 1e-13),
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
            Agreement("dpotrs: entries of X", relative(X, results["dpotrs"]), 1e-12),
            Agreement("numpy: entries of X", relative(X, results["numpy"]), 1e-12),
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


# --- The list -------------------------------------------------------------------------------------

_CHOLESKY = "Cholesky factorisation, against LAPACK's of OpenBLAS"
_SOLVE = "Solve with a Cholesky factor and K right-hand sides, against LAPACK's of OpenBLAS"

CASES: tuple[Case, ...] = (
    case("cholesky-500", _CHOLESKY, cholesky, {"n": 500}, {"dpotrf": 1.3}, n=20),
    case("cholesky-1500", _CHOLESKY, cholesky, {"n": 1500}, {"dpotrf": 1.3}, n=100),
    case("cholesky-4000", _CHOLESKY, cholesky, {"n": 4000}, {"dpotrf": 1.0}, n=300),
    *(
        case(f"solve-{n}-{K}", _SOLVE, solve, {"n": n, "K": K}, n=60)
        for n in (500, 1500, 4000)
        for K in (1, 10, 100, 1000)
    ),
)
