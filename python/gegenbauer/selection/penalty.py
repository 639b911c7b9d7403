"""Search of the penalty for a given kernel."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._renamed import refuse_old_names
from gegenbauer._validation import as_matrix, as_weights, check_number
from gegenbauer.ridge.kernel_ridge import predict_kernel, solve_kernel
from gegenbauer.selection._leave_one_out import leave_one_out
from gegenbauer.selection.candidates import NO_LOSS, TRUSTED

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.kernels import SpectrumKernel
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = ["search_alpha"]

# Relative error of predictions, by the trace of the kernel matrix over alpha
_ROUNDING = 4 * float(np.finfo(np.float64).eps)


@refuse_old_names
def search_alpha(
    kernel: SpectrumKernel,
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    loss: Loss,
    start: float,
    *,
    step: float = 2.0,
    sample_weight: npt.ArrayLike | None = None,
    left_out_share: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    penalize_constant: bool = True,
    cv: Splits = None,
    pooled: bool = False,
    n_threads: int | None = None,
) -> tuple[float, float, Doubles]:
    """Walk from one alpha to the next while the loss of samples left out gets better.

    One Cholesky factorisation for each alpha (and split), by `leave_one_out` or `solve_kernel`.

    Parameters
    ----------
    kernel, X, Y, sample_weight, left_out_share, scaling, penalize_constant, n_threads
        As for `leave_one_out`; left_out_share without cv.
    loss, cv, pooled
        As for `search_spectrum`.
    start : float
        Where to begin, absolute.
    step : float
        Factor between alphas, > 1.

    Returns
    -------
    alpha : float
        The best; its neighbours are worse.
    loss : float
        Its loss.
    predictions : ndarray, shape (n_samples, n_outputs)
        Its predictions of samples left out; with `cv`, NaN for samples in no test part.

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content, and when no loss is finite.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.basis import SpectrumKernel
    >>> from gegenbauer.selection import search_alpha
    >>> x = np.linspace(-1, 1, 40)[:, np.newaxis]
    >>> y = np.sin(3 * x) + 0.1 * np.random.default_rng(0).normal(size=x.shape)
    >>> def mean_square(predictions, rows):
    ...     return ((predictions - y[rows]) ** 2).mean(axis=(1, 2))
    >>> kernel = SpectrumKernel(1, (0.5, 2.0))
    >>> alpha, loss, predictions = search_alpha(kernel, x, y, mean_square, 1.0)
    >>> alpha in 2.0 ** np.arange(-10, 10), loss < 0.02, predictions.shape
    (True, True, (40, 1))
    """
    step = check_number(step, "step", minimum=1, open_below=True)
    start = check_number(start, "start", minimum=0, open_below=True)
    data = as_matrix(X, "X", n_columns=kernel.n_features)
    targets = as_matrix(Y, "Y", n_rows=data.shape[0], keep_float32=False, one_dimensional=True)
    weights = as_weights(sample_weight, data.shape[0])
    options: dict[str, Any] = {
        "scaling": scaling, "penalize_constant": penalize_constant, "n_threads": n_threads
    }  # fmt: skip
    everything = np.arange(data.shape[0])
    squares = kernel.diagonal(data, scaling=scaling, n_threads=n_threads) - (not penalize_constant)
    trace = float(squares.sum() if weights is None else squares @ weights)
    least = _ROUNDING * trace / TRUSTED  # of the rounding of K alone
    known: dict[int, tuple[float, Doubles]] = {}

    def left_out(alpha: float) -> tuple[float, Doubles]:
        if cv is None:
            found = leave_one_out(
                kernel, data, targets, alpha, sample_weight=weights,
                left_out_share=left_out_share, **options,
            )  # fmt: skip
            return float(loss(found.predictions, everything)[0]), found.predictions[0]
        predictions = np.full(targets.shape, np.nan)
        values = []
        for train, test in cv:
            fit = solve_kernel(
                kernel, data[train], targets[train], alpha,
                sample_weight=None if weights is None else weights[train], **options,
            )  # fmt: skip
            predictions[test] = predict_kernel(
                kernel, data[test], data[train], fit.dual_coef, intercept=fit.intercept,
                scaling=scaling, n_threads=n_threads,
            )  # fmt: skip
            values.append(predictions[test])
        tests = [test for _, test in cv]
        if pooled:
            values, tests = [np.concatenate(values)], [np.concatenate(tests)]
        losses = [loss(v[np.newaxis], rows)[0] for v, rows in zip(values, tests, strict=True)]
        return float(np.mean(losses)), predictions

    def judge(k: int) -> float:
        if k not in known:
            value, predictions = np.inf, np.empty(0)
            if start * step**k >= least:
                with suppress(np.linalg.LinAlgError):
                    value, predictions = left_out(start * step**k)
            known[k] = (np.inf if np.isnan(value) else value, predictions)
        return known[k][0]

    at = 0
    while not np.isfinite(judge(at)) and at < 60:  # too small for float64
        at += 4
    for direction in (1, -1):
        while judge(at + direction) < judge(at) and abs(at) < 100:
            at += direction
    value, predictions = known[at]
    if not np.isfinite(value):
        raise ValueError(NO_LOSS.format("alpha"))
    return start * step**at, value, predictions
