"""Two runs beside each other: what changed by more than the noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.runner import LEAST_CONFIDENCE, CaseResult, Estimate, median_with_interval
from bench.table import MUCH, disturbed, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.results import Run

FEWEST_ROUNDS = 5  # that reach LEAST_CONFIDENCE

# Medians of two runs on one shared machine differ by so much without any change of the code.
NOISE = 0.10


class IncomparableError(ValueError):
    """Two runs that did not do the same work."""


@dataclass(frozen=True)
class Change:
    """A quotient of two runs, above one if the new one is better for us."""

    factor: float
    low: float
    high: float
    coverage: float

    @property
    def verdict(self) -> str:
        """``"better"`` or ``"worse"`` beyond the noise, else empty.

        All must hold: the intervals of the two runs do not overlap, both are of enough rounds, and
        the factor is further from one than `NOISE`.
        """
        if self.coverage < LEAST_CONFIDENCE:
            return ""
        if self.low > 1.0 and self.factor > 1.0 + NOISE:
            return "better"
        if self.high < 1.0 and self.factor < 1.0 / (1.0 + NOISE):
            return "worse"
        return ""


def quotient(above: Estimate, below: Estimate) -> Change:
    """Divide two estimates; the interval is the widest that theirs allow."""
    return Change(
        above.median / below.median,
        above.low / below.high,
        above.high / below.low,
        min(above.coverage, below.coverage),
    )


@dataclass(frozen=True)
class CaseChange:
    """One case in two runs."""

    old: CaseResult
    new: CaseResult

    def disturbed(self) -> bool:
        """Whether other programs took much of the processors in one of the runs."""
        return disturbed(self.old) or disturbed(self.new)

    def time(self) -> Change:
        """Return old / new of our time."""
        old, new = (median_with_interval(case.ours.seconds) for case in (self.old, self.new))
        return quotient(old, new)

    def ratios(self) -> dict[str, tuple[Estimate, Estimate, Change]]:
        """Return, for each peer, the old and the new theirs / ours, and new / old."""
        found = {}
        for old_peer, new_peer in zip(self.old.peers, self.new.peers, strict=True):
            old, new = self.old.ratio(old_peer), self.new.ratio(new_peer)
            found[old_peer.name] = old, new, quotient(new, old)
        return found


def pair(old: Run, new: Run) -> list[CaseChange]:
    """Find the cases that both runs hold.

    Raises
    ------
    IncomparableError
        When there is none, or when a case of the same name did other work.
    """
    known = {case.name: case for case in old.cases}
    pairs = [CaseChange(known[case.name], case) for case in new.cases if case.name in known]
    if not pairs:
        raise IncomparableError("the two runs have no case in common")
    for change in pairs:
        for what, a, b in (
            ("sizes", change.old.sizes, change.new.sizes),
            ("contestants", _names(change.old), _names(change.new)),
        ):
            if a != b:
                raise IncomparableError(
                    f"{change.old.name} is not the same case in both runs: its {what} are {a} and "
                    f"{b}; make both runs with the same version of bench and the same options"
                )
    return pairs


def _names(case: CaseResult) -> list[str]:
    return [timing.name for timing in case.timings]


def _circumstances(run: Run) -> dict[str, str]:
    facts, machine = run.facts, run.facts["machine"]
    kernels = [
        f"{lib['belongs_to']} {lib['version']} {lib['kernel']}"
        for lib in facts["libraries"]
        if lib["kernel"]
    ]
    versions = [
        f"{name} {version}" for name, version in facts["versions"].items() if name != "gegenbauer"
    ]
    return {
        "machine": f"{machine['processor']}, {machine['usable_cores']} of {machine['cores']} cores",
        "ISA variant": facts["isa"],
        "threads": str(facts["threads"]),
        "BLAS": ", ".join(kernels),
        "versions": ", ".join(versions),
        "environment": " ".join(f"{k}={v}" for k, v in sorted(facts["environment"].items()))
        or "nothing special",
        "rounds": str(run.settings["rounds"]),
    }


def notes(old: Run, new: Run) -> Iterator[str]:
    """Name in what else than the code the runs differ."""
    before, after = _circumstances(old), _circumstances(new)
    different = [name for name in before if before[name] != after[name]]
    for name in different:
        yield f"NOTE: other {name}: {before[name]} -> {after[name]}"
    if {"machine", "ISA variant", "threads"} & set(different):
        yield (
            "NOTE: with another machine, ISA variant or number of threads a change reveals "
            "little of the code"
        )
    for word, run in (("old", old), ("new", new)):
        if run.settings["rounds"] < FEWEST_ROUNDS:
            yield f"NOTE: to flag a change the {word} run needs {FEWEST_ROUNDS} rounds at least"
        for failure in run.failures:
            yield f"NOTE: {failure.name} failed in the {word} run: {failure.reason}"
        for warning in run.warnings:
            yield f"NOTE: the {word} run was warned: {warning}"
    names = {word: {case.name for case in run.cases} for word, run in (("old", old), ("new", new))}
    for word, other in (("old", "new"), ("new", "old")):
        if only := sorted(names[word] - names[other]):
            yield f"NOTE: only in the {word} run: {', '.join(only)}"


def _commit(run: Run) -> str:
    git = run.facts["git"]
    return "no commit" if git is None else git["commit"][:12] + " modified" * git["modified"]


def compare(old: Run, new: Run) -> str:
    """Write the comparison of two runs as text.

    Raises
    ------
    IncomparableError
        As `pair`.
    """
    pairs = pair(old, new)
    lines = [f"old: {_commit(old)}, {old.date}", f"new: {_commit(new)}, {new.date}"]
    lines += notes(old, new)
    lines += [
        "",
        "Change above 1: the new run is better for us. Flagged when the intervals of both runs",
        f"are apart and the change is beyond {NOISE:.0%}. A question mark: other programs took",
        f"{MUCH:.0%} of the processors or more in one of the runs, and the change may be theirs.",
        "",
        f"{'case':<20}{'quantity':<24}{'old':>10}{'new':>10}{'change':>9} interval",
    ]
    flagged: dict[str, list[str]] = {"better": [], "worse": [], "better?": [], "worse?": []}

    def add(each: CaseChange, what: str, before: str, after: str, change: Change) -> None:
        name = each.old.name
        interval = f"[{change.low:.2f}, {change.high:.2f}]"
        line = f"{name:<20}{what:<24}{before:>10}{after:>10}{change.factor:>9.2f} {interval:<16}"
        word = change.verdict + "?" * (bool(change.verdict) and each.disturbed())
        lines.append(f"{line}{word}".rstrip())
        if word:
            flagged[word].append(f"{name} ({what})")

    for each in pairs:
        medians = [
            seconds_text(median_with_interval(case.ours.seconds).median)
            for case in (each.old, each.new)
        ]
        add(each, "our time", medians[0], medians[1], each.time())
        for peer, (before, after, change) in each.ratios().items():
            what = f"ratio to {peer}"
            add(each, what, f"{before.median:.2f}", f"{after.median:.2f}", change)
    lines.append("")
    lines += [
        f"{word}: {', '.join(names) or 'none'}"
        for word, names in flagged.items()
        if names or not word.endswith("?")
    ]
    return "\n".join(lines)
