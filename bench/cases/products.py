"""Gram and kernel matrices: by features, by moments, in float32, by threads."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from scipy.linalg.blas import dsyrk

from bench.cases.common import (
    LAM,
    case,
    if_there,
    inputs,
    same_product,
)
from bench.runner import PEAK, Agreement, Case, Contest, Contestant
from gegenbauer import TensorBasis, reference
from gegenbauer._dispatch import core

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]


def gram(*, n_threads: int, S: int, m: int, L: int) -> Contest:
    """Normal equations by features against a bare product."""
    X, nothing = inputs(S, m), np.empty((S, 0))
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
        return [same_product(results["ours"], results[peer], peer) for peer in ("dsyrk", "numpy")]

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
    X, nothing = inputs(S, m), np.empty((S, 0))
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


def moments_of_angles(*, n_threads: int, S: int, degree: int, rows: int) -> Contest:
    """Moments of two inputs against a non-uniform Fourier transform to the same frequencies."""
    X, nothing = 2.0 * inputs(S, 2) - 1.0, np.empty((S, 0))
    basis = TensorBasis(2, degree=degree, lam=0.0)
    size = core.count_moments(basis._plan, 0)

    def ours(X: Doubles) -> Doubles:
        statistic = np.zeros(size)
        core.accumulate_moments(basis._plan, X, None, nothing[: len(X)], None, statistic, n_threads)
        return statistic

    def numpy() -> Doubles:
        left, right = (chebvander(x, 2 * degree) for x in X[:rows].T)
        return left.T @ right

    # the sums of terms alone are entries of the Gram matrix, and those with the constant are plain
    a, b = basis.indices.T
    share = np.where(basis.indices > 0, 2.0 / np.maximum(basis.indices, 1), 1.0).prod(axis=1)

    def sums(statistic: Doubles) -> Doubles:
        gram = np.zeros((basis.n_terms, basis.n_terms), order="F")
        core.assemble_moments(basis._plan, statistic, gram, n_threads)
        return gram[:, 0] / share

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        what = "sums of T_a T_b, relative to the number of samples"
        # all rows, but a few terms; and all terms, but the rows that the peer takes
        found, angles = sums(results["ours"]), np.arccos(X)
        some = np.linspace(0, basis.n_terms - 1, min(basis.n_terms, 12), dtype=int)
        by_cosines = [np.cos(basis.indices[t] * angles).prod(axis=1).sum() for t in some]
        fewer = sums(ours(X[:rows])) - results["numpy"][a, b]
        agreements = [
            Agreement(
                f"cosines: {what}, of {len(some)} terms",
                float(np.abs(found[some] - by_cosines).max()) / S,
                1e-13,
            ),
            Agreement(f"numpy: {what}, of {rows} rows", float(np.abs(fewer).max()) / rows, 1e-13),
        ]
        if "finufft" in results:
            modes, middle = results["finufft"], 2 * degree
            theirs = 0.5 * (modes[middle + a, middle + b] + modes[middle + a, middle - b]).real
            difference = float(np.abs(found - theirs).max()) / S
            agreements.append(Agreement(f"finufft: {what}", difference, 1e-11))
        return agreements

    contestants = [
        Contestant("ours", "all moments of the basis, from X", lambda: ours(X)),
        Contestant(
            "numpy",
            f"tables of {rows} rows, then their product; the time is scaled to S rows",
            numpy,
            share=rows / S,
        ),
    ]
    finufft, absent = if_there(
        "finufft",
        Contestant(
            "finufft",
            "arccos of X, then a transform of type 1 to all modes, tolerance 1e-12",
            lambda: _by_finufft(X, degree, n_threads),
        ),
    )
    sizes = {"S": S, "m": 2, "degree": degree, "moments": size}
    return Contest(sizes, [*contestants, *finufft], check, absent=absent)


def _by_finufft(X: Doubles, degree: int, n_threads: int) -> Any:
    import finufft

    angles = np.arccos(X)
    modes = 4 * degree + 1
    return finufft.nufft2d1(
        angles[:, 0].copy(),
        angles[:, 1].copy(),
        np.ones(len(X), dtype=np.complex128),
        (modes, modes),
        eps=1e-12,
        nthreads=n_threads,
    )


def float32_products(*, n_threads: int, S: int, m: int, L: int, dual: bool) -> Contest:
    """Our float32 form of G'G or G G' against our float64 form, both from float32 inputs."""
    X, nothing = inputs(S, m).astype(np.float32), np.empty((S, 0))
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
        return [same_product(results["ours"], results["float64"], "float64", 1e-6)]

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
    X, nothing = inputs(S, m), np.empty((S, 0))
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
        return [same_product(results["ours"], results["one thread"], "one thread", 0.0)]

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


# --- The list -------------------------------------------------------------------------------------

_GRAM = "Gram matrix by features, from X, against dsyrk on a G that exists"
_MOMENTS = "Gram matrix by moments, from X, against dsyrk on a G that exists"
_FLOAT32 = "Gram matrix by features, float32 against our float64"
_GRAM32 = partial(float32_products, dual=False)

CASES: tuple[Case, ...] = (
    case("gram-500", _GRAM, gram, {"S": 200_000, "m": 6, "L": 500}, {"dsyrk": 1.3}, S=700, L=50),
    case(
        "gram-1500",
        _GRAM,
        gram,
        {"S": 100_000, "m": 6, "L": 1500},
        {"dsyrk": 1.1, PEAK: 0.7},
        S=600,
        L=90,
    ),
    case("gram-4000", _GRAM, gram, {"S": 20_000, "m": 6, "L": 4000}, {"dsyrk": 1.0}, S=300, L=200),
    *(
        case(
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
    *(
        case(
            f"moments-of-angles-{degree}",
            "moments of two inputs against a non-uniform Fourier transform",
            moments_of_angles,
            {"S": 1_000_000, "degree": degree, "rows": 50_000},
            {"numpy": 5.0},
            S=400,
            degree=3,
            rows=200,
        )
        for degree in (53, 100)
    ),
    case(
        "gram-float32-500",
        _FLOAT32,
        _GRAM32,
        {"S": 200_000, "m": 6, "L": 500},
        {"float64": 1.5},
        S=700,
        L=50,
    ),
    case(
        "gram-float32-1500",
        _FLOAT32,
        _GRAM32,
        {"S": 100_000, "m": 6, "L": 1500},
        {"float64": 1.5},
        S=600,
        L=90,
    ),
    case(
        "gram-float32-4000",
        _FLOAT32,
        _GRAM32,
        {"S": 20_000, "m": 6, "L": 4000},
        {"float64": 1.5},
        S=300,
        L=200,
    ),
    case(
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
        case(
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
)
