"""Streams with categories and missing values, judged by fits in memory."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from gegenbauer import (
    ArrayBatches,
    Checkpoint,
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    GramStatistics,
    InputScaling,
    PowerDecay,
    Spectrum,
    TensorBasis,
    load,
    save,
    sobol_indices,
)
from gegenbauer.basis import Levels, SpectrumKernel
from gegenbauer.errors import StreamError, StreamOrderWarning
from gegenbauer.estimators import _draw, _first_samples, _fold_sums
from gegenbauer.ridge.landmarks import choose_landmarks
from gegenbauer.ridge.statistics.landmarks import LandmarkStatistics

Q = (0.5, 0.3, 0.2, 0.4)


def table(n=400, seed=0):
    """Two numbers, of which one has gaps, a category of four levels, and truth values."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "x": rng.uniform(2, 5, size=n),
            "colour": rng.choice(["blue", "green", "red", "white"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "z": rng.normal(size=n),
            "old": rng.random(n) < 0.3,
        }
    )
    X.loc[rng.random(n) < 0.2, "z"] = np.nan
    y = np.sin(2 * X.x) * (X.colour == "blue") + 1.0 * X.z.isna() + X.old * X.z.fillna(0.0)
    return X, y.to_numpy() + 0.1 * rng.normal(size=n)


def cut(X, y, *ends, weight=None):
    """Batches of samples that end before these places and before the last."""
    parts = [slice(a, b) for a, b in zip((0, *ends), (*ends, len(y)), strict=True)]
    if weight is None:
        return [(X[s], y[s]) for s in parts]
    return [(X[s], y[s], weight[s]) for s in parts]


CUTS = [(), (1, 2, 3, 250), (100, 101, 102)]

GIVEN = {"degree": 3, "n_terms": None, "alpha": 0.1}


class TestGivenTerms:
    @pytest.mark.parametrize("domain", [(0, 1), (-1, 1)])
    @pytest.mark.parametrize("spectrum", [None, "orthonormal", PowerDecay(Q, 1.0)])
    @pytest.mark.parametrize("ends", CUTS)
    def test_is_the_fit_in_memory(self, ends, spectrum, domain):
        X, y = table()
        given = {**GIVEN, "spectrum": spectrum, "domain": domain}
        expected = GegenbauerRegressor(**given).fit(X, y)
        model = GegenbauerRegressor(**given).fit_stream(cut(X, y, *ends))
        assert model.categories_ == expected.categories_
        assert model.basis_ == expected.basis_
        assert model.scaling_ == expected.scaling_
        np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-10)

    @pytest.mark.parametrize("ends", CUTS)
    def test_classes_with_weights(self, ends):
        X, y = table()
        labels = np.where(y > 0.5, "high", "low")
        weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
        given = {**GIVEN, "class_weight": {"high": 3.0}}
        expected = GegenbauerClassifier(**given).fit(X, labels, sample_weight=weight)
        model = GegenbauerClassifier(**given).fit_stream(cut(X, labels, *ends, weight=weight))
        assert model.basis_ == expected.basis_  # with the shares of the levels
        found, wanted = (one.decision_function(X) for one in (model, expected))
        np.testing.assert_allclose(found, wanted, atol=1e-10)

    def test_bounds(self):
        X, y = table()
        given = {**GIVEN, "bounds": [[0, 6], [0, 1], [-9, 9], [0, 1]]}
        expected = GegenbauerRegressor(**given).fit(X, y)
        model = GegenbauerRegressor(**given).fit_stream(cut(X, y, 30, 60))
        np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-10)

    def test_numbers_that_are_categories(self):
        X, y = table()
        codes = X.colour.map({"blue": 7, "green": 8, "red": 9, "white": 11})
        numbers = np.column_stack([X.x, codes])
        model = GegenbauerRegressor(**GIVEN, categorical_features=[1])
        model.fit_stream(ArrayBatches(numbers, y, batch_size=90))
        expected = GegenbauerRegressor(**GIVEN).fit(X[["x", "colour"]], y)
        np.testing.assert_allclose(
            model.predict(numbers), expected.predict(X[["x", "colour"]]), atol=1e-10
        )

    def test_a_column_that_a_batch_misses_as_a_whole(self):
        X, y = table()
        X["z"] += 5.0  # far from 0, which must not become a part of the box
        X.loc[:99, "z"] = np.nan
        X["colour"] = X.colour.astype(object)
        X.loc[:99, "colour"] = None  # of no type, for itself
        expected = GegenbauerRegressor(**GIVEN).fit(X, y)
        model = GegenbauerRegressor(**GIVEN).fit_stream(cut(X, y, 50, 100, 300))
        assert model.scaling_ == expected.scaling_
        assert model.categories_[1] == ["blue", "green", "red", "white", None]
        np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-10)

    def test_arrays_that_are_filled_again(self):
        X, y = table()
        values, targets = X.to_numpy(dtype=object), y.copy()

        def batches():
            here, there = np.empty((100, 4), dtype=object), np.empty(100)
            for k in range(0, 400, 100):
                here[:], there[:] = values[k : k + 100], targets[k : k + 100]
                yield here, there

        given = {**GIVEN, "categorical_features": [1, 3]}
        model = GegenbauerRegressor(**given).fit_stream(batches())
        expected = GegenbauerRegressor(**given).fit(values, y)
        np.testing.assert_allclose(model.predict(values), expected.predict(values), atol=1e-10)

    def test_partial_fit_takes_levels_from_the_first_batch(self):
        X, y = table()
        rare = X.colour == "white"
        model = GegenbauerRegressor(**GIVEN, out_of_range="clip")
        both = np.r_[np.arange(200), 200 + np.flatnonzero(~rare[200:])]
        model.partial_fit(X[:200], y[:200]).partial_fit(X.iloc[both[200:]], y[both[200:]])
        # the same terms, with the shares of the first batch
        levels = model.basis_.spectrum.levels
        shares = X.colour[:200].value_counts(normalize=True).sort_index()
        np.testing.assert_allclose(levels[1].shares, shares.to_numpy(), rtol=1e-14)
        codes = model._validate_inputs(X.iloc[both], reset=False)
        sums = GramStatistics.from_data(model.basis_, codes, y[both], scaling=model.scaling_)
        expected = sums.solve(0.1).weights[:, 0]
        np.testing.assert_allclose(model.term_coef_, expected, atol=1e-9)

    def test_forget_and_merge(self):
        X, y = table()
        model = GegenbauerRegressor(**GIVEN).partial_fit(X[:300], y[:300])
        more = GegenbauerRegressor(**GIVEN).fit_stream(cut(X, y, 300))
        less = model.partial_fit(X[300:], y[300:]).forget(X[300:], y[300:])
        again = GegenbauerRegressor(**GIVEN).partial_fit(X[:300], y[:300])
        np.testing.assert_allclose(less.predict(X[:300]), again.predict(X[:300]), atol=1e-8)
        with pytest.raises(ValueError, match="only if they know the same levels"):
            again + more
        twice = again + again
        assert twice.n_samples_seen_ == 600
        assert twice.choose_alpha(held_out=[(X, y)]).alpha > 0

    def test_models_of_one_beginning_add(self):
        """Levels are known to all that begin as copies of a model of some samples."""
        X, y = table()
        start = GegenbauerRegressor(**GIVEN).partial_fit(X, y).forget(X, y)
        parts = [pickle.loads(pickle.dumps(start)) for _ in range(4)]
        whole = sum(
            part.partial_fit(X[100 * k : 100 * k + 100], y[100 * k : 100 * k + 100])
            for k, part in enumerate(parts)
        )
        expected = GegenbauerRegressor(**GIVEN).fit(X, y)
        assert whole.n_samples_seen_ == 400
        np.testing.assert_allclose(whole.predict(X), expected.predict(X), atol=1e-8)

    def test_files_and_checkpoints(self, tmp_path):
        X, y = table()
        whole = GegenbauerRegressor(**GIVEN).fit_stream(cut(X, y, 100, 200))
        save(whole, tmp_path / "model")
        again = load(tmp_path / "model")
        assert vars(again).keys() == vars(whole).keys()
        assert again.statistics_ == whole.statistics_
        np.testing.assert_array_equal(again.predict(X), whole.predict(X))
        again.partial_fit(X[:50], y[:50])
        assert again.n_samples_seen_ == 450

        batches = cut(X, y, 100, 200)

        def broken():
            yield from batches[:2]
            raise KeyboardInterrupt

        place = Checkpoint(tmp_path / "kept", every_samples=1)
        with pytest.raises(KeyboardInterrupt):
            GegenbauerRegressor(**GIVEN).fit_stream(broken(), checkpoint=place)
        assert not (tmp_path / "kept").exists()  # the first samples were not all there
        model = GegenbauerRegressor(**GIVEN).fit_stream(batches, checkpoint=place)
        assert model.n_samples_seen_ == 400
        np.testing.assert_allclose(model.predict(X), whole.predict(X), atol=1e-10)

    def test_a_resumed_run_has_the_levels_of_its_first_samples(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_first_samples, "SAMPLE_SIZE", 120)
        X, y = table()
        X = X.assign(colour=X.colour.replace("white", "red"))
        batches = cut(X, y, 100, 200, 300)
        expected = GegenbauerRegressor(**GIVEN).fit_stream(batches)

        def broken():
            yield from batches[:3]
            raise KeyboardInterrupt

        place = Checkpoint(tmp_path / "kept", every_samples=1)
        with pytest.raises(KeyboardInterrupt):
            GegenbauerRegressor(**GIVEN).fit_stream(broken(), checkpoint=place)
        model = GegenbauerRegressor(**GIVEN).fit_stream(batches, checkpoint=place)
        assert model.basis_ == expected.basis_
        np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-10)

    def test_inspection(self):
        X, y = table()
        model = GegenbauerRegressor(**GIVEN).fit_stream(cut(X, y, 100))
        expected = sobol_indices(GegenbauerRegressor(**GIVEN).fit(X, y))
        np.testing.assert_allclose(sobol_indices(model).total, expected.total, atol=1e-8)


class TestFirstSamples:
    @pytest.fixture(autouse=True)
    def _few(self, monkeypatch):
        monkeypatch.setattr(_first_samples, "SAMPLE_SIZE", 120)

    @pytest.mark.parametrize("ends", [(), (120,), (7, 100, 130), (399,)])
    def test_are_as_many_however_the_stream_is_cut(self, ends):
        """Of positive weight; what comes later has no part in the shares."""
        X, y = table()
        weight = np.where(np.arange(400) % 4 == 0, 0.0, 1.0)
        given = {**GIVEN, "out_of_range": "clip"}
        model = GegenbauerRegressor(**given).fit_stream(cut(X, y, *ends, weight=weight))
        first = np.flatnonzero(weight)[:120]
        shares = X.colour.iloc[first].value_counts(normalize=True).sort_index()
        np.testing.assert_allclose(
            model.basis_.spectrum.levels[1].shares, shares.to_numpy(), rtol=1e-14
        )
        missing = X.z.iloc[first].isna().mean()
        np.testing.assert_allclose(model.basis_.spectrum.levels[2].shares[1], missing, rtol=1e-14)
        # the fit of all samples on these terms, in their box
        used = weight > 0
        codes = model._validate_inputs(X[used], reset=False)
        assert model.scaling_.upper[2] == X.z[used].max()
        sums = GramStatistics.from_data(model.basis_, codes, y[used], scaling=model.scaling_)
        np.testing.assert_allclose(model.term_coef_, sums.solve(0.1).weights[:, 0], atol=1e-9)

    @pytest.mark.parametrize("ends", [(), (50, 130, 200)])
    def test_later_levels_count_as_the_mean(self, ends):
        X, y = table()
        X.loc[150:159, "colour"] = "violet"
        model = GegenbauerRegressor(**GIVEN, out_of_range="clip")
        with pytest.warns(StreamOrderWarning, match=r"column 1 \('colour'\) in 10 of them"):
            model.fit_stream(cut(X, y, *ends))
        assert "violet" not in model.categories_[1]
        codes = model._validate_inputs(X, reset=False)
        assert np.isnan(codes[150:160, 1]).all()
        sums = GramStatistics.from_data(model.basis_, codes, y, scaling=model.scaling_)
        np.testing.assert_allclose(model.term_coef_, sums.solve(0.1).weights[:, 0], atol=1e-9)

    def test_later_gaps_are_errors(self):
        X, y = table()
        X.loc[300, "x"] = np.nan
        message = r"column 0 \('x'\) has no value in row 50 of these, but .*all of them had one"
        with pytest.raises(StreamError, match=message):
            GegenbauerRegressor(**GIVEN).fit_stream(cut(X, y, 250))
        numbers = X[["x"]]  # which no category makes one of levels
        with pytest.raises(StreamError, match=r"column 0 \('x'\) has no value in row 50"):
            GegenbauerRegressor(**GIVEN).fit_stream(cut(numbers, y, 250))
        gone = X.assign(x=1.0, z=np.where(np.arange(400) < 130, np.nan, 2.0))
        message = r"column 2 \('z'\) has a value in row 30 of these, but .*none of them had one"
        with pytest.raises(StreamError, match=message):
            GegenbauerRegressor(**GIVEN).fit_stream(cut(gone, y, 100))

    def test_values_of_two_kinds(self):
        X, y = table()
        X["colour"] = X.colour.astype(object)
        X.loc[60:, "colour"] = 5
        with pytest.raises(StreamError, match="must hold"):
            GegenbauerRegressor(**GIVEN, categorical_features=["colour"]).fit_stream(cut(X, y, 60))

    def test_missing_values_on_request(self):
        X, y = table()
        with pytest.raises(StreamError, match=r"NaN(.|\n)*column 2 \('z'\)"):
            GegenbauerRegressor(**GIVEN, missing="error").fit_stream(cut(X, y, 60))


class TestGrowingBox:
    @pytest.mark.parametrize("lam", [0.0, 0.3])
    @pytest.mark.parametrize("index_set", ["total_degree", "tensor", "largest_weight"])
    def test_sums_in_a_wider_box(self, index_set, lam):
        """Where a number is missing its polynomials stay 0, whatever the box."""
        rng = np.random.default_rng(0)
        levels = [None, Levels((0.7, 0.3), category=False), Levels((0.5, 0.3, 0.2))]
        spectrum = Spectrum(PowerDecay((0.5, 0.3, 0.4), 1.0), levels)
        size = {"n_terms": 30} if index_set == "largest_weight" else {"degree": 3}
        basis = TensorBasis(3, lam=lam, index_set=index_set, spectrum=spectrum, **size)
        X = np.column_stack(
            [rng.uniform(size=80), rng.uniform(size=80), rng.integers(0, 3, 80)]
        ).astype(float)
        X[::4, 1] = np.nan
        y = rng.normal(size=80)
        flags = [False, False, True]
        tight = InputScaling([0.0, 0.0, 0.0], [1.0, 1.0, 2.0], categories=flags)
        wide = InputScaling([-1.0, 0.0, 0.0], [3.0, 5.0, 2.0], categories=flags)
        found = GramStatistics.from_data(basis, X, y, scaling=tight).rescaled(wide)
        expected = GramStatistics.from_data(basis, X, y, scaling=wide)
        np.testing.assert_allclose(found.gram, expected.gram, atol=1e-10)
        np.testing.assert_allclose(found.cross, expected.cross, atol=1e-10)


class TestChosen:
    """The automatic estimators of streams."""

    @pytest.mark.parametrize("given", [{}, {"n_terms": 60}, {"landmarks": True}])
    def test_any_cut_chooses_the_same(self, given, monkeypatch):
        for module in (_first_samples, _fold_sums):
            monkeypatch.setattr(module, "SAMPLE_SIZE", 300)
        X, y = table(700)
        landmarks = given.get("landmarks", False)
        kind = GegenbauerRegressorCV(n_terms=given.get("n_terms"), search_samples=100)
        models = [
            type(kind)(**kind.get_params()).fit_stream(cut(X, y, *ends), landmarks=landmarks)
            for ends in ((), (1, 2, 299, 500), (350,))
        ]
        one = models[0]
        assert one.engine_ == ("landmarks" if landmarks else "primal")
        assert one.categories_ == [None, ["blue", "green", "red", "white"], None, [False, True]]
        assert one.score(X, y) > 0.9
        for other in models[1:]:
            assert other.alpha_ == pytest.approx(one.alpha_, rel=1e-8)
            assert other._levels == one._levels
            np.testing.assert_allclose(other.predict(X), one.predict(X), atol=1e-7)

    @pytest.mark.parametrize("landmarks", [False, True])
    def test_penalty_is_that_of_refits(self, landmarks):
        """Each fold left out of a fit in memory to the others, with the same terms or centres."""
        X, y = table(500)
        alphas = [1e-3, 1e-1, 10.0]
        model = GegenbauerRegressorCV(
            spectrum=PowerDecay(Q, 1.0), alphas=alphas, n_terms=None if landmarks else 80,
            out_of_range="clip",
        )  # fmt: skip
        model.fit_stream(cut(X, y, 77, 300), landmarks=landmarks)
        codes = model._validate_inputs(X, reset=False)
        box = model.scaling_
        fold = _draw.folds_of_places(np.arange(500), 5)
        if landmarks:
            kernel = SpectrumKernel(4, Spectrum(PowerDecay(Q, 1.0), model._levels))
            basis = choose_landmarks(kernel, codes, len(model.X_fit_), scaling=box)[0]
            sums_of = LandmarkStatistics
        else:
            basis, sums_of = model.basis_, GramStatistics
            assert basis.spectrum == Spectrum(PowerDecay(Q, 1.0), model._levels)
        scores = []
        for alpha in alphas:
            errors = np.empty(500)
            for k in range(5):
                out = fold == k
                sums = sums_of.from_data(basis, codes[~out], y[~out], scaling=box)
                weights = sums.solve(alpha, penalize_constant=False).weights[:, 0]
                if landmarks:
                    features = basis.evaluate(box.transform(codes[out]))
                else:
                    features = basis.evaluate(codes[out], scaling=box)
                errors[out] = y[out] - features @ weights
            scores.append(-np.mean(errors**2) / np.var(y))
        found = model.alpha_results_
        np.testing.assert_allclose(found["alpha"], alphas)
        assert model.alpha_ == alphas[int(np.argmax(scores))]
        np.testing.assert_allclose(found["score"], scores, rtol=1e-6)

    @pytest.mark.parametrize("landmarks", [False, True])
    def test_classes(self, landmarks, tmp_path):
        X, y = table(700)
        labels = np.where(y > 0.5, "high", "low")
        model = GegenbauerClassifierCV(search_samples=100)
        model.fit_stream(cut(X, labels, 100, 101), landmarks=landmarks)
        assert model.score(X, labels) > 0.93
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        Z, _ = table(50, seed=1)
        Z.loc[:5, "colour"] = "violet"
        for one in (model, again):
            one.set_params(out_of_range="clip")
        np.testing.assert_array_equal(again.predict_proba(Z), model.predict_proba(Z))

    def test_later_levels_are_reported(self, monkeypatch):
        for module in (_first_samples, _fold_sums):
            monkeypatch.setattr(module, "SAMPLE_SIZE", 120)
        X, y = table()
        X.loc[150:159, "colour"] = "violet"
        X["z"] = X.z.clip(-1, 1)
        model = GegenbauerRegressorCV(spectrum=PowerDecay(Q, 1.0), out_of_range="clip")
        with pytest.warns(StreamOrderWarning, match=r"column 1 \('colour'\) in 10 of them"):
            model.fit_stream(cut(X, y, 100), landmarks=True)
        assert "violet" not in model.categories_[1]

    def test_the_papers_basis_takes_numbers_alone(self):
        X, y = table()
        with pytest.raises(ValueError, match="`spectrum=None` takes numbers alone"):
            GegenbauerRegressorCV(spectrum=None, categorical_features=["colour"]).fit_stream(
                cut(X, y)
            )
        with pytest.raises(StreamError, match=r"column 1 \('colour'\)"):
            GegenbauerRegressorCV(spectrum=None).fit_stream(cut(X, y))
        numbers = X[["x", "old"]]
        model = GegenbauerRegressorCV(spectrum=None, n_terms=20).fit_stream(cut(numbers, y))
        assert model.categories_ == [None, None]
