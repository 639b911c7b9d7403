"""What cases are to reach, whether they do, and, where they do not, why."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.runner import PEAK, median_with_interval

if TYPE_CHECKING:
    from bench.runner import CaseResult

FINDINGS = Path(__file__).with_name("findings.toml")


@dataclass(frozen=True)
class Outcome:
    """One goal of one case, and what was found; met when the median is."""

    case: str
    against: str  #: a peer, or `PEAK`
    goal: float
    found: float  #: median of theirs / ours, or share of the measured peak
    of_best: float | None  #: the same of the fastest calls, for a peer

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        return self.found >= self.goal

    @property
    def verdict(self) -> str:
        """Return by how much, relative to the goal."""
        return "met" if self.met else f"MISSED by {1.0 - self.found / self.goal:.1%}"


def outcomes_of(case: CaseResult, peak: float | None) -> list[Outcome]:
    """Compare one case with its goals; the share of an unknown peak is left out."""
    found = []
    for against, goal in case.goals.items():
        if against == PEAK:
            if case.flops is not None and peak is not None:
                rate = case.flops / median_with_interval(case.ours.seconds).median
                found.append(Outcome(case.name, against, goal, rate / peak, None))
            continue
        for peer in case.peers:
            if peer.name == against:
                ratio, best = case.ratio(peer).median, case.ratio_of_best(peer)
                found.append(Outcome(case.name, against, goal, ratio, best))
    return found


def findings(path: Path = FINDINGS) -> dict[str, str]:
    """Read why goals are missed: texts by the names of cases."""
    return tomllib.loads(path.read_text(encoding="utf-8"))
