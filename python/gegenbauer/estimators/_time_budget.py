"""A time budget for the choice of a model: cheaper ways where the best ones would take longer."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gegenbauer._messages import Message
from gegenbauer.errors import TimeBudgetWarning, stacklevel
from gegenbauer.selection._leave_one_out import leave_one_out

if TYPE_CHECKING:
    from gegenbauer.basis.kernels import SpectrumKernel
    from gegenbauer.estimators._samples import Samples

__all__ = [
    "MOST_INPUTS",
    "Choice",
    "Clock",
    "Speed",
    "expect",
    "measure",
    "of_wide",
    "plan",
    "warn_of_cheaper",
]

# Most inputs that get weights of their own in a regression: a search among more takes minutes
MOST_INPUTS = 1000

# Samples that are measured, in a tenth of a second, and how often; larger kernels are somewhat
# faster for their size, so that what is expected of them is rather too long
_MEASURED, _REPEATS = 1500, 3

# Seconds from which on a measurement is not repeated, nor are more samples taken
_LONG = 0.1

# Searches of a spectrum, looks at all inputs before one, and fits of all samples, in fits of one
# penalty and its leverages
_SEARCH, _LOOK, _FIT = 200.0, 4.0, 3.0

# Share of a budget after which a search of a spectrum goes no further
_FOR_SEARCH = 0.7

# Landmarks L of n samples take n L (a + b L) of what n^3 takes
_BY_LANDMARK, _BY_PAIR = 16_000.0, 2.5

# Fewer save no time that anybody would notice
_FEWEST_TO_SEARCH, _FEWEST_LANDMARKS = 100, 100


class Choice(NamedTuple):
    """How much is done to choose a model and to fit it.

    Attributes
    ----------
    n_search : int
        Samples on which a spectrum is learned.
    n_landmarks : int
        0 for a coefficient of each sample.
    n_alternatives : int
        Models that are tried beside the first.
    one_spectrum : bool
        Whether there is one where there would be several.
    """

    n_search: int
    n_landmarks: int
    n_alternatives: int
    one_spectrum: bool = False


class Clock:
    """Ends searches by gradients when most of a budget is spent.

    Parameters
    ----------
    seconds : float
        The budget, which begins now.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds, self._end = seconds, time.perf_counter() + _FOR_SEARCH * seconds
        self._has_stopped = False

    def check(self) -> None:
        """Raise StopIteration if it is time to."""
        if time.perf_counter() > self._end:
            self._has_stopped = True
            raise StopIteration

    def warn_if_stopped(self) -> None:
        """Warn of a search that was ended."""
        if self._has_stopped:
            warnings.warn(
                Message(
                    "`max_seconds={:g}` ended the search of a spectrum before its best",
                    self._seconds,
                ),
                TimeBudgetWarning,
                stacklevel=stacklevel(),
            )


class Speed(NamedTuple):
    """Seconds of a fit of one penalty, with leverages.

    Attributes
    ----------
    search : float
        Of the samples of a search.
    unit : float
        Of n samples, divided by n^3.
    """

    search: float
    unit: float


def measure(kernel: SpectrumKernel, data: Samples, n_search: int, options: Any) -> Speed:
    """Measure the speed of this machine with these inputs and outputs.

    Parameters
    ----------
    kernel : SpectrumKernel
        Any one of the inputs: all are as fast.
    data : Samples
        The samples of the fit.
    n_search : int
        Samples of a search.
    options : dict
        What all fits have in common.

    Returns
    -------
    Speed
    """

    def seconds(n: int) -> float:
        """Return the best of some times, as others run programs, too."""
        found = np.inf
        for _ in range(_REPEATS):
            begin = time.perf_counter()
            leave_one_out(kernel, data.X[:n], data.Y[:n], 1.0, **options)
            found = min(found, time.perf_counter() - begin)
            if found > _LONG:
                break
        return found

    n, few = min(data.n, _MEASURED), min(data.n, n_search)
    search = seconds(few)
    return Speed(search, search / few**3 if search > _LONG else seconds(n) / n**3)


def of_wide(speed: Speed, n_inputs: int) -> Speed:
    """Return the speed where a search is among some of many inputs, once all were looked at."""
    if n_inputs <= MOST_INPUTS:
        return speed
    return speed._replace(search=speed.search * (MOST_INPUTS / n_inputs + _LOOK / _SEARCH))


def expect(choice: Choice, n_samples: int, n_judged: int, n_search: int, speed: Speed) -> float:
    """Estimate the seconds of a fit.

    Parameters
    ----------
    choice : Choice
        What is done.
    n_samples, n_judged : int
        Samples of the fit, and those by which alternatives are judged.
    n_search : int
        Samples of a search whose speed is known.
    speed : Speed
        As `measure` returns it.
    """
    search = _SEARCH * speed.search * (choice.n_search / n_search) ** 3
    found = search + _FIT * speed.unit * n_samples**3
    if choice.n_landmarks > 0:
        per_sample = choice.n_landmarks * (_BY_LANDMARK + _BY_PAIR * choice.n_landmarks)
        found = search + speed.unit * n_samples * per_sample
    if choice.n_alternatives == 0:
        return found
    # those of some samples have a first one of them beside them
    n_fits = choice.n_alternatives + (n_judged < n_samples)
    return found + n_fits * (search + _FIT * speed.unit * n_judged**3)


def plan(
    seconds: float,
    best: Choice,
    n_samples: int,
    n_judged: int,
    speed: Speed,
    *,
    all_samples: bool = False,
) -> Choice:
    """Return the best choice that a budget allows, or the cheapest there is.

    Alternatives are given up first, then all samples for landmarks. Where neither is enough, so are
    samples of the search, and of the former what then fits is done.

    Parameters
    ----------
    seconds : float
        The budget.
    best : Choice
        What is done without one.
    n_samples, n_judged, speed
        As for `expect`.
    all_samples : bool
        Whether each sample has to have a coefficient.

    Returns
    -------
    Choice
    """

    def fits(choice: Choice) -> bool:
        return expect(choice, n_samples, n_judged, best.n_search, speed) <= seconds

    if fits(best):
        return best
    most = 0 if all_samples else best.n_landmarks or n_samples // 2
    n_landmarks = [best.n_landmarks]
    while most >= _FEWEST_LANDMARKS:
        n_landmarks.append(most)
        most = int(0.8 * most)
    n_search = best.n_search
    while True:
        for each in n_landmarks:
            found = Choice(n_search, each, 0)
            if fits(found):
                return found
        if speed.search == 0 or 0.8 * n_search < _FEWEST_TO_SEARCH:
            return found
        n_search = int(0.8 * n_search)


def warn_of_cheaper(
    seconds: float, best: Choice, taken: Choice, n_samples: int, expected: float
) -> None:
    """Warn of what is cheaper than without a budget."""
    found = []
    if taken.n_search < best.n_search:
        found.append(f"spectra are learned on {taken.n_search} samples, not on {best.n_search}")
    if taken.n_landmarks != best.n_landmarks:
        instead = f"{best.n_landmarks}" if best.n_landmarks else f"all {n_samples} samples"
        found.append(f"{taken.n_landmarks} landmarks take the place of {instead}")
    if taken.one_spectrum:
        found.append("one spectrum is learned, not several")
    if taken.n_alternatives < best.n_alternatives:
        found.append("no other models are tried")
    if found:
        warnings.warn(
            Message(
                "`max_seconds={:g}` makes the fit cheaper, which would take some {:.2g} s: {}",
                seconds,
                expected,
                "; ".join(found),
            ),
            TimeBudgetWarning,
            stacklevel=stacklevel(),
        )
