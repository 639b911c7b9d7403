"""The command ``python -m bench``."""

from __future__ import annotations

import argparse
import fnmatch
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bench import machine, report
from bench.cases import CASES
from bench.comparison import IncomparableError, compare
from bench.runner import BATCH_SECONDS, PAUSE, Case, Disagreement, Failure, Settings, run_case
from gegenbauer._dispatch import default_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.runner import CaseResult

QUICK_ROUNDS, ROUNDS = 3, 9


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 up, got {text!r}")
    return value


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    it = argparse.ArgumentParser(
        prog="python -m bench",
        description="Time gegenbauer beside NumPy, scikit-learn and LAPACK, in one run, after "
        "checking that their results agree.",
    )
    it.add_argument("--list", action="store_true", help="list the cases and stop")
    it.add_argument(
        "--case", action="append", default=[], metavar="NAME", help="run this case; may be repeated"
    )
    it.add_argument(
        "--filter",
        action="append",
        default=[],
        metavar="TEXT",
        help="run the cases whose name contains TEXT or matches it as a pattern (gram-*); may be "
        "repeated",
    )
    it.add_argument(
        "--quick", action="store_true", help="tiny sizes: to test the benchmarks, not the speed"
    )
    it.add_argument(
        "--rounds", type=_positive, help=f"rounds of all contestants (default {ROUNDS})"
    )
    it.add_argument(
        "--threads", type=_positive, help="threads of everybody (default: all that may be used)"
    )
    it.add_argument("--json", type=Path, metavar="FILE", help="keep the result as JSON")
    it.add_argument(
        "--compare",
        nargs=2,
        type=Path,
        metavar=("OLD", "NEW"),
        help="compare two such files and stop",
    )
    return it


def select(cases: Sequence[Case], names: Sequence[str], patterns: Sequence[str]) -> list[Case]:
    """Choose cases by name or pattern; all of them when neither is given.

    Raises
    ------
    ValueError
        When a name or a pattern fits no case.
    """
    known = [case.name for case in cases]
    for name in names:
        if name not in known:
            raise ValueError(f"there is no case {name!r}; the cases are {', '.join(known)}")

    def fits(name: str, pattern: str) -> bool:
        return pattern in name or fnmatch.fnmatchcase(name, pattern)

    for pattern in patterns:
        if not any(fits(name, pattern) for name in known):
            raise ValueError(f"no case fits {pattern!r}; the cases are {', '.join(known)}")
    if not names and not patterns:
        return list(cases)
    return [
        case
        for case in cases
        if case.name in names or any(fits(case.name, pattern) for pattern in patterns)
    ]


def perform(cases: Sequence[Case], settings: Settings) -> report.Run:
    """Run cases; one that fails does not stop the others."""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    facts = machine.describe(settings.n_threads)
    warnings = machine.warnings_about(facts)
    for warning in warnings:
        print(f"WARNING: {warning}", file=sys.stderr)
    peaks = machine.measure_peaks(settings.n_threads, quick=settings.quick)
    done: list[CaseResult] = []
    failures: list[Failure] = []
    interrupted = False
    try:
        for case in cases:
            print(f"{case.name} ...", end=" ", file=sys.stderr, flush=True)
            try:
                done.append(run_case(case, settings))
            except Disagreement as error:
                failures.append(Failure(case.name, str(error), error.agreements))
            except Exception as error:  # whatever a contestant does, the others shall run
                failures.append(Failure(case.name, f"{type(error).__name__}: {error}"))
            failed = failures and failures[-1].name == case.name
            print(f"FAILED: {failures[-1].reason}" if failed else "done", file=sys.stderr)
        # Once more after the work, since clocks change and neighbours come and go
        again = machine.measure_peaks(settings.n_threads, quick=settings.quick)
        peaks = machine.best_peaks(peaks, again)
    except KeyboardInterrupt:
        interrupted = True
    return report.Run(
        date=date,
        facts=facts,
        settings=asdict(settings),
        warnings=tuple(warnings),
        peaks=tuple(peaks),
        cases=tuple(done),
        failures=tuple(failures),
        interrupted=interrupted,
    )


def main(arguments: Sequence[str] | None = None, cases: Sequence[Case] = CASES) -> int:
    """Do what the command line says.

    Returns
    -------
    int
        0 if all went well, 1 if a case failed, 2 if the request makes no sense, 130 if interrupted.
    """
    options = parser().parse_args(arguments)
    try:
        if options.compare:
            print(compare(*(report.read(path) for path in options.compare)))
            return 0
        chosen = select(cases, options.case, options.filter)
        if options.json:
            report.check_writable(options.json)
    except (IncomparableError, OSError, ValueError) as error:
        print(f"python -m bench: {error}", file=sys.stderr)
        return 2
    if options.list:
        for case in chosen:
            sizes = " ".join(f"{name}={size}" for name, size in case.full.items())
            print(f"{case.name:<20} {case.shows} ({sizes})")
        return 0
    settings = Settings(
        n_threads=options.threads or default_threads(),
        rounds=options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS),
        quick=options.quick,
        pause=0.0 if options.quick else PAUSE,
        batch_seconds=0.0 if options.quick else BATCH_SECONDS,
    )
    run = perform(chosen, settings)
    print(report.table(run))
    if options.json:
        report.write(run, options.json)
    if run.interrupted:
        return 130
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main())
