"""A time budget for the choice of a model."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

import gegenbauer.estimators._best_model as best_model
from gegenbauer import GegenbauerClassifierCV, GegenbauerRegressorCV, load, save
from gegenbauer.errors import TimeBudgetWarning
from gegenbauer.estimators._time_budget import Choice, Speed, expect, measure, plan

SPEED = Speed(search=0.015, unit=2e-11)  # 3 s a search; 1.6 s a fit of 3,000 samples
BEST = Choice(n_search=500, n_landmarks=0, n_alternatives=2)


def samples(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


class TestExpect:
    def test_by_definition(self):
        fit = 3 * 2e-11 * 3000**3
        assert expect(BEST, 3000, 3000, 500, SPEED) == pytest.approx(3 * (3 + fit))
        first = BEST._replace(n_alternatives=0)
        assert expect(first, 3000, 3000, 500, SPEED) == pytest.approx(3 + fit)
        halves = first._replace(n_search=250)
        assert expect(halves, 3000, 3000, 500, SPEED) == pytest.approx(3 / 8 + fit)

    def test_of_more_samples_some_are_judged(self):
        found = expect(BEST, 10_000, 5000, 500, SPEED)
        fits = [3 * 2e-11 * n**3 for n in (10_000, 5000)]
        assert found == pytest.approx(3 + fits[0] + 3 * (3 + fits[1]))

    def test_landmarks_grow_with_the_samples_alone(self):
        one = [expect(Choice(500, 1000, 0), n, n, 500, SPEED) - 3 for n in (10_000, 20_000, 40_000)]
        assert one == pytest.approx([one[0], 2 * one[0], 4 * one[0]])


class TestPlan:
    @pytest.mark.parametrize("n", [3000, 10_000])
    def test_as_little_is_given_up_as_may_be(self, n):
        before = BEST
        for seconds in np.geomspace(1e4, 1e-3, 60):
            found = plan(seconds, BEST, n, min(n, 5000), SPEED)
            expected = expect(found, n, min(n, 5000), 500, SPEED)
            cheapest = found.n_search <= 125 and 0 < found.n_landmarks < 125
            assert expected <= seconds or cheapest
            assert found.n_search <= before.n_search
            assert found.n_alternatives <= before.n_alternatives
            before = found

    def test_the_order(self):
        n = 10_000
        whole = expect(BEST, n, 5000, 500, SPEED)
        first = expect(BEST._replace(n_alternatives=0), n, 5000, 500, SPEED)
        assert plan(whole, BEST, n, 5000, SPEED) == BEST
        assert plan(0.99 * whole, BEST, n, 5000, SPEED) == Choice(500, 0, 0)
        assert plan(first, BEST, n, 5000, SPEED) == Choice(500, 0, 0)
        assert plan(0.99 * first, BEST, n, 5000, SPEED) == Choice(500, 5000, 0)
        few = plan(4.0, BEST, n, 5000, SPEED)
        assert few.n_search == 500
        assert 100 <= few.n_landmarks < 5000
        assert plan(1.0, BEST, n, 5000, SPEED).n_search < 500

    def test_samples_that_all_need_a_coefficient_keep_it(self):
        found = plan(1e-3, BEST, 10_000, 5000, SPEED, all_samples=True)
        assert found.n_landmarks == 0
        assert found.n_search <= 125

    def test_landmarks_become_fewer(self):
        best = Choice(500, 3000, 2)
        assert plan(1e9, best, 10**5, 5000, SPEED) == best
        found = plan(100.0, best, 10**5, 5000, SPEED)
        assert 100 <= found.n_landmarks < 3000
        assert expect(found, 10**5, 5000, 500, SPEED) <= 100


@pytest.mark.parametrize("kind", [GegenbauerRegressorCV, GegenbauerClassifierCV])
class TestFit:
    def fitted(self, kind, **parameters):
        X, y = samples()
        return kind(**parameters).fit(X, y if kind is GegenbauerRegressorCV else y > 0)

    @pytest.mark.slow
    def test_a_large_budget_changes_nothing(self, kind):
        X, _ = samples(50, seed=3)
        with warnings.catch_warnings():
            warnings.simplefilter("error", TimeBudgetWarning)
            models = [self.fitted(kind, max_seconds=seconds) for seconds in (1e6, None)]
        np.testing.assert_array_equal(*(m.expansion_.evaluate(X) for m in models))
        assert models[0].alternatives_ == models[1].alternatives_

    def test_the_cheapest_of_all(self, kind, tmp_path):
        with pytest.warns(TimeBudgetWarning, match="makes the fit cheaper") as caught:
            model = self.fitted(kind, max_seconds=1e-6)
        text = str(next(w.message for w in caught if w.category is TimeBudgetWarning))
        assert text.startswith("`max_seconds=1e-06` makes the fit cheaper, which would take some ")
        assert " landmarks take the place of all 1200 samples" in text
        assert "spectra are learned on " in text
        assert "not on 500" in text
        assert model.engine_ == "landmarks"
        assert model.alternatives_ == {}
        assert model.n_search_samples_ < 300
        save(model, tmp_path / "model")
        assert load(tmp_path / "model").max_seconds == 1e-6

    def test_alternatives_alone_are_left_out(self, kind, monkeypatch):
        """By a speed that is given, of which all is expected to take 10 s without."""
        monkeypatch.setattr(best_model, "measure", lambda *_: Speed(0.0, 1.2e-9))
        X, y = samples()  # unevenly, since classes have no other alternative
        model = kind(max_seconds=9.0)
        with pytest.warns(TimeBudgetWarning) as caught:
            model.fit(X**5, y if kind is GegenbauerRegressorCV else y > 0)
        assert model.engine_ == "kernel"
        assert model.alternatives_ == {}
        message = next(str(w.message) for w in caught if w.category is TimeBudgetWarning)
        assert message.endswith(": no other models are tried")

    @pytest.mark.parametrize("wrong", [0, -1.0, "x", np.nan])
    def test_wrong_budgets(self, kind, wrong):
        with pytest.raises(ValueError, match="max_seconds"):
            self.fitted(kind, max_seconds=wrong)

    def test_finite_sets_have_none(self, kind):
        with warnings.catch_warnings():
            warnings.simplefilter("error", TimeBudgetWarning)
            assert self.fitted(kind, max_seconds=1e-6, n_terms=20).n_terms_ == 20


@pytest.mark.parametrize("n", [2, 5, 60])
def test_few_samples_have_nothing_that_is_cheaper(n):
    X, y = samples(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", TimeBudgetWarning)
        model = GegenbauerRegressorCV(max_seconds=1e-9).fit(X, y)
    assert model.n_search_samples_ <= n


def test_a_given_spectrum_is_not_learned():
    X, y = samples()
    with pytest.warns(TimeBudgetWarning) as caught:
        GegenbauerRegressorCV(spectrum=(0.3, 2.0), max_seconds=1e-9).fit(X, y)
    message = next(str(w.message) for w in caught if w.category is TimeBudgetWarning)
    assert "spectra" not in message
    assert "landmarks" in message


def test_budgets_that_are_fractions():
    from fractions import Fraction

    X, y = samples()
    with pytest.warns(TimeBudgetWarning, match=r"`max_seconds=1e-06`"):
        GegenbauerRegressorCV(max_seconds=Fraction(1, 10**6)).fit(X, y)


def test_five_spectra_keep_their_samples():
    X, y = samples(200)
    with pytest.warns(TimeBudgetWarning, match="spectra are learned"):
        model = GegenbauerRegressorCV(max_seconds=1e-6, intervals="five_spectra").fit(X, y)
    assert len(model.spectra_) == 5


def test_what_is_measured_is_time(monkeypatch):
    clock = iter([0.0, 0.3, 1.0, 1.02, 2.0, 2.05, 3.0, 3.04, 4.0, 4.08, 5.0, 5.06, 6.0, 6.07])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    model = GegenbauerRegressorCV(n_jobs=1)
    X, y = samples(700)
    from gegenbauer.basis import SpectrumKernel
    from gegenbauer.estimators._samples import Samples

    data = Samples(X, y[:, np.newaxis], None, np.arange(700))
    options = {"scaling": None, "penalize_constant": True, "n_threads": model._n_threads()}
    found = measure(SpectrumKernel(3, (0.3, 2.0)), data, 500, options)
    # once is enough where it takes long, and some samples then stand for more
    assert found == Speed(pytest.approx(0.3), pytest.approx(0.3 / 500**3))
    found = measure(SpectrumKernel(3, (0.3, 2.0)), data, 500, options)
    assert found == Speed(pytest.approx(0.02), pytest.approx(0.06 / 700**3))
