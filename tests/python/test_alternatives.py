"""Models beside the first that many samples may prefer: half ranks of inputs, a rough part."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.metrics import log_loss

import gegenbauer.estimators._best_model as best_model
import gegenbauer.estimators._search as search
from gegenbauer import (
    GegenbauerClassifierCV,
    GegenbauerRegressorCV,
    InputScaling,
    TensorBasis,
    load,
    save,
    sobol_indices,
)
from gegenbauer.basis import SpectrumKernel
from gegenbauer.estimators._alternatives import compare
from gegenbauer.estimators._half_ranks import half_ranks
from gegenbauer.ridge.statistics import GramStatistics

N, FEWEST = 440, best_model.FEWEST_TO_JUDGE


@pytest.fixture(scope="module", autouse=True)
def fewer_are_enough():
    """For speed; the tests of few samples have the default."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(best_model, "FEWEST_TO_JUDGE", 2 * FEWEST // 5)
        yield


def uneven(n=N, seed=0):
    """Samples whose inputs lie unevenly: the function is smooth in their ranks."""
    rng = np.random.default_rng(seed)
    ranks = rng.uniform(size=(n, 3))
    y = np.sin(9 * ranks[:, 0]) + ranks[:, 1] * ranks[:, 2] + 0.05 * rng.normal(size=n)
    return 100.0**ranks, y


def rough(n=N, seed=0):
    """Samples of a path that is continuous and no more, at places that are spread evenly."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    steps = np.random.default_rng(99).normal(size=2000) / 2000**0.5
    path = 4.0 * np.concatenate([[0.0], np.cumsum(steps)])
    return X, np.interp(X[:, 0], np.linspace(-1, 1, 2001), path) + 0.02 * rng.normal(size=n)


def quiet(model, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*args, **kwargs)


@pytest.fixture(scope="module")
def regressor():
    return quiet(GegenbauerRegressorCV(), *uneven())


@pytest.fixture(scope="module")
def classifier():
    X, y = uneven()
    return quiet(GegenbauerClassifierCV(), X, np.digitize(y, [-0.3, 0.5]))


# ---- the map ---------------------------------------------------------------------------


class TestHalfRanks:
    def test_by_definition(self):
        column = np.array([0.0, 1.0, 1.0, 1.0, 2.0, 10.0])
        shares, values = half_ranks(column, None, 0.0, 10.0)
        middles = np.array([0.5, 2.5, 4.5, 5.5]) / 6
        ranks = (middles - middles[0]) / (middles[-1] - middles[0])
        assert_allclose(shares, [0, 0.1, 0.2, 1.0])
        assert_allclose(values, 0.5 * shares + 0.5 * ranks)

    def test_weights_count_as_repetition(self):
        rng = np.random.default_rng(0)
        column, weight = rng.lognormal(size=40), rng.integers(1, 5, 40)
        one = half_ranks(column, weight.astype(float), 0.0, column.max())
        other = half_ranks(np.repeat(column, weight), None, 0.0, column.max())
        assert_allclose(one, other, rtol=1e-13)

    def test_many_samples_have_few_points_that_are_as_good(self):
        column = np.random.default_rng(0).lognormal(size=20_000)
        shares, values = half_ranks(column, None, 0.0, column.max())
        assert shares.size <= 256
        place = column / column.max()
        ranks = (stats.rankdata(column) - 1) / (column.size - 1)
        first, last = place.min(), place.max()
        exact = 0.5 * place + 0.5 * (first + (last - first) * ranks)
        assert np.abs(np.interp(place, shares, values) - exact).max() < 0.01

    def test_the_box_may_be_wider_or_narrower_than_the_samples(self):
        column = np.random.default_rng(0).lognormal(size=300)
        shares, values = half_ranks(column, None, -5.0, 40.0)
        outer = [0, 1, -2, -1]  # beyond the samples all stays where it is
        assert_allclose(shares[outer], values[outer], atol=1e-15)
        shares, values = half_ranks(column, None, 0.0, 2.0)  # those beyond are at the wall
        assert_array_equal([shares[0], values[0], shares[-1], values[-1]], [0, 0, 1, 1])
        InputScaling([0.0], [2.0], warping=[(shares, values)])

    def test_missing_values_have_no_rank(self):
        column = np.random.default_rng(0).lognormal(size=300)
        with_gaps = np.concatenate([column, np.full(100, np.nan)])
        found, expected = (half_ranks(each, None, 0.0, 20.0) for each in (with_gaps, column))
        assert expected is not None
        assert_array_equal(found, expected)

    @pytest.mark.parametrize(
        "column",
        [
            np.random.default_rng(0).uniform(size=2000), np.linspace(0, 1, 30), np.arange(2.0),
            np.repeat([0.0, 1.0], [1, 99]), np.zeros(5), np.full(5, np.nan),
        ],
    )  # fmt: skip
    def test_even_samples_need_none(self, column):
        assert half_ranks(column, None, 0.0, 1.0) is None

    @pytest.mark.parametrize("apart", [0.0, 1e-300, 1e-16, 1e-9, 1e-6])
    def test_neighbours_however_close(self, apart):
        column = np.array([0.0, 0.3, 0.3 + apart, 0.3 + 2 * apart, 0.31, 1.0])
        shares, values = half_ranks(column, None, 0.0, 1.0)
        assert (np.diff(shares) > 0).all()
        assert (np.diff(values) > 0).all()
        InputScaling([0.0], [1.0], warping=[(shares, values)])


class TestWarping:
    @pytest.fixture
    def scaling(self):
        rng = np.random.default_rng(1)
        points = [np.concatenate([[0.0], np.sort(rng.random(6)), [1.0]]) for _ in range(2)]
        return InputScaling(
            [1.0, 2.0, 3.0], [3.0, 5.0, 3.0], domain=(-1, 1), warping=[None, points, None]
        )

    @pytest.fixture
    def X(self):  # noqa: N802
        rng = np.random.default_rng(2)
        return np.column_stack([rng.uniform(0, 4, 50), rng.uniform(1, 6, 50), rng.random(50)])

    def test_by_definition(self, scaling, X):
        shares, values = scaling.warping[1]
        place = ((X[:, 1] - 2) / 3).clip(0, 1)
        expected = -1 + 2 * np.interp(place, shares, values)
        assert_allclose(scaling.transform(X)[:, 1], expected, atol=1e-15)
        plain = scaling.replace(warping=None)
        assert_array_equal(scaling.transform(X)[:, [0, 2]], plain.transform(X)[:, [0, 2]])
        assert_array_equal(scaling.transform([[3.0, 5.0, 0.0]]), [[1.0, 1.0, 0.0]])

    def test_without_clipping_the_outer_pieces_go_on(self, scaling):
        shares, values = scaling.warping[1]
        first, last = (np.diff(values) / np.diff(shares))[[0, -1]]
        free = scaling.replace(clip=False)
        got = free.transform([[1.0, -1.0, 0.0], [1.0, 8.0, 0.0]])[:, 1]
        assert_allclose(got, [-1 - 2 * first, 1 + 2 * last], rtol=1e-13)

    def test_the_core_has_the_same_map(self, scaling, X):
        for dtype in (np.float64, np.float32):
            for one in (scaling, scaling.replace(clip=False)):
                data = X.astype(dtype)
                kernel = SpectrumKernel(3, (0.5, 2.0))
                inside = one.transform(data).clip(-1, 1)
                data = data if one.clip else data.clip([1, 2, 0], [3, 5, 1])
                got = kernel(data, data[:7], scaling=one)
                inside = one.transform(data)
                assert_allclose(got, kernel(inside, inside[:7]), rtol=1e-13)
        basis = TensorBasis(3, degree=4)
        unit = scaling.replace(domain=(0, 1))
        got = basis.evaluate(X, scaling=unit)
        assert_allclose(got, basis.evaluate(unit.transform(X)), rtol=1e-11, atol=1e-15)

    def test_slopes_are_derivatives(self, scaling, X):
        h = 1e-7
        for one in (scaling, scaling.replace(clip=False)):
            by_differences = (one.transform(X + h) - one.transform(X - h)) / (2 * h)
            assert_allclose(one.slopes(X), by_differences, atol=1e-6)
        X[0] = np.nan
        assert_array_equal(scaling.slopes(X)[0], [0, 0, 0])
        assert np.isnan(scaling.transform(X)[0]).all()

    def test_it_belongs_to_the_value(self, scaling):
        again = pickle.loads(pickle.dumps(scaling))
        assert again == scaling == scaling.replace()
        assert hash(again) == hash(scaling)
        plain = scaling.replace(warping=None)
        assert plain != scaling
        (shares, values) = scaling.warping[1]
        assert scaling.replace(warping=[None, (shares, values**2), None]) != scaling

    @pytest.mark.parametrize(
        ("warping", "message"),
        [
            ([None, None], "one entry for each column, 3; got "),
            (3, "one entry for each column, 3; got 3"),
            ([("a", "b"), None, None], "those of column 0 are none"),
            ([None, ([0, 1],), None], "those of column 1 are none: not enough values"),
            ([None, [[0, 1], ["a", "b"]], None], "those of column 1 are none: could not convert"),
            ([None, None, ([0, 1e-10, 1], [0, 0.5, 1])], "by at least 1e-09 each; .* column 2"),
            (
                [None, ([0, 1], [0, 0.5]), None],
                "increase from 0 to 1 by .* column 1",
            ),
            ([None, ([0.1, 1], [0, 1]), None], "those of column 1 do not"),
            ([None, None, ([0, 0.5, 0.5, 1], [0, 0.3, 0.6, 1])], "those of column 2 do not"),
            ([None, ([0, 0.5, 1], [0, 1]), None], "those of column 1 do not"),
            ([([0], [0]), None, None], "those of column 0 do not"),
            ([([], []), None, None], "those of column 0 do not"),
            ([([0, np.nan, 1], [0, 0.5, 1]), None, None], "those of column 0 do not"),
        ],
    )
    def test_wrong_maps(self, warping, message):
        with pytest.raises(ValueError, match=message):
            InputScaling([1, 2, 3], [3, 5, 3], warping=warping)

    def test_arrays_of_the_caller_are_copied(self):
        shares, values = np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.7, 1.0])
        one = InputScaling([0.0], [10.0], warping=[(shares, values)])
        shares[1] = 0.5
        assert one.transform([[3.0]]) == pytest.approx(0.7 + 0.3 / 8)
        assert "warping" in repr(one)

    def test_columns_without_maps_are_no_warping(self):
        plain = InputScaling([0.0], [10.0])
        assert plain.replace(warping=[None]) == plain

    def test_sums_cannot_change_such_a_box(self, scaling):
        wider = InputScaling([0, 0, 0], [9, 9, 9], domain=(-1, 1))
        for one, other in ((scaling, wider), (wider, scaling)):
            with pytest.raises(ValueError, match="only if they have no `warping`"):
                one.union(other)
        basis = TensorBasis(3, degree=2)
        sums = GramStatistics(basis, 1, scaling=scaling.replace(domain=(0, 1)))
        with pytest.raises(ValueError, match="only if they have no `warping`"):
            sums.rescaled(wider.replace(domain=(0, 1)))
        assert scaling.union(scaling.replace()) == scaling

    def test_joined_boxes_are_constant_by_their_range(self):
        """Whatever the flag of columns that have one, also of a box that is joined with itself."""
        flagged = InputScaling([0.0, 2.0], [1.0, 2.0], constant=[True, True])
        assert flagged.union(flagged).is_constant.tolist() == [False, True]

    def test_refined_solves(self):
        """Where residuals are computed in twice the precision, the map is, too."""
        from gegenbauer import solve_ridge

        X, y = uneven(300)
        box = InputScaling.fit(X)
        maps = [half_ranks(X[:, t], None, box.lower[t], box.upper[t]) for t in range(3)]
        warped, basis = box.replace(warping=maps), TensorBasis(3, degree=4)
        direct = solve_ridge(basis, warped.transform(X), y, 1e-8)
        fit = solve_ridge(basis, X, y, 1e-8, scaling=warped)
        assert_allclose(fit.weights, direct.weights, rtol=1e-6, atol=1e-7)


# ---- the choice ------------------------------------------------------------------------


class TestCompare:
    def test_by_definition(self):
        rng = np.random.default_rng(0)
        one, other = rng.random(150), rng.random(150)
        found = compare(one, other, None)
        gains = one - other
        assert found.gain == pytest.approx(gains.mean())
        usual = gains  # of so few, none is beyond the quantiles
        assert found.usual_gain == pytest.approx(usual.mean())
        assert found.standard_error == pytest.approx(usual.std(ddof=1) / 150**0.5)
        assert found.is_clear == (found.usual_gain > 2 * found.standard_error)

    def test_tails_are_cut_off(self):
        gains = np.concatenate([np.linspace(0.9, 1.1, 998), [-400.0, 500.0]])
        found = compare(gains, np.zeros(1000), None)
        assert found.gain == pytest.approx(gains.mean())
        usual = gains.clip(np.sort(gains)[4], np.sort(gains)[994])
        assert found.usual_gain == pytest.approx(usual.mean())
        assert found.standard_error == pytest.approx(usual.std(ddof=1) / 1000**0.5)
        assert found.is_clear
        assert not compare(np.append(gains, -2000.0), np.zeros(1001), None).is_clear

    def test_samples_that_were_never_left_out_do_not_count(self):
        one, other = np.array([1.0, np.nan, 3.0]), np.array([0.5, 9.0, 2.0])
        assert compare(one, other, None) == compare(one[[0, 2]], other[[0, 2]], None)

    def test_weights(self):
        one, other = np.array([1.0, 2.0]), np.array([0.5, 2.5])
        found = compare(one, other, np.array([3.0, 1.0]))
        assert found.gain == pytest.approx(0.25)
        assert found == compare(one, other, np.array([30.0, 10.0]))

    def test_weights_place_the_quantiles_as_repetition_does(self):
        gains, weight = np.random.default_rng(0).normal(size=300), np.arange(1.0, 301.0)
        one = compare(gains, np.zeros(300), weight)
        repeated = np.repeat(gains, weight.astype(int))
        other = compare(repeated, np.zeros(repeated.size), None)
        assert one[:2] == pytest.approx(other[:2], rel=1e-9)


class TestChoice:
    def test_half_ranks_of_uneven_inputs(self, regressor):
        found = regressor.alternatives_["half_ranks"]
        assert found.is_clear
        assert regressor.scaling_.warping is not None
        plain = quiet(GegenbauerRegressorCV(bounds=None), *uneven())
        assert plain.scaling_.warping is None
        X, y = uneven(4000, seed=7)
        errors = [
            np.mean((m.set_params(out_of_range="clip").predict(X) - y) ** 2)
            for m in (regressor, plain)
        ]
        noise = 0.05**2
        assert errors[0] - noise < 0.6 * (errors[1] - noise)

    def test_sobol_indices_are_those_over_half_ranks(self, regressor):
        """By sums over a grid that is uniform in them, whose points the maps give by inversion."""
        box = regressor.scaling_
        m = box.n_features
        nodes, weights = np.polynomial.legendre.leggauss(40)
        nodes, weights = nodes / 1.02, weights / 2  # the margin is no part of the range
        middle = 0.5 * (box.lower + box.upper)
        columns = []
        for t in range(m):
            values = np.linspace(box.lower[t], box.upper[t], 200_001)
            Z = np.tile(middle, (values.size, 1))
            Z[:, t] = values
            columns.append(np.interp(nodes, box.transform(Z)[:, t], values))
        grid = np.stack(np.meshgrid(*columns, indexing="ij"), axis=-1).reshape(-1, m)
        F = regressor.predict(grid).reshape((40,) * m)
        share = np.ones(())
        for _ in range(m):
            share = np.multiply.outer(share, weights)
        mean = (share * F).sum()
        variance = (share * (F - mean) ** 2).sum()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = sobol_indices(regressor)
        assert found.mean[0] == pytest.approx(mean, abs=2e-3 * variance**0.5)
        assert found.variance[0] == pytest.approx(variance, rel=5e-3)
        for t in range(m):
            alone = np.tensordot(np.moveaxis(F, t, 0), share.sum(axis=t), axes=m - 1)
            own = (weights * (alone - mean) ** 2).sum() / variance
            assert found.first_order[0, t] == pytest.approx(own, abs=5e-3)
            rest = np.tensordot(np.moveaxis(F, t, -1), weights, axes=1)
            of_others = share.sum(axis=t)
            without = (of_others * (rest - mean) ** 2).sum() / variance
            assert found.total[0, t] == pytest.approx(1 - without, abs=5e-3)

    def test_half_ranks_of_classes(self, classifier):
        assert classifier.alternatives_["half_ranks"].is_clear
        X, y = uneven()
        y = np.digitize(y, [-0.3, 0.5])
        plain = quiet(GegenbauerClassifierCV(bounds=None), X, y)
        gain = log_loss(y, plain.loo_probabilities_) - log_loss(y, classifier.loo_probabilities_)
        assert classifier.alternatives_["half_ranks"].gain == pytest.approx(gain, rel=0.5)

    def test_the_gain_is_that_of_the_losses_left_out(self):
        X, y = rough()
        model = quiet(GegenbauerRegressorCV(), X, y)
        found = model.alternatives_["rough_part"]
        assert found.is_clear
        assert [part.smoothness for part in model.spectrum_.components[::3]] == [2.0, 1.0]

        class First(GegenbauerRegressorCV):
            _may_have_alternatives = False

        first = quiet(First(), X, y)
        assert first.alternatives_ == {}
        losses = [((m.loo_predictions_ - y) / y.std()) ** 2 for m in (first, model)]
        assert found == pytest.approx(compare(*losses, None), rel=1e-6)
        new, truth = rough(4000, seed=5)
        errors = [np.mean((m.predict(new) - truth) ** 2) for m in (first, model)]
        assert errors[1] < errors[0]

    def test_smooth_functions_of_even_inputs_keep_the_first_model(self, monkeypatch):
        monkeypatch.setattr(best_model, "FEWEST_TO_JUDGE", FEWEST)
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (FEWEST, 2))
        y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=FEWEST)
        model = quiet(GegenbauerRegressorCV(), X, y)
        assert list(model.alternatives_) == ["rough_part"]  # half ranks would move nothing
        assert not model.alternatives_["rough_part"].is_clear
        assert len(model.spectrum_.components) == 3

    @pytest.mark.parametrize(
        "given",
        [
            {"spectrum": (0.3, 2.0)}, {"n_terms": 50}, {"spectrum": None, "n_terms": 20},
            {"scoring": "r2"}, {"kernel_samples": 390},
        ],
    )  # fmt: skip
    def test_what_is_given_has_none(self, given):
        model = quiet(GegenbauerRegressorCV(**given), *uneven())
        assert model.alternatives_ == {}
        assert model.scaling_.warping is None

    def test_few_samples_have_none(self, monkeypatch):
        monkeypatch.setattr(best_model, "FEWEST_TO_JUDGE", FEWEST)
        assert quiet(GegenbauerRegressorCV(), *uneven(900)).alternatives_ == {}

    @pytest.mark.slow
    def test_of_more_samples_some_are_judged(self, monkeypatch):
        monkeypatch.setattr(best_model, "MOST_TO_JUDGE", 400)
        X, y = uneven(600)
        model = quiet(GegenbauerRegressorCV(), X, y)
        assert model.alternatives_["half_ranks"].is_clear
        assert model.scaling_.warping is not None
        assert len(model.X_fit_) == 600
        assert model.loo_predictions_.shape == (600,)
        assert np.isfinite(model.loo_predictions_).all()

    @pytest.mark.slow
    def test_landmarks_take_what_was_judged(self, monkeypatch):
        monkeypatch.setattr(best_model, "default_kernel_samples", lambda: 600)
        monkeypatch.setattr(search, "default_landmarks", lambda n: 200)
        X, y = uneven(750)
        model = quiet(GegenbauerRegressorCV(), X, y)
        assert model.engine_ == "landmarks"
        assert model.alternatives_["half_ranks"].is_clear
        assert model.scaling_.warping is not None
        new, truth = uneven(3000, seed=3)
        model.set_params(out_of_range="clip")
        assert np.mean((model.predict(new) - truth) ** 2) < 0.006  # of which noise is 0.0025

    @pytest.mark.slow
    def test_weights_count_as_repetition(self):
        X, y = uneven()
        weight = np.random.default_rng(3).integers(1, 3, N)
        one = quiet(GegenbauerRegressorCV(), X, y, weight)
        other = quiet(GegenbauerRegressorCV(), np.repeat(X, weight, 0), np.repeat(y, weight))
        assert one.scaling_ == other.scaling_
        for name, each in one.alternatives_.items():
            assert_allclose(each, other.alternatives_[name], rtol=1e-6)
        assert_allclose(one.predict(X[:50]), other.predict(X[:50]), rtol=1e-7, atol=1e-9)

    def test_five_spectra_begin_anew_without_their_samples(self, monkeypatch):
        """A rough part starts from a spectrum that has seen as little as it may itself."""
        import gegenbauer.estimators.regressor_cv as module

        seen, learn = [], module.learn_spectrum

        def watched(X, Y, **options):
            found = learn(X, Y, **options)
            seen.append((X, options["components"], found[0].spectrum))
            return found

        monkeypatch.setattr(module, "learn_spectrum", watched)
        monkeypatch.setattr(best_model, "FEWEST_TO_JUDGE", 100)
        X, y = rough(150)
        model = GegenbauerRegressorCV(intervals="five_spectra", kernel_samples=150)
        quiet(model, X, y)
        assert "rough_part" in model.alternatives_
        starts = [each for each in seen if len(each[1].components) == 4]
        assert len(starts) == 5
        for samples, start, _ in starts:
            learned = [
                s.components
                for one, _, s in seen
                if one is samples or (one.shape == samples.shape and (one == samples).all())
            ]
            assert start.components[:3] in learned

    def test_a_part_that_is_no_part_is_not_taken(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (2 * FEWEST // 5, 2))
        model = quiet(GegenbauerRegressorCV(), X, X[:, 0] ** 2)
        n_parts = len(model.spectrum_.components)
        assert (n_parts == 4) == model.alternatives_["rough_part"].is_clear
        if n_parts == 4:
            assert model.spectrum_.interactions(2)[:, 3].any()

    @pytest.mark.slow
    def test_few_tested_samples_judge_nothing(self):
        X, y = uneven()
        for cls, target in ((GegenbauerRegressorCV, y), (GegenbauerClassifierCV, y > 0)):
            for tested in ([N - 1], np.arange(N - 100, N)):
                train = np.setdiff1d(np.arange(N), tested)
                model = quiet(cls(cv=[(train, np.asarray(tested))]), X, target)
                assert model.alternatives_ == {}
        weight = np.ones(N)
        weight[3] = 1e6
        assert quiet(GegenbauerRegressorCV(), X, y, weight).alternatives_ == {}

    @pytest.mark.slow
    def test_parts_of_cv(self):
        X, y = uneven()
        model = quiet(GegenbauerRegressorCV(cv=3), X, y)
        assert model.alternatives_["half_ranks"].is_clear

    @pytest.mark.slow
    def test_categories_have_no_ranks(self):
        pd = pytest.importorskip("pandas")
        X, y = uneven()
        kind = np.random.default_rng(0).choice(list("abcdefg"), N, p=[0.7] + 6 * [0.05])
        table = pd.DataFrame(X, columns=list("uvw")).assign(kind=kind)
        model = quiet(GegenbauerRegressorCV(), table, y + (kind == "c"))
        assert model.alternatives_["half_ranks"].is_clear
        assert model.scaling_.warping[3] is None
        assert all(each is not None for each in model.scaling_.warping[:3])

    @pytest.mark.slow
    def test_several_outputs_and_gaps(self):
        X, y = uneven()
        X[::90, 0] = np.nan
        model = quiet(GegenbauerRegressorCV(), X, np.column_stack([y, y**2]))
        assert list(model.alternatives_) == ["half_ranks", "rough_part"]
        assert np.isfinite(list(model.alternatives_.values())).all()
        assert np.isfinite(model.predict(X[:91])).all()

    @pytest.mark.slow
    def test_labels(self):
        X, y = uneven()
        model = quiet(GegenbauerClassifierCV(), X, np.column_stack([y > 0, y > 0.5]).astype(int))
        assert model.alternatives_["half_ranks"].gain > 0

    def test_a_failed_trial_leaves_the_estimator_as_it_was(self, monkeypatch):
        model = GegenbauerRegressorCV()

        def fail(*_: object) -> object:
            raise KeyboardInterrupt

        monkeypatch.setattr(best_model, "compare", fail)
        with pytest.raises(KeyboardInterrupt):
            quiet(model, *uneven())
        assert not [name for name in vars(model) if name.endswith("_")]

    def test_a_new_fit_begins_anew(self, regressor):
        model = quiet(pickle.loads(pickle.dumps(regressor)), *uneven(300))
        assert model.alternatives_ == {}
        assert model.scaling_.warping is None


# ---- what comes of it ------------------------------------------------------------------


class TestFitted:
    def test_files(self, regressor, classifier, tmp_path):
        X, _ = uneven(50, seed=2)
        for model in (regressor, classifier):
            save(model, tmp_path / "model")
            back = load(tmp_path / "model")
            assert back.scaling_ == model.scaling_
            assert back.alternatives_ == model.alternatives_
            model.set_params(out_of_range="clip")
            assert_array_equal(back.set_params(out_of_range="clip").predict(X), model.predict(X))

    def test_predictions_are_those_of_the_kernel(self, regressor):
        X, _ = uneven(20, seed=2)
        X = X.clip(regressor.scaling_.lower, regressor.scaling_.upper)
        kernel, box = regressor.kernel_, regressor.scaling_
        K = kernel(box.transform(X), box.transform(regressor.X_fit_))
        expected = K @ regressor.dual_coef_ + regressor.intercept_
        assert_allclose(regressor.predict(X), expected.ravel(), rtol=1e-6)

    def test_gradients(self, classifier):
        X, _ = uneven(20, seed=4)
        X = 1.1 + 0.5 * X
        h = 1e-4  # in pieces of a map of about a hundred times that
        function = classifier.expansion_
        for t in range(3):
            step = h * (np.arange(3) == t)
            by_differences = (function.evaluate(X + step) - function.evaluate(X - step)) / (2 * h)
            assert_allclose(function.gradient(X)[:, t], by_differences, rtol=1e-2, atol=1e-3)

    def test_shares_of_the_variance_are_those_of_inputs_uniform_in_half_ranks(self, regressor):
        from gegenbauer.inspection import sobol_indices

        box = regressor.scaling_
        shares = np.array([0.5 * (pair[0][1] + 1 - pair[0][-2]) for pair in box.warping])
        edge = 1.0 - 2.0 * shares.mean()  # the samples fill the box but for its margin
        U = np.random.default_rng(0).uniform(-edge, edge, (20_000, 3))
        values = regressor.kernel_(U, box.transform(regressor.X_fit_)) @ regressor.dual_coef_
        found = sobol_indices(regressor)
        assert found.mean == pytest.approx(values.mean() + regressor.intercept_[0], abs=0.03)
        assert found.variance == pytest.approx(values.var(), rel=0.05)

    def test_deviations_grow_outside(self, regressor):
        far = np.array([[1.0, 1.0, 1.0], [500.0, 1.0, 1.0], [5000.0, 1.0, 1.0]])
        regressor.set_params(out_of_range="clip")
        _, std = regressor.predict(far, return_std=True)
        assert std[0] < 0.2
        assert std[0] < std[1] <= std[2]
        lower, upper = regressor.predict_interval(far)
        assert (upper - lower)[1] > 2 * (upper - lower)[0]
