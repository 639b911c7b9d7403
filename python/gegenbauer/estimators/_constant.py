"""What the penalty on the constant term costs where targets are far from zero."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message, Ways
from gegenbauer.errors import PenalizedConstantWarning, stacklevel
from gegenbauer.ridge.expansions import predict
from gegenbauer.ridge.solve import solve_ridge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.basis.tensor_basis import TensorBasis

__all__ = [
    "distances",
    "least_distance",
    "may_miss_constants",
    "warn_if_constant_is_dear",
    "warn_of_constant",
    "warn_of_same",
]

_EPS = np.finfo(np.float64).eps

# Means so many standard deviations from zero are looked into, and what the penalty on the constant
# may cost, in standard deviations
_FAR_FROM_ZERO, _MOST_LOST = 10.0, 0.1

# Targets that are the same everywhere have no deviation: share of them that may be lost
_LEAST_SHARE_LOST = 1e-6

_ADVICE = Ways.of(["use `penalize_constant=False`", "subtract the mean from the targets"])

# So many samples show what the penalty costs, or twice as many as there are terms
_FEW = 1000

# So many, and then so many times more, that it costs less than this share of what would be reported
_A_GLANCE, _MORE, _CERTAINLY_LESS = 32, 4, 0.5

# Multiplications of a whole look below which a glance takes as long
_WORTH_A_GLANCE = 1e6

# Targets of which a share is looked at first, and that share
_MANY, _SHARE = 2**16, 16

# Least part of a mean square that is a variance with digits enough
_LEAST_PART = 1e-10


def _distances_of(Y: Doubles, weight: Doubles | None, *, of_constants: float = 0.0) -> Doubles:
    """Return how many standard deviations the means of columns are from zero.

    One pass without copies, where the variance is what is left of the mean square: that has digits
    enough of it up to means 1e5 deviations away, and within the range of squares. The other columns
    are scaled, and their means subtracted. ``of_constants`` is for those all of whose spread is
    rounding.
    """
    n_samples, n_outputs = Y.shape
    total = float(n_samples if weight is None else weight.sum())
    mean, square = np.zeros(n_outputs), np.zeros(n_outputs)
    by_rows = abs(Y.strides[0]) >= abs(Y.strides[1])
    step = max(1, 2**15 // (n_outputs if by_rows else n_samples))  # what a cache holds
    with np.errstate(all="ignore"):
        for start in range(0, n_samples if by_rows else n_outputs, step):
            part = slice(start, start + step)
            rows, columns = (part, slice(None)) if by_rows else (slice(None), part)
            values = Y[rows, columns]
            weighted = values if weight is None else weight[rows, np.newaxis] * values
            mean[columns] += weighted.sum(axis=0)
            square[columns] += np.einsum("ij,ij->j", weighted, values)
        mean /= total
        square /= total
        variance = square - mean**2
        known = (variance > _LEAST_PART * square) & (square > np.finfo(float).tiny / _EPS)
        known &= np.isfinite(square)
        far = np.abs(mean) / np.sqrt(variance)
    if not known.all():
        others = Y[:, ~known]
        size = np.abs(others).max(axis=0)
        others /= np.where(size > 0, size, 1.0)
        mean = np.average(others, axis=0, weights=weight)
        spread = np.sqrt(np.average((others - mean) ** 2, axis=0, weights=weight))
        varies = spread > _EPS * np.abs(mean)
        far[~known] = np.where(varies, distances(mean, spread), of_constants)
    return np.asarray(far)


def _may_be_far(Y: Doubles, weight: Doubles | None, least: float) -> Places:
    """Return the columns whose means may be `least` deviations or more from zero.

    A share p of the samples whose mean is d of its own deviations from zero bounds the distance of
    all: whatever the others are, its square is at most (d^2 + 1 - p) / p, by the inequality of
    Cauchy and Schwarz for the deviation within the share and that between it and the others.
    """
    n = len(Y) // _SHARE
    if Y.size < _MANY or n == 0:
        return np.arange(Y.shape[1])
    p, part = n / len(Y), None
    if weight is not None:
        part = weight[:n]
        p = float(part.sum() / weight.sum())
    if not p > 0:
        return np.arange(Y.shape[1])
    far = _distances_of(Y[:n], part, of_constants=np.inf)  # the others may vary
    return np.flatnonzero(far**2 + 1.0 - p >= p * least**2)


def distances(mean: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many standard deviations means are from zero; 0 where all is rounding."""
    known = spread > _EPS * np.abs(mean)
    return np.where(known, np.abs(mean) / np.where(spread > 0, spread, 1.0), 0.0)


def warn_if_constant_is_dear(
    basis: TensorBasis, X: NDArray[Any], Y: Doubles, weight: Doubles | None, alpha: float, *,
    flat: bool, scaling: InputScaling, n_threads: int | None, total: float | None = None,
    unit: Doubles | None = None,
) -> bool:  # fmt: skip
    """Warn where the penalty on the constant costs more than a tenth of the targets' spread.

    A fit is linear in its targets: what it makes of Y beyond a fit with a free constant is the
    mean times what it makes of targets of 1. How far that is from 1 between the samples is seen
    by a fit to every other one, or to twice the terms where samples are many, with the share
    of alpha that is theirs; only targets whose mean is far from zero are worth it. A fit to fewer,
    with their share, misses no less, but for chance: so a few are looked at first, and mostly
    suffice. `total` is the weight of all samples to which alpha belongs, of which X may be a part.
    Targets that are all the same everywhere are missed by their value times that. Y is in
    units of `unit`, one an output. Return whether there was a warning.
    """
    n = len(X)
    if n < 4:
        return False
    known = n if weight is None else float(weight.sum())
    total = known if total is None else total
    least = least_distance(alpha, total) if n >= 4 * basis.n_terms else _FAR_FROM_ZERO
    columns = _may_be_far(Y, weight, least)
    if columns.size == 0:
        return False
    far = _distances_of(Y if columns.size == Y.shape[1] else Y[:, columns], weight)
    column = int(far.argmax())
    if far[column] < least:
        if not (may_miss_constants(alpha, total) and Y[0].any() and (Y[0] == Y).all()):
            return False
        column = int(np.abs(Y[0]).argmax())
        units = np.ones(Y.shape[1]) if unit is None else unit
        missed = _missed(basis, X, weight, alpha / total, 2, scaling, n_threads)
        value = float(Y[0, column] * units[column])
        return warn_of_same(value, None if flat else column, missed)
    step = max(2, n // max(2 * basis.n_terms, _FEW))
    steps, looked_at = [step], n // step
    worth = looked_at * min(looked_at, basis.n_terms) * basis.n_terms > _WORTH_A_GLANCE
    while worth and (glance := n // (_A_GLANCE * _MORE ** (len(steps) - 1))) >= 2 * step:
        steps.insert(-1, glance)
    lost = 0.0
    for every in steps:
        missed = _missed(basis, X, weight, alpha / total, every, scaling, n_threads)
        lost = float(far[column]) * missed
        if lost < _CERTAINLY_LESS * _MOST_LOST:
            return False
    return warn_of_constant(far[column], None if flat else int(columns[column]), lost)


def _missed(
    basis: TensorBasis, X: NDArray[Any], weight: Doubles | None, alpha: float, step: int,
    scaling: InputScaling, n_threads: int | None,
) -> float:  # fmt: skip
    """Return by how much a fit to targets of 1 misses them between its samples, one in `step`.

    `alpha` is for a weight of 1. NaN where the samples have no weight.
    """
    some, others = slice(0, None, step), slice(step // 2, None, step)
    weight_of_some = None if weight is None else weight[some]
    known = len(X[some]) if weight_of_some is None else float(weight_of_some.sum())
    if not known > 0:
        return np.nan
    options: dict[str, Any] = {"scaling": scaling, "n_threads": n_threads}
    # by whatever engine and solver: it is not the fit, and must not fail where that does not
    ones = solve_ridge(
        basis, X[some], np.ones((len(X[some]), 1)), alpha * known,
        sample_weight=weight_of_some, check_finite=False, **options,
    )  # fmt: skip
    return float(np.median(np.abs(1.0 - predict(basis, X[others], ones.weights, **options))))


def least_distance(alpha: float, weight: float) -> float:
    """Return from which distance on the penalty on the constant may cost much, whatever X is.

    Of many samples, targets of 1 are missed by no more than sqrt(alpha / weight): the weight 1
    of the constant alone would be penalised by alpha.
    """
    missed = float(np.sqrt(alpha / weight))
    return max(_FAR_FROM_ZERO, _MOST_LOST / missed) if missed > 0 else np.inf


def may_miss_constants(alpha: float, weight: float) -> bool:
    """Return whether targets that are all the same may be missed by more than rounding, or nearly.

    Of many samples they are missed by no more than a root of alpha / weight, see `least_distance`.
    """
    return alpha / weight > _LEAST_SHARE_LOST**2


def warn_of_constant(far: float, column: int | None, lost: float) -> bool:
    """Warn of what targets far from zero lose, in deviations; return whether it is much."""
    if not lost >= _MOST_LOST:
        return False
    which = "" if column is None else f" in column {column}"
    warnings.warn(
        Message(
            "The mean of the targets{} is {:.3g} times their standard deviation, and the "
            "constant term that has to carry it is penalised: for this alone predictions are off "
            "by some {:.2g} standard deviations",
            which,
            far,
            lost,
            ways=_ADVICE,
            joint=". ",
            end=".",
        ),
        PenalizedConstantWarning,
        stacklevel=stacklevel(),
    )
    return True


def warn_of_same(value: float, column: int | None, missed: float) -> bool:
    """Warn of what targets that are the same everywhere lose; return whether it is much."""
    if not missed >= _LEAST_SHARE_LOST:
        return False
    which = "" if column is None else f" in column {column}"
    warnings.warn(
        Message(
            "The targets{} are {:.6g} in all samples, and the constant term that has to carry that "
            "is penalised: predictions are off by some {:.2g}",
            which,
            value,
            abs(value) * missed,
            ways=_ADVICE,
            joint=". ",
            end=".",
        ),
        PenalizedConstantWarning,
        stacklevel=stacklevel(),
    )
    return True
