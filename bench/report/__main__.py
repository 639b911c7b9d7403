"""The command ``python -m bench.report``."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from bench import memory, results, sweeps
from bench.__main__ import perform, positive, settings_for
from bench.cases import CASES
from bench.recorder import OtherRunError, Recorder
from bench.report.document import Parts, document, title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.results import Run

VARIABLES = tuple(sweep.variable for sweep in sweeps.SWEEPS)
CASES_FILE, SWEEPS_FILE, MEMORY_FILE = "cases.json", "sweeps.json", "memory.json"


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    budget = sweeps.Budget()
    it = argparse.ArgumentParser(
        prog="python -m bench.report",
        description="Run cases, sweeps and memory measurements, or go on with those that FOLDER "
        "holds, and write FOLDER/report.md with its plots.",
    )
    it.add_argument("folder", type=Path, help="where results and report are kept")
    it.add_argument(
        "--cases", type=Path, action="append", default=[], metavar="FILE",
        help="take the cases from a file of python -m bench --json, do not run them; repeat it to "
        "put another ISA variant beside the first",
    )  # fmt: skip
    it.add_argument(
        "--sweep", action="append", choices=VARIABLES, metavar="SIZE",
        help=f"sweep this size only, one of {', '.join(VARIABLES)}; may be repeated",
    )  # fmt: skip
    it.add_argument("--read", action="store_true", help="run nothing, write of what is there")
    it.add_argument("--quick", action="store_true", help="tiny sizes: times mean nothing")
    it.add_argument(
        "--seconds", type=float, default=budget.seconds,
        help="what one fit of a sweep may take, ours excepted (default %(default)g)",
    )  # fmt: skip
    it.add_argument(
        "--gigabytes", type=float, default=budget.n_bytes / 1e9,
        help="memory that the features of a peer may take (default %(default).3g, half of what "
        "there is)",
    )  # fmt: skip
    it.add_argument("--rounds", type=positive, help="rounds of the cases")
    it.add_argument("--threads", type=positive, help="threads of everybody (default: all)")
    return it


def gather(options: argparse.Namespace) -> Parts:
    """Read or run all that the report is about."""
    folder, quick = options.folder, options.quick
    budget = sweeps.Budget(options.seconds, options.gigabytes * 1e9)
    settings = settings_for(options.threads, options.rounds, quick=quick)
    runs = [results.read(path) for path in options.cases]
    path = folder / CASES_FILE
    if not runs and not options.read:
        runs = [perform(CASES, Recorder(settings, path, resume=True))]
        if runs[0].interrupted:
            raise KeyboardInterrupt
    elif not runs and path.exists():
        runs = [results.read(path)]
    return Parts(runs, _sweeps(options, budget), _uses(options, budget))


def _sweeps(options: argparse.Namespace, budget: sweeps.Budget) -> Run | None:
    path = options.folder / SWEEPS_FILE
    if options.read:
        return results.read(path) if path.exists() else None
    settings = settings_for(options.threads, sweeps.ROUNDS, quick=options.quick)
    recorder = Recorder(settings, path, resume=True)
    for sweep in sweeps.SWEEPS:
        if options.sweep is None or sweep.variable in options.sweep:
            sweeps.run(sweep, recorder, budget)
    return recorder.finish()


def _uses(options: argparse.Namespace, budget: sweeps.Budget) -> list[memory.Use]:
    path = options.folder / MEMORY_FILE
    if options.read:
        return memory.read(path) if path.exists() else []
    n_threads = settings_for(options.threads, None, quick=options.quick).n_threads
    settings = {"n_threads": n_threads, "quick": options.quick}
    if path.exists():
        return memory.read(path, settings)
    print("memory ...", end=" ", file=sys.stderr, flush=True)
    found = memory.uses(n_threads, budget, quick=options.quick)
    memory.write(found, settings, path)
    print("done", file=sys.stderr)
    return found


def write(parts: Parts, folder: Path) -> None:
    """Write the text and the plots."""
    from bench.report import plots

    (folder / "report.md").write_text(document(parts), encoding="utf-8")
    if any(run.cases for run in parts.cases):
        figure = plots.cases_figure({title(run): run for run in parts.cases})
        plots.save(figure, folder, "cases")
    for sweep in sweeps.SWEEPS if parts.sweeps is not None else ():
        points = sweeps.points_of(parts.sweeps, sweep)
        if points:
            figure = plots.sweep_figure(sweep, points, parts.sweeps)
            plots.save(figure, folder, f"sweep-{sweep.variable}")


def _require_matplotlib() -> None:
    try:
        import_module("matplotlib")
    except ModuleNotFoundError as error:
        raise ImportError(
            "the plots need the package matplotlib: pip install --group bench"
        ) from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns
    -------
    int
        0 if all went well, 1 if a case failed, 2 if the request makes no sense, 130 if interrupted;
        the same command goes on then.
    """
    options = parser().parse_args(arguments)
    try:
        _require_matplotlib()  # before hours of work, not after them
        options.folder.mkdir(parents=True, exist_ok=True)
        parts = gather(options)
        write(parts, options.folder)
    except KeyboardInterrupt:
        return 130
    except (ImportError, OSError, OtherRunError, results.FormatError) as error:
        print(f"python -m bench.report: {error}", file=sys.stderr)
        return 2
    print(options.folder / "report.md")
    runs = [*parts.cases, *([] if parts.sweeps is None else [parts.sweeps])]
    return 1 if any(run.failures for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
