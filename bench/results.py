"""A run as a whole, and how it is kept as JSON."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bench.goals import outcomes_of
from bench.runner import (
    Agreement,
    CaseResult,
    Failure,
    Timing,
    median_with_interval,
    relative_iqr,
)

if TYPE_CHECKING:
    from pathlib import Path

    from bench.goals import Outcome

SCHEMA = "gegenbauer-bench"
SCHEMA_VERSION = 1


class FormatError(ValueError):
    """A file that is no result of ``python -m bench``."""


@dataclass(frozen=True)
class Run:
    """Everything that one call of ``python -m bench`` found."""

    date: str  #: UTC, ISO 8601
    facts: dict[str, Any]  #: the result of `machine.describe`
    settings: dict[str, Any]  #: those of `runner.Settings`
    warnings: tuple[str, ...]
    peaks: tuple[dict[str, Any], ...]  #: the result of `machine.measure_peaks`
    cases: tuple[CaseResult, ...]
    failures: tuple[Failure, ...] = ()
    interrupted: bool = False

    def peak_flops(self) -> float | None:
        """Return the measured rate of multiply-adds with the threads of the run."""
        return next(
            (peak["flops"] for peak in self.peaks if peak["threads"] == self.facts["threads"]), None
        )

    def outcomes(self) -> list[Outcome]:
        """Compare all cases with their goals."""
        return [outcome for case in self.cases for outcome in outcomes_of(case, self.peak_flops())]


# --- JSON -----------------------------------------------------------------------------------------


def to_json(run: Run) -> dict[str, Any]:
    """Return what the file holds; medians, ratios, outcomes are for readers and not read again."""
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
            "outcomes": [
                {**asdict(outcome), "met": outcome.met}
                for outcome in outcomes_of(case, run.peak_flops())
            ],
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
                    goals=case.get("goals", {}),  # files of before have none
                    absent=case.get("absent", {}),
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
