"""Choice of the compiled core for this processor.

A wheel for x86-64 holds the core three times, compiled for the levels v2, v3 and v4 of the
instruction set. The widest that the processor can run is chosen when the package is imported; the
environment variable ``GEGENBAUER_ISA`` names another. Nothing here starts a thread.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import os
import platform
import sys
import threading
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

from gegenbauer import _cpu

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["available_isas", "core", "default_threads", "isa", "one_blas_thread", "show_versions"]

# From narrow to wide: a processor that runs one runs all before it.
_MODULES: Final = {
    "baseline": "gegenbauer._core",
    "avx2": "gegenbauer._core_avx2",
    "avx512": "gegenbauer._core_avx512",
}
_VARIABLE: Final = "GEGENBAUER_ISA"


def available_isas() -> tuple[str, ...]:
    """Name the ISA variants of the core that are installed and that this processor can run.

    Returns
    -------
    tuple of str
        Some of ``"baseline"``, ``"avx2"``, ``"avx512"``, from narrow to wide.

    Raises
    ------
    ImportError
        When the processor is older than the oldest ISA variant (x86-64-v2).

    Examples
    --------
    >>> from gegenbauer._dispatch import available_isas, isa
    >>> isa in available_isas()
    True
    """
    names = list(_MODULES)
    runnable = names[: names.index(_cpu.best_isa()) + 1]
    # Existence is checked, not tried: an import that fails must be heard.
    return tuple(name for name in runnable if importlib.util.find_spec(_MODULES[name]) is not None)


def _choose(requested: str | None, available: Sequence[str], best: str) -> str:
    """Return the ISA variant to load.

    Parameters
    ----------
    requested : str or None
        Value of ``GEGENBAUER_ISA``; None or empty for the widest.
    available : sequence of str
        ISA variants that are installed and can run, from narrow to wide.
    best : str
        The widest ISA variant that the processor can run.

    Raises
    ------
    ImportError
        When `requested` is no ISA variant, is not installed or cannot run, or when there is
        none.
    """
    if not available:
        raise ImportError(
            f"this installation of gegenbauer holds no core that the processor can run (up to "
            f"{best!r}); it was built for another kind of machine: install it again here"
        )
    if not requested:
        return available[-1]
    if requested in available:
        return requested
    choice = ", ".join(available)
    if requested not in _MODULES:
        problem = f"must be one of {', '.join(_MODULES)}"
    elif list(_MODULES).index(requested) > list(_MODULES).index(best):
        problem = f"names instructions that this processor lacks (it runs up to {best})"
    else:
        problem = "names a core that this installation was built without"
    raise ImportError(
        f"{_VARIABLE} {problem}; got {requested!r}. "
        f"Unset it for the best choice, or set it to one of: {choice}"
    )


def processors() -> int:
    """Return how many processors this process may use, as joblib counts them.

    Raises
    ------
    ValueError
        When the environment variable ``LOKY_MAX_CPU_COUNT``, which joblib looks at, is no number.
    """
    limit = os.environ.get("LOKY_MAX_CPU_COUNT")
    try:
        int("1" if limit is None else limit)
    except ValueError:
        raise ValueError(
            f"the environment variable LOKY_MAX_CPU_COUNT must be a number of processors, got "
            f"{limit!r}: set it to one, or unset it"
        ) from None
    affinity = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return _counted(limit, affinity)


@functools.lru_cache(maxsize=16)
def _counted(limit: str | None, affinity: frozenset[int] | None) -> int:  # noqa: ARG001
    """Return how many processors joblib counts, which looks at these and at control groups."""
    from joblib import cpu_count

    return max(int(cpu_count()), 1)


def default_threads() -> int:
    """Return the number of threads used when none is given.

    It is the number of processors that this process may use (joblib counts them with regard to
    affinity and control groups), but no more than the first number of ``OMP_NUM_THREADS`` when that
    is set to one. Affinity and variables are looked up at each call, control groups once.

    Returns
    -------
    int
        At least 1.

    See Also
    --------
    show_versions : Everything about this installation.

    Examples
    --------
    >>> from gegenbauer._dispatch import default_threads
    >>> default_threads() >= 1
    True
    """
    count = processors()
    # OpenMP allows a list, one number a nesting level.
    limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if limit.isascii() and limit.isdigit() and int(limit) > 0:
        count = min(count, int(limit))
    return count


def show_versions() -> None:
    """Print what a report of a problem should hold.

    That is the versions of this package and of those it uses, the chosen ISA variant of the core,
    those that could be chosen, the number of threads, and the BLAS libraries that are loaded.

    See Also
    --------
    default_threads : The number of threads of this process.

    Examples
    --------
    >>> import gegenbauer
    >>> gegenbauer.show_versions()
    gegenbauer: ...
    """
    rows = {
        "gegenbauer": metadata.version("gegenbauer"),
        "instruction set": f"{isa} (available: {', '.join(available_isas())})",
        "threads": str(default_threads()),
        "python": sys.version.replace("\n", " "),
        "platform": platform.platform(),
    }
    for package in ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "safetensors"):
        try:
            rows[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            rows[package] = "not installed"
    for number, pool in enumerate(_loaded_pools(), start=1):
        facts = (
            pool.get(key) for key in ("internal_api", "version", "architecture", "num_threads")
        )
        rows[f"{pool['user_api']} {number}"] = " ".join(str(fact) for fact in facts if fact)
    for name, value in rows.items():
        print(f"{name}: {value}")


def _loaded_pools() -> list[dict[str, Any]]:
    """Describe the thread pools of native libraries; none when threadpoolctl is missing."""
    if importlib.util.find_spec("threadpoolctl") is None:
        return []
    from threadpoolctl import threadpool_info

    return list(threadpool_info())


@functools.cache
def _pools() -> Any:
    """Find the thread pools, once: each look at all that is loaded takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _BlasLimit:
    """The limit on BLAS threads of this process, which the last of its users lifts.

    Users have loaded NumPy's and SciPy's BLAS before; no other is limited.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limit: Any = None

    def take(self) -> None:
        with self._lock:
            if self._users == 0 and importlib.util.find_spec("threadpoolctl") is not None:
                self._limit = _pools().limit(limits=1, user_api="blas")
                _leave_control()
            self._users += 1

    def give_back(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._limit is not None:
                self._limit.restore_original_limits()
                self._limit = None
                _leave_control()


def _leave_control() -> None:
    """Let any thread set the limits of OpenBLAS next.

    In later versions of threadpoolctl, such as 3.8, the first thread that sets a limit is in
    control until it leaves a context, and what others set is ignored in silence. Here another
    thread may be the one that lifts the limit, or that takes the next one.
    """
    import threadpoolctl

    openblas: Any = getattr(threadpoolctl, "OpenBLASController", None)
    if hasattr(openblas, "clear_controlling_thread"):  # if it is this thread
        openblas.clear_controlling_thread()


_blas_limit: Final = _BlasLimit()


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let the BLAS of NumPy and SciPy take one thread for a while, where each call does little.

    Of matrices of some ten rows, which an optimiser has, and of rotations of two columns, the
    threads of OpenBLAS spend their time waiting for each other; beside other work on all processors
    that makes it ten times as slow. What it finds may depend on their number, too.
    """
    _blas_limit.take()
    try:
        yield
    finally:
        _blas_limit.give_back()


isa: Final = _choose(os.environ.get(_VARIABLE), available_isas(), _cpu.best_isa())

# All ISA variants have the same names; the stub of one describes them all.
if TYPE_CHECKING:
    from gegenbauer import _core as core
else:
    core = importlib.import_module(_MODULES[isa])
