"""What a case is, and how its contestants are timed side by side.

The order of work is fixed: set up, run every contestant once, check that the results agree, and
only then take times. A case whose check fails has no times.
"""

from __future__ import annotations

import gc
import math
import os
import statistics
from dataclasses import dataclass, field
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from bench.machine import processor_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

CONFIDENCE = 0.95
LEAST_CONFIDENCE = 0.9  # below it (fewer than five rounds) nothing is claimed

# OpenBLAS's worker threads spin for a while after a call before they sleep (for 0.1 s of processor
# time at 2.6 GHz, as measured), and OpenMP's may do so, too. Without a pause they would take
# processor time away from the contestant that follows. All contestants get the same pause, so all
# start from the same state: nobody else runs, their own threads sleep.
PAUSE = 0.2
# A short run is repeated within a round until about so much time is spent.
BATCH_SECONDS = 0.2
MOST_CALLS = 1000

# The system counts processor time in ticks of 10 ms; over a shorter span they show nothing.
SHORTEST_SPAN = 0.5

PEAK = "peak"  # stands for the measured rate of multiply-adds in the goals of a case


# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimate:
    """A median and an interval that holds the true one with probability `coverage`."""

    median: float
    low: float
    high: float
    coverage: float


def median_with_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Estimate the median of independent values of any distribution.

    Between the k-th smallest and the k-th largest of n values lies the true median with
    probability 1 - 2 P(B < k), B binomial (n, 1/2). The largest k that reaches `confidence` is
    taken; with fewer than six values none reaches 0.95, and the whole range is given with the
    coverage that it has.
    """
    if not values:
        raise ValueError("values must not be empty")
    ordered = sorted(values)
    n = len(ordered)

    def coverage(k: int) -> float:
        return 1.0 - 2.0 * sum(math.comb(n, j) for j in range(k)) / 2.0**n

    k = max((k for k in range(1, (n + 1) // 2 + 1) if coverage(k) >= confidence), default=1)
    return Estimate(statistics.median(ordered), ordered[k - 1], ordered[n - k], coverage(k))


def relative_iqr(values: Sequence[float]) -> float:
    """Return the interquartile range divided by the median (0 for a single value)."""
    if len(values) < 2:
        return 0.0
    first, median, third = statistics.quantiles(values, n=4, method="inclusive")
    return (third - first) / median


def paired_ratio(theirs: Sequence[float], ours: Sequence[float]) -> Estimate:
    """Estimate theirs / ours, round by round.

    Both contestants of one round met the same clock rate and the same neighbours, so the ratios
    spread less than the times do.
    """
    return median_with_interval([t / o for t, o in zip(theirs, ours, strict=True)])


# --- Cases ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contestant:
    """One way to do the work of a case."""

    name: str
    does: str  #: what exactly is timed, in one line
    run: Callable[[], Any]
    prepare: Callable[[], object] | None = None  #: before each run, not timed
    #: The part of the work that one run does. Times are divided by it, so that a peer whose cost is
    #: known to be proportional to the rows need not take minutes; `does` must state so.
    share: float = 1.0


@dataclass(frozen=True)
class Agreement:
    """One comparison of results, made before anything is timed."""

    what: str
    difference: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether the difference is within the tolerance; NaN is not."""
        return self.difference <= self.tolerance


@dataclass(frozen=True)
class Contest:
    """A case that is set up: the first contestant is ours, ratios are theirs / ours."""

    sizes: Mapping[str, int]
    contestants: Sequence[Contestant]
    #: Gets the result of one run of every contestant, by name.
    check: Callable[[Mapping[str, Any]], list[Agreement]]
    flops: float | None = None  #: of the mathematical result, for products and factorisations
    not_compared: str = ""  #: what cannot be compared, and why
    absent: Mapping[str, str] = field(default_factory=dict)  #: peers that take no part, and why


@dataclass(frozen=True)
class Case:
    """A named benchmark; `build` gets n_threads and the sizes, and makes the same data always."""

    name: str
    shows: str
    build: Callable[..., Contest]
    full: Mapping[str, int] = field(default_factory=dict)
    quick: Mapping[str, int] = field(default_factory=dict)
    #: Least theirs / ours by the name of the peer, and by `PEAK` the least share of the peak.
    goals: Mapping[str, float] = field(default_factory=dict)


# --- Results --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Timing:
    """Times of one contestant in seconds."""

    name: str
    does: str
    calls: int  #: in a round
    seconds: tuple[float, ...]  #: the median of the calls, for each round
    best: float  #: the fastest call of all rounds


@dataclass(frozen=True)
class CaseResult:
    """All that was found for one case."""

    name: str
    shows: str
    sizes: dict[str, int]
    flops: float | None
    not_compared: str
    agreements: tuple[Agreement, ...]
    timings: tuple[Timing, ...]
    others: float | None  #: part of the processors' time that other programs took meanwhile
    goals: dict[str, float] = field(default_factory=dict)  #: of the case, see `goals`
    absent: dict[str, str] = field(default_factory=dict)  #: who took no part, and why

    @property
    def ours(self) -> Timing:
        """The contestant that the others are compared with."""
        return self.timings[0]

    @property
    def peers(self) -> tuple[Timing, ...]:
        """The others."""
        return self.timings[1:]

    def ratio(self, peer: Timing) -> Estimate:
        """Theirs / ours: above one we are faster."""
        return paired_ratio(peer.seconds, self.ours.seconds)

    def ratio_of_best(self, peer: Timing) -> float:
        """Theirs / ours of the fastest calls: what neighbours disturb least."""
        return peer.best / self.ours.best


@dataclass(frozen=True)
class Failure:
    """A case without times."""

    name: str
    reason: str
    agreements: tuple[Agreement, ...] = ()


class DeclinedError(Exception):
    """A peer cannot do the work of a case; raised in its first run, with the reason."""


class Disagreement(Exception):  # noqa: N818  # a finding, not a fault of the program
    """The contestants of a case do not give the same result; there is nothing to time."""

    def __init__(self, agreements: Sequence[Agreement]) -> None:
        self.agreements = tuple(agreements)
        broken = [
            f"{a.what}: {a.difference:.2g}, more than {a.tolerance:.2g}"
            for a in agreements
            if not a.holds
        ]
        super().__init__("results disagree: " + "; ".join(broken))


# --- Running --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """How a run is made."""

    n_threads: int
    rounds: int = 9
    quick: bool = False
    pause: float = PAUSE
    batch_seconds: float = BATCH_SECONDS


def _once(contestant: Contestant) -> tuple[float, Any]:
    if contestant.prepare is not None:
        contestant.prepare()
    start = perf_counter()
    result = contestant.run()
    return perf_counter() - start, result


def _batch(contestant: Contestant, calls: int) -> list[float]:
    # [0] drops the result at once, after the clock has stopped: nobody pays for freeing it.
    return [_once(contestant)[0] / contestant.share for _ in range(calls)]


def run_case(case: Case, settings: Settings) -> CaseResult:
    """Set up, check and time one case.

    Raises
    ------
    Disagreement
        When the check fails; nothing has been timed then.
    """
    sizes = case.quick if settings.quick else case.full
    # Ours gets n_threads as an argument; this limits every BLAS and OpenMP that is loaded.
    with threadpool_limits(limits=settings.n_threads):
        contest = case.build(n_threads=settings.n_threads, **sizes)
        results, absent = _first_runs(contest)
        taking_part = [c for c in contest.contestants if c.name in results]
        agreements = contest.check(results)
        del results
        if not all(agreement.holds for agreement in agreements):
            raise Disagreement(agreements)
        timings, others = _take_times(taking_part, settings)
    return CaseResult(
        case.name,
        case.shows,
        dict(contest.sizes),
        contest.flops,
        contest.not_compared,
        tuple(agreements),
        timings,
        others,
        {} if settings.quick else dict(case.goals),  # they are meant for the full sizes
        absent,
    )


def _first_runs(contest: Contest) -> tuple[dict[str, Any], dict[str, str]]:
    """Run everybody once; a peer may decline, but ours may not."""
    results: dict[str, Any] = {}
    absent = dict(contest.absent)
    for contestant in contest.contestants:
        try:
            results[contestant.name] = _once(contestant)[1]
        except DeclinedError as error:
            if contestant is contest.contestants[0]:
                raise
            absent[contestant.name] = str(error)
    return results, absent


def _take_times(
    contestants: Sequence[Contestant], settings: Settings
) -> tuple[tuple[Timing, ...], float | None]:
    gc.collect()
    collected = gc.isenabled()
    gc.disable()
    try:
        calls = []
        for contestant in contestants:  # a warm-up after that of the check, which may have cooled
            sleep(settings.pause)
            warm = max(_once(contestant)[0], 1e-9)
            calls.append(min(max(round(settings.batch_seconds / warm), 1), MOST_CALLS))
        medians: list[list[float]] = [[] for _ in contestants]
        best = [math.inf for _ in contestants]
        n = len(contestants)
        start, before = perf_counter(), processor_seconds()
        for number in range(settings.rounds):
            for step in range(n):  # everybody is first equally often
                at = (number + step) % n
                sleep(settings.pause)
                seconds = _batch(contestants[at], calls[at])
                medians[at].append(statistics.median(seconds))
                best[at] = min(best[at], *seconds)
        others = _part_of_others(before, processor_seconds(), perf_counter() - start)
    finally:
        if collected:
            gc.enable()
    timings = tuple(
        Timing(c.name, c.does, calls[at], tuple(medians[at]), best[at])
        for at, c in enumerate(contestants)
    )
    return timings, others


def _part_of_others(
    before: tuple[float, float] | None, after: tuple[float, float] | None, seconds: float
) -> float | None:
    if before is None or after is None or seconds < SHORTEST_SPAN:
        return None
    everybody, ours = (b - a for a, b in zip(before, after, strict=True))
    return min(max((everybody - ours) / (seconds * (os.cpu_count() or 1)), 0.0), 1.0)
