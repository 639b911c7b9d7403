"""A run as a whole: kept as JSON, printed as a table."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bench.runner import (
    LEAST_CONFIDENCE,
    Agreement,
    CaseResult,
    Estimate,
    Failure,
    Timing,
    median_with_interval,
    relative_iqr,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA = "gegenbauer-bench"
SCHEMA_VERSION = 1

MUCH = 0.1  # part of the processors' time that others may take before a case counts as disturbed


class FormatError(ValueError):
    """A file that is no result of ``python -m bench``."""


@dataclass(frozen=True)
class Run:
    """Everything that one call of ``python -m bench`` found."""

    date: str  #: UTC, ISO 8601
    facts: dict[str, Any]  #: what `machine.describe` says
    settings: dict[str, Any]  #: those of `runner.Settings`
    warnings: tuple[str, ...]
    peaks: tuple[dict[str, Any], ...]  #: what `machine.measure_peaks` says
    cases: tuple[CaseResult, ...]
    failures: tuple[Failure, ...] = ()
    interrupted: bool = False

    def peak_flops(self) -> float | None:
        """Return the measured rate of multiply-adds with the threads of the run."""
        return next(
            (peak["flops"] for peak in self.peaks if peak["threads"] == self.facts["threads"]), None
        )


# --- JSON -----------------------------------------------------------------------------------------


def to_json(run: Run) -> dict[str, Any]:
    """Return what the file holds; medians and ratios are there for readers, not read again."""
    cases = [
        {
            **asdict(case),
            "agreements": [_agreement_to_json(agreement) for agreement in case.agreements],
            "timings": [
                {
                    **asdict(timing),
                    "median": median_with_interval(timing.seconds).median,
                    "relative_iqr": relative_iqr(timing.seconds),
                }
                for timing in case.timings
            ],
            "ratios": {
                peer.name: {**asdict(case.ratio(peer)), "of_best": case.ratio_of_best(peer)}
                for peer in case.peers
            },
        }
        for case in run.cases
    ]
    failures = [
        {**asdict(failure), "agreements": [_agreement_to_json(a) for a in failure.agreements]}
        for failure in run.failures
    ]
    head = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION}
    rest = {name: getattr(run, name) for name in Run.__dataclass_fields__}
    return {**head, **rest, "cases": cases, "failures": failures}


def _agreement_to_json(agreement: Agreement) -> dict[str, Any]:
    # JSON knows neither NaN nor infinity; null stands for both, and never is within a tolerance.
    finite = math.isfinite(agreement.difference)
    return {**asdict(agreement), "difference": agreement.difference if finite else None}


def _agreement_from_json(data: dict[str, Any]) -> Agreement:
    difference = math.nan if data["difference"] is None else data["difference"]
    return Agreement(data["what"], difference, data["tolerance"])


def _agreements(data: dict[str, Any]) -> tuple[Agreement, ...]:
    return tuple(_agreement_from_json(item) for item in data["agreements"])


def from_json(data: Any) -> Run:
    """Make a run again.

    Raises
    ------
    FormatError
        When the data are none of ours, or of a version that is not known here.
    """
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise FormatError("it is no result of python -m bench")
    if data.get("schema_version") != SCHEMA_VERSION:
        raise FormatError(
            f"it has version {data.get('schema_version')!r} of the format, not {SCHEMA_VERSION}"
        )
    try:
        return Run(
            date=data["date"],
            facts=data["facts"],
            settings=data["settings"],
            warnings=tuple(data["warnings"]),
            peaks=tuple(data["peaks"]),
            cases=tuple(
                CaseResult(
                    name=case["name"],
                    shows=case["shows"],
                    sizes=case["sizes"],
                    flops=case["flops"],
                    not_compared=case["not_compared"],
                    agreements=_agreements(case),
                    timings=tuple(
                        Timing(t["name"], t["does"], t["calls"], tuple(t["seconds"]), t["best"])
                        for t in case["timings"]
                    ),
                    others=case["others"],
                )
                for case in data["cases"]
            ),
            failures=tuple(
                Failure(failure["name"], failure["reason"], _agreements(failure))
                for failure in data["failures"]
            ),
            interrupted=data["interrupted"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"it is damaged: {type(error).__name__} {error}") from None


def write(run: Run, path: Path) -> None:
    """Write a run; a file that is there is replaced as a whole, or left as it is."""
    text = json.dumps(to_json(run), indent=1, allow_nan=False)
    part = path.with_name(path.name + ".part")
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(path)


def read(path: Path) -> Run:
    """Read what `write` wrote.

    Raises
    ------
    FormatError
        When the file is another one.
    OSError
        When it cannot be read.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # neither text nor JSON
        raise FormatError(f"{path} is not JSON: {error}") from None
    try:
        return from_json(data)
    except FormatError as error:
        raise FormatError(f"{path} cannot be used: {error}") from None


def check_writable(path: Path) -> None:
    """Raise OSError if `write` would fail; a run that cannot be kept should not begin."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder")
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"the folder {folder} does not exist")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"the folder {folder} cannot be written to")


# --- Table ----------------------------------------------------------------------------------------


COLUMNS = (
    f"  {'':<13}{'median':>10}{'IQR':>7}{'ratio':>10} {'interval':<17}{'of best':<9}{'ours':<8}"
    f"{'GFLOP/s':>8}{'peak':>7}  what is timed"
)


def seconds_text(seconds: float) -> str:
    """Write a time with three digits."""
    for factor, unit in ((1.0, "s "), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 0.9995:
            return f"{_three_digits(seconds * factor)} {unit}"
    return f"{_three_digits(seconds * 1e9)} ns"


def _three_digits(value: float) -> str:
    rounded = float(f"{value:.3g}")
    digits = max(0, 2 - math.floor(math.log10(rounded))) if rounded > 0 else 2
    return f"{rounded:.{digits}f}"


def disturbed(case: CaseResult) -> bool:
    """Whether other programs took so much of the processors that medians are doubtful."""
    return case.others is not None and case.others >= MUCH


def verdict(ratio: Estimate) -> str:
    """Say in a word what a ratio theirs / ours means for ours, with regard to its interval."""
    if ratio.coverage < LEAST_CONFIDENCE:
        return "unsure"
    if ratio.high < 1.0:
        return "slower"
    return "faster" if ratio.low > 1.0 else "equal"


def head(run: Run) -> Iterator[str]:
    """Describe where and how a run was made, line by line."""
    facts, settings = run.facts, run.settings
    machine, versions = facts["machine"], facts["versions"]
    memory = machine["memory_bytes"]
    yield (
        f"{machine['processor']}, {machine['usable_cores']} of {machine['cores']} cores"
        + (f", {memory / 2**30:.0f} GiB" if memory else "")
        + f"; {machine['system']}"
    )
    yield f"gegenbauer's flavour {facts['isa']}; {facts['threads']} thread(s) for everybody"
    for library in facts["libraries"]:
        if library["kind"] != "blas":  # OpenMP is in the file
            continue
        described = " ".join(str(library[key]) for key in ("name", "version") if library[key])
        kernel = f", kernel {library['kernel']}" if library["kernel"] else ""
        yield f"BLAS of {library['belongs_to']}: {described}{kernel}"
    yield ", ".join(f"{name} {version}" for name, version in versions.items())
    git = facts["git"]
    commit = "no commit" if git is None else git["commit"][:12] + " modified" * git["modified"]
    yield (
        f"{commit}; {run.date}; {settings['rounds']} rounds"
        + ("; QUICK: tiny sizes, times mean nothing" if settings["quick"] else "")
    )
    for peak in run.peaks:
        yield (
            f"measured peak, {peak['threads']} thread(s): {peak['flops'] / 1e9:.1f} GFLOP/s "
            f"multiply-add, {peak['read_bandwidth'] / 1e9:.1f} GB/s read from memory"
        )


def _case_lines(case: CaseResult, peak: float | None) -> Iterator[str]:
    sizes = " ".join(f"{name}={size}" for name, size in case.sizes.items())
    yield f"{case.name} ({sizes}): {case.shows}"
    doubt = "?" if disturbed(case) else ""
    if doubt:
        yield f"  other programs took {case.others:.0%} of the processors meanwhile"
    for timing in case.timings:
        median = median_with_interval(timing.seconds).median
        line = f"  {timing.name:<13}{seconds_text(median):>10}{relative_iqr(timing.seconds):>7.1%}"
        if timing is case.ours:
            line += " " * 45
        else:
            ratio = case.ratio(timing)
            interval = f"[{_three_digits(ratio.low)}, {_three_digits(ratio.high)}]"
            line += f"{_three_digits(ratio.median):>10} {interval:<17}"
            line += f"{_three_digits(case.ratio_of_best(timing)):<9}{verdict(ratio) + doubt:<8}"
        if case.flops is None:
            line += " " * 15
        else:
            rate = case.flops / median
            share = "" if peak is None else f"{rate / peak:.0%}"
            line += f"{rate / 1e9:>8.1f}{share:>7}"
        yield f"{line}  {timing.does}".rstrip()
    for agreement in case.agreements:
        yield f"    {_agreement_text(agreement)}"
    if case.not_compared:
        yield f"    not compared: {case.not_compared}"


def _agreement_text(agreement: Agreement) -> str:
    sign = "ok" if agreement.holds else "NOT"
    return f"{sign} {agreement.what}: {agreement.difference:.2g} (<= {agreement.tolerance:.2g})"


def table(run: Run) -> str:
    """Write a run as text."""
    lines = list(head(run))
    lines += [f"WARNING: {warning}" for warning in run.warnings]
    if run.cases:
        coverage = min(case.ratio(peer).coverage for case in run.cases for peer in case.peers)
        lines += [
            "",
            "Median of the rounds and interquartile range relative to it. Ratio = theirs / ours,",
            f"above 1 ours is faster: the median over rounds, an interval of {coverage:.0%}",
            "confidence, and that of the fastest calls. GFLOP/s count the result alone, not how",
            "it was found, beside their share of the measured multiply-add peak. A question mark:",
            f"other programs took {MUCH:.0%} of the processors or more, and the word is doubtful.",
            "",
            COLUMNS,
        ]
    peak = run.peak_flops()
    for case in run.cases:
        lines += ["", *_case_lines(case, peak)]
    for failure in run.failures:
        lines += ["", f"{failure.name}: FAILED, not timed: {failure.reason}"]
        lines += [f"    {_agreement_text(agreement)}" for agreement in failure.agreements]
    if run.cases:
        lines += ["", *_conclusion(run)]
    if run.interrupted:
        lines += ["", "Interrupted: the other cases were not run."]
    return "\n".join(lines)


def _conclusion(run: Run) -> Iterator[str]:
    for word, text in (
        ("slower", "Slower than a peer"),
        ("equal", "Not told apart from a peer"),
        ("unsure", "Too few rounds to tell"),
    ):
        found = [
            f"{case.name} / {peer.name} {_three_digits(case.ratio(peer).median)}"
            + "?" * disturbed(case)
            for case in run.cases
            for peer in case.peers
            if verdict(case.ratio(peer)) == word
        ]
        if found or word == "slower":
            yield f"{text}: {', '.join(found) or 'nowhere'}"
