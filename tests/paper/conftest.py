"""What the tests of the paper's experiments share; ``python -m pytest tests/paper`` runs them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

TESTS = Path(__file__).parents[1]
# Experiments and benchmarks are no part of the installed package; the tests of the benchmarks lend
# their samples of results.
sys.path += [str(TESTS.parent), str(TESTS / "python")]


@pytest.fixture(scope="session", autouse=True)
def one_blas_thread():
    """Keep the BLAS of the oracles from fighting for processors: their matrices are small."""
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20190815)
