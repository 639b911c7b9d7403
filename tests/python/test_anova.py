"""Parts of the functional ANOVA decomposition, and partial dependence, by predictions alone."""

from __future__ import annotations

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.stats as st
from independent_inputs import Game, marginals_of_samples
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence as by_predictions

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    load,
    save,
)
from gegenbauer.errors import OutOfRangeWarning, parameters_of
from gegenbauer.inspection import anova_components, partial_dependence

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def samples(n=50, m=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 3, (n, m))
    return X, np.sin(X[:, 0]) * X[:, 1 % m] + X[:, 2 % m] ** 2 + np.prod(X, axis=1)


MODELS = {
    "plain": GegenbauerRegressor(degree=4, n_terms=None),
    "kernel": GegenbauerRegressorCV(intervals="one_spectrum"),
    "mean": GegenbauerRegressorCV(intervals="five_spectra"),
    "terms": GegenbauerRegressorCV(n_terms=60),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return pickle.loads(pickle.dumps(MODELS[request.param])).set_params(out_of_range="clip").fit(
        *samples()
    )  # fmt: skip


class TestComponents:
    def test_brute_force(self, model):
        X, _ = samples()
        background, Z = X[:4], 1.2 * X[10:13]
        game = Game(
            lambda columns: model.predict(np.column_stack(columns)),
            marginals_of_samples(background),
            list(Z.T),
        )
        found = anova_components(model, Z, 3, background=background)
        assert found.sets == [
            one for size in (1, 2, 3) for one in itertools.combinations(range(3), size)
        ]
        size = np.abs(model.predict(Z)).max()
        assert_allclose(found.mean, game.mean[0], rtol=1e-9, atol=1e-10 * size)
        for k, one in enumerate(found.sets):
            assert_allclose(found.values[:, k], game.part(one)[:, 0], atol=1e-9 * size)
        assert_array_equal(found.remainder, 0.0)
        assert_allclose(
            found.mean + found.values.sum(axis=1), model.predict(Z), atol=1e-10 * size
        )  # fmt: skip

    @pytest.mark.parametrize("order", [1, 2, 3, 9])
    def test_the_sum_is_the_function(self, model, order):
        Z = samples(seed=1)[0][:7]
        found = anova_components(model, Z, order)
        assert len(found.sets) == {1: 3, 2: 6, 3: 7, 9: 7}[order]
        f = model.predict(Z)
        whole = found.mean + found.values.sum(axis=1) + found.remainder
        assert_allclose(whole, f, atol=1e-10 * np.abs(f).max())

    def test_means_are_zero(self, model):
        """Over any input of a part, whatever the others are: on the grid of a background."""
        background = samples()[0][:4]
        grid = np.array(list(itertools.product(*background.T)))
        found = anova_components(model, grid, 3, background=background)
        size = np.abs(model.predict(grid)).max()
        for k, one in enumerate(found.sets):
            values = found.values[:, k].reshape(4, 4, 4)
            for t in range(3):
                if t in one:
                    assert_allclose(values.mean(axis=t), 0.0, atol=1e-10 * size)
                else:  # nor does a part depend on other inputs
                    assert_allclose(np.ptp(values, axis=t), 0.0, atol=1e-10 * size)

    def test_distributions(self):
        """Under a normal and a uniform one, by a tensor rule of predictions."""
        X, y = samples(80, 2)
        model = GegenbauerRegressor(degree=4, n_terms=None, out_of_range="extrapolate").fit(X, y)
        x, w = np.polynomial.hermite_e.hermegauss(20)
        u, v = np.polynomial.legendre.leggauss(20)
        marginals = [(0.3 + 0.5 * x, w / w.sum()), (1 + u, v / 2)]
        game = Game(
            lambda columns: model.predict(np.column_stack(columns)), marginals, list(X[:3].T)
        )
        found = anova_components(
            model, X[:3], distribution=[st.norm(0.3, 0.5), st.uniform(0, 2)]
        )  # fmt: skip
        for k, one in enumerate([(0,), (1,), (0, 1)]):
            assert_allclose(found.values[:, k], game.part(one)[:, 0], atol=1e-9)

    @pytest.mark.parametrize("kernel", [False, True])
    def test_outputs_and_classes(self, kernel):
        X, y = samples()
        Y = np.column_stack([y, X[:, 0] * X[:, 2]])
        one = MODELS["kernel" if kernel else "plain"]
        model = pickle.loads(pickle.dumps(one)).fit(X, Y)
        found = anova_components(model, X[:5], 1)
        assert found.values.shape == (5, 3, 2)
        assert found.mean.shape == (2,)
        assert found.remainder.shape == (5, 2)
        assert_allclose(
            found.mean + found.values.sum(axis=1) + found.remainder, model.predict(X[:5]), rtol=1e-9
        )
        classes = GegenbauerClassifier().fit(X, np.digitize(y, [-1, 1]))
        found = anova_components(classes, X[:5])
        assert_allclose(
            found.mean + found.values.sum(axis=1) + found.remainder,
            classes.decision_function(X[:5]),
            atol=1e-10,
        )

    def test_one_warning(self):
        X, y = samples()
        model = GegenbauerRegressor(out_of_range="warn").fit(X, y)
        with pytest.warns(OutOfRangeWarning) as caught:
            anova_components(model, 3 * X[:5])
        assert len(caught) == 1

    def test_no_warning_of_backgrounds(self):
        X, y = samples()
        model = GegenbauerRegressor(out_of_range="warn").fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            anova_components(model, X[:5], background=3 * X)

    def test_too_many_parts(self):
        X, y = samples(40, 60)
        model = GegenbauerRegressor(degree=1, n_terms=None).fit(X, y)
        assert anova_components(model, X[:1]).values.shape == (1, 60 + 30 * 59)
        for order in (3, 60):
            with pytest.raises(ValueError, match="more than 10000 parts in 60 inputs") as caught:
                anova_components(model, X[:1], order)
            assert parameters_of(caught.value) == ("order",)

    @pytest.mark.parametrize("order", [0, -1, 1.5, "two", None, True])
    def test_bad_orders(self, model, order):
        with pytest.raises((ValueError, TypeError), match="`order`") as caught:
            anova_components(model, np.zeros((1, 3)), order)
        assert parameters_of(caught.value) == ("order",)

    def test_files(self, model, tmp_path):
        X, _ = samples()
        save(model, tmp_path / "model.safetensors")
        again = load(tmp_path / "model.safetensors")
        assert_array_equal(anova_components(again, X).values, anova_components(model, X).values)
        expected = partial_dependence(model, [0, 2], grid_resolution=5)
        found = partial_dependence(again, [0, 2], grid_resolution=5)
        assert_array_equal(found.average, expected.average)

    def test_not_fitted(self):
        for function in (anova_components, partial_dependence):
            with pytest.raises(NotFittedError):
                function(GegenbauerRegressor(), [[0.0]])


class TestPartialDependence:
    @pytest.mark.parametrize("features", [0, [1], [2, 0], [0, 1, 2]], ids=str)
    def test_scikit_learn(self, model, features):
        """All other inputs as they are together in the samples, which depend on each other."""
        X, _ = samples()
        X = X.copy()
        X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
        X[:, 2] *= np.sign(X[:, 0])
        found = partial_dependence(model, features, background=X[:30], grid_resolution=4)
        several = features if isinstance(features, list) else [features]
        given = dict(zip(several, found.grid_values, strict=True))
        expected = by_predictions(
            model, X[:30], features, method="brute", custom_values=given
        )  # fmt: skip
        assert found.average.shape == expected["average"].shape
        size = np.abs(expected["average"]).max()
        assert_allclose(found.average, expected["average"], atol=1e-9 * size)
        assert found.features == tuple(several)

    @pytest.mark.parametrize("kernel", [False, True])
    def test_several_outputs(self, kernel):
        X, y = samples()
        Y = np.column_stack([y, X[:, 0] * X[:, 2]])
        model = pickle.loads(pickle.dumps(MODELS["kernel" if kernel else "plain"])).fit(X, Y)
        found = partial_dependence(model, 0, background=X, grid_resolution=5)
        for k in range(2):
            expected = [
                model.predict(np.column_stack([np.full(50, v), X[:, 1:]]))[:, k].mean()
                for v in found.grid_values[0]
            ]
            assert_allclose(found.average[k], expected, atol=1e-9)

    @pytest.mark.parametrize("features", [0, [2, 1]], ids=str)
    def test_independent_inputs(self, model, features):
        """By default the others have the marginals of the samples, and are independent."""
        X, _ = samples()
        rng = np.random.default_rng(0)
        marginals = [
            (rng.uniform(-2, 3, 3), np.array([0.2, 0.3, 0.5])) for _ in range(3)
        ]  # fmt: skip
        given = [dict(zip(values.tolist(), w, strict=True)) for values, w in marginals]
        found = partial_dependence(model, features, distribution=given, grid_resolution=3)
        several = features if isinstance(features, list) else [features]
        points = np.array(list(itertools.product(*found.grid_values)))
        Z = np.zeros((len(points), 3))
        Z[:, several] = points
        game = Game(
            lambda columns: model.predict(np.column_stack(columns)), marginals, list(Z.T)
        )  # fmt: skip
        expected = game.values[frozenset(several)][:, 0]
        size = np.abs(X).max() ** 3
        assert_allclose(found.average.ravel(), expected, atol=1e-9 * size)

    def test_default_marginals(self):
        X, y = samples(12, 2)
        for name in ("plain", "kernel"):
            model = pickle.loads(pickle.dumps(MODELS[name])).fit(X, y)
            found = partial_dependence(model, 1, grid=[-1.0, 0.5])
            expected = [
                model.predict(np.column_stack([X[:, 0], np.full(12, v)])).mean()
                for v in (-1.0, 0.5)
            ]
            assert_allclose(found.average[0], expected, rtol=1e-9)

    def test_grids(self, model):
        X, _ = samples()
        found = partial_dependence(model, 1)
        (values,) = found.grid_values
        assert values.size == 100
        assert_allclose(values, np.linspace(X[:, 1].min(), X[:, 1].max(), 100), rtol=1e-12)
        assert found.feature_names == ["x1"]
        for grid in (
            [0.5, 1.0],
            (0.5, 1.0),
            np.array([0.5, 1.0]),
            [[0.5, 1.0]],
            pd.Series([0.5, 1]),
        ):
            again = partial_dependence(model, [1], grid=grid)
            assert_array_equal(again.grid_values[0], [0.5, 1.0])
            assert again.average.shape == (1, 2)
        both = partial_dependence(model, [1, 0], grid=[[0.5, 1.0], [0.0, 1.0, 2.0]])
        assert both.average.shape == (1, 2, 3)
        # beyond the box lies its face
        far = partial_dependence(model, 1, grid=[99.0, model.scaling_.upper[1]]).average
        assert_allclose(far[0, 0], far[0, 1], rtol=1e-10)

    @pytest.mark.parametrize(
        ("features", "options", "about"),
        [
            ("a", {}, "features"),
            (3, {}, "features"),
            (-1, {}, "features"),
            (0.5, {}, "features"),
            ([0, 0], {}, "features"),
            ([], {}, "features"),
            (None, {}, "features"),
            ([0, 1], {"grid": [[0.0]]}, "grid"),
            ([0, 1], {"grid": 3.0}, "grid"),
            ([0, 1], {"grid_resolution": 2000}, "grid"),
            (0, {"grid_resolution": 0}, "grid_resolution"),
            (0, {"background": np.zeros((0, 3))}, "background"),
            (0, {"background": [[np.nan, 0.0, 0.0]]}, "background"),
            (0, {"background": np.zeros((1, 3)), "distribution": "uniform"}, "background"),
        ],
    )
    def test_bad_arguments(self, model, features, options, about):
        with pytest.raises((ValueError, TypeError)) as caught:
            partial_dependence(model, features, **options)
        assert parameters_of(caught.value)[0] == about

    @pytest.mark.parametrize("grid", [[np.nan], [np.inf], ["a"], [], 3.0])
    def test_bad_grids(self, model, grid):
        with pytest.raises(ValueError, match="grid"):
            partial_dependence(model, 0, grid=grid)

    @pytest.mark.parametrize(
        ("options", "kind", "match"),
        [
            ({"features": None}, TypeError, "must be numbers or names of inputs, got None"),
            ({"features": True}, TypeError, "must be numbers or names of inputs, got True"),
            ({"features": 3}, ValueError, "has 3, but inputs are numbered from 0 to 2"),
            ({"features": [0, 1], "grid": [0.5, 0.6]}, ValueError, "for each of 2 inputs"),
            ({"features": 0, "grid": 0.5}, ValueError, "for each of 1 inputs"),
            ({"features": 0, "grid": []}, ValueError, "for each of 1 inputs"),
        ],
        ids=str,
    )
    def test_bad_features_and_grids(self, options, kind, match):
        with pytest.raises(kind, match=match) as caught:
            partial_dependence(GegenbauerRegressor().fit(*samples()), **options)
        assert parameters_of(caught.value) == (next(reversed(options)),)

    def test_grids_of_series_and_of_a_constant(self):
        X, y = samples()
        X[:, 1] = 2.0
        model = GegenbauerRegressor().fit(X, y)
        given = partial_dependence(model, 0, grid=pd.Series([0.5, 1.0], index=[7, 9]))
        assert_array_equal(given.average, partial_dependence(model, 0, grid=[0.5, 1.0]).average)
        still = partial_dependence(model, 1)
        assert_array_equal(still.grid_values[0], [2.0])
        mean = anova_components(model, X).mean
        assert_allclose(still.average, [[mean]], rtol=1e-12)


class TestTables:
    @staticmethod
    def table(n=80, seed=0):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(
            {
                "x": rng.uniform(size=n),
                "colour": rng.choice(["blue", "green", "red"], n),
                "z": rng.normal(size=n),
            }
        )
        X.loc[rng.random(n) < 0.2, "z"] = np.nan
        return X, (X.x * (X.colour == "red") + X.z.fillna(2.0) * X.x).to_numpy()

    @pytest.fixture(params=["kernel", "mean", "terms", "plain"])
    def fitted(self, request):
        one = {
            **MODELS,
            "plain": GegenbauerRegressor(
                degree=3, missing="indicator", categorical_features=["colour"]
            ),
        }[request.param]
        model = pickle.loads(pickle.dumps(one)).set_params(out_of_range="clip")
        return model.fit(*self.table())

    def test_categories(self, fitted):
        X, _ = self.table()
        found = partial_dependence(fitted, "colour", background=X)
        assert found.grid_values[0].tolist() == ["blue", "green", "red"]
        expected = [fitted.predict(X.assign(colour=c)).mean() for c in found.grid_values[0]]
        assert_allclose(found.average[0], expected, atol=1e-10)
        assert found.feature_names == ["colour"]
        some = partial_dependence(fitted, ["colour", "x"], grid=[["red"], [0.2, 0.4]], background=X)
        expected = [fitted.predict(X.assign(colour="red", x=x)).mean() for x in (0.2, 0.4)]
        assert_allclose(some.average[0, 0], expected, atol=1e-10)
        with pytest.raises(ValueError, match="'violet', which is none of its values") as caught:
            partial_dependence(fitted, "colour", grid=["violet"])
        assert parameters_of(caught.value) == ("grid",)
        with pytest.raises(ValueError, match="'w', which is no input of the model") as caught:
            partial_dependence(fitted, "w")
        assert parameters_of(caught.value) == ("features",)

    def test_gaps_stay_in_the_background(self, fitted):
        X, _ = self.table()
        found = partial_dependence(fitted, "x", grid=[0.3], background=X)
        assert_allclose(found.average[0, 0], fitted.predict(X.assign(x=0.3)).mean(), atol=1e-10)
        found = partial_dependence(fitted, "z", grid=[0.3], background=X)
        assert_allclose(found.average[0, 0], fitted.predict(X.assign(z=0.3)).mean(), atol=1e-10)

    def test_components(self, fitted):
        X, _ = self.table()
        found = anova_components(fitted, X)
        assert found.feature_names == ["x", "colour", "z"]
        whole = found.mean + found.values.sum(axis=1) + found.remainder
        assert_allclose(whole, fitted.predict(X), atol=1e-10)
        # the parts of a category have a mean of zero by the shares of its levels
        assert_allclose(found.values[:, 1].mean(), 0.0, atol=1e-10)
