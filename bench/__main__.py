"""The command ``python -m bench``."""

from __future__ import annotations

import argparse
import fnmatch
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench import results, table
from bench.cases import CASES
from bench.comparison import IncomparableError, compare
from bench.recorder import OtherRunError, Recorder
from bench.runner import BATCH_SECONDS, PAUSE, Case, CaseResult, Failure, Settings
from gegenbauer._dispatch import default_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bench.results import Run

QUICK_ROUNDS, ROUNDS = 3, 9


def positive(text: str) -> int:
    """Read a number from 1 up."""
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
    it.add_argument("--rounds", type=positive, help=f"rounds of all contestants (default {ROUNDS})")
    it.add_argument(
        "--threads", type=positive, help="threads of everybody (default: all that may be used)"
    )
    it.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="keep the result as JSON, after each case; a run that FILE holds is gone on with",
    )
    it.add_argument(
        "--resume",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="go on with the run of FILE (the default), or replace it",
    )
    it.add_argument(
        "--compare",
        nargs=2,
        type=Path,
        metavar=("OLD", "NEW"),
        help="compare two such files and stop",
    )
    return it


def settings_for(threads: int | None, rounds: int | None, *, quick: bool) -> Settings:
    """Fill in what the command line leaves open."""
    return Settings(
        n_threads=threads or default_threads(),
        rounds=rounds or (QUICK_ROUNDS if quick else ROUNDS),
        quick=quick,
        pause=0.0 if quick else PAUSE,
        batch_seconds=0.0 if quick else BATCH_SECONDS,
    )


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


def perform(
    cases: Sequence[Case],
    recorder: Recorder,
    show: Callable[[CaseResult | Failure], None] = lambda _: None,
) -> Run:
    """Run cases until the end or an interrupt, and show each result when it is there."""
    try:
        for case in cases:
            show(recorder.run(case))
        return recorder.finish()
    except KeyboardInterrupt:
        return recorder.finish(interrupted=True)


class Printer:
    """Print a run while it grows, so that one that is stopped has shown what it found.

    Shares of the peak are of the peak measured so far; the last measurement comes at the end.
    """

    def __init__(self, recorder: Recorder):
        self._recorder = recorder
        self._explained = False
        self._print(table.head(recorder.so_far(interrupted=False)))

    def __call__(self, result: CaseResult | Failure) -> None:
        """Print one result."""
        if not self._explained and isinstance(result, CaseResult):
            self._print(table.explanation([result]))
            self._explained = True
        peak = self._recorder.so_far(interrupted=False).peak_flops()
        self._print(table.result_lines(result, peak))

    @staticmethod
    def _print(lines: Iterable[str]) -> None:
        print(*lines, sep="\n", flush=True)


def main(arguments: Sequence[str] | None = None, cases: Sequence[Case] = CASES) -> int:
    """Run the command line.

    Returns
    -------
    int
        0 if all went well, 1 if a case failed, 2 if the request makes no sense, 130 if interrupted.
    """
    options = parser().parse_args(arguments)
    try:
        if options.compare:
            print(compare(*(results.read(path) for path in options.compare)))
            return 0
        chosen = select(cases, options.case, options.filter)
        if options.json:
            results.check_writable(options.json)
    except (IncomparableError, OSError, ValueError) as error:
        print(f"python -m bench: {error}", file=sys.stderr)
        return 2
    if options.list:
        for case in chosen:
            sizes = " ".join(f"{name}={size}" for name, size in case.full.items())
            print(f"{case.name:<20} {case.shows} ({sizes})")
        return 0
    try:
        recorder = Recorder(
            settings_for(options.threads, options.rounds, quick=options.quick),
            options.json,
            resume=options.resume,
        )
    except (OtherRunError, results.FormatError) as error:
        print(f"python -m bench: {error}", file=sys.stderr)
        return 2
    run = perform(chosen, recorder, Printer(recorder))
    print(*table.ending(run), sep="\n")
    if run.interrupted:
        return 130
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main())
