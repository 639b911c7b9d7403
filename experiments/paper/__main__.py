"""The command ``python -m experiments.paper``."""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits
from tqdm import tqdm

from bench.__main__ import positive, settings_for
from bench.recorder import OtherRunError, Recorder, circumstances
from bench.results import FormatError
from experiments.paper.published import TRIALS
from experiments.paper.run import Run
from experiments.paper.store import Store
from experiments.paper.trials import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

EXPERIMENTS = (
    "specification", "comparison", "boundaries", "scalability", "sensitivity", "noise",
)  # fmt: skip
FOLDER = Path("build/paper")
RESULTS_FILE, TIMES_FILE = "results.jsonl", "times.json"
QUICK_TRIALS = 2
TIMING_ROUNDS = 3


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    it = argparse.ArgumentParser(
        prog="python -m experiments.paper",
        description="Make the tables and figures of the paper again, beside the published numbers, "
        "and write FOLDER/report.md with its plots. Results are kept one by one: the same "
        "command goes on after an interrupt, and more trials use those that are there.",
    )
    it.add_argument(
        "folder", type=Path, nargs="?", default=FOLDER,
        help="where results and report are kept (default %(default)s)",
    )  # fmt: skip
    it.add_argument(
        "--experiment", action="append", choices=EXPERIMENTS, metavar="NAME",
        help=f"do this one only, one of {', '.join(EXPERIMENTS)}; may be repeated",
    )  # fmt: skip
    it.add_argument(
        "--trials", type=positive,
        help=f"shuffled splits of every data set (default {TRIALS}, quick {QUICK_TRIALS})",
    )  # fmt: skip
    it.add_argument("--threads", type=positive, help="threads of everybody (default: all)")
    it.add_argument(
        "--tune", choices=("never", "once", "each"), default="once",
        help="choose C and delta of LS-SVM and ELM by 4-fold cross-validation over the paper's "
        "grid as well: on the training rows of the first trial (default), or of each, which takes "
        "hours",
    )  # fmt: skip
    it.add_argument(
        "--seconds", type=positive_number, default=Plan.seconds,
        help="what one fit of a scalability figure may take, ours excepted (default %(default)g)",
    )  # fmt: skip
    it.add_argument(
        "--quick", action="store_true", help="tiny sizes: all parts run, numbers mean nothing"
    )
    it.add_argument(
        "--read", action="store_true",
        help="run nothing, write the report anew of the results that are there, of whatever commit",
    )  # fmt: skip
    return it


def positive_number(text: str) -> float:
    """Read a number above zero."""
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not above zero")
    return value


def perform(options: argparse.Namespace) -> Run:
    """Do the work that is not done yet."""
    times, found = options.folder / TIMES_FILE, options.folder / RESULTS_FILE
    if options.read:
        recorder, store = Recorder.reading(times), Store(found, None)
        settings = recorder.settings
    else:
        settings = settings_for(options.threads, TIMING_ROUNDS, quick=options.quick)
        recorder = Recorder(settings, times, resume=True)
        store = Store(found, circumstances(recorder.facts, asdict(settings)))
    plan = Plan(
        options.trials or (QUICK_TRIALS if options.quick else TRIALS), settings.n_threads,
        options.tune, options.seconds, options.quick,
    )  # fmt: skip
    run = Run(plan, store, recorder)
    if options.read:
        return run
    work = [(name, module.jobs(run)) for name, module in chosen(options)]
    with (
        threadpool_limits(settings.n_threads),
        tqdm(total=sum(len(jobs) for _, jobs in work), unit="job") as bar,
    ):
        for name, jobs in work:
            bar.set_description(name)
            for job in jobs:
                job()
                bar.update()
    return run


def chosen(options: argparse.Namespace) -> list[tuple[str, Any]]:
    """Return the modules of the requested experiments, in their order."""
    names = [name for name in EXPERIMENTS if name in (options.experiment or EXPERIMENTS)]
    return [(name, import_module(f"experiments.paper.{name}")) for name in names]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns
    -------
    int
        0 if all went well, 1 if contestants of a scalability figure disagree, 2 if the request
        makes no sense, 130 if interrupted; the same command goes on then.
    """
    options = parser().parse_args(arguments)
    try:
        # needs matplotlib: before hours of work, not after them
        from experiments.paper import report

        options.folder.mkdir(parents=True, exist_ok=True)
        run = perform(options)
        paths = report.write_report(run, chosen(options), options.folder)
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as error:
        print(f"python -m experiments.paper: {error}: pip install --group bench", file=sys.stderr)
        return 2
    except (OSError, OtherRunError, FormatError) as error:
        print(f"python -m experiments.paper: {error}", file=sys.stderr)
        return 2
    print(paths[0])
    return 1 if run.recorder.failures else 0


if __name__ == "__main__":
    sys.exit(main())
