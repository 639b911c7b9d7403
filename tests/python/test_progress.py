"""Progress of long fits: scikit-learn's callbacks, a log, a line on request, and silence."""

from __future__ import annotations

import importlib
import logging
import pickle
import sys
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gegenbauer import GegenbauerClassifierCV, GegenbauerRegressor, GegenbauerRegressorCV
from gegenbauer.estimators import _progress as progress

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(40, 2))
Y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * RNG.normal(size=40)
CASES = [
    (GegenbauerRegressorCV(), Y, "spectrum", "alpha on all samples"),
    (GegenbauerRegressorCV(n_terms=10), Y, "spectrum", "alpha of 10 terms"),
    (GegenbauerRegressorCV(kernel_samples=0), Y, "spectrum", "alpha by up to 40 landmarks"),
    (GegenbauerClassifierCV(), Y > 0.5, "spectrum", "alpha on all samples"),
    (
        GegenbauerClassifierCV(spectrum=None, lam=[0.05, 0.5], n_terms=5),
        Y > 0.5,
        "basis",
        "weights",
    ),
]


def name_of(case):
    return str(case)[:40]


class Recorder:
    """A callback of the documented protocol that writes down what it is given."""

    def __init__(self):
        self.record = []
        self.given = {}
        self.fitted = None

    def setup(self, estimator, context):
        self.record.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.record.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
        self.given[context.task_name] = (estimator, X, y, metadata)
        self.record.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.record.append(("end", context.task_name))
        if fitted_estimator is not None:
            self.fitted = fitted_estimator


class TestCallbacks:
    @pytest.fixture(autouse=True)
    def _interface(self):
        pytest.importorskip("sklearn.callback", reason="scikit-learn has no callbacks before 1.9")

    @pytest.mark.parametrize(
        ("estimator", "y", "first", "last"), CASES, ids=lambda case: str(case)[:40]
    )
    def test_tasks_are_nested(self, estimator, y, first, last):
        """Each stage and step begins before it ends, within what it is a part of."""
        recorder = Recorder()
        weights = np.ones(40)
        model = clone(estimator).set_callbacks(recorder).fit(X, y, weights)
        record = recorder.record
        assert record[0] == ("setup", "fit")
        assert record[1] == ("begin", "fit")
        assert record[-2:] == [("end", "fit"), ("teardown", "fit")]
        open_tasks = []
        for hook, name in record[1:-1]:
            if hook == "begin":
                open_tasks.append(name)
            else:
                assert open_tasks.pop() == name
        assert open_tasks == []
        stages = [name for hook, name in record if hook == "begin" and name not in ("fit", "step")]
        assert stages == [first, last]
        n_steps = record.count(("begin", "step"))
        assert n_steps == record.count(("end", "step"))
        assert n_steps > 2
        given, given_X, given_y, metadata = recorder.given["fit"]
        assert given is model
        assert_array_equal(given_X, X)
        assert_array_equal(given_y, y)
        assert_array_equal(metadata["sample_weight"], weights)
        assert_array_equal(recorder.fitted.predict(X), model.predict(X))

    def test_results_do_not_depend_on_callbacks(self):
        plain = GegenbauerRegressorCV().fit(X, Y)
        watched = GegenbauerRegressorCV().set_callbacks(Recorder()).fit(X, Y)
        for one, other in zip(watched.expansion_.parts, plain.expansion_.parts, strict=True):
            assert_array_equal(one.coef, other.coef)
        assert vars(watched).keys() - vars(plain).keys() == {"_skl_callbacks"}
        again = pickle.loads(pickle.dumps(watched.set_callbacks()))
        assert vars(again).keys() == vars(plain).keys()

    def test_a_failed_fit_is_torn_down(self):
        recorder = Recorder()

        def refuse(estimator, X, y):
            raise ValueError("no score")

        model = GegenbauerRegressorCV(scoring=refuse).set_callbacks(recorder)
        before = dict(vars(model))
        with pytest.raises(ValueError, match="no score"):
            model.fit(X, Y)
        assert recorder.record[-1] == ("teardown", "fit")
        assert ("end", "fit") not in recorder.record
        assert vars(model) == before

    def test_a_wrong_parameter_is_given_to_nobody(self):
        recorder = Recorder()
        with pytest.raises(ValueError, match="search_samples"):
            GegenbauerRegressorCV(search_samples=1).set_callbacks(recorder).fit(X, Y)
        assert recorder.record == []

    def test_progress_bar(self, capsys):
        """Of scikit-learn, by itself and from a grid search down."""
        from sklearn.callback import ProgressBar

        GegenbauerClassifierCV().set_callbacks(ProgressBar()).fit(X, Y > 0.5)
        shown = capsys.readouterr().out
        assert "GegenbauerClassifierCV - fit" in shown
        assert "GegenbauerClassifierCV - spectrum" in shown
        assert "100%" in shown
        pipeline = make_pipeline(GegenbauerRegressorCV())
        search = GridSearchCV(pipeline, {"gegenbauerregressorcv__search_samples": [20, 30]}, cv=2)
        search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, Y)
        shown = capsys.readouterr().out
        assert "GegenbauerRegressorCV - fit" in shown
        assert "GridSearchCV - fit" in shown

    def test_scoring_monitor(self):
        from sklearn.callback import ScoringMonitor

        monitor = ScoringMonitor(scoring="r2")
        model = GegenbauerRegressorCV().set_callbacks(monitor).fit(X, Y)
        (log,) = monitor.get_logs(select="all")
        scores = [entry["r2"] for entry in log.data if entry["task_name"] == "fit"]
        assert scores == [model.score(X, Y)]


@pytest.mark.parametrize(
    ("estimator", "y", "first", "last"), CASES, ids=lambda case: str(case)[:40]
)
@pytest.mark.parametrize("tqdm", [True, False])
class TestLine:
    def test_on_request(self, monkeypatch, capsys, estimator, y, first, last, tqdm):
        if tqdm:
            pytest.importorskip("tqdm")
        else:
            monkeypatch.setitem(sys.modules, "tqdm.auto", None)
        clone(estimator).set_params(verbose=1).fit(X, y)
        shown = capsys.readouterr()
        assert f"{first} 2" in shown.out + shown.err or f"{first}, step 2" in shown.out + shown.err
        if not tqdm:
            lines = shown.out.splitlines()
            assert all(line.startswith("gegenbauer: ") for line in lines)
            assert lines[-1] == f"gegenbauer: {last}"

    def test_silent_in_pipelines(self, capsys, estimator, y, first, last, tqdm):
        make_pipeline(StandardScaler(), clone(estimator)).fit(X, y)
        assert capsys.readouterr() == ("", "")


class TestLog:
    """The logger "gegenbauer", which gets all that `verbose` shows, and shows it without."""

    def test_stages_are_information_and_steps_are_details(self, caplog):
        model = GegenbauerRegressorCV(intervals="one_spectrum")
        with caplog.at_level(logging.INFO, "gegenbauer"):
            model.fit(X, Y)
        stages = [record.getMessage() for record in caplog.records]
        assert stages == ["spectrum", "alpha on all samples"]
        caplog.clear()
        with caplog.at_level(logging.DEBUG, "gegenbauer"):
            model.fit(X, Y)
        assert {record.name for record in caplog.records} == {"gegenbauer"}
        levels = [record.levelno for record in caplog.records]
        assert [r.getMessage() for r in caplog.records if r.levelno == logging.INFO] == stages
        assert levels.count(logging.DEBUG) > 2

    def test_nothing_without_a_request(self, caplog, capsys):
        GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(X, Y)
        assert caplog.records == []
        assert capsys.readouterr() == ("", "")

    def test_streams(self, caplog):
        with caplog.at_level(logging.INFO, "gegenbauer"):
            GegenbauerRegressor(3).fit_stream([(X[:30], Y[:30]), (X[30:], Y[30:])])
            GegenbauerRegressorCV(spectrum=(0.5, 2.0), n_terms=5).fit_stream([(X, Y)])
        lines = [record.getMessage() for record in caplog.records]
        counts = [line for line in lines if line.startswith("40 samples, ")]
        assert len(counts) == 2  # streams
        assert all(line.endswith(" samples/s") for line in counts)
        others = [line for line in lines if line not in counts]
        assert others[0].startswith("5 folds of ")
        assert others[1:] == ["terms and alpha"]

    def test_verbose_leaves_the_logger_as_it_was(self, monkeypatch, caplog, capsys):
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
        logger = logging.getLogger("gegenbauer")
        before = logger.level, [*logger.handlers], logger.propagate
        GegenbauerRegressorCV(spectrum=(0.5, 2.0), verbose=1).fit(X, Y)
        assert (logger.level, logger.handlers, logger.propagate) == before
        assert caplog.records == []
        assert "gegenbauer: alpha on all samples\n" in capsys.readouterr().out

    def test_nothing_comes_twice(self, monkeypatch, caplog, capsys):
        """Where others show all of it, `verbose` has nothing to add."""
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
        with caplog.at_level(logging.DEBUG, "gegenbauer"):
            GegenbauerRegressorCV(verbose=1).fit(X, Y)
        assert len(caplog.records) > 2
        assert capsys.readouterr().out == ""

    def test_fits_side_by_side_show_their_own(self, monkeypatch, capsys):
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
        silent = [GegenbauerRegressorCV(spectrum=(0.5, 2.0), n_terms=9) for _ in range(3)]
        shown = GegenbauerRegressorCV(spectrum=(0.5, 2.0), verbose=1)
        threads = [threading.Thread(target=m.fit, args=(X, Y)) for m in [*silent, shown, *silent]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lines = capsys.readouterr().out
        assert lines.count("gegenbauer: alpha on all samples\n") == 1
        assert "alpha of 9 terms" not in lines


def test_without_the_interface(monkeypatch, capsys):
    """As with scikit-learn before 1.9: nothing but the line."""
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    old = importlib.reload(progress)
    try:
        assert not hasattr(old.CallbackSupportMixin, "set_callbacks")
        assert old.with_callbacks(len) is len

        class Plain(old.CallbackSupportMixin):
            pass

        with old.Progress(Plain(), 2, X=X) as silent, silent.stage("one", n_steps=None):
            silent.step("step 1")
        assert capsys.readouterr() == ("", "")
    finally:
        monkeypatch.undo()
        importlib.reload(progress)
