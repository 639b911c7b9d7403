"""What every factorisation of a ridge problem answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gegenbauer._messages import Message
from gegenbauer.selection._features import EPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.selection._ridge_problem import RidgeProblem

__all__ = ["Factorisation", "LeftOut", "Rounding", "SpectralFactorisation"]


# To first order. M = K + alpha I is known up to E, |E| = c eps |K|, with |K| before the mean is
# taken from the features: what rounds is that, not what is left. With z_i = M^-1 e_i for the
# unit vector of sample i, e' = M^-1 y and d' = diag(M^-1), e'_i is off by z_i'E e' and d'_i by
# z_i'E z_i. Of features that are known up to D, E = D G' + G D'.
@dataclass(frozen=True, eq=False)
class Rounding:
    """Of a `LeftOut`, in units of a few eps; (n_alphas, n)."""

    residuals: Doubles
    complements: Doubles
    by_residuals: Doubles  # of residuals, for each unit of the norm of all of them


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Samples of which residuals over complements are the residuals of those left out.

    Both may be divided by alpha, and so is their rounding. They may be overwritten.
    """

    samples: slice
    residuals: Doubles  # scaled, (n_alphas, n, n_outputs)
    complements: Doubles  # 1 - share h, (n_alphas, n)
    leverages: Doubles  # h, (n_alphas, n)
    rounding: Rounding


class Factorisation(ABC):
    """A factorisation of G G', or of G'G, that answers for every alpha.

    G are the features of the samples times their scales, without what is along the scales where
    the constant is free; e are residuals times the scales.

    Parameters
    ----------
    problem : RidgeProblem
        What is factorised.

    Attributes
    ----------
    method : str
        Its name in `RidgePath`.
    size : float
        Bound of the largest eigenvalue before a free constant takes the means: what rounding is of.
    knows_roots : bool
        Whether the roots of the eigenvalues are known to eps of the largest, not their squares.
    missing : bool
        Whether there are more samples than terms, so that these cannot reach all targets.
    """

    method: ClassVar[str]
    size: float
    knows_roots: bool = False
    missing: bool = False

    def __init__(self, problem: RidgeProblem) -> None:
        self.problem = problem

    def resolving(self, alphas: Doubles, tolerance: float) -> Factorisation:  # noqa: ARG002
        """Return the factorisation whose rounding is below a tolerance, relative to the targets.

        The same where it is, and where there is none that is more accurate.
        """
        return self

    # --- What is known, and how well --------------------------------------------------------------

    @property
    @abstractmethod
    def eigenvalues(self) -> Doubles:
        """Those of G G' that are not zero by its shape, from the largest on."""

    @property
    def leaves_residuals(self) -> bool:
        """Whether terms without a penalty cannot reach all targets."""
        return self.missing

    def rank(self) -> int:
        """Count the eigenvalues that are not zero up to rounding."""
        if self.eigenvalues.size == 0:
            return 0
        size = max(self.problem.n_contrasts, self.eigenvalues.size)
        resolution = (size * EPS) ** 2 if self.knows_roots else size * EPS
        return int((self.eigenvalues > resolution * self.eigenvalues[0]).sum())

    @abstractmethod
    def smallest(self, alphas: Doubles) -> Doubles:
        """Return the smallest eigenvalue of what is solved, 0 where rounding alone makes it."""

    def rounding(self, alphas: Doubles) -> Doubles:
        """Estimate rounding of residuals, relative to the targets."""
        with np.errstate(divide="ignore", invalid="ignore"):
            condition = np.nan_to_num(self.size / self.smallest(alphas), nan=np.inf)
        if self.knows_roots:
            condition = np.sqrt(condition)
        grown = 4.0 * EPS * np.sqrt(self.problem.n_contrasts) * (1.0 + condition)
        return np.asarray(np.minimum(grown, 1.0))

    # --- Answers ----------------------------------------------------------------------------------

    @abstractmethod
    def left_out(self, alphas: Doubles, share: Doubles | None = None) -> Iterator[LeftOut]:
        """Yield all samples, each left out with all or a share (n_samples,) of its weight."""

    def effective_dof(self, alphas: Doubles) -> Doubles:
        """Sum the leverages, (n_alphas,)."""
        kept = self.eigenvalues[:, np.newaxis] / (self.eigenvalues[:, np.newaxis] + alphas)
        return np.asarray(kept.sum(axis=0) + int(self.problem.free))

    @abstractmethod
    def residual_dof(self, alphas: Doubles) -> Doubles:
        """Sum one minus the leverages, without their difference, (n_alphas,)."""

    @abstractmethod
    def quadratic_forms(self, alphas: Doubles) -> tuple[Doubles, Doubles]:
        """Return |e|^2 and e'y, each (n_alphas, n_outputs)."""

    @abstractmethod
    def log_determinant(self, alphas: Doubles) -> Doubles:
        """Return that of I + G G' / alpha, (n_alphas,)."""

    @abstractmethod
    def weights(self, alphas: Doubles) -> Doubles:
        """Return those of the terms, (n_terms, n_alphas * n_outputs)."""

    def predict(self, X: npt.NDArray[np.float64], alphas: Doubles) -> Doubles:
        """Evaluate the fits, (n_alphas, n, n_outputs)."""
        problem = self.problem
        return problem.by_alpha(problem.predict(X, self.weights(alphas)))

    def posterior(self, alpha: float) -> tuple[Doubles, Doubles, float]:  # noqa: ARG002
        """Return what `RidgePath.posterior` does."""
        raise ValueError(
            Message("posterior needs `method='primal'` or 'svd', got {!r}", self.method)
        )

    # --- Parts ------------------------------------------------------------------------------------

    def _with_constants(self, weights: Doubles) -> Doubles:
        """Put the weight of a free constant first: the mean of what the other terms leave."""
        problem = self.problem
        if not problem.free:
            return weights
        padded = np.vstack([np.zeros((1, weights.shape[1])), weights])
        values = problem.predict(problem.X, padded)
        squares = problem.scale**2
        fitted = squares @ values / squares.sum()
        padded[0] = np.tile(problem.means, weights.shape[1] // problem.n_outputs) - fitted
        return padded


class SpectralFactorisation(Factorisation):
    """One that holds the eigenvectors."""

    _eigenvalues: Doubles

    @property
    def eigenvalues(self) -> Doubles:
        return self._eigenvalues

    def smallest(self, alphas: Doubles) -> Doubles:
        return np.asarray(self.eigenvalues[-1:].sum() + alphas)

    def rounding(self, alphas: Doubles) -> Doubles:
        if self.eigenvalues.size == 0:
            return np.full(alphas.size, EPS)
        return super().rounding(alphas)

    def residual_dof(self, alphas: Doubles) -> Doubles:
        shrink = alphas / (self.eigenvalues[:, np.newaxis] + alphas)
        beyond = self.problem.n_contrasts - self.eigenvalues.size
        return np.asarray(shrink.sum(axis=0) + beyond)

    def log_determinant(self, alphas: Doubles) -> Doubles:
        return np.asarray(np.log1p(self.eigenvalues[:, np.newaxis] / alphas).sum(axis=0))
