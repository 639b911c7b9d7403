"""The ridge problem that the factorisations of `RidgePath` are of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.errors import BeyondRangeError
from gegenbauer.ridge.landmarks import Landmarks
from gegenbauer.selection._features import sum_of_features
from gegenbauer.selection._leave_one_out import weighted_means

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.kernels import SpectrumKernel, TotalDegreeKernel
    from gegenbauer.basis.scaling import InputScaling

__all__ = ["RidgeProblem"]

# Squares of smaller targets, and of larger ones than its reciprocal, leave float64
_LEAST_ROOT = 1e-145


class RidgeProblem:
    """Minimise ``|D (f(X) - Y)|^2 + alpha |f|^2`` over samples of positive weight, for any alpha.

    Parameters
    ----------
    model : TensorBasis, Landmarks, TotalDegreeKernel or SpectrumKernel
        The terms of f.
    X : ndarray, shape (n_samples, n_features)
        Inputs.
    Y : ndarray, shape (n_samples, n_outputs)
        Targets.
    scale : ndarray, shape (n_samples,), or None
        Diagonal of D, the square roots of the weights; one without weights.
    scaling : InputScaling or None
        Maps X to the domain of the polynomials.
    free : bool
        Whether the constant term is not penalised.
    n_threads : int
        For the core.

    Attributes
    ----------
    weighted : bool
        Whether a scale was given.
    means : ndarray, shape (n_outputs,)
        Of the targets where the constant is free, which takes them; else zero.
    scaled_Y : ndarray, shape (n_samples, n_outputs)
        D times what the targets leave of them: of the means no digit is lost to rounding.
    """

    def __init__(
        self,
        model: TensorBasis | Landmarks | TotalDegreeKernel | SpectrumKernel,
        X: npt.NDArray[Any],
        Y: Doubles,
        scale: Doubles | None,
        *,
        scaling: InputScaling | None,
        free: bool,
        n_threads: int,
    ) -> None:
        self.model, self.X, self.Y = model, X, Y
        self.scaling, self.free, self.n_threads = scaling, free, n_threads
        self.n_samples: int = Y.shape[0]
        self.n_outputs: int = Y.shape[1]
        self.weighted = scale is not None
        self.scale = np.ones(self.n_samples) if scale is None else scale
        self.means = np.zeros(self.n_outputs)
        if free and self.n_samples:
            self.means = weighted_means(Y, self.scale)
        self.scaled_Y = (Y - self.means) * self.scale[:, np.newaxis]

    def require_squares(self) -> None:
        """Refuse targets whose squares float64 does not hold."""
        size = np.abs(self.scaled_Y).max(axis=0, initial=0.0)
        lost = (size > 0) & ~((size > _LEAST_ROOT) & (size < 1.0 / _LEAST_ROOT))
        if lost.any():
            at = int(lost.argmax())
            raise BeyondRangeError(
                f"the squares of column {at} of Y, which is of size {size[at]:.3g} without its "
                "mean, are beyond the range of float64",
                "scale Y",
            )

    @property
    def basis(self) -> TensorBasis | Landmarks:
        """The model of a factorisation that enumerates its terms."""
        assert isinstance(self.model, (TensorBasis, Landmarks))
        return self.model

    @property
    def plan(self) -> Any:
        """The terms as the core takes them; None of what it cannot enumerate."""
        return self.model._plan if isinstance(self.model, TensorBasis) else None

    @property
    def box(self) -> Any:
        """The map of the scaling, as the core takes it."""
        return None if self.scaling is None else self.scaling._map

    @property
    def n_contrasts(self) -> int:
        """Dimensions of the targets that are left when a free constant is taken out."""
        return self.n_samples - int(self.free)

    def features(
        self, X: npt.NDArray[Any], scale: Doubles | None = None, *, mapped: bool = False
    ) -> Doubles:
        """Evaluate the terms, without the constant where that is free, times a scale a sample."""
        scaling = None if mapped else self.scaling
        G = self.basis.evaluate(X, scaling=scaling, n_threads=self.n_threads)
        if self.free:
            G = G[:, 1:]
        if scale is not None:
            G *= scale[:, np.newaxis]
        return G

    def predict(self, X: npt.NDArray[Any], weights: Doubles) -> Doubles:
        """Evaluate sums of all terms with weights (n_terms, n_functions)."""
        return sum_of_features(self.basis, X, weights, self.scaling, self.n_threads)

    def by_alpha(self, columns: Doubles) -> Doubles:
        """View (n, n_alphas * n_outputs) as (n_alphas, n, n_outputs)."""
        n, width = columns.shape
        return columns.reshape(n, width // self.n_outputs, self.n_outputs).transpose(1, 0, 2)
