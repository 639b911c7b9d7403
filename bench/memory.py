"""Memory that a fit needs beside X and Y: ``python -m bench.memory NAME S m degree K``.

Each fit runs in a process of its own, which makes the data, fits a small problem once, so that
libraries are loaded and threads have been started, and then sets the high-water mark of its
resident memory back to what is resident (Linux).
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.machine import ROOT, git_state
from bench.recorder import OtherRunError
from bench.sweeps import OURS, Budget, Point, contestants, data

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STATUS, MARK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
# The goal is for 500 terms: everybody has 462, the complete degree below, ours also 924.
GOAL = 100e6  # bytes beside X and Y
POINT, HARDER = (Point(S=1_000_000, m=6, degree=degree, K=1) for degree in (5, 6))
QUICK, QUICK_HARDER = (Point(S=2000, m=3, degree=degree, K=1) for degree in (2, 3))
SMALL = 200  # rows of the first fit


class UnsupportedError(RuntimeError):
    """The system does not report the figure that is needed."""


@dataclass(frozen=True)
class Use:
    """What one contestant needs."""

    name: str
    sizes: dict[str, int]
    n_bytes: float | None  #: beside X and Y; None if it did not run
    note: str = ""  #: how it was found, or why not


def _kilobytes(key: str) -> int:
    for line in STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    raise UnsupportedError(f"{STATUS} has no {key}")


def _give_back() -> None:
    """Return freed memory to the system, where it could serve the fit unseen (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def rise_of(run: Callable[[], object]) -> int:
    """Return how far a call lifts the resident memory of this process above that before.

    Raises
    ------
    UnsupportedError
        Where the system keeps no such mark, or does not let it be set back.
    """
    if not STATUS.exists():
        raise UnsupportedError("peak memory is measured on Linux only, by /proc/self/status")
    gc.collect()
    _give_back()
    try:
        MARK.write_text("5", encoding="ascii")  # sets VmHWM to VmRSS
    except OSError as error:
        raise UnsupportedError(f"{MARK} cannot be written to ({error})") from None
    before = _kilobytes("VmRSS")
    run()
    return 1024 * (_kilobytes("VmHWM") - before)


def peak_bytes_of(name: str, point: Point, n_threads: int) -> int:
    """Fit in this process, and return how far that lifts its resident memory (see `rise_of`)."""

    def fit(problem_point: Point) -> int:
        problem = data(problem_point)
        (run,) = (c.run for c, _ in contestants(problem, n_threads) if c.name == name)
        return rise_of(run)

    fit(Point(SMALL, point.m, 1, point.K))
    return fit(point)


def in_fresh_process(module: str, arguments: Sequence[str]) -> Any:
    """Return what ``python -m module arguments`` prints, which is JSON.

    Raises
    ------
    UnsupportedError
        With what the process printed when it failed.
    """
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise UnsupportedError((done.stderr.strip().splitlines() or ["killed"])[-1])
    return json.loads(done.stdout)


def measure(name: str, point: Point, n_threads: int) -> int:
    """Do the same as `peak_bytes_of` in a fresh process."""
    sizes = [str(size) for size in (point.S, point.m, point.degree, point.K, n_threads)]
    return int(in_fresh_process("bench.memory", [name, *sizes])["n_bytes"])


def uses(n_threads: int, budget: Budget, *, quick: bool = False) -> list[Use]:
    """Measure everybody; peers that hold all features are measured with few rows.

    What such a peer needs is a constant and so much a row; both follow from two measurements,
    with a twentieth and a tenth of the rows.
    """
    point, harder = (QUICK, QUICK_HARDER) if quick else (POINT, HARDER)
    small = Point(SMALL, point.m, 1, point.K)
    found = [_use(OURS, harder, n_threads, scaled=False)]
    for contestant, of_small in contestants(data(small), n_threads):
        n_bytes = of_small * (point.S * point.L) / (small.S * small.L)
        scaled = n_bytes > budget.n_bytes / 16
        found.append(_use(contestant.name, point, n_threads, scaled=scaled))
    return found


def _use(name: str, point: Point, n_threads: int, *, scaled: bool) -> Use:
    try:
        if not scaled:
            return Use(name, point.sizes, measure(name, point, n_threads))
        few = [Point(point.S // part, point.m, point.degree, point.K) for part in (20, 10)]
        less, more = (measure(name, fewer, n_threads) for fewer in few)
    except UnsupportedError as error:
        return Use(name, point.sizes, None, str(error))
    a_row = (more - less) / (few[1].S - few[0].S)
    note = f"extrapolated from {few[0].S:,} and {few[1].S:,} rows"
    return Use(name, point.sizes, more + a_row * (point.S - few[1].S), note)


def write(found: list[Use], settings: dict[str, Any], path: Path) -> None:
    """Keep what was measured, with the settings and the commit."""
    kept = {"git": git_state(), "settings": settings, "uses": [asdict(use) for use in found]}
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def read(path: Path, settings: dict[str, Any] | None = None) -> list[Use]:
    """Read what `write` wrote.

    Raises
    ------
    OtherRunError
        When `settings` are given and these or the commit were others.
    """
    kept = json.loads(path.read_text(encoding="utf-8"))
    if settings is not None and (kept["git"], kept["settings"]) != (git_state(), settings):
        raise OtherRunError(f"{path} is of another commit or of other settings: remove it")
    return [Use(**use) for use in kept["uses"]]


def main(arguments: list[str]) -> int:
    """Measure one contestant in this process and print it as JSON."""
    name, sizes = arguments[0], [int(size) for size in arguments[1:]]
    try:
        n_bytes = peak_bytes_of(name, Point(*sizes[:4]), sizes[4])
    except (UnsupportedError, ImportError, ValueError, MemoryError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(json.dumps({"n_bytes": n_bytes}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
