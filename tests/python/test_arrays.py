"""Memory that can be had, for every kind of system that reports it."""

from __future__ import annotations

import os

import numpy as np
import pytest

from gegenbauer import GegenbauerRegressor, GegenbauerRegressorCV, _memory
from gegenbauer._memory import require_memory
from gegenbauer.errors import TooLargeError

PHYSICAL = 64 * 2.0**30
GIB = 2**30


@pytest.fixture
def system(monkeypatch):
    """Return a function that makes a machine of 64 GiB with the given files."""
    sizes = {"SC_PHYS_PAGES": 2**24, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__, raising=False)

    def make(**files):
        def read(path):
            name = path.as_posix()
            if name not in files["files"]:
                raise FileNotFoundError(name)
            return str(files["files"][name])

        monkeypatch.setattr(_memory, "_read", read)

    return make


MEMINFO = "MemTotal: 67108864 kB\nMemFree: 1 kB\nMemAvailable:   20971520 kB\nHugePages_Total: 0\n"


def test_what_the_system_has_left(system):
    system(files={})
    assert _memory.available_memory() == PHYSICAL
    system(files={"/proc/meminfo": "MemTotal: 67108864 kB\n"})  # before Linux 3.14
    assert _memory.available_memory() == PHYSICAL
    system(files={"/proc/meminfo": MEMINFO})
    assert _memory.available_memory() == 20 * GIB


def test_control_groups(system):
    """Usage counts but for pages of files; the group around one may be the narrower of them."""
    top = "/sys/fs/cgroup"
    files = {
        "/proc/meminfo": MEMINFO,
        "/proc/self/cgroup": "0::/a.slice/b:c\n",
        f"{top}/a.slice/memory.max": "max\n",
        f"{top}/a.slice/memory.current": 7 * GIB,
        f"{top}/a.slice/b:c/memory.max": 8 * GIB,
        f"{top}/a.slice/b:c/memory.current": 5 * GIB,
        f"{top}/a.slice/b:c/memory.stat": f"anon 7\nactive_file {GIB}\ninactive_file {GIB}\n",
    }
    system(files=files)
    assert _memory.available_memory() == 5 * GIB
    system(files=files | {f"{top}/a.slice/memory.max": 9 * GIB})
    assert _memory.available_memory() == 5 * GIB  # memory.stat is not there: no group
    system(
        files=files | {f"{top}/a.slice/memory.max": 9 * GIB, f"{top}/a.slice/memory.stat": "anon 5"}
    )
    assert _memory.available_memory() == 2 * GIB
    system(files=files | {f"{top}/a.slice/b:c/memory.current": 11 * GIB})
    assert _memory.available_memory() == 0  # more than the limit, which may have been lowered


@pytest.mark.parametrize("path", ["/docker/5", "/"])
def test_control_groups_of_version_1(system, path):
    """In a container the path of the host means nothing, but the top is there."""
    top = "/sys/fs/cgroup/memory"
    system(
        files={
            "/proc/meminfo": MEMINFO,
            "/proc/self/cgroup": f"9:cpu,cpuacct:/\n4:memory:{path}\n0::/\n",
            f"{top}/memory.limit_in_bytes": 4 * GIB,
            f"{top}/memory.usage_in_bytes": 3 * GIB,
            f"{top}/memory.stat": f"inactive_file 5\ntotal_inactive_file {GIB}\n",
        }
    )
    assert _memory.available_memory() == 2 * GIB


def test_refusals_report_what_is_left(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 2.5e9)
    require_memory(2.5e9, "a thing", "make less of it")
    message = r"^a thing needs 2\.6 GB of memory, but only 2\.5 GB can be had: make less of it$"
    with pytest.raises(TooLargeError, match=message):
        require_memory(2.6e9, "a thing", "make less of it")


def test_small_requests_do_not_look(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", pytest.fail)
    require_memory(9e7, "a thing", "make less of it")


def test_masked_and_missing_entries_are_named_by_their_place():
    """The first of them, in X and in y, for arrays of one and two dimensions and for lists."""
    X = np.random.default_rng(0).uniform(size=(12, 3))
    Y = X[:, :2].copy()
    masked = np.ma.masked_array(X, mask=np.zeros((12, 3), dtype=bool))
    masked[7, 1] = masked[9, 0] = np.ma.masked
    for model in (GegenbauerRegressor(n_terms=3), GegenbauerRegressorCV()):
        with pytest.raises(ValueError, match=r"X must .*, first in row 7, column 1:"):
            model.fit(masked, Y)
        with pytest.raises(ValueError, match=r"y must .* got masked entries, first in row 7:"):
            model.fit(X, masked[:, 1])
        with pytest.raises(ValueError, match=r"got masked entries, first in row 7, column 1:"):
            model.fit(X, list(masked))
        Y[:] = X[:, :2]
        Y[5, 1] = np.nan
        with pytest.raises(ValueError, match=r"y contains NaN, first in row 5, column 1; 1 of"):
            model.fit(X, Y)
        with pytest.raises(
            ValueError, match=r"y contains NaN, first in row 5; 1 of its 12 entries"
        ):
            model.fit(X, Y[:, 1])
        Y[5, 1] = -np.inf
        with pytest.raises(ValueError, match=r"y contains infinity, first in row 5; 1 of its 12"):
            model.fit(X, Y[:, 1])
