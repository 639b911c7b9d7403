"""How much memory there is, and the refusal of what would not fit into it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from gegenbauer._messages import Message
from gegenbauer.errors import TooLargeError

if TYPE_CHECKING:
    from gegenbauer._messages import Ways

__all__ = ["available_memory", "memory_limit", "require_memory", "total_memory"]

# Bytes below which nothing is refused
_WORTH_A_LOOK = 1e8


def _read(path: Path) -> str:
    return path.read_text(encoding="ascii", errors="replace")


def _fields(path: Path) -> dict[str, float]:
    """Return the first number after each name of a file like /proc/meminfo."""
    rows = (line.replace(":", " ").split() for line in _read(path).splitlines())
    return {row[0]: float(row[1]) for row in rows if len(row) > 1 and row[1].isdecimal()}


def _groups() -> dict[Path, bool]:
    """Return the control groups of this process and those around them; True: version 2."""
    found: dict[Path, bool] = {}
    lines = ["0:memory:/", "0::/"]  # in a container the other paths may mean nothing
    with contextlib.suppress(OSError):
        lines += _read(Path("/proc/self/cgroup")).splitlines()
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory"):
            group = Path("/sys/fs/cgroup", controllers)
            found[group] = controllers == ""
            for part in Path(path.lstrip("/")).parts:
                group /= part
                found[group] = controllers == ""
    return found


def _limit_of_group(group: Path, new: bool) -> float:
    return float(_read(group / ("memory.max" if new else "memory.limit_in_bytes")))


def _left_in_group(group: Path, new: bool) -> float:
    """Return what the limit of a control group leaves beside usage that cannot be reclaimed."""
    limit = _limit_of_group(group, new)
    used = float(_read(group / ("memory.current" if new else "memory.usage_in_bytes")))
    stat = _fields(group / "memory.stat")
    cache = sum(
        stat.get(f"{'' if new else 'total_'}{kind}_file", 0.0) for kind in ("active", "inactive")
    )
    return limit - max(0.0, used - cache)


def _physical_memory() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def total_memory() -> float:
    """Bytes of the machine, or of the smallest control group around this process."""
    limit = _physical_memory()
    for group, new in _groups().items():
        with contextlib.suppress(OSError, ValueError):  # no such group, no limit ("max")
            limit = min(limit, _limit_of_group(group, new))
    return limit


def available_memory() -> float:
    """Bytes that this process may still take: of the machine, and of its control groups.

    Pages of files that the system can drop count as free. Where the system does not report them,
    all of the physical memory counts.
    """
    limit = _physical_memory()
    with contextlib.suppress(OSError, KeyError):
        limit = min(limit, 1024 * _fields(Path("/proc/meminfo"))["MemAvailable"])
    for group, new in _groups().items():
        with contextlib.suppress(OSError, ValueError):  # no such group, no limit ("max")
            limit = min(limit, _left_in_group(group, new))
    return max(0.0, limit)


def _readable(n_bytes: float) -> str:
    for factor, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.3g} {unit}"
    return f"{n_bytes:.3g} bytes"


def memory_limit(n_bytes: float) -> float:
    """Return the bytes that may be taken, for work that may come to need about `n_bytes`.

    Infinity where that is so little that a query of the system, which takes a millisecond, is not
    worth it.
    """
    return available_memory() if n_bytes >= _WORTH_A_LOOK else float("inf")


def require_memory(n_bytes: float, what: str, advice: str | Ways) -> None:
    """Refuse work that cannot fit into memory.

    Raises
    ------
    TooLargeError
        When `n_bytes` is more than this machine (or control group) has left.
    """
    limit = memory_limit(n_bytes)
    if n_bytes > limit:
        raise TooLargeError(
            Message(
                "{} needs {} of memory, but only {} can be had",
                what,
                _readable(n_bytes),
                _readable(limit),
                ways=advice,
            )
        )
