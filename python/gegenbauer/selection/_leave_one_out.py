"""Leave-one-out predictions of kernel ridge, for a few penalties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._memory import require_memory
from gegenbauer._messages import Message, Ways
from gegenbauer._renamed import FormerNames, refuse_old_names
from gegenbauer._validation import (
    CLIP,
    as_matrix,
    as_weights,
    check_callable,
    check_flag,
    check_number,
    check_threads,
    require_finite,
)
from gegenbauer.basis.kernels import SpectrumKernel, TotalDegreeKernel
from gegenbauer.basis.levels import as_samples
from gegenbauer.basis.scaling import check_scaling
from gegenbauer.selection._features import EPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling

__all__ = [
    "KernelSystem",
    "LeaveOneOutPredictions",
    "check_loss",
    "check_share",
    "leave_one_out",
    "require_finite_kernel",
    "weighted_means",
    "without_share",
]


@dataclass(frozen=True, eq=False)
class LeaveOneOutPredictions(FormerNames):
    """What each sample would get from a fit without it, for every alpha. Equal to itself alone.

    Attributes
    ----------
    alphas : ndarray, shape (n_alphas,)
        Penalties.
    predictions : ndarray, shape (n_alphas, n_samples, n_outputs)
        ``predictions[g, i]`` is the prediction at sample i of the fit with ``alphas[g]`` to all
        samples but i. Sample i is left out with all of its weight, or the requested share.
    leverages : ndarray, shape (n_alphas, n_samples)
        Derivatives of the fitted values by their own targets, times the sample's weight: 0 to 1.
    error : ndarray, shape (n_alphas,)
        Estimated size of rounding errors in ``predictions - Y``, relative to their norm, to first
        order: mostly 30 to 1000 times too high, and no less than half of the truth in the tests
        against 80 digits. Above about 1e-3 an alpha is too small for float64 by this method; at 1
        nothing is known.

    See Also
    --------
    leave_one_out : Each sample left out, for a kernel.
    RidgePath : One factorisation for every penalty.

    Examples
    --------
    >>> from gegenbauer import RidgePath, TensorBasis
    >>> path = RidgePath(TensorBasis(1, degree=0), [[0.0], [0.5], [1.0]], [1.0, 3.0, 8.0])
    >>> found = path.leave_one_out([1.0, 3.0])  # of a constant: sums of two by 2 + alpha
    >>> found.predictions[:, :, 0].round(6).tolist()
    [[3.666667, 3.0, 1.333333], [2.2, 1.8, 0.8]]
    >>> found.leverages[0].round(6).tolist()
    [0.25, 0.25, 0.25]
    """

    alphas: Doubles
    predictions: Doubles
    leverages: Doubles
    error: Doubles


@refuse_old_names
def leave_one_out(
    kernel: TotalDegreeKernel | SpectrumKernel,
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    alpha: float,
    *,
    sample_weight: npt.ArrayLike | None = None,
    left_out_share: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    penalize_constant: bool = True,
    n_threads: int | None = None,
) -> LeaveOneOutPredictions:
    """Return the leave-one-out predictions for one alpha, by Cholesky.

    At about a quarter of the cost of `RidgePath`, which holds for all alphas. What is left out
    with a sample is the same: all of its weight, or `left_out_share` of it, and no other sample,
    however equal.

    Parameters
    ----------
    kernel : TotalDegreeKernel or SpectrumKernel
        The terms.
    X, Y, sample_weight, scaling, penalize_constant, n_threads
        As for `RidgePath`, but with weights that are positive.
    alpha : float
        Penalty, > 0.
    left_out_share : array_like, shape (n_samples,), optional
        As for `RidgePath.leave_one_out`.

    Returns
    -------
    LeaveOneOutPredictions
        With arrays for one alpha.

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.
    TooLargeError
        When the kernel matrix cannot fit into memory.
    numpy.linalg.LinAlgError
        When alpha is too small for float64.

    See Also
    --------
    RidgePath : One factorisation for every penalty.
    kfold_predictions : Folds left out, exactly.
    search_alpha : The best penalty.

    Examples
    --------
    >>> from gegenbauer.basis import SpectrumKernel
    >>> from gegenbauer.selection import leave_one_out
    >>> kernel = SpectrumKernel(1, (1, 2))
    >>> found = leave_one_out(kernel, [[-0.5], [0.0], [0.5]], [0.0, 1.0, 2.0], alpha=0.1)
    >>> found.predictions[0, :, 0].round(3)
    array([0.258, 0.974, 1.303])
    """
    if not isinstance(kernel, (TotalDegreeKernel, SpectrumKernel)):
        raise TypeError(
            Message(
                "`kernel` must be a TotalDegreeKernel or SpectrumKernel, got {}",
                type(kernel).__name__,
            )
        )
    alpha = check_number(alpha, "alpha", minimum=0, open_below=True)
    free = not check_flag(penalize_constant, "penalize_constant")
    threads = check_threads(n_threads)
    data = as_samples(X, "X", kernel)
    n = data.shape[0]
    targets = as_matrix(Y, "Y", n_rows=n, keep_float32=False, one_dimensional=True)
    weights = as_weights(sample_weight, n)
    share = check_share(left_out_share, n)
    box = check_scaling(scaling, kernel.n_features, "kernel")
    return KernelSystem(kernel, data, weights, box, free, threads).leave_one_out(
        targets, alpha, share
    )


class KernelSystem:
    """The kernel matrix of samples, for one penalty after another, and their leave-one-out.

    One array holds the kernel matrix in an upper triangle and the factor of the present penalty in
    the lower one. The former lies some columns to the right: a factorisation overwrites a few
    places above its diagonal.

    Parameters
    ----------
    kernel : TotalDegreeKernel or SpectrumKernel
        The terms.
    data : ndarray, shape (n_samples, n_features)
        Checked inputs.
    weights : ndarray, shape (n_samples,), or None
        Positive.
    box : InputMap or None
        That of the core.
    free : bool
        Whether the constant is not penalised.
    n_threads : int
        The result does not depend on it.

    Attributes
    ----------
    residual_dof : float
        Sum of one minus the leverages, without their difference, for the latest penalty.
    """

    residual_dof: float

    _BLOCK = 512

    def __init__(
        self,
        kernel: TotalDegreeKernel | SpectrumKernel,
        data: npt.NDArray[Any],
        weights: Doubles | None,
        box: Any,
        free: bool,
        n_threads: int,
    ) -> None:
        n = data.shape[0]
        if weights is not None and not weights.all():
            raise ValueError("sample_weight must be positive: leave samples of weight zero out")
        if free and n < 2:
            raise ValueError("a free constant needs at least two samples, got one")
        require_memory(
            8.0 * n * (n + self._BLOCK), f"the kernel matrix of {n} samples", "use fewer samples"
        )
        self.n_samples, self._free, self._threads = n, free, n_threads
        self._root = np.ones(n) if weights is None else np.sqrt(weights)
        whole = np.zeros((n, n + self._BLOCK), order="F")
        self._factor, self._kept = whole[:, :n], whole[:, self._BLOCK :]
        kernel._plan.accumulate(data, box, self._root, not free, self._factor, n_threads)
        require_finite_kernel(self._factor)
        self._diagonal = self._factor.diagonal().copy()
        for block, kept in self._blocks():
            kept[:] = block

    def _blocks(self) -> Iterator[tuple[Doubles, Doubles]]:
        """Yield blocks of the lower triangle, and their places in the upper one, transposed."""
        n, step = self.n_samples, self._BLOCK
        for j in range(0, n, step):
            for i in range(j, n, step):
                rows, cols = slice(i, i + step), slice(j, j + step)
                yield self._factor[rows, cols], self._kept[cols, rows].T

    @property
    def trace(self) -> float:
        """The sum of the eigenvalues of the weighted kernel matrix."""
        return float(self._diagonal.sum())

    def leave_one_out(
        self,
        targets: Doubles,
        alpha: float,
        share: Doubles | None,
        *,
        precision: str = "float64",
    ) -> LeaveOneOutPredictions:
        """Return what the function `leave_one_out` does.

        Parameters
        ----------
        targets : ndarray, shape (n_samples, n_outputs)
            Y.
        alpha : float
            Penalty, > 0.
        share : ndarray, shape (n_samples,), or None
            Share of the weights that is left out.
        precision : {"float64", "float32"}
            Of products in the factorisation and the diagonal of the inverse. With float32 the
            result is that of a kernel matrix whose entries are off by some 1e-7 of its diagonal,
            so that it is a function of alpha all the same; ``error`` knows nothing of it.
        """
        n, threads, free, root = self.n_samples, self._threads, self._free, self._root
        factor = self._factor
        for block, kept in self._blocks():
            block[:] = kept
        diagonal = self._diagonal + alpha
        factor[np.diag_indices(n)] = diagonal
        core.cholesky_in_place(factor, threads, precision)
        inverse = core.inverse_diagonal(factor, threads, precision)
        # a free constant takes their means, which would take their digits along
        scaled = root[:, np.newaxis] * (
            targets - weighted_means(targets, root) if free else targets
        )
        right = np.asfortranarray(np.column_stack([scaled, root]))
        core.solve_factored(factor, right, threads)
        A, side = right[:, :-1], right[:, -1]
        leverages = 1.0 - alpha * inverse
        if free:
            along = root @ side
            A = A - np.outer(side, side @ scaled) / along
            inverse = inverse - side**2 / along
            leverages = 1.0 - alpha * inverse
        self.residual_dof = alpha * float(inverse.sum())
        complements = without_share(inverse, 1.0 / alpha, share)
        left_out = A / complements[:, np.newaxis] / root[:, np.newaxis]
        # as `RidgePath` estimates it for products, with a trace for the largest eigenvalue and the
        # sum before a free constant is taken out
        size, squares = float(diagonal.sum()), np.abs(inverse) / alpha
        each = np.linalg.norm(left_out, axis=1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            off = size * np.sqrt(squares) * np.linalg.norm(A) / root
            off += each * (np.sqrt(n) * size * squares + np.abs(inverse))
            whole = np.linalg.norm(off / complements) + np.linalg.norm(targets)
            found = np.nan_to_num(4.0 * EPS * whole / np.linalg.norm(each), nan=EPS)
        error = np.array([min(float(found), 1.0)])
        return LeaveOneOutPredictions(
            np.array([alpha]), (targets - left_out)[np.newaxis], leverages[np.newaxis], error
        )


def check_loss(loss: object) -> None:
    """Refuse a loss that is no function."""
    check_callable(loss, "loss", "a function of predictions, which returns their losses")


def check_share(left_out_share: npt.ArrayLike | None, n_rows: int) -> Doubles | None:
    """Return the share of each sample's weight that is left out with it; None for all of it."""
    if left_out_share is None:
        return None
    share = as_matrix(
        left_out_share, "left_out_share", n_rows=n_rows, n_columns=1, keep_float32=False,
        one_dimensional=True,
    )[:, 0]  # fmt: skip
    if share.min() <= 0 or share.max() > 1:
        raise ValueError(
            Message(
                "`left_out_share` must lie above 0 and up to 1, all of a sample's weight; "
                "got {:.6g} to {:.6g}",
                share.min(),
                share.max(),
            )
        )
    return np.asarray(share, dtype=np.float64)


def without_share(d: Doubles, unit: Doubles | float, share: Doubles | None) -> Doubles:
    """Return 1 - share h of d = 1 - h, all of it in units of what one is, (n_alphas, 1 or n).

    The residual of a sample of which a share is left out is its residual over this.
    """
    if share is None:
        return d
    kept = np.where(share < 1, unit, 0.0) * (1.0 - share)
    return np.asarray(kept + share * d)


def weighted_means(Y: Doubles, root: Doubles) -> Doubles:
    """Return the means of the columns, given the square roots of the weights."""
    squares = root**2
    return np.asarray(squares @ Y / squares.sum())


def require_finite_kernel(K: Doubles) -> None:
    """Refuse a kernel matrix that is beyond float64."""
    require_finite(
        K,
        "some values of the kernel are",
        Ways("", CLIP, "sample_weight or the spectrum is too large", last="; or "),
        name_row=False,
    )
