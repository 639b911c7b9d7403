"""Search of the penalty for a given kernel."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._renamed import refuse_old_names
from gegenbauer._validation import as_matrix, as_weights, check_number, check_threads
from gegenbauer.basis.kernels import SpectrumKernel
from gegenbauer.basis.levels import as_samples
from gegenbauer.basis.scaling import check_scaling
from gegenbauer.ridge.kernel_ridge import predict_kernel, solve_kernel
from gegenbauer.ridge.landmarks import choose_landmarks
from gegenbauer.selection._leave_one_out import KernelSystem, check_loss, check_share
from gegenbauer.selection.candidates import TRUSTED, Candidate, no_finite_loss
from gegenbauer.selection.spectrum_search import ALPHAS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = ["FoundPenalty", "search_alpha"]

# From so many samples on the walk is in float32, while alpha is so many times what rounding does to
# the eigenvalues of K: about 1e-7 of its diagonal, times the square root of the number of samples
_MANY, _RESOLVED = 2000, 100.0
_SINGLE = 2.0**-23

# Landmarks of the fit whose penalty the walk begins with
_FEW = 500

# Relative error of predictions, by the trace of the kernel matrix over alpha
_ROUNDING = 4 * float(np.finfo(np.float64).eps)


class FoundPenalty(NamedTuple):
    """What `search_alpha` has found.

    Attributes
    ----------
    alpha : float
        The best; its neighbours are worse, from 2,000 samples on as far as float32 shows: to
        some 1e-5 of the loss.
    loss : float
        Its loss.
    predictions : ndarray, shape (n_samples, n_outputs)
        Its predictions of samples left out; with `cv`, NaN for samples in no test part.
    residual_dof : float or None
        Sum of one minus the leverages, of samples as weighted; None with `cv`.
    """

    alpha: float
    loss: float
    predictions: Doubles
    residual_dof: float | None


def _by_landmarks(
    kernel: SpectrumKernel,
    data: npt.NDArray[Any],
    targets: Doubles,
    weights: Doubles | None,
    loss: Loss,
    cv: Splits,
    share: npt.ArrayLike | None,
    *,
    pooled: bool,
    scaling: InputScaling | None,
    penalize_constant: bool,
    n_threads: int | None,
) -> float | None:
    """Return the best penalty of few landmarks, up to a factor of four; None if there is none.

    It is no more than a place to begin: that of all terms is smaller, up to ten times.
    """
    landmarks, _ = choose_landmarks(
        kernel, data, _FEW, sample_weight=weights, scaling=scaling,
        n_threads=n_threads,
    )  # fmt: skip
    candidate = Candidate(
        landmarks, data, targets, weights, cv, left_out_share=share, pooled=pooled,
        scaling=scaling, penalize_constant=penalize_constant, n_threads=n_threads,
    )  # fmt: skip
    level = kernel.diagonal(data, scaling=scaling, n_threads=n_threads) - (not penalize_constant)
    alphas = np.array(ALPHAS) * float(np.average(level, weights=weights))
    losses = candidate.losses(alphas, loss)
    best = int(np.argmin(losses))
    return float(alphas[best]) if np.isfinite(losses[best]) else None


def _by_splits(
    kernel: SpectrumKernel,
    data: npt.NDArray[Any],
    targets: Doubles,
    weights: Doubles | None,
    alpha: float,
    loss: Loss,
    cv: Sequence[tuple[Any, Any]],
    *,
    pooled: bool,
    scaling: InputScaling | None,
    penalize_constant: bool,
    n_threads: int | None,
) -> FoundPenalty:
    """Judge a penalty by a fit to the training part of each split."""
    predictions = np.full(targets.shape, np.nan)
    values = []
    for train, test in cv:
        fit = solve_kernel(
            kernel, data[train], targets[train], alpha, scaling=scaling,
            sample_weight=None if weights is None else weights[train],
            penalize_constant=penalize_constant, n_threads=n_threads,
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
    return FoundPenalty(alpha, float(np.mean(losses)), predictions, None)


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
) -> FoundPenalty:
    """Walk from one alpha to the next while the loss of samples left out gets better.

    One Cholesky factorisation for each alpha (and split), by `leave_one_out` or `solve_kernel`.
    From 2,000 samples on, those of leave-one-out are in float32 where alpha is far above what
    that does to the kernel matrix; what is returned is always of float64.

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
    FoundPenalty

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content, and when no loss is finite.

    See Also
    --------
    RidgePath : One factorisation for every penalty.
    leave_one_out : Each sample left out, for a kernel.

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
    >>> found = search_alpha(kernel, x, y, mean_square, 1.0)
    >>> found.alpha in 2.0 ** np.arange(-10, 10), found.loss < 0.02, found.predictions.shape
    (True, True, (40, 1))
    """
    if not isinstance(kernel, SpectrumKernel):
        raise TypeError(Message("`kernel` must be a SpectrumKernel, got {}", type(kernel).__name__))
    step = check_number(step, "step", minimum=1, open_below=True)
    start = check_number(start, "start", minimum=0, open_below=True)
    data = as_samples(X, "X", kernel)
    targets = as_matrix(Y, "Y", n_rows=data.shape[0], keep_float32=False, one_dimensional=True)
    weights = as_weights(sample_weight, data.shape[0])
    check_loss(loss)
    options: dict[str, Any] = {
        "scaling": scaling, "penalize_constant": penalize_constant, "n_threads": n_threads
    }  # fmt: skip
    n = data.shape[0]
    squares = kernel.diagonal(data, scaling=scaling, n_threads=n_threads) - (not penalize_constant)
    trace = float(squares.sum() if weights is None else squares @ weights)
    least = _ROUNDING * trace / TRUSTED  # of the rounding of K alone
    known: dict[int, tuple[float, FoundPenalty]] = {}
    system = None
    if cv is None:
        share = check_share(left_out_share, n)
        system = KernelSystem(
            kernel, data, weights, check_scaling(scaling, kernel.n_features, "kernel"),
            not penalize_constant, check_threads(n_threads),
        )  # fmt: skip
        single = _RESOLVED * _SINGLE * np.sqrt(n) * system.trace / n

    def left_out(alpha: float, *, quick: bool) -> FoundPenalty:
        if system is None:
            assert cv is not None
            return _by_splits(
                kernel, data, targets, weights, alpha, loss, cv, pooled=pooled, **options
            )
        found = system.leave_one_out(
            targets, alpha, share, precision="float32" if quick else "float64"
        )
        value = float(loss(found.predictions, np.arange(n))[0])
        return FoundPenalty(alpha, value, found.predictions[0], system.residual_dof)

    def is_quick(alpha: float) -> bool:
        return system is not None and n >= _MANY and alpha >= single

    def judge(k: int) -> float:
        if k not in known:
            alpha, value = start * step**k, np.inf
            found = FoundPenalty(alpha, np.inf, np.empty(0), None)
            if alpha >= least:
                with suppress(np.linalg.LinAlgError):
                    found = left_out(alpha, quick=is_quick(alpha))
                    value = np.inf if np.isnan(found.loss) else found.loss
            known[k] = value, found
        return known[k][0]

    at = 0
    if n >= _MANY:
        near = _by_landmarks(
            kernel, data, targets, weights, loss, cv, left_out_share, pooled=pooled, **options
        )
        at = 0 if near is None else round(np.log(near / start) / np.log(step))
    while not np.isfinite(judge(at)) and at < 60:  # too small for float64
        at += 4
    for direction in (1, -1):
        while judge(at + direction) < judge(at) and abs(at) < 100:
            at += direction
    value, found = known[at]
    if not np.isfinite(value):
        raise no_finite_loss("alpha")
    return left_out(found.alpha, quick=False) if is_quick(found.alpha) else found
