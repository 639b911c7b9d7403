"""How loops would scale on more processors than there are: ``python -m bench.critical_path``.

A core that was built with ``GEGENBAUER_TRACE_LOOPS=ON`` does all work on one thread and writes how
long each item of each loop took. From that follows what any number of threads would take: items go
to whoever is free first, a round ends with its last item, threads start one after another, and what
lies outside of loops stays as it is. Processors that share caches, memory or their clock are slower
together than alone, which this does not see: the figures are upper limits of the speedup.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.machine import ROOT
from gegenbauer import (
    GegenbauerClassifierCV,
    GegenbauerRegressorCV,
    RidgePath,
    TensorBasis,
    solve_kernel,
    solve_ridge,
)
from gegenbauer.basis import PowerDecay, Spectrum, SpectrumKernel
from gegenbauer.ridge import predict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["WORKLOADS", "Costs", "Loop", "fastest", "read", "ready", "seconds_of", "shown", "total"]

VARIABLE = "GEGENBAUER_TRACE_LOOPS"
THREADS = (1, 2, 4, 8, 16, 32, 64)
MOST = THREADS[-1]
STARTS = 8  # threads that a member starts
RUNS = 4
_OUTSIDE = "outside of loops"


@dataclass(frozen=True)
class Costs:
    """Seconds that threads cost, measured on two processors (docs/performance.md)."""

    start: float = 15e-6  #: of its maker, for each thread
    wake: float = 40e-6  #: until a new thread runs
    round: float = 1e-6  #: from the last item of a round to the first of the next


@dataclass(frozen=True)
class Loop:
    """One team: what was traced."""

    where: str  #: file and line
    size: int  #: members that are worth it
    begin: float
    rounds: tuple[tuple[float, ...], ...]  #: seconds of the items
    end: float
    lost: float = 0.0  #: seconds that the trace has taken beside

    @property
    def duration(self) -> float:
        """Seconds on one thread."""
        return self.end - self.begin


def read(lines: Sequence[str]) -> list[Loop]:
    """Read what the core wrote; a line that was cut is left out."""
    loops = []
    for line in lines:
        head, *rounds = line.split("|")
        if not line.endswith("\n") or not rounds:
            continue
        where, size, begin, *first = head.split()
        *last, end, lost = rounds[-1].split()
        items = [first, *(part.split() for part in rounds[:-1])]
        assert not last, "a bar follows the last round"
        loops.append(
            Loop(
                where,
                int(size),
                float(begin),
                tuple(tuple(map(float, part)) for part in items),
                float(end),
                float(lost),
            )
        )
    return loops


def fastest(runs: Sequence[Sequence[Loop]]) -> list[Loop]:
    """Return what is the least of several runs, item by item, or the shortest run if they differ.

    An item that another program interrupts would be on the critical path.
    """
    shapes = {
        tuple((one.where, one.size, tuple(map(len, one.rounds))) for one in run) for run in runs
    }
    if len(shapes) > 1:
        return list(min(runs, key=lambda run: sum(one.duration for one in run)))
    found = []
    for same in zip(*runs, strict=True):
        rounds = tuple(
            tuple(map(min, *parts)) if len(parts) > 1 else parts[0]
            for parts in zip(*(one.rounds for one in same), strict=True)
        )
        between = min(one.duration - sum(map(sum, one.rounds)) for one in same)
        first = same[0]
        end = first.begin + between + sum(map(sum, rounds))
        found.append(Loop(first.where, first.size, first.begin, rounds, end))
    return found


def ready(size: int, costs: Costs) -> list[float]:
    """Return when each member of a team takes its first item: the first starts some, these more."""
    found = [0.0] * size
    for member in range(size):
        others = range(member * STARTS + 1, min(size, member * STARTS + STARTS + 1))
        for i, other in enumerate(others):
            found[other] = found[member] + costs.start * (i + 1) + costs.wake
        found[member] += costs.start * len(others)
    return found


def seconds_of(loop: Loop, n_threads: int, costs: Costs) -> float:
    """Return what a loop would take with so many threads.

    Examples
    --------
    >>> loop = Loop("here", 4, 0.0, ((3.0, 1.0, 2.0), (1.0,)), 7.5)
    >>> seconds_of(loop, 2, Costs(0.0, 0.0, 0.0))  # 3 beside 1 and 2, 1, and 0.5 between items
    4.5
    """
    size = min(n_threads, loop.size)
    if size <= 1:
        return loop.duration
    free = ready(size, costs)
    end = free[0]
    heapq.heapify(free)
    for items in loop.rounds:
        for item in items:
            first = heapq.heappop(free)
            heapq.heappush(free, first + item)
            end = max(end, first + item)
        end += costs.round if len(loop.rounds) > 1 else 0.0
        free = [max(end, when) for when in free]
        heapq.heapify(free)
    between = loop.duration - sum(map(sum, loop.rounds))
    return end + max(0.0, between)


def total(loops: Sequence[Loop], outside: float, n_threads: int, costs: Costs) -> float:
    """Return what loops, and so many seconds outside of them, would take."""
    return outside + sum(seconds_of(loop, n_threads, costs) for loop in loops)


def shown(
    name: str, loops: Sequence[Loop], outside: float, costs: Costs, most_loops: int = 4
) -> str:
    """Return a line of speedups, and those places that take longest with most threads."""
    times = [total(loops, outside, n, costs) for n in THREADS]
    speedups = "  ".join(f"{times[0] / t:5.1f}" for t in times)
    lines = [f"{name:38s} {1e3 * times[0]:9.1f} ms  {speedups}"]
    alone: defaultdict[str, float] = defaultdict(float)
    together: defaultdict[str, float] = defaultdict(float)
    for loop in loops:
        alone[loop.where] += loop.duration
        together[loop.where] += seconds_of(loop, MOST, costs)
    alone[_OUTSIDE] = together[_OUTSIDE] = outside
    longest = sorted(together, key=together.__getitem__, reverse=True)[:most_loops]
    lines += [
        f"    {where:34s} {together[where] / times[-1]:5.0%} of the time with {MOST}, "
        f"{alone[where] / max(together[where], 1e-12):5.1f} times as fast as one thread"
        for where in longest
    ]
    return "\n".join(lines)


# --- What is traced -------------------------------------------------------------------------------


def _inputs(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, (n, m))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] * X[:, -1] + 0.1 * generator.normal(size=n)


def _solve(n: int, m: int, degree: int, engine: str) -> Callable[[], object]:
    X, y = _inputs(n, m)
    basis = TensorBasis(m, degree=degree)
    return lambda: solve_ridge(basis, X, y, alpha=1e-3, engine=engine, n_threads=MOST)


def _kernel(n: int) -> Callable[[], object]:
    X, y = _inputs(n, 8)
    kernel = SpectrumKernel(8, Spectrum(PowerDecay(0.1, 2.0)))
    return lambda: solve_kernel(kernel, X, y, alpha=1e-2, n_threads=MOST)


def _predict(n: int) -> Callable[[], object]:
    X, y = _inputs(n, 6)
    basis = TensorBasis(6, degree=5)
    weights = solve_ridge(basis, X[:5000], y[:5000], alpha=1e-3).weights
    return lambda: predict(basis, X, weights, n_threads=MOST)


def _path(n: int) -> Callable[[], object]:
    X, y = _inputs(n, 8)
    kernel = SpectrumKernel(8, Spectrum(PowerDecay(0.1, 2.0)))
    return lambda: RidgePath(kernel, X, y, n_threads=MOST).leave_one_out(2.0 ** np.arange(-15, 16))


def _search(estimator: type) -> Callable[[], object]:
    X, y = _inputs(1000, 8)
    if estimator is GegenbauerClassifierCV:
        y = np.digitize(y, np.quantile(y, [0.5, 0.8]))
    return lambda: estimator(n_jobs=MOST).fit(X, y)


WORKLOADS: dict[str, Callable[[], Callable[[], object]]] = {
    "features, 50,000 x 6, 924 terms": lambda: _solve(50_000, 6, 6, "primal"),
    "moments, 1,000,000 x 2, 1485 terms": lambda: _solve(1_000_000, 2, 53, "moments"),
    "moments, 200,000 x 6, 924 terms": lambda: _solve(200_000, 6, 6, "moments"),
    "dual, 1000 x 13, 2380 terms": lambda: _solve(1000, 13, 4, "dual"),
    "kernel without terms, 4000 x 8": lambda: _kernel(4000),
    "predictions, 500,000 x 6, 462 terms": lambda: _predict(500_000),
    "31 penalties, 2000 x 8": lambda: _path(2000),
    "GegenbauerRegressorCV, 1000 x 8": lambda: _search(GegenbauerRegressorCV),
    "GegenbauerClassifierCV, 1000 x 8": lambda: _search(GegenbauerClassifierCV),
}


def trace(name: str) -> tuple[list[Loop], float]:
    """Run one workload in a process of its own: its loops, and the seconds outside of them.

    Raises
    ------
    RuntimeError
        When the core was built without traces, or the process failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "loops")
        done = subprocess.run(
            [sys.executable, "-m", "bench.critical_path", "--one", name],
            cwd=ROOT, env=os.environ | {VARIABLE: str(path)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        if not path.exists():
            raise RuntimeError(f"the core must be built with {VARIABLE}=ON, see bench/README.md")
        lines = path.read_text(encoding="ascii").splitlines(keepends=True)
    runs, outside = [], []
    for begin, end, seconds in json.loads(done.stdout.splitlines()[-1]):
        runs.append(read(lines[begin:end]))
        outside.append(seconds - sum(loop.duration + loop.lost for loop in runs[-1]))
    return fastest(runs), max(0.0, min(outside))


def _run_one(name: str) -> None:
    """Run a workload some times; print which lines each run has written, and its seconds."""
    run = WORKLOADS[name]()
    run()
    path = Path(os.environ[VARIABLE])

    def n_lines() -> int:
        return len(path.read_bytes().splitlines()) if path.exists() else 0

    found = []
    for _ in range(RUNS):
        begin, start = n_lines(), time.perf_counter()
        run()
        seconds = time.perf_counter() - start
        found.append((begin, n_lines(), seconds))
    print(json.dumps(found))


def main(arguments: list[str] | None = None) -> int:
    """Trace all workloads, or those named, and print their speedups."""
    parser = argparse.ArgumentParser(prog="python -m bench.critical_path", description=__doc__)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--only", action="append", metavar="TEXT", help="whose name contains it")
    options = parser.parse_args(arguments)
    if options.one:
        _run_one(options.one)
        return 0
    print(f"{'threads':38s} {'1':>12s}  " + "  ".join(f"{n:5d}" for n in THREADS))
    for name in WORKLOADS:
        if options.only and not any(text in name for text in options.only):
            continue
        try:
            loops, outside = trace(name)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return 1
        print(shown(name, loops, outside, Costs()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
