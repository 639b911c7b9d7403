"""How times grow: series of a sweep, and the exponent of a power law for each of them."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.runner import median_with_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.runner import CaseResult

FEWEST = 3  # points of a fit that shall have an error


@dataclass(frozen=True)
class Exponent:
    """Slope of log time against log size."""

    value: float
    error: float | None  #: standard error; None for two points, which any line fits
    low: float  #: the sizes that it is fitted to
    high: float

    def __str__(self) -> str:
        error = "" if self.error is None else f" ± {self.error:.2f}"
        return f"{self.value:.2f}{error}"


@dataclass(frozen=True)
class Series:
    """Times of one contestant against one size, upwards."""

    name: str
    sizes: tuple[int, ...]
    medians: tuple[float, ...]  #: seconds
    lows: tuple[float, ...]  #: of the interval of the median
    highs: tuple[float, ...]
    ends: str = ""  #: why there are no more points, empty if there are all

    @property
    def exponent(self) -> Exponent | None:
        """Fitted to the upper part of the sizes."""
        return exponent(self.sizes, self.medians)


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> Exponent | None:
    """Fit ``seconds = c size^p`` by least squares of the logarithms; None for less than two sizes.

    Taken are the sizes from the geometric mean of the least and the largest up, where constant
    costs count for little, but `FEWEST` at least.
    """
    pairs = sorted(zip(sizes, seconds, strict=True))
    if len(pairs) < 2:
        return None
    middle = math.sqrt(pairs[0][0] * pairs[-1][0])
    n = max(sum(size >= middle for size, _ in pairs), min(FEWEST, len(pairs)))
    upper = pairs[-n:]
    x, y = ([math.log(pair[i]) for pair in upper] for i in (0, 1))
    slope, intercept = statistics.linear_regression(x, y)
    error = None
    if n >= FEWEST:
        center = statistics.fmean(x)
        residual = sum((b - intercept - slope * a) ** 2 for a, b in zip(x, y, strict=True))
        error = math.sqrt(residual / (n - 2) / sum((a - center) ** 2 for a in x))
    return Exponent(slope, error, upper[0][0], upper[-1][0])


def series(points: Sequence[CaseResult], variable: str) -> list[Series]:
    """Collect the contestants of a sweep, in the order in which they first appear."""
    points = sorted(points, key=lambda point: point.sizes[variable])
    names = dict.fromkeys(timing.name for point in points for timing in point.timings)
    found = []
    for name in names:
        sizes, estimates = [], []
        for point in points:
            for timing in point.timings:
                if timing.name == name:
                    sizes.append(point.sizes[variable])
                    estimates.append(median_with_interval(timing.seconds))
        later = [p for p in points if p.sizes[variable] > sizes[-1] and name in p.absent]
        ends = (
            f"at {variable} = {later[0].sizes[variable]:,}: {later[0].absent[name]}"
            if later
            else ""
        )
        found.append(
            Series(
                name,
                tuple(sizes),
                tuple(e.median for e in estimates),
                tuple(e.low for e in estimates),
                tuple(e.high for e in estimates),
                ends,
            )
        )
    return found


def never(points: Sequence[CaseResult]) -> dict[str, str]:
    """Return who has no point at all, and why."""
    reasons = {name: why for point in reversed(points) for name, why in point.absent.items()}
    took_part = {timing.name for point in points for timing in point.timings}
    return {name: why for name, why in reasons.items() if name not in took_part}
