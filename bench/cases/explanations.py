"""Explanations: Shapley values in closed form, and by predictions of all subsets of the inputs."""

from __future__ import annotations

from itertools import product
from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.cases.common import case, if_there, inputs, relative, targets
from bench.runner import Agreement, Case, Contest, Contestant
from gegenbauer import GegenbauerRegressor, GegenbauerRegressorCV
from gegenbauer.inspection import shapley_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]


def by_subsets(model: Any, X: Doubles, point: Doubles) -> Doubles:
    """Return Shapley values by predictions at all mixtures of each sample with one point."""
    m = X.shape[1]
    own = np.array(list(product([False, True], repeat=m)))
    sizes = own.sum(axis=1)
    weights = np.array([factorial(n) * factorial(m - n - 1) / factorial(m) for n in range(m)])
    numbers = own @ (1 << np.arange(m - 1, -1, -1))
    found = np.empty(X.shape)
    for i, x in enumerate(X):
        values = np.empty(len(own))
        values[numbers] = model.predict(np.where(own, x, point))
        for t in range(m):
            without = np.flatnonzero(~own[:, t])
            gains = values[numbers[without] + (1 << (m - 1 - t))] - values[numbers[without]]
            found[i, t] = weights[sizes[without]] @ gains
    return found


def _contest(model: Any, X: Doubles, sizes: dict[str, int]) -> Contest:
    """Compare ways to explain samples against one other sample."""
    point = X[len(X) // 2]
    some = X[: max(1, len(X) // 50)]

    def by_shap() -> Doubles:
        from shap import KernelExplainer  # type: ignore[import-not-found]

        explainer = KernelExplainer(model.predict, point[np.newaxis])
        found = explainer.shap_values(some, nsamples=2 ** X.shape[1], l1_reg=0, silent=True)
        return np.asarray(found)

    def check(results: Mapping[str, Any]) -> list[Agreement]:
        return [
            Agreement(
                f"{peer}: Shapley values of {len(some)} samples",
                relative(results["ours"][: len(some)], results[peer]),
                tolerance,
            )
            for peer, tolerance in (("subsets", 1e-9), ("shap", 1e-6))
            if peer in results
        ]

    share = len(some) / len(X)
    contestants = [
        Contestant(
            "ours",
            "shapley_values against one sample",
            lambda: shapley_values(model, X, background=point[np.newaxis]).values,
        ),
        Contestant(
            "subsets",
            "predictions of all mixtures with it, of a fiftieth of the samples (time scaled up)",
            lambda: by_subsets(model, some, point),
            share=share,
        ),
    ]
    shap, absent = if_there(
        "shap",
        Contestant(
            "shap",
            "KernelExplainer that takes all subsets, of a fiftieth of the samples (time scaled up)",
            by_shap,
            share=share,
        ),
    )
    return Contest(sizes, [*contestants, *shap], check, absent=absent)


def shapley_of_terms(*, n_threads: int, S: int, m: int, L: int) -> Contest:
    """Explain samples by a finite set of terms."""
    X = inputs(S, m)
    model = GegenbauerRegressor(n_terms=L, out_of_range="clip", n_jobs=n_threads)
    model.fit(X, targets(X, 1)[:, 0])
    return _contest(model, X, {"S": S, "m": m, "L": model.n_terms_})


def shapley_of_kernel(*, n_threads: int, S: int, m: int) -> Contest:
    """Explain samples by the kernel of all terms at as many centres."""
    X = inputs(S, m)
    model = GegenbauerRegressorCV(
        spectrum=(1 / m, 2.0), alphas=[0.1], intervals="one_spectrum", out_of_range="clip",
        n_jobs=n_threads,
    )  # fmt: skip
    model.fit(X, targets(X, 1)[:, 0])
    return _contest(model, X, {"S": S, "m": m})


CASES: tuple[Case, ...] = (
    case(
        "shapley-terms",
        "exact Shapley values of a finite set of terms, against all subsets of the inputs",
        shapley_of_terms,
        {"S": 1000, "m": 10, "L": 1000},
        {"subsets": 50.0},
        S=50,
        m=4,
        L=30,
    ),
    case(
        "shapley-kernel",
        "exact Shapley values of the kernel of all terms, against all subsets of the inputs",
        shapley_of_kernel,
        {"S": 1000, "m": 10},
        {"subsets": 10.0},
        S=50,
        m=4,
    ),
)
