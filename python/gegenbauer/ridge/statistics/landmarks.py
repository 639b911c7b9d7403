"""Statistics of the features of a kernel at few centres."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gegenbauer._messages import Message
from gegenbauer.basis.scaling import check_scaling
from gegenbauer.ridge.landmarks import Landmarks
from gegenbauer.ridge.statistics.gram import GramStatistics

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling

__all__ = ["LandmarkStatistics"]


class LandmarkStatistics(GramStatistics):
    """The sums of `GramStatistics`, of the features of `Landmarks` in the place of terms.

    They add and subtract, but their box stays: a kernel at its centres is not one of other inputs.

    Parameters
    ----------
    basis : Landmarks
        Of a kernel.
    n_outputs : int
        Number of targets.
    scaling : InputScaling, optional
        Maps the inputs to the domain of the polynomials.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import Spectrum
    >>> from gegenbauer.basis import SpectrumKernel
    >>> from gegenbauer.ridge.landmarks import choose_landmarks
    >>> from gegenbauer.ridge.statistics.landmarks import LandmarkStatistics
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(50, 1))
    >>> landmarks, _ = choose_landmarks(SpectrumKernel(1, Spectrum((0.5, 2))), X, 8)
    >>> sums = LandmarkStatistics.from_data(landmarks, X, np.exp(X))
    >>> features = landmarks.evaluate(X)
    >>> np.allclose(sums.gram, features.T @ features)
    True
    """

    _engine = "landmarks"

    basis: Landmarks  # type: ignore[assignment]  # which has no terms, but is used alike

    @staticmethod
    def _check_basis(basis: Any, scaling: InputScaling | None) -> None:
        if not isinstance(basis, Landmarks):
            raise TypeError(Message("`basis` must be Landmarks, got {}", type(basis).__name__))
        check_scaling(scaling, basis.n_features, "basis")

    @property
    def _open_box(self) -> InputScaling | None:
        return self.scaling

    def _accumulate(
        self,
        X: npt.NDArray[Any],
        Y: Doubles,
        row_scale: Doubles | None,
        n_threads: int,
    ) -> Doubles:
        part, n = self._zeros(), self.basis.n_terms
        part[:, :n] = self.basis.products(X, Y, row_scale, self.scaling, n_threads)
        part[n:, n:] = Y.T @ Y
        return part

    def _substitute(self, scale: Doubles, shift: Doubles) -> Doubles:  # noqa: ARG002
        raise ValueError(
            "sums of landmarks have the box that they began with: give one that holds all samples"
        )
