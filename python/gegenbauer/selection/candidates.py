"""Candidates of a search over penalties: their losses, and grids that widen at their edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gegenbauer._messages import Message, Ways
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.errors import NoFiniteLossError
from gegenbauer.selection._factorisations import cheapest_method
from gegenbauer.selection.kfold import kfold_predictions
from gegenbauer.selection.ridge_path import RidgePath

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.kernels import SpectrumKernel
    from gegenbauer.ridge.landmarks import Landmarks

__all__ = [
    "TRUSTED",
    "Candidate",
    "Loss",
    "Splits",
    "cut_off",
    "no_finite_loss",
    "widened",
]


def no_finite_loss(what: str) -> NoFiniteLossError:
    """Return the error that no penalty, or no other candidate, has a finite loss."""
    return NoFiniteLossError(
        Message(
            "no {} has a finite loss",
            what,
            ways=[
                "does the loss return NaN",
                "are `alphas` too small beside rounding (give larger ones)",
                Ways("are", "`sample_weight`", "the targets", end=" extreme"),
            ],
            end="?",
        )
    )


# Predictions whose estimated relative error is above this are not trusted; the estimate is a bound
# that is mostly some hundred times too high
TRUSTED = 0.1

# Predictions (doubles) that are held at once
_MAX_CACHED_PREDICTIONS = 2e7

# (predictions (n, rows, n_outputs) of n alphas, indices of the rows) -> n losses
Loss: TypeAlias = "Callable[[Doubles, npt.NDArray[np.intp]], Doubles]"

Splits: TypeAlias = "Sequence[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]] | None"


class Candidate:
    """A basis or spectrum, factorised for all alphas and all samples, or those of training splits.

    Parameters
    ----------
    model : TensorBasis or SpectrumKernel
        The terms.
    X, Y, weights
        Samples, targets (n_samples, n_outputs) and weights or None, as arrays.
    cv : sequence of (training samples, test samples) or None
        None for leave-one-out. Splits whose training samples are all but their test samples, of a
        basis with fewer terms than samples, take one sum over the samples (`kfold_predictions`).
    left_out_share : ndarray, shape (n_samples,), or None
        As for `RidgePath.leave_one_out`; without `cv`.
    pooled : bool
        Judge the predictions of all test samples together, not those of each part, of which the
        mean is taken.
    **options
        As for `RidgePath`.

    Attributes
    ----------
    model : TensorBasis or SpectrumKernel
        As given.
    """

    def __init__(
        self,
        model: TensorBasis | Landmarks | SpectrumKernel,
        X: Doubles,
        Y: Doubles,
        weights: Doubles | None,
        cv: Splits,
        *,
        left_out_share: npt.ArrayLike | None = None,
        pooled: bool = False,
        **options: Any,
    ) -> None:
        self.model = model
        self._share = left_out_share
        self._pooled = pooled
        self._X, self._Y, self._weights, self._options = X, Y, weights, options
        self._chunk = max(1, int(_MAX_CACHED_PREDICTIONS / Y.size))
        pairs: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp] | None]]
        self._tolerance = np.inf  # sums, as long as they mean anything
        pairs = [(np.arange(X.shape[0]), None)] if cv is None else [*cv]
        self._folds = self._find_folds(cv)
        self._paths = [] if self._folds else [
            (
                RidgePath(
                    model, X[train], Y[train],
                    sample_weight=None if weights is None else weights[train],
                    tolerance=self._tolerance, **options,
                ),
                test,
            )
            for train, test in pairs
        ]  # fmt: skip

    def _find_folds(self, cv: Splits) -> list[npt.NDArray[np.intp]]:
        """Return the folds if one sum over all samples serves every split, else nothing."""
        n = self._X.shape[0]
        if cv is None or len(cv) < 2 or not isinstance(self.model, TensorBasis):
            return []
        largest = max(test.size for _, test in cv)
        tested = np.concatenate([test for _, test in cv])
        whole = all(
            train.size + test.size == n and np.unique(np.append(train, test)).size == n
            for train, test in cv
        )
        apart = np.unique(tested).size == tested.size
        primal = cheapest_method(n - largest, self.model.n_terms) == "primal"
        return [test for _, test in cv] if whole and apart and primal else []

    def _left_out(self, alphas: Doubles) -> Iterator[tuple[Doubles, Doubles, npt.NDArray[np.intp]]]:
        """Yield predictions (n_alphas, n_rows, n_outputs), their errors, and the rows."""
        if self._folds:
            assert isinstance(self.model, TensorBasis)
            folds = kfold_predictions(
                self.model, self._X, self._Y, self._folds, alphas,
                sample_weight=self._weights, tolerance=self._tolerance, **self._options,
            )  # fmt: skip
            for rows in self._folds:
                yield folds.predictions[:, rows], folds.error, rows
        for path, test in self._paths:
            if test is None:
                found = path.leave_one_out(alphas, left_out_share=self._share)
                yield found.predictions, found.error, np.arange(self._X.shape[0])
            else:
                yield path.predict(self._X[test], alphas), path.rounding(alphas), test

    def losses(self, alphas: Doubles, loss: Loss) -> Doubles:
        """Return the loss, infinity where float64 does not carry it.

        Where the best may be among those that sums of features do not carry, the features
        themselves are used, and from then on.
        """
        found = self._losses(alphas, loss)
        if self._tolerance > TRUSTED and cut_off(found, alphas):
            self._tolerance = TRUSTED
            for path, _ in self._paths:
                path.tolerance = TRUSTED
            found = self._losses(alphas, loss)
        return found

    def _losses(self, alphas: Doubles, loss: Loss) -> Doubles:
        found = np.zeros(alphas.size)
        for first in range(0, alphas.size, self._chunk):
            some = slice(first, first + self._chunk)
            parts = [*self._left_out(alphas[some])]
            if self._pooled:
                whole = np.concatenate([predictions for predictions, _, _ in parts], axis=1)
                error = np.max([error for _, error, _ in parts], axis=0)
                parts = [(whole, error, np.concatenate([rows for _, _, rows in parts]))]
            values = []
            for predictions, error, rows in parts:
                value = np.array(loss(predictions, rows), dtype=np.float64)
                value[(error > TRUSTED) | np.isnan(value)] = np.inf
                values.append(value)
            found[some] = np.mean(values, axis=0)
        return found

    def path(self) -> RidgePath:
        """Return the factorisation of all samples."""
        if len(self._paths) == 1 and self._paths[0][1] is None:
            return self._paths[0][0]
        return RidgePath(
            self.model, self._X, self._Y, sample_weight=self._weights,
            tolerance=self._tolerance, **self._options,
        )  # fmt: skip

    def predictions(self, alpha: float) -> Doubles:
        """Return those of all samples, each left out; NaN for samples in no test part."""
        whole = np.full(self._Y.shape, np.nan)
        for predictions, _, rows in self._left_out(np.array([alpha])):
            whole[rows] = predictions[0]
        return whole


def cut_off(losses: Doubles, alphas: Doubles) -> bool:
    """Return whether the smallest of losses is at the border of those that are infinite, or none.

    Rounding cuts off small penalties: where losses still fall towards them, the best is beyond.
    """
    if alphas.size == 0:
        return False
    ascending = losses[np.argsort(alphas)]
    best = int(np.argmin(ascending))
    return bool(np.isinf(ascending[max(best - 1, 0)]))


def widened(grid: Doubles, at: int) -> Doubles:
    """Add a value beyond the end of an ascending grid at which the best one is."""
    if grid.size < 2:
        return grid
    if at == 0:
        return np.append(grid[0] * grid[0] / grid[1], grid)
    if at == grid.size - 1:
        return np.append(grid, grid[-1] * grid[-1] / grid[-2])
    return grid
