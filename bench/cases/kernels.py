"""Kernels: sums over all terms, without the terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from bench.cases.common import (
    ALPHA,
    LAM,
    case,
    inputs,
    relative,
    targets,
)
from bench.runner import Agreement, Case, Contest, Contestant
from gegenbauer import TensorBasis, reference, solve_kernel
from gegenbauer._dispatch import core
from gegenbauer.basis import SpectrumKernel, TotalDegreeKernel
from gegenbauer.ridge import predict, predict_kernel, solve_dual

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]


def kernel_build(*, n_threads: int, S: int, m: int, degree: int) -> Contest:
    """Sum over all terms of a total degree, for every pair of rows, with and without the terms."""
    X = inputs(S, m)
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
                relative(results["ours"][lower], results[peer][lower]),
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
    X, test = inputs(S, m), np.random.default_rng(3).random((500, m))
    Y = targets(X, 1)
    basis = TensorBasis(m, degree=degree, lam=LAM)
    kernel = TotalDegreeKernel(m, degree, lam=LAM)

    def numpy() -> Doubles:
        return reference.rwdd_dual(reference.activation_matrix(X, basis.indices, LAM), Y, ALPHA)

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        found = predict_kernel(kernel, test, X, results["ours"], n_threads=n_threads)
        return [
            Agreement(
                f"{peer}: predictions of {len(test)} new rows",
                relative(found, predict(basis, test, results[peer], n_threads=n_threads)),
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
                lambda: solve_kernel(kernel, X, Y, ALPHA, n_threads=n_threads).dual_coef,
            ),
            Contestant(
                "features",
                "solve_dual of the TensorBasis",
                lambda: solve_dual(basis, X, Y, ALPHA, n_threads=n_threads).weights,
            ),
            Contestant("numpy", "reference: activation matrix, rwdd_dual", numpy),
        ],
        check,
    )


def kernel_spectrum(*, n_threads: int, S: int, m: int) -> Contest:
    """The kernel of all terms against the usual one."""
    X = 2 * inputs(S, m) - 1
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
                relative(results["ours"][rows], results["numpy"]),
                1e-13,
            ),
            Agreement(
                f"scikit-learn: the first {rows.stop} rows against the definition of its kernel",
                relative(results["scikit-learn"][rows], np.exp(-q * distances)),
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


# --- The list -------------------------------------------------------------------------------------

CASES: tuple[Case, ...] = (
    case(
        "kernel-build",
        "sums over all terms for every pair of rows, without the terms",
        kernel_build,
        {"S": 2000, "m": 33, "degree": 3},
        S=60,
        m=5,
    ),
    case(
        "kernel-solve",
        "a fit with fewer rows than terms, without the terms",
        kernel_solve,
        {"S": 2000, "m": 33, "degree": 3},
        {"features": 5.0},
        S=60,
        m=5,
    ),
    case(
        "kernel-spectrum",
        "the kernel of all terms of a spectrum, against a Gaussian one",
        kernel_spectrum,
        {"S": 4000, "m": 13},
        {"scikit-learn": 1.0},
        S=100,
        m=3,
    ),
)
