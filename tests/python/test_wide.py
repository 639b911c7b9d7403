"""Many more inputs than samples: which of them get weights, and at what cost."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gegenbauer import (
    GegenbauerClassifierCV,
    GegenbauerRegressorCV,
    InputScaling,
    PowerDecay,
    load,
    save,
)
from gegenbauer.basis import Levels, SpectrumKernel
from gegenbauer.errors import TimeBudgetWarning
from gegenbauer.selection import learn_spectrum, spectrum_objective
from gegenbauer.selection._learn_spectrum import first_spectrum


def samples(n=40, m=60, seed=0):
    """Two inputs that matter, among others that do not."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, X[:, 3] + np.sin(2 * X[:, m - 2]) + 0.1 * rng.normal(size=n)


def box_of(X):
    return InputScaling.fit(X, domain=(-1, 1))


def promising(X, y, n_inputs, weight=None):
    """Return inputs by the derivatives of the objective at the best of a few penalties."""
    m = X.shape[1]
    kernel = SpectrumKernel(m, first_spectrum(m))
    weights = np.ones(len(X)) if weight is None else weight
    level = float(np.average(kernel.diagonal(X, scaling=box_of(X)), weights=weights)) - 1
    found = [
        spectrum_objective(
            kernel, X, y, alpha * level * weights.mean(), sample_weight=weight,
            scaling=box_of(X), penalize_constant=False,
        )
        for alpha in 10.0 ** np.arange(-9, 2, 2)
    ]  # fmt: skip
    best = min(found, key=lambda one: one.value)
    return np.sort(np.argsort(best.by_log_interaction.min(axis=1))[:n_inputs])


class TestLearning:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_is_a_search_among_the_most_promising(self, weighted):
        X, y = samples()
        weight = np.random.default_rng(1).uniform(0.5, 2, len(X)) if weighted else None
        given = {"sample_weight": weight, "penalize_constant": False, "max_iter": 8}
        kept = promising(X, y - np.average(y, weights=weight), 10, weight)
        assert 3 in kept
        kernel, alpha = learn_spectrum(
            X, y - np.average(y, weights=weight), scaling=box_of(X), n_inputs=10, **given
        )
        alone, same = learn_spectrum(
            X[:, kept], y - np.average(y, weights=weight), scaling=box_of(X[:, kept]), **given
        )
        q = kernel.spectrum.interactions(60)
        assert_array_equal(np.flatnonzero(q.any(axis=1)), kept)
        assert_allclose(q[kept], alone.spectrum.interactions(10), rtol=1e-6)
        assert alpha == pytest.approx(same, rel=1e-6)
        assert_allclose(
            kernel(X, scaling=box_of(X)), alone(X[:, kept], scaling=box_of(X[:, kept])), rtol=1e-6
        )

    def test_few_inputs_are_all_searched(self):
        X, y = samples(m=12)
        found = [
            learn_spectrum(X, y, scaling=box_of(X), max_iter=5, n_inputs=n) for n in (None, 12, 99)
        ]
        for kernel, alpha in found[1:]:
            assert (kernel, alpha) == (found[0][0], found[0][1])

    def test_inputs_without_a_weight_keep_none(self):
        X, y = samples(m=6)
        start = np.full((6, 2), 0.1)
        start[[1, 4]] = 0.0
        parts = [PowerDecay(start[:, 0].tolist(), 2), PowerDecay(start[:, 1].tolist(), 4)]
        kernel, alpha = learn_spectrum(X, y, components=parts, scaling=box_of(X), max_iter=5)
        some = np.array([0, 2, 3, 5])
        alone, same = learn_spectrum(
            X[:, some], y, components=[PowerDecay(0.1, 2), PowerDecay(0.1, 4)],
            scaling=box_of(X[:, some]), max_iter=5,
        )  # fmt: skip
        q = kernel.spectrum.interactions(6)
        assert not q[[1, 4]].any()
        assert_allclose(q[some], alone.spectrum.interactions(4), rtol=1e-8)
        assert alpha == pytest.approx(same, rel=1e-8)
        with pytest.raises(ValueError, match="positive interactions"):
            learn_spectrum(X, y, components=PowerDecay([0.0] * 6, 2))

    def test_levels_stay_with_their_inputs(self):
        rng = np.random.default_rng(2)
        codes = rng.integers(0, 3, 60).astype(float)
        X = np.column_stack([rng.uniform(-1, 1, (60, 20)), codes, rng.uniform(-1, 1, (60, 4))])
        y = np.array([0.0, 1.0, -1.0])[codes.astype(int)] + 0.1 * rng.normal(size=60)
        levels = [None] * 20 + [Levels.of_codes(codes, 3)] + [None] * 4
        box = box_of(X)
        kernel, _ = learn_spectrum(
            X, y, components=first_spectrum(25, levels), scaling=box, n_inputs=4, max_iter=10
        )
        assert kernel.spectrum.levels == tuple(levels)
        q = kernel.spectrum.interactions(25).sum(axis=1)
        assert np.count_nonzero(q) == 4
        assert q.argmax() == 20

    def test_a_callback_ends_the_search(self):
        X, y = samples(m=6)
        steps = []

        def three(k):
            steps.append(k)
            if k == 3:
                raise StopIteration

        kernel, alpha = learn_spectrum(X, y, scaling=box_of(X), callback=three)
        expected, same = learn_spectrum(X, y, scaling=box_of(X), max_iter=3)
        assert steps == [1, 2, 3]
        assert_allclose(
            kernel.spectrum.interactions(6), expected.spectrum.interactions(6), rtol=1e-10
        )
        assert alpha == pytest.approx(same)


def test_some_columns_of_a_box():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 5))
    X[:, 2] = 7.0
    warping = [None, ([0, 0.3, 1], [0, 0.6, 1]), None, None, ([0, 1], [0, 1])]
    box = InputScaling.fit(X, domain=(-1, 1)).replace(
        warping=warping, categories=[False, False, False, False, True], clip=False
    )
    for used in ([1, 1, 0, 1, 0], [0, 0, 1, 0, 1], [1, 1, 1, 1, 1]):
        used = np.array(used, dtype=bool)
        assert_array_equal(box.some(used).transform(X[:, used]), box.transform(X)[:, used])
        assert box.some(used).clip is False
    assert box.some(np.ones(5, dtype=bool)) == box


class TestModels:
    M = 1100

    @pytest.mark.slow
    def test_a_thousand_inputs_get_weights(self):
        X, y = samples(50, self.M)
        model = GegenbauerRegressorCV(n_jobs=1).fit(X, y)
        assert len(model.spectra_) == 5
        for spectrum in model.spectra_:
            q = spectrum.interactions(self.M).sum(axis=1)
            assert 0 < np.count_nonzero(q) <= 1000
        assert model.relevances_.argmax() in (3, self.M - 2)

    @pytest.mark.filterwarnings("ignore:the model is no better:UserWarning")
    def test_a_budget(self, tmp_path):
        X, y = samples(30, self.M)
        with pytest.warns(TimeBudgetWarning) as caught:
            model = GegenbauerRegressorCV(max_seconds=1e-3, n_jobs=1).fit(X, y)
        texts = [str(w.message) for w in caught if w.category is TimeBudgetWarning]
        assert len(texts) == 2
        assert texts[0].endswith("one spectrum is learned, not several")
        assert texts[1] == "`max_seconds=0.001` ended the search of a spectrum before its best"
        assert len(model.spectra_) == 1
        assert "_clock" not in vars(model)
        save(model, tmp_path / "model")
        assert_array_equal(load(tmp_path / "model").predict(X), model.predict(X))

    def test_five_spectra_on_request(self):
        X, y = samples(20, self.M)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = GegenbauerRegressorCV(max_seconds=1e-3, intervals="five_spectra").fit(X, y)
        assert len(model.spectra_) == 5

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_classes(self):
        X, y = samples(30, self.M)
        model = GegenbauerClassifierCV(max_seconds=1e-3).fit(X, y > 0)
        assert np.isfinite(model.loo_predictions_).all()
        assert "_clock" not in vars(model)
