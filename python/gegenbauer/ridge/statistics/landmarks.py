"""Statistics of the features of a kernel at few centres."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.basis.scaling import check_scaling
from gegenbauer.ridge.landmarks import Landmarks
from gegenbauer.ridge.statistics.gram import GramStatistics

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling

__all__ = ["LandmarkStatistics"]

# Doubles of features that are held at once
_BLOCK_SIZE = 4e6


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
            raise TypeError(f"`basis` must be Landmarks, got {type(basis).__name__}")
        check_scaling(scaling, basis.n_features, "basis")

    @property
    def _open_box(self) -> InputScaling | None:
        return self.scaling

    def _accumulate(
        self,
        X: npt.NDArray[Any],
        Y: npt.NDArray[np.float64],
        row_scale: npt.NDArray[np.float64] | None,
        n_threads: int,
    ) -> npt.NDArray[np.float64]:
        part = self._zeros()
        step = max(1, int(_BLOCK_SIZE / len(part)))
        for first in range(0, len(X), step):
            rows = slice(first, first + step)
            features = self.basis.evaluate(X[rows], scaling=self.scaling, n_threads=n_threads)
            if row_scale is not None:
                features = features * row_scale[rows, np.newaxis]
            whole = np.hstack([features, Y[rows]])
            part += whole.T @ whole
        return part

    def _substitute(self, scale: Doubles, shift: Doubles) -> Doubles:  # noqa: ARG002
        raise ValueError(
            "sums of landmarks have the box that they began with: give one that holds all samples"
        )
