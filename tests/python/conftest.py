"""What all Python tests share: data sets, random numbers, and the settings of hypothesis."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import NamedTuple

# SciPy looks at this when it is imported; with it, scikit-learn's checks skip nothing.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Processes of tests side by side share the processors; more threads would wait for each other.
if workers := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0")):
    os.environ.setdefault("OMP_NUM_THREADS", str(max((os.cpu_count() or 1) // workers, 1)))

import hypothesis
import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parent))  # so that tests may import `oracles`

hypothesis.settings.register_profile("default", deadline=None, max_examples=50, print_blob=True)
# for --hypothesis-profile=fuzz: a minute under the address sanitizer
hypothesis.settings.register_profile(
    "fuzz", parent=hypothesis.settings.get_profile("default"), max_examples=500
)
hypothesis.settings.load_profile("default")


@pytest.fixture(scope="session", autouse=True)
def one_blas_thread():
    """Keep the BLAS of the oracles from fighting for processors: their matrices are small."""
    with threadpool_limits(1, user_api="blas"):
        yield


class Table(NamedTuple):
    """A classification data set; the arrays are read-only, since they are shared by all tests."""

    X: np.ndarray
    y: np.ndarray

    def split(self, seed: int, n_training: int) -> tuple[Table, Table]:
        """Train on the first rows of ``default_rng(seed).permutation``, test on the others."""
        rows = np.random.default_rng(seed).permutation(len(self.X))
        training, test = rows[:n_training], rows[n_training:]
        return Table(self.X[training], self.y[training]), Table(self.X[test], self.y[test])


def _table(loader) -> Table:
    X, y = loader(return_X_y=True)
    X.flags.writeable = y.flags.writeable = False
    return Table(X, y)


@pytest.fixture(scope="session")
def iris() -> Table:
    """150 rows, 4 inputs, 3 classes."""
    return _table(load_iris)


@pytest.fixture(scope="session")
def wine() -> Table:
    """178 rows, 13 inputs, 3 classes."""
    return _table(load_wine)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20190815)


def pytest_collection_finish():
    """Let no garbage collection look at thousands of tests: each would take a third of a second."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Let neighbours, which share fixtures of their module, run in one process."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


collect_ignore = ["peers/make.py"]  # for whoever has the peers; doctests would import it
