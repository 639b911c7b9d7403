"""What a search warns of when it is done: ends of grids, and models that explain nothing."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._messages import Message, Ways
from gegenbauer.errors import (
    GridEdgeWarning,
    RepeatedSamplesWarning,
    UnderfittingWarning,
    stacklevel,
)
from gegenbauer.estimators._samples import have_few_values, number_distinct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gegenbauer._typing import Doubles
    from gegenbauer.estimators._samples import Samples
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = [
    "RUNAWAY",
    "chance_of_scorer",
    "loss_of_constants",
    "may_be_copies",
    "warn_at_edges",
    "warn_of_copies",
    "warn_of_near_copies",
    "warn_of_underfitting",
]

# A scorer has a measure of chance, too: of so many halves of the samples, the gain over a constant
# has a standard deviation, of which the gain of all must be so many
_HALVES, _DEVIATIONS = 30, 3.0

# A gain of so many times what the first so many halves require is beyond chance by all of them
_FIRST, _CLEAR = 8, 3.0

# Share of the samples held out from which on copies among the others are reported
_MANY_COPIES = 0.1

# Near copies agree so many times better than the model predicts them that has seen neither, and
# that is so many times worse than predictions of samples left out; where it misses less than this
# part of the spread, or fewer samples of a class than so many, there is nothing to be blind to
_AGREEMENT, _BLINDNESS, _LEAST_MISS, _FEWEST_MISSES = 10.0, 3.0, 1e-4, 6.0

# A penalty so many times the trace of the kernel matrix leaves nothing of the model
RUNAWAY = 100.0


def warn_at_edges(grids: Iterable[tuple[str, float, Sequence[float]]]) -> None:
    """Warn where the best value is an end of a grid of three values or more, by its name."""
    for name, best, values in grids:
        if len(set(values)) < 3 or best not in (min(values), max(values)):
            continue
        end, more = ("smallest", "smaller") if best == min(values) else ("largest", "larger")
        free = [Message("leave `alphas='auto'`")] if name == "alphas" else []
        warnings.warn(
            Message(
                "{:.6g} was the best of `{}` and is the {}",
                best,
                name,
                end,
                ways=[Message("give {} ones as well", more), *free],
            ),
            GridEdgeWarning,
            stacklevel=stacklevel(),
        )


def warn_of_copies(data: Samples, splits: Splits) -> bool:
    """Warn where test samples have equals among those of training, which codes have by chance.

    Return whether it did.
    """
    if splits is None or have_few_values(data.X).all():
        return False
    number = number_distinct(np.hstack([data.X, data.Y]))
    shares = [np.isin(number[test], number[train]).mean() for train, test in splits]
    share = float(np.mean(shares))
    if share < _MANY_COPIES:
        return False
    warnings.warn(
        Message(
            "{:.0%} of the samples that `cv` holds out have an equal one among those that it "
            "trains with, so that no penalty seems too small",
            share,
            ways=[
                Ways.of(
                    [
                        "leave `cv=None`, which leaves out copies together",
                        "give each sample once with its `sample_weight`",
                    ]
                ),
                "keep copies in one part, as sklearn.model_selection.GroupKFold does",
            ],
        ),
        RepeatedSamplesWarning,
        stacklevel=stacklevel(),
    )
    return True


def may_be_copies(agree: Doubles) -> bool:
    """Return whether pairs of samples agree better than constants, by their misses of each other.

    Those of a constant are one at most.
    """
    return float(agree.mean()) * _AGREEMENT < 1.0


def warn_of_near_copies(
    share: float,
    agree: Doubles,
    alone: Doubles,
    apart: Doubles,
    measure: str,
    columns: Sequence[str],
    *,
    by_cv: bool,
    has_groups: bool,
) -> None:
    """Warn where predictions of samples left out are blind, by misses of some near copies.

    Parameters
    ----------
    share : float
        Part of the samples that have near copies.
    agree, alone, apart : ndarray, shape (n,)
        Misses of a sample by its copy, by the prediction that leaves it out (NaN where there is
        none), and by that of a model that has seen neither.
    measure : str
        What the mean of misses is.
    columns : sequence of str
        The few inputs in which copies differ, if these are few.
    by_cv : bool
        Whether samples were left out by ``cv``.
    has_groups : bool
        Whether a ``cv`` that keeps copies together chooses everything.
    """
    tested = np.isfinite(alone)
    if np.count_nonzero(tested) < _FEWEST_MISSES:
        return
    twin, seen, unseen = (float(misses[tested].mean()) for misses in (agree, alone, apart))
    counted = set(np.unique(apart)) <= {0.0, 1.0}  # wrong labels
    least = _FEWEST_MISSES / np.count_nonzero(tested) if counted else _LEAST_MISS
    if not (unseen > least and unseen > _AGREEMENT * twin and unseen > _BLINDNESS * seen):
        return
    which = f" (they differ in {' and '.join(columns)} alone)" if columns else ""
    how = Message("`cv` holds them out") if by_cv else "each is left out by itself"
    groups = Message("keep copies in one part, by `cv=GroupKFold()` of scikit-learn and `groups`")
    warnings.warn(
        Message(
            "{:.0%} of the samples have near copies among the others{}, by which they are "
            "predicted, so that no penalty seems too small: {} of these is {:.2g} where {}, and "
            "{:.2g} where their copies are left out as well",
            share,
            which,
            measure,
            seen,
            how,
            unseen,
            ways=[
                Message(
                    "leave out an input that numbers the samples, and give each sample once, with "
                    "its `sample_weight`"
                ),
                *([groups] if has_groups else []),
            ],
            joint=". ",
        ),
        RepeatedSamplesWarning,
        stacklevel=stacklevel(),
    )


def warn_of_underfitting(
    best: float, constant: float, n_samples: float, runaway: float | None, measure: str
) -> None:
    """Warn of a model that is no better than a constant, by their values of a measure.

    ``runaway`` is the penalty, if it is so large that nothing is left of the model.
    """
    ran_away = (
        ""
        if runaway is None
        else f"The penalty ran away, to alpha = {runaway:.3g}, which leaves less than "
        f"{1 / RUNAWAY:g} degrees of freedom. "
    )
    warnings.warn(
        Message(
            "the model is no better than a constant beyond what chance may give: of {:.6g} samples "
            "left out (equal ones may count as one) {} is {:.4g}, and {:.4g} that of always "
            "predicting the same. {}Check that the inputs of each sample belong to its target, "
            "that they are coded sensibly and hold what it depends on, or give more samples",
            n_samples,
            measure,
            best,
            constant,
            ran_away,
        ),
        UnderfittingWarning,
        stacklevel=stacklevel(),
    )


def loss_of_constants(data: Samples, loss: Loss, splits: Splits, *, pooled: bool) -> float:
    """Judge the mean target, of the training part of each split; NaN if a scorer refuses it."""
    everything = np.arange(data.n)
    constants, tests = [], []
    for train, test in splits or [(everything, everything)]:
        weight = None if data.weight is None else data.weight[train]
        mean = np.average(data.Y[train], axis=0, weights=weight)
        constants.append(np.tile(mean, (1, test.size, 1)))
        tests.append(test)
    if pooled:
        constants, tests = [np.concatenate(constants, axis=1)], [np.concatenate(tests)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a correlation, for example, warns of constants
            found = [loss(c, rows)[0] for c, rows in zip(constants, tests, strict=True)]
    except Exception:  # a scorer of the user's own may need predictions that differ
        return np.nan
    return float(np.mean(found))


def chance_of_scorer(data: Samples, loss: Loss, left_out: Doubles, gain: float) -> float:
    """Return three standard deviations of a scorer's gain over a constant, by halves of samples.

    A gain that is far more is compared with those of the first halves alone.

    A mean of half of n samples, drawn without replacement, has the variance of one of n samples
    that are new: 1 / (n / 2) times 1 - 1 / 2 is 1 / n. 0 where the scorer refuses halves.
    """
    judged = np.flatnonzero(np.isfinite(left_out).all(axis=1))
    mean = np.average(data.Y, axis=0, weights=data.weight)
    both = np.stack([left_out, np.broadcast_to(mean, left_out.shape)])
    rng = np.random.default_rng(0)
    gains: list[float] = []
    for number in range(_HALVES):
        if number == _FIRST and gain > _CLEAR * _deviations(gains) > 0:
            break
        rows = np.sort(rng.permutation(judged)[: max(1, judged.size // 2)])
        with warnings.catch_warnings(), suppress(Exception):  # a scorer may refuse a half
            warnings.simplefilter("ignore")
            best, constant = np.asarray(loss(both[:, rows], rows), dtype=np.float64)
            gains.append(float(constant - best))
    return _deviations(gains)


def _deviations(gains: Sequence[float]) -> float:
    known = np.array(gains)[np.isfinite(gains)]
    return _DEVIATIONS * float(known.std(ddof=1)) if known.size > 1 else 0.0
