"""What a result depends on beside the code: processor, libraries, threads, commit, limits."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_info, threadpool_limits

from gegenbauer._dispatch import core, isa

if TYPE_CHECKING:
    from collections.abc import Mapping

BUSY = (
    "times are too long, and medians may flatter ours, since OpenBLAS's threads wait for each "
    "other by spinning, so that neighbours harm them most; look at the ratios of the fastest calls"
)

ROOT = Path(__file__).resolve().parents[1]

PACKAGES = ("gegenbauer", "numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")
# Variables that change the speed of somebody.
VARIABLES = (
    "GEGENBAUER_ISA",
    "GOMP_SPINCOUNT",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OMP_WAIT_POLICY",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_THREAD_TIMEOUT",
)


def usable_cores() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor() -> str:
    """Return the model of the processor, as the operating system names it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip().lower() in ("model name", "cpu model") and value.strip():
            return value.strip()
    if platform.system() == "Darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.stdout.strip():
            return done.stdout.strip()
    return platform.processor() or platform.machine() or "unknown"


def memory_bytes() -> int | None:
    """Return the size of the memory, None where the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def load_average() -> float | None:
    """Return the number of running processes over the last minute, None where unknown."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


def processor_seconds() -> tuple[float, float] | None:
    """Return the processor time that all programs and that this one used, None where unknown."""
    try:
        fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]
        user, nice, system, _idle, _wait, irq, softirq, stolen = map(int, fields)
        ticks = os.sysconf("SC_CLK_TCK")
    except (AttributeError, OSError, ValueError):
        return None
    own = os.times()
    return (user + nice + system + irq + softirq + stolen) / ticks, own.user + own.system


def libraries(n_threads: int) -> list[dict[str, Any]]:
    """Describe the BLAS and OpenMP libraries that are loaded, limited to `n_threads`."""
    found = []
    with threadpool_limits(limits=n_threads):
        for pool in threadpool_info():
            path = Path(pool["filepath"])
            found.append(
                {
                    "kind": pool["user_api"],
                    "name": pool["internal_api"],
                    # numpy.libs/..., scipy.libs/...: whose copy it is, without the path
                    "belongs_to": path.parent.name.removesuffix(".libs"),
                    "version": pool["version"],
                    "kernel": pool.get("architecture"),
                    "threads": pool["num_threads"],
                }
            )
    return sorted(found, key=lambda library: (library["kind"], library["belongs_to"]))


def git_state(root: Path = ROOT) -> dict[str, Any] | None:
    """Return the commit of the checkout and what is changed since, None without one.

    Files that git does not follow count for nothing: results are often written beside the sources.
    """

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
            )
        except OSError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    top = git("rev-parse", "--show-toplevel")
    if not top or Path(top).resolve() != root.resolve():  # an unpacked sdist inside of another
        return None
    commit = git("rev-parse", "--verify", "HEAD")
    if not commit:
        return None
    changes = git("diff", "HEAD", "--binary") or ""
    digest = hashlib.sha256(changes.encode()).hexdigest()[:12] if changes else None
    return {"commit": commit, "modified": bool(changes), "changes": digest}


def describe(n_threads: int) -> dict[str, Any]:
    """Describe everything but the limits."""
    return {
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count() or 1,
            "usable_cores": usable_cores(),
            "memory_bytes": memory_bytes(),
            "system": platform.platform(),
        },
        "isa": isa,
        "threads": n_threads,
        "libraries": libraries(n_threads),
        "versions": {
            "python": platform.python_version(),
            **{package: metadata.version(package) for package in PACKAGES},
        },
        "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        "git": git_state(),
        "load_average": load_average(),
    }


def warnings_about(facts: Mapping[str, Any]) -> list[str]:
    """Return what makes a run with these facts less than fair or less than quiet."""
    found = []
    environment = facts["environment"]
    # Both sides held to AVX2 on purpose is fair.
    held = (environment.get("GEGENBAUER_ISA"), environment.get("OPENBLAS_CORETYPE"))
    if "OPENBLAS_CORETYPE" in environment and held != ("avx2", "Haswell"):
        kernels = sorted({str(lib["kernel"]) for lib in facts["libraries"] if lib["kernel"]})
        found.append(
            f"OPENBLAS_CORETYPE={environment['OPENBLAS_CORETYPE']} is set: NumPy and SciPy do not "
            f"choose the kernel of this processor (they use {', '.join(kernels) or 'unknown'}) and "
            "may be slowed. Unset it together with OPENBLAS_L2_SIZE in this command: "
            "env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python -m bench"
        )
    threads, usable = facts["threads"], facts["machine"]["usable_cores"]
    if threads > usable:
        found.append(f"{threads} threads share {usable} cores: they wait for each other")
    found += [
        f"{library['belongs_to']}'s {library['name']} uses {library['threads']} threads, "
        f"not {threads}"
        for library in facts["libraries"]
        if library["threads"] != threads
    ]
    load = facts["load_average"]
    if load is not None and load > 0.5:
        found.append(
            f"other programs use this machine (load average {load:.1f} at the start, {usable} "
            f"cores): {BUSY}"
        )
    return found


def measure_peaks(n_threads: int, *, quick: bool = False) -> list[dict[str, Any]]:
    """Measure the rate of multiply-adds and of reading memory, for one thread and for all.

    The rates are the best of many short bursts, by the ISA variant of the core that is loaded.
    """
    seconds, n_bytes = (0.05, 1 << 25) if quick else (1.0, 1 << 28)
    return [
        {
            "threads": threads,
            "flops": core.measure_flops(seconds, threads),
            "read_bandwidth": core.measure_read_bandwidth(seconds, n_bytes, threads),
        }
        for threads in sorted({1, n_threads})
    ]


def best_peaks(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Take the higher of two measurements: a neighbour can only lower them."""
    return [
        {key: max(a[key], b[key]) for key in ("threads", "flops", "read_bandwidth")}
        for a, b in zip(first, second, strict=True)
    ]
