"""Memory that can be had, for every kind of system that reports it."""

from __future__ import annotations

import os
from decimal import Decimal

import numpy as np
import pytest

from gegenbauer import GegenbauerRegressor, GegenbauerRegressorCV, _memory
from gegenbauer._memory import require_memory
from gegenbauer.errors import TooLargeError
from gegenbauer.estimators import _ridge

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


def test_targets_are_looked_through_once_before_they_are_solved_for(monkeypatch):
    X = np.random.default_rng(0).uniform(size=(12, 3))
    seen = []
    solve = _ridge.solve_ridge

    def recorded(basis, X, Y, alpha, **options):
        seen.append(options["check_finite"])
        return solve(basis, X, Y, alpha, **options)

    monkeypatch.setattr(_ridge, "solve_ridge", recorded)
    model = GegenbauerRegressor(n_terms=3)
    for bad in (np.nan, np.inf, -np.inf):
        for at in (0, 11):
            Y = X[:, :2].copy()
            Y[at, 1] = bad
            with pytest.raises(ValueError, match=rf"y contains .*, first in row {at}, column 1"):
                model.fit(X, Y)
    wrong = X.copy()
    wrong[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"X contains infinity.*column 1 \(first in row 3\)"):
        model.fit(wrong, X[:, 0])
    assert seen == []
    model.fit(X, X[:, :2])
    assert seen == [False]
    expected = solve(model.basis_, X, X[:, :2], model.alpha, scaling=model.scaling_).weights
    np.testing.assert_array_equal(model.term_coef_, expected)


@pytest.mark.parametrize("model", [GegenbauerRegressor(n_terms=3), GegenbauerRegressorCV()])
def test_targets_beyond_float64_are_refused_by_their_place(model):
    """Which are finite until they are converted."""
    X = np.linspace(0, 1, 12)[:, np.newaxis]
    longer = np.arange(12) * np.longdouble("1e308")  # the first that float64 lacks is the third
    if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
        with pytest.raises(ValueError, match=r"y contains infinity, first in row 2; 10 of its 12"):
            model.fit(X, longer)
        assert np.isfinite(model.fit(X, longer / 1e300).predict(X)).all()
    decimals = np.array([Decimal(1)] * 11 + [Decimal("-1e400")], dtype=object)
    with pytest.raises(ValueError, match=r"y contains infinity, first in row 11; 1 of its 12"):
        model.fit(X, decimals)
    decimals[4] = None
    with pytest.raises(ValueError, match=r"y contains NaN, first in row 4; 2 of its 12"):
        model.fit(X, decimals)


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
