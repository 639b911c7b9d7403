"""Several threads or processes at one estimator: nothing is lost, and nothing depends on joblib."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    GramStatistics,
    MomentStatistics,
    TensorBasis,
    default_threads,
)
from gegenbauer import dask as on_dask
from gegenbauer._locks import _LOCKS, exclusive

N_THREADS, N_CALLS = 8, 25
X = np.linspace(0.0, 1.0, 4)[:, np.newaxis]
Y = np.array([0.0, 1.0, 0.0, 1.0])


@pytest.fixture(autouse=True)
def switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(*calls):
    """Run each call in a thread of its own, and raise what one of them raised."""
    errors = []

    def run(call):
        try:
            call()
        except BaseException as error:  # it is raised below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def often(call):
    return lambda: [call() for _ in range(N_CALLS)]


def classify(model):
    return model.partial_fit(X, Y.astype(int), classes=[0, 1])


LEARNERS = {
    "regressor": (lambda: GegenbauerRegressor(3), lambda m: m.partial_fit(X, Y)),
    "classifier": (lambda: GegenbauerClassifier(3), classify),
    "Dask": (lambda: on_dask.GegenbauerRegressor(3), lambda m: m.partial_fit(X, Y)),
}
COPIES = {
    "itself": lambda m: m,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda m: pickle.loads(pickle.dumps(m)),
    "clone": clone,
}


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("made", COPIES)
def test_no_sample_is_lost(kind, made):
    make, learn = LEARNERS[kind]
    model = COPIES[made](learn(make()))
    before = 0 if made == "clone" else len(X)
    in_threads(*[often(lambda: learn(model))] * N_THREADS)
    assert model.n_samples_seen_ == before + N_THREADS * N_CALLS * len(X)
    assert model.statistics_.weight_sum == model.n_samples_seen_
    alone = learn(make())
    np.testing.assert_allclose(
        model.statistics_._packed(),
        alone.statistics_._packed() * (model.n_samples_seen_ / len(X)),
        rtol=1e-12,
    )


def test_samples_come_and_go():
    model = GegenbauerRegressor(3, bounds=[[0, 1]]).partial_fit(X, Y)
    come = often(lambda: model.partial_fit(X, Y))
    in_threads(come, come, come, come)
    go = often(lambda: model.forget(X, Y))
    in_threads(come, go, go, go)
    assert model.n_samples_seen_ == (1 + (4 + 1 - 3) * N_CALLS) * len(X)


@pytest.mark.parametrize("cls", [GramStatistics, MomentStatistics])
def test_statistics(cls):
    statistics = cls(TensorBasis(1, degree=2))
    in_threads(*[often(lambda: statistics.update(X, Y))] * N_THREADS)
    assert statistics.n_samples == statistics.weight_sum == N_THREADS * N_CALLS * len(X)
    one = cls.from_data(statistics.basis, X, Y)
    expected = one._packed() * N_THREADS * N_CALLS
    np.testing.assert_allclose(statistics._packed(), expected, rtol=1e-12)


def test_predictions_while_others_learn():
    """Each is that of some number of batches: weights and range belong together.

    Batch k widens the range to [0, k]; its targets are x / 10 everywhere, so that every state of
    the model predicts 0.02 at 0.2, and weights in the range of another state do not.
    """
    model = GegenbauerRegressor(2, alpha=0, out_of_range="extrapolate")
    model.partial_fit([[0.0], [1.0]], [0.0, 0.1])
    done, wrong = threading.Event(), []

    def learn():
        try:
            for k in range(2, 200):
                model.partial_fit([[0.0], [float(k)]], [0.0, k / 10])
        finally:
            done.set()

    def look():
        while not done.is_set():
            value = float(model.predict([[0.2]])[0])
            if abs(value - 0.02) > 1e-6:
                wrong.append(value)

    in_threads(learn, look, look)
    assert not wrong


def test_a_prediction_is_of_one_state(monkeypatch):
    """As above, but another thread always learns between the look at the weights and the range."""
    model = GegenbauerRegressor(2, alpha=0, out_of_range="extrapolate")
    model.partial_fit([[0.0], [1.0]], [0.0, 0.1])
    current = GegenbauerRegressor._current_scaling

    def learn_meanwhile(self):
        in_threads(lambda: model.partial_fit([[0.0], [9.0]], [0.0, 0.9]))
        return current(self)

    monkeypatch.setattr(GegenbauerRegressor, "_current_scaling", learn_meanwhile)
    assert abs(float(model.predict([[0.2]])[0]) - 0.02) < 1e-12


def test_solved_for_once(monkeypatch):
    model = GegenbauerRegressor(3).partial_fit(X, Y)
    solved = []
    solve = GegenbauerRegressor._solve_statistics
    monkeypatch.setattr(
        GegenbauerRegressor, "_solve_statistics", lambda self: (solved.append(1), solve(self))
    )
    in_threads(*[lambda: model.predict(X)] * N_THREADS)
    assert len(solved) == 1


def test_sums_while_others_learn():
    model, fixed = (
        GegenbauerRegressor(3).partial_fit(X, Y),
        GegenbauerRegressor(3).partial_fit(X, Y),
    )
    seen = []

    def add():
        both = model + fixed
        seen.append(both.n_samples_seen_ - both.statistics_.weight_sum)

    in_threads(often(lambda: model.partial_fit(X, Y)), often(add), often(add))
    assert set(seen) == {0}


def test_locks_go_with_their_objects():
    model = GegenbauerRegressor(3).partial_fit(X, Y)
    assert exclusive(model) is exclusive(model)
    assert exclusive(model) is not exclusive(copy.copy(model))
    key = id(model)
    assert key in _LOCKS
    del model
    assert key not in _LOCKS


def learn_in_child(model):
    return model.partial_fit(X, Y).n_samples_seen_


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes fork")
def test_a_fork_inherits_no_lock_that_is_held():
    model = GegenbauerRegressor(3).partial_fit(X, Y)
    holds, free = threading.Event(), threading.Event()

    def hold():
        with exclusive(model):
            holds.set()
            free.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
            child = os.fork()
        if child == 0:
            os._exit(0 if learn_in_child(model) == 2 * len(X) else 1)
        assert os.waitpid(child, 0)[1] == 0
    finally:
        free.set()
        thread.join()


# --- Numbers of threads ---------------------------------------------------------------------------


def test_workers_of_multiprocessing(monkeypatch):
    """They are daemons, of which joblib's own workers may not start; threads may.

    They are sent methods of the package, since they need not find this file.
    """
    models = [GegenbauerRegressor(3, n_jobs=n_jobs) for n_jobs in (2, -1)]
    monkeypatch.setenv("PYTHONWARNINGS", "error::UserWarning")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        n_threads = [pool.apply(model._n_threads) for model in models]
        fitted = [pool.apply(model.fit, (X, Y)) for model in models]
    assert n_threads == [2, models[1]._n_threads()]
    for there, model in zip(fitted, models, strict=True):
        np.testing.assert_array_equal(there.predict(X), model.fit(X, Y).predict(X))


def test_n_jobs():
    assert GegenbauerFeatures(n_jobs=3)._n_threads() == 3
    assert GegenbauerFeatures()._n_threads() is None
    every = GegenbauerFeatures(n_jobs=-1)._n_threads()
    assert every >= default_threads() >= 1
    assert GegenbauerFeatures(n_jobs=-2)._n_threads() == max(1, every - 1)
    assert GegenbauerFeatures(n_jobs=-1000)._n_threads() == 1


def test_limit_of_loky_that_is_no_number():
    program = (
        "from gegenbauer import GegenbauerRegressor\n"
        "for n_jobs in (None, -1):\n"
        "    try:\n"
        "        GegenbauerRegressor(3, n_jobs=n_jobs).fit([[0.0], [1.0]], [0, 1])\n"
        "    except ValueError as error:\n"
        "        print(error)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "LOKY_MAX_CPU_COUNT": "x"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    lines = found.stdout.splitlines()
    assert len(lines) == 2
    message = "the environment variable LOKY_MAX_CPU_COUNT must be a number of processors, got 'x'"
    assert all(line.startswith(message) for line in lines)


# --- Many threads at once -------------------------------------------------------------------------

INPUTS = np.random.default_rng(0).uniform(size=(120, 3))
OUTCOMES = np.sin(3 * INPUTS[:, 0]) + INPUTS[:, 1] ** 2
CLASSES = np.digitize(OUTCOMES, [0.6, 1.2])
HALVES = [(INPUTS[rows], OUTCOMES[rows]) for rows in (slice(0, 70), slice(70, 120))]
FITS = {
    "features": lambda: GegenbauerFeatures(degree=3).fit(INPUTS),
    "terms": lambda: GegenbauerRegressor(n_terms=60).fit(INPUTS, OUTCOMES),
    "dual": lambda: GegenbauerRegressor(n_terms=300, engine="dual", solver="orthogonal").fit(
        INPUTS, OUTCOMES
    ),
    "classes": lambda: GegenbauerClassifier(n_terms=60, engine="primal").fit(INPUTS, CLASSES),
    "batches": lambda: GegenbauerRegressor(n_terms=40).fit_stream(HALVES),
    "five spectra": lambda: GegenbauerRegressorCV().fit(INPUTS, OUTCOMES),
    "landmarks": lambda: GegenbauerRegressorCV(kernel_samples=0).fit(INPUTS, OUTCOMES),
    "chosen terms": lambda: GegenbauerRegressorCV(n_terms=30).fit(INPUTS, OUTCOMES),
    "chosen for classes": lambda: GegenbauerClassifierCV().fit(INPUTS, CLASSES),
    "paper": lambda: GegenbauerClassifierCV(spectrum=None, n_terms=[10, 30]).fit(INPUTS, CLASSES),
    "chosen from a stream": lambda: GegenbauerRegressorCV(
        spectrum=(0.5, 2.0), n_terms=20
    ).fit_stream(HALVES),
}


def outputs(model):
    """Return all that a model makes of new samples."""
    new = np.random.default_rng(1).uniform(size=(200, 3)) * 0.9 + 0.05
    calls = ("transform", "predict", "predict_proba", "decision_function", "predict_interval")
    return [getattr(model, name)(new) for name in calls if hasattr(model, name)]


def check_equal(found, expected):
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.filterwarnings("ignore::gegenbauer.errors.OutOfRangeWarning")
@pytest.mark.parametrize("kind", FITS)
def test_eight_threads_predict_by_one_estimator(kind):
    """Bitwise what one alone does; the first of them solve for what batches have left to do."""
    model = FITS[kind]()
    expected = outputs(pickle.loads(pickle.dumps(model)))
    found = [[] for _ in range(N_THREADS)]
    in_threads(*[lambda mine=mine: mine.extend(outputs(model)) for mine in found])
    for mine in found:
        check_equal(mine, expected)


@pytest.mark.filterwarnings("ignore::gegenbauer.errors.OutOfRangeWarning")
def test_different_estimators_learn_at_once():
    """Bitwise what they learn one after the other, where the threads of BLAS are as many."""
    expected = {kind: outputs(fit()) for kind, fit in FITS.items()}
    found = {}

    def learn(kind):
        found[kind] = outputs(FITS[kind]())

    in_threads(*[lambda kind=kind: learn(kind) for kind in FITS])
    assert found.keys() == FITS.keys()
    for kind, mine in found.items():
        check_equal(mine, expected[kind])


def test_equal_bases_are_made_at_once():
    """They share what the core keeps of the last few."""
    expected = [TensorBasis(3, n_terms=k).evaluate(INPUTS) for k in range(1, 20)]
    found = [[] for _ in range(N_THREADS)]

    def make(mine):
        mine.extend(TensorBasis(3, n_terms=k).evaluate(INPUTS) for k in range(1, 20))

    in_threads(*[lambda mine=mine: make(mine) for mine in found])
    for mine in found:
        check_equal(mine, expected)
