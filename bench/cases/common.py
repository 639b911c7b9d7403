"""What all families of cases share: data, comparisons, and how a case is declared."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from bench.runner import Agreement, Case, Contest, Contestant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import PolynomialFeatures

    from gegenbauer import TensorBasis

    Doubles = npt.NDArray[np.float64]


LAM, ALPHA = 0.05, 2.0**-12  # the paper's setting

OTHER_PENALTY = (
    "predictions with scikit-learn's: its basis is the monomials of the same span, so the same "
    "penalty acts on other coefficients and another function is fitted"
)


def if_there(module: str, contestant: Contestant) -> tuple[list[Contestant], dict[str, str]]:
    """Return a peer that need not be installed, or nobody and why."""
    if find_spec(module) is None:
        return [], {contestant.name: "it is not installed"}
    return [contestant], {}


# --- Data -----------------------------------------------------------------------------------------


def inputs(n_samples: int, n_features: int) -> Doubles:
    """Fill the unit box evenly, both corners included: an estimator's scaling changes nothing."""
    X = np.random.default_rng(1).random((n_samples, n_features))
    X[0], X[1] = 0.0, 1.0
    return X


def targets(X: Doubles, n_outputs: int) -> Doubles:
    """Return smooth functions of all inputs with a little noise."""
    rng = np.random.default_rng(2)
    directions = rng.standard_normal((X.shape[1], n_outputs))
    return np.sin(X @ directions) + 0.1 * rng.standard_normal((len(X), n_outputs))


# --- Comparisons ----------------------------------------------------------------------------------


def relative(a: Doubles, b: Doubles) -> float:
    """Return the largest difference relative to the largest value of b."""
    return float(np.abs(a - b).max() / np.abs(b).max())


def relative_to_columns(a: Doubles, b: Doubles) -> float:
    """Return the largest difference relative to the largest value of its column of b."""
    return float((np.abs(a - b).max(axis=0) / np.abs(b).max(axis=0)).max())


def same_product(ours: Doubles, other: Doubles, peer: str, tolerance: float = 1e-12) -> Agreement:
    """Compare the lower triangles of two Gram or kernel matrices."""
    lower = np.tril_indices(len(other))
    scale = np.sqrt(other.diagonal())
    scale = (scale[:, np.newaxis] * scale)[lower]
    return Agreement(
        f"{peer}: entries (a, b) of the product, relative to the square root of (a, a) (b, b)",
        float((np.abs(ours - other)[lower] / scale).max()),
        tolerance,
    )


def same_terms(basis: TensorBasis, features: PolynomialFeatures) -> Agreement:
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


# --- Declarations ---------------------------------------------------------------------------------


def case(
    name: str,
    shows: str,
    build: Callable[..., Contest],
    full: dict[str, int],
    goals: Mapping[str, float] | None = None,
    **quick: int,
) -> Case:
    """Make a case; `quick` replaces some of the sizes."""
    return Case(name, shows, build, full, {**full, **quick}, goals or {})
