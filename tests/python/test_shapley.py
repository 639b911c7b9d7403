"""Shapley values against brute force over all subsets of the inputs, by predictions alone."""

from __future__ import annotations

import pickle
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import scipy.stats as st
from independent_inputs import Game, marginals_of_samples
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    GeometricDecay,
    PowerDecay,
    Spectrum,
    load,
    save,
)
from gegenbauer.dask import GegenbauerRegressor as DaskRegressor
from gegenbauer.errors import OutOfRangeWarning, parameters_of
from gegenbauer.inspection import ShapleyValues, shapley_values
from gegenbauer.plotting import ContributionDisplay
from gegenbauer.ridge import KernelExpansion, MeanExpansion, TermExpansion

MODELS = Path(__file__).parent / "models" / "0.1.0"


def samples(n=60, m=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 3, (n, m))
    one = np.sin(X[:, 0]) * X[:, 1 % m] + X[:, 2 % m] ** 2
    return X, np.column_stack([one, X[:, -1] * X[:, 0] * X[:, 1 % m]])


def some(m=4):
    """A background of few samples, and samples to explain, some of them outside of the box."""
    rng = np.random.default_rng(7)
    return rng.uniform(-2, 3, (4, m)), rng.uniform(-3, 4, (3, m))


def values_of(model):
    """What is explained, (n, n_outputs), of a list of columns: predictions, nothing else."""
    predict = getattr(model, "decision_function", None) or model.predict

    def of(columns):
        found = np.asarray(predict(np.column_stack(columns)))
        return found.reshape(len(found), -1)

    return of


def check(model, X, marginals, predict=None, rtol=1e-9, **options):
    """All of a result, against brute force; errors in the size of the outputs."""
    predict = values_of(model) if predict is None else predict
    columns = [X[name].tolist() for name in X] if isinstance(X, pd.DataFrame) else list(X.T)
    game = Game(predict, marginals, columns)
    found = shapley_values(model, X, **options)
    n, m = len(columns[0]), len(columns)
    values, base = found.values.reshape(n, m, -1), found.base_values.reshape(n, -1)
    f = game.values[frozenset(range(m))]
    size = np.abs(f).max()
    assert_allclose(values, game.shapley(), rtol=0, atol=rtol * size)
    assert_allclose(base, np.tile(game.mean, (n, 1)), rtol=0, atol=rtol * size)
    assert_allclose(values.sum(axis=1), f - base, rtol=0, atol=1e-10 * size)
    return found


TERMS = {
    "raw": {"degree": 4},
    "raw, of negative lam": {"degree": 3, "lam": -0.2},
    "orthonormal": {"degree": 4, "lam": 0.0, "spectrum": "orthonormal"},
    "weighted": {"degree": 3, "lam": 2.0, "spectrum": (0.5, 1.0)},
    "of each input": {
        "degree": 3,
        "spectrum": Spectrum(
            [PowerDecay((0.5, 0.0, 2.0, 1.0), 1.0), GeometricDecay((0.1, 0.0, 0.0, 0.2), 0.3)]
        ),
    },
    "cross": {"degree": 6, "index_set": "hyperbolic_cross"},
    "tensor": {"degree": [1, 2, 0, 3], "index_set": "tensor", "n_terms": None},
    "pairs": {"degree": 4, "max_interaction": 2, "n_terms": None},
    "cut": {"degree": 4, "n_terms": 23, "term_order": "grevlex"},
    "largest weight": {"n_terms": 30, "index_set": "largest_weight", "spectrum": (0.5, 1.0)},
    "constant": {"degree": 0},
}


class TestBruteForce:
    @pytest.mark.filterwarnings("ignore::UserWarning")
    @pytest.mark.parametrize("policy", ["clip", "extrapolate"])
    @pytest.mark.parametrize("n_outputs", [1, 2])
    @pytest.mark.parametrize("name", TERMS)
    def test_terms(self, name, n_outputs, policy):
        X, Y = samples()
        background, Z = some()
        model = GegenbauerRegressor(**TERMS[name], out_of_range=policy)
        model.fit(X, Y if n_outputs == 2 else Y[:, 0])
        assert isinstance(model.expansion_, TermExpansion)
        found = check(
            model, Z, marginals_of_samples(background), background=background
        )  # fmt: skip
        assert found.values.shape == ((3, 4) if n_outputs == 1 else (3, 4, 2))
        assert found.base_values.shape == ((3,) if n_outputs == 1 else (3, 2))

    @pytest.mark.parametrize(
        ("options", "kind"),
        [
            ({"intervals": "one_spectrum"}, KernelExpansion),
            ({"intervals": "five_spectra"}, MeanExpansion),
            ({"n_terms": 60}, TermExpansion),
            ({"n_terms": 60, "spectrum": None}, TermExpansion),
            ({"intervals": "one_spectrum", "kernel_samples": 20, "n_terms": None}, KernelExpansion),
            ({"spectrum": (0.5, 2.0)}, KernelExpansion),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("n_outputs", [1, 2])
    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_chosen_models(self, options, kind, n_outputs):
        X, Y = samples()
        background, Z = some()
        model = GegenbauerRegressorCV(**options, out_of_range="clip")
        model.fit(X, Y if n_outputs == 2 else Y[:, 0])
        assert isinstance(model.expansion_, kind)
        check(model, Z, marginals_of_samples(background), background=background)

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_landmarks(self, monkeypatch):
        monkeypatch.setattr("gegenbauer.estimators._search.default_landmarks", lambda _: 50)
        X, Y = samples(400, 3)
        background, Z = some(3)
        model = GegenbauerRegressorCV(kernel_samples=100, out_of_range="clip").fit(X, Y[:, 0])
        assert model.engine_ == "landmarks"
        assert len(model.X_fit_) == 50
        check(model, Z, marginals_of_samples(background), background=background)

    @pytest.mark.filterwarnings("ignore::UserWarning")
    @pytest.mark.parametrize("kernel", [False, True])
    def test_eight_inputs(self, kernel):
        """All 256 subsets, and all powers of the Gauss rule over the sizes of subsets."""
        X, Y = samples(100, 8)
        Y = Y[:, 0] + np.prod(1 + 0.2 * X, axis=1)
        background, Z = some(8)
        model = GegenbauerRegressorCV(
            intervals="one_spectrum", n_terms=None if kernel else 300, out_of_range="clip"
        )
        model.fit(X, Y)
        background = background[:2]
        check(model, Z[:2], marginals_of_samples(background), background=background)

    @pytest.mark.parametrize("m", [1, 2, 3, 5])
    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_few_inputs(self, m):
        X, Y = samples(50, m)
        background, Z = some(m)
        model = GegenbauerRegressorCV(intervals="one_spectrum", out_of_range="clip")
        model.fit(X, Y[:, 0])
        check(model, Z, marginals_of_samples(background), background=background)

    @pytest.mark.filterwarnings("ignore::UserWarning")
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("chosen", [False, True])
    def test_classes(self, n_classes, chosen):
        X, Y = samples(90, 3)
        background, Z = some(3)
        y = np.digitize(Y[:, 0], np.quantile(Y[:, 0], [0.3, 0.7][: n_classes - 1]))
        if chosen:
            model = GegenbauerClassifierCV(out_of_range="clip").fit(X, y)

            def predict(columns):  # before calibration
                return model.expansion_.evaluate(np.column_stack(columns))
        else:
            model, predict = GegenbauerClassifier(out_of_range="clip").fit(X, y), None
        found = check(
            model, Z, marginals_of_samples(background), predict, background=background
        )  # fmt: skip
        assert found.values.shape == ((3, 3) if n_classes == 2 else (3, 3, 3))


class TestDefaultBackground:
    """The samples of the fit themselves."""

    @pytest.mark.filterwarnings("ignore::UserWarning")
    @pytest.mark.parametrize(
        "model",
        [
            GegenbauerRegressor(degree=5),
            GegenbauerRegressorCV(intervals="one_spectrum"),
            GegenbauerRegressorCV(intervals="five_spectra"),
            GegenbauerRegressorCV(n_terms=30),
        ],
        ids=["plain", "kernel", "mean", "terms"],
    )
    def test_samples(self, model):
        X, Y = samples(40, 2)
        model.set_params(out_of_range="clip").fit(X, Y[:, 0])
        check(model, some(2)[1], marginals_of_samples(X))

    @pytest.mark.filterwarnings("ignore::UserWarning")
    @pytest.mark.parametrize("kernel", [False, True])
    def test_weights_of_samples(self, kernel):
        X, Y = samples(40, 2)
        weight = np.random.default_rng(0).uniform(0.2, 2, 40)
        weight[3] = 0.0
        model = (
            GegenbauerRegressorCV(intervals="one_spectrum")
            if kernel
            else GegenbauerRegressor(degree=5)
        )
        model.set_params(out_of_range="clip").fit(X, Y[:, 0], weight)
        check(model, some(2)[1], marginals_of_samples(X, weight))

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_landmarks(self):
        """Of their samples a Gauss rule is left, which kernels are not polynomials for."""
        X, Y = samples(300, 2)
        model = GegenbauerRegressorCV(kernel_samples=80, out_of_range="clip").fit(X, Y[:, 0])
        assert model.engine_ == "landmarks"
        Z = some(2)[1]
        assert_allclose(
            shapley_values(model, Z).values,
            shapley_values(model, Z, background=X).values,
            atol=1e-5 * np.abs(Y[:, 0]).max(),
        )

    @pytest.mark.parametrize("kind", ["batches", "fit_stream", "dask"])
    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_streams(self, kind):
        """Sums give the same marginals as the samples that went into them."""
        X, Y = samples(60, 2)
        y, options = Y[:, 0], {"degree": 4, "bounds": [(-2, 3)] * 2, "out_of_range": "clip"}
        if kind == "batches":
            model = GegenbauerRegressor(**options, n_terms=None)
            for rows in np.array_split(np.arange(60), 4):
                model.partial_fit(X[rows], y[rows])
        elif kind == "fit_stream":
            model = GegenbauerRegressorCV(n_terms=20, bounds=[(-2, 3)] * 2, out_of_range="clip")
            model.fit_stream([(X[:30], y[:30]), (X[30:], y[30:])])
        else:
            da = pytest.importorskip("dask.array")
            model = DaskRegressor(**options, n_terms=None)
            model.fit(da.from_array(X, chunks=(20, 2)), da.from_array(y, chunks=20))
        Z = some(2)[1]
        f = np.asarray(model.predict(Z))
        game = Game(
            lambda columns: np.asarray(model.predict(np.column_stack(columns))),
            marginals_of_samples(X),
            list(Z.T),
        )
        found = shapley_values(model, Z)
        size = np.abs(f).max()
        assert_allclose(found.values, game.shapley()[..., 0], atol=1e-9 * size)
        assert_allclose(found.values.sum(axis=1), f - found.base_values, atol=1e-10 * size)

    @pytest.mark.parametrize("lam", [0.0, 0.5])
    def test_binary_inputs_of_streams(self, lam):
        """Two values have two moments, whatever the degree of the terms."""
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.integers(0, 2, 80).astype(float), rng.uniform(size=80)])
        y = X[:, 0] * X[:, 1]
        model = GegenbauerRegressor(degree=6, lam=lam, bounds=[(0, 1)] * 2)
        model.partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
        check(model, X[:3], marginals_of_samples(X), rtol=1e-8)


class TestDistributions:
    def test_by_quadrature(self):
        """A normal and a uniform input against a tensor rule of predictions."""
        X, Y = samples(80, 2)
        model = GegenbauerRegressor(degree=4, n_terms=None, out_of_range="extrapolate")
        model.fit(X, Y[:, 0])
        x, w = np.polynomial.hermite_e.hermegauss(20)
        u, v = np.polynomial.legendre.leggauss(20)
        marginals = [(0.3 + 0.5 * x, w / w.sum()), (1 + u, v / 2)]
        given = [st.norm(0.3, 0.5), st.uniform(0, 2)]
        check(model, some(2)[1], marginals, distribution=given)

    def test_of_names(self):
        X, Y = samples(80, 2)
        table = pd.DataFrame(X, columns=["left", "right"])
        model = GegenbauerRegressor(degree=4, out_of_range="clip").fit(table, Y[:, 0])
        Z = pd.DataFrame(some(2)[1], columns=["left", "right"])
        marginals = [([0.0, 1.0], np.array([0.25, 0.75])), marginals_of_samples(X)[1]]

        def predict(columns):
            return model.predict(pd.DataFrame(dict(zip(table, columns, strict=True))))

        found = check(
            model, Z, marginals, predict, distribution={"left": {0: 1, 1: 3}}
        )  # fmt: skip
        assert found.feature_names == ["left", "right"]
        assert_array_equal(found.data, Z)

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_one_sample_is_a_point(self):
        """The game of switching inputs one by one from the one sample to the other."""
        X, Y = samples(50, 3)
        Z = some(3)[1]
        for model in (GegenbauerRegressor(), GegenbauerRegressorCV(intervals="one_spectrum")):
            model.set_params(out_of_range="clip").fit(X, Y[:, 0])
            found = check(model, Z, marginals_of_samples(X[:1]), background=X[:1])
            assert_allclose(found.base_values, model.predict(X[:1])[0], rtol=1e-9)
            itself = shapley_values(model, X[:1], background=X[:1])
            assert_allclose(itself.values, 0, atol=1e-10)


EFFECTS = {"blue": 0.0, "green": 1.0, "red": -1.0}


def table(n=100, seed=0):
    """A number, a category, and a number that may be missing."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "x": rng.uniform(size=n),
            "colour": rng.choice([*EFFECTS], n),
            "z": rng.normal(size=n).clip(-2, 2),
        }
    )
    X.loc[rng.random(n) < 0.2, "z"] = np.nan
    y = np.sin(6 * X.x) * (X.colour == "blue") + X.colour.map(EFFECTS) + X.z.fillna(2) * X.x
    return X, y.to_numpy()


def table_marginals(X):
    """Of columns that may hold text and gaps."""
    found = []
    for name in X:
        counts = X[name].value_counts(normalize=True, dropna=False)
        found.append((counts.index.tolist(), counts.to_numpy()))
    return found


def table_values(model):
    def of(columns):
        x, colour, z = columns
        found = np.asarray(
            model.predict(
                pd.DataFrame({"x": np.array(x, float), "colour": colour, "z": np.array(z, float)})
            )
        )
        return found.reshape(len(found), -1)

    return of


@pytest.mark.filterwarnings("ignore::UserWarning")
class TestTables:
    MODELS = pytest.mark.parametrize(
        "model",
        [
            GegenbauerRegressorCV(intervals="one_spectrum"),
            GegenbauerRegressorCV(intervals="five_spectra"),
            GegenbauerRegressorCV(n_terms=60),
            GegenbauerRegressor(degree=3, missing="indicator", categorical_features=["colour"]),
        ],
        ids=["kernel", "mean", "terms", "plain"],
    )

    @MODELS
    def test_categories_and_gaps(self, model):
        """Also outside of the box, of a value that was not there, and of gaps in any input."""
        X, y = table()
        model.set_params(out_of_range="clip").fit(X, y)
        Z = pd.DataFrame(
            {
                "x": [0.5, 2.0, np.nan, 0.1],
                "colour": ["red", "violet", "blue", "green"],
                "z": [np.nan, 5.0, 0.3, np.nan],
            }
        )
        gone = np.flatnonzero(X.z.isna())[:2]
        background = X.iloc[[0, 1, 2, 1, *gone]]
        predict = table_values(model)
        check(model, Z, table_marginals(background), predict, background=background)

    @MODELS
    def test_default_background(self, model):
        X, y = table(14)
        y = y + np.random.default_rng(1).normal(size=14)  # nothing is met, by huge coefficients
        model.set_params(out_of_range="clip").fit(X, y)
        check(model, table(2, seed=1)[0], table_marginals(X), table_values(model))

    def test_given_shares_of_levels(self):
        X, y = table()
        model = GegenbauerRegressorCV(intervals="one_spectrum", out_of_range="clip").fit(X, y)
        given = {"colour": {"red": 3, "blue": 1}, "x": {0.25: 1, 0.5: 1}, "z": {0.0: 1}}
        marginals = [
            ([0.25, 0.5], np.full(2, 0.5)),
            (["red", "blue"], np.array([0.75, 0.25])),
            ([0.0], np.ones(1)),
        ]
        Z = table(3, seed=1)[0]
        check(model, Z, marginals, table_values(model), distribution=given)


@pytest.mark.filterwarnings("ignore::UserWarning")
class TestRange:
    @pytest.mark.parametrize("kernel", [False, True])
    def test_policies(self, kernel):
        X, Y = samples(50, 2)
        model = GegenbauerRegressorCV(intervals="one_spectrum") if kernel else GegenbauerRegressor()
        model.fit(X, Y[:, 0])
        background, Z = X[:5], 3 * X[:3]
        clipped = shapley_values(model.set_params(out_of_range="clip"), Z, background=background)
        with pytest.warns(OutOfRangeWarning) as caught:
            warned = shapley_values(model.set_params(out_of_range="warn"), Z, background=background)
        assert len(caught) == 1
        assert_array_equal(warned.values, clipped.values)
        with pytest.raises(ValueError, match="outside"):
            shapley_values(model.set_params(out_of_range="error"), Z, background=background)
        if kernel:
            with pytest.raises(ValueError, match="needs a finite set") as refused:
                shapley_values(model.set_params(out_of_range="extrapolate"), Z)
            assert parameters_of(refused.value) == ("out_of_range",)

    def test_distributions_beyond_the_box(self):
        """Values of a background beyond the box count as its faces, silently."""
        X, Y = samples(50, 2)
        for model in (GegenbauerRegressor(), GegenbauerRegressorCV(intervals="one_spectrum")):
            model.set_params(out_of_range="clip").fit(X, Y[:, 0])
            far = np.array([[-50.0, 1.0], [0.0, 70.0]])
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                check(model, X[:2], marginals_of_samples(far), background=far)


@pytest.mark.filterwarnings("ignore::UserWarning")
class TestState:
    @pytest.mark.parametrize(
        "model",
        [
            GegenbauerRegressor(degree=3, missing="indicator", categorical_features=["colour"]),
            GegenbauerRegressorCV(intervals="one_spectrum"),
            GegenbauerRegressorCV(intervals="five_spectra"),
            GegenbauerRegressorCV(n_terms=40),
        ],
        ids=["plain", "kernel", "mean", "terms"],
    )
    def test_files_and_pickles(self, model, tmp_path):
        X, y = table()
        model.fit(X, y)
        expected = shapley_values(model, X[:5])
        save(model, tmp_path / "model.safetensors")
        for again in (load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
            found = shapley_values(again, X[:5])
            assert_array_equal(found.values, expected.values)
            assert_array_equal(found.base_values, expected.base_values)
            assert found.feature_names == expected.feature_names

    def test_file_of_a_landmark_model(self, tmp_path):
        X, Y = samples(300, 2)
        model = GegenbauerRegressorCV(kernel_samples=60).fit(X, Y[:, 0])
        assert model.engine_ == "landmarks"
        save(model, tmp_path / "model.safetensors")
        again = load(tmp_path / "model.safetensors")
        assert_array_equal(shapley_values(again, X).values, shapley_values(model, X).values)

    def test_file_of_a_stream(self, tmp_path):
        X, Y = samples(80, 2)
        model = GegenbauerRegressor().partial_fit(X, Y[:, 0])
        save(model, tmp_path / "model.safetensors")
        again = load(tmp_path / "model.safetensors")
        assert_array_equal(shapley_values(again, X).values, shapley_values(model, X).values)
        for one in (again, model):
            one.partial_fit(X[:40] * 0.5, Y[:40, 0])
        assert_array_equal(shapley_values(again, X).values, shapley_values(model, X).values)

    @pytest.mark.parametrize("name", ["regressor", "regressor-cv", "classifier-str"])
    def test_older_files(self, name):
        """They hold no marginals unless they hold samples or sums."""
        model = load(MODELS / f"{name}.safetensors")
        m = model.n_features_in_
        box = model.scaling_
        X = np.random.default_rng(0).uniform(box.lower, box.upper, (5, m))
        background = X[:3]
        columns = list(X[:2].T)
        predict = values_of(model)
        if hasattr(model, "X_fit_"):
            shapley_values(model, X)
        else:
            with pytest.raises(ValueError, match="does not hold the marginals") as caught:
                shapley_values(model, X)
            assert parameters_of(caught.value) == ("background", "distribution")
        found = shapley_values(model, X[:2], background=background)
        game = Game(predict, marginals_of_samples(background), columns)
        n_outputs = game.mean.size
        assert_allclose(
            found.values.reshape(2, m, n_outputs), game.shapley(), atol=1e-9
        )  # fmt: skip
        uniform = shapley_values(model, X[:2], distribution="uniform")
        assert uniform.values.shape == found.values.shape

    def test_refitted(self):
        """Nothing of the samples of a former fit is left."""
        X, Y = samples(60, 2)
        model = GegenbauerRegressor(bounds=[(-2, 3)] * 2).fit(X[:20], Y[:20, 0])
        model.fit(X, Y[:, 0])
        check(model, X[:2], marginals_of_samples(X))
        model = GegenbauerRegressor(bounds=[(-2, 3)] * 2).partial_fit(X[:20], Y[:20, 0])
        check(model, X[:2], marginals_of_samples(X[:20]))
        model.partial_fit(X[20:], Y[20:, 0])
        check(model, X[:2], marginals_of_samples(X))
        model.fit(X[:20], Y[:20, 0])
        check(model, X[:2], marginals_of_samples(X[:20]))


class TestInputs:
    def test_kinds_of_samples(self):
        X, Y = samples(60, 3)
        model = GegenbauerRegressor().fit(X, Y[:, 0])
        expected = shapley_values(model, X[:4], background=X[5:9]).values
        for wrap in (scipy.sparse.csr_array, np.ndarray.tolist, np.asfortranarray):
            found = shapley_values(model, wrap(X[:4]), background=wrap(X[5:9])).values
            assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
        half = shapley_values(model, X[:4].astype(np.float32), background=X[5:9])
        assert_allclose(half.values, expected, atol=1e-5)
        assert half.values.dtype == np.float64

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_constant_inputs_add_nothing(self):
        X, Y = samples(60, 3)
        X[:, 1] = 4.0
        for model in (GegenbauerRegressor(), GegenbauerRegressorCV(intervals="one_spectrum")):
            model.set_params(out_of_range="clip").fit(X, Y[:, 0])
            Z = X[:3] + np.array([0.1, 5.0, 0.2])
            found = check(model, Z, marginals_of_samples(X[:4]), background=X[:4])
            assert_allclose(found.values[:, 1], 0.0, atol=1e-14)

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_constant_targets(self):
        X, _ = samples(30, 2)
        for model in (GegenbauerRegressor(), GegenbauerRegressorCV()):
            found = shapley_values(model.fit(X, np.full(30, 2.5)), X)
            assert_allclose(found.values, 0, atol=1e-3)
            assert_allclose(found.base_values, 2.5, rtol=1e-3)

    def test_interactions_share_equally(self):
        """Of x y on symmetric samples both get half; of x alone, x has all."""
        grid = np.array([[a, b] for a in (-1.0, 0.0, 1.0) for b in (-1.0, 0.0, 1.0)])
        model = GegenbauerRegressor(degree=2, n_terms=None, alpha=1e-13)
        model.fit(grid, grid[:, 0] * grid[:, 1] + 3 * grid[:, 0])
        found = shapley_values(model, [[1.0, 1.0], [0.5, -1.0]])
        assert_allclose(found.values, [[3.5, 0.5], [1.25, -0.25]], atol=1e-9)

    @pytest.mark.parametrize(
        ("background", "match"),
        [
            (np.zeros((0, 2)), "0 sample"),
            (np.zeros((3, 3)), "3 features"),
            (np.zeros(2), "Expected 2D array"),
            ([["a", "b"]], "must hold real numbers"),
            ([[np.nan, 1.0]], "column 0"),
            ([[np.inf, 1.0]], "column 0|infinity"),
        ],
        ids=["empty", "wide", "flat", "text", "NaN", "infinite"],
    )
    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_bad_backgrounds(self, background, match):
        X, Y = samples(30, 2)
        for model in (GegenbauerRegressor(), GegenbauerRegressorCV(intervals="one_spectrum")):
            model.fit(X, Y[:, 0])
            with pytest.raises(ValueError, match=match) as caught:
                shapley_values(model, X, background=background)
            assert "background" in parameters_of(caught.value)

    def test_bad_arguments(self):
        X, Y = samples(30, 2)
        model = GegenbauerRegressor()
        with pytest.raises(NotFittedError):
            shapley_values(model, X)
        model.fit(X, Y[:, 0])
        with pytest.raises(ValueError, match="give one of them") as caught:
            shapley_values(model, X, background=X, distribution="uniform")
        assert parameters_of(caught.value) == ("background", "distribution")
        for bad in (None, GegenbauerRegressor, GegenbauerFeatures().fit(X)):
            with pytest.raises(TypeError, match="must be a regressor or classifier") as caught:
                shapley_values(bad, X)
            assert parameters_of(caught.value) == ("estimator",)
        for wrong, match in (
            (np.zeros((2, 3)), "3 features"),
            (np.zeros((0, 2)), "0 sample"),
            ([["a", "b"]], "must hold real numbers"),
            ([[np.inf, 0.0]], "infinity"),
        ):
            with pytest.raises(ValueError, match=match):
                shapley_values(model, wrong)

    def test_missing_values_that_are_refused(self):
        X, Y = samples(30, 2)
        model = GegenbauerRegressor(missing="error").fit(X, Y[:, 0])
        for given in ({"X": [[np.nan, 0.0]]}, {"X": X, "background": [[np.nan, 0.0]]}):
            with pytest.raises(ValueError, match="NaN"):
                shapley_values(model, **given)


class TestResult:
    @pytest.mark.parametrize(
        "draw",
        [
            lambda plots, found: plots.waterfall(found[3], show=False),
            lambda plots, found: plots.beeswarm(found, show=False),
            lambda plots, found: plots.bar(found, show=False),
            lambda plots, found: plots.scatter(found[:, "size"], show=False),
            lambda plots, found: plots.heatmap(found, show=False),
        ],
        ids=["waterfall", "beeswarm", "bar", "scatter", "heatmap"],
    )
    def test_plots_of_shap_draw_it(self, draw):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shap = pytest.importorskip("shap")
        matplotlib = pytest.importorskip("matplotlib")
        matplotlib.use("Agg")
        plt = pytest.importorskip("matplotlib.pyplot")
        rng = np.random.default_rng(0)
        X = pd.DataFrame({"size": rng.uniform(size=60), "kind": rng.choice(["a", "b"], 60)})
        model = GegenbauerRegressorCV(n_terms=10).fit(X, X["size"] + (X.kind == "a"))
        found = shapley_values(model, X).to_shap()
        plt.close("all")
        draw(shap.plots, found)
        figure = plt.gcf()
        figure.canvas.draw()
        texts = {text.get_text() for ax in figure.axes for text in ax.findobj(matplotlib.text.Text)}
        assert any("size" in text for text in texts)
        plt.close("all")

    def test_levels_of_categories_are_shown(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame({"size": rng.uniform(size=60), "kind": ["a", "b", None] * 20})
        model = GegenbauerRegressor().fit(X, X["size"] + (X.kind == "a"))
        found = shapley_values(model, X[:3])
        assert found.display_data[:, 1].tolist() == ["a", "b", "missing"]
        assert_array_equal(found.display_data[:, 0].astype(float), X["size"][:3])
        display = ContributionDisplay.from_shapley(found, sample=1)
        assert {*display.names} == {f"size = {X['size'][1]:.4g}", "kind = b"}
        plain = GegenbauerRegressor().fit(X[["size"]], X["size"])
        assert shapley_values(plain, X[["size"]]).display_data is None

    def test_text(self):
        values = np.arange(12.0).reshape(6, 2)
        one = ShapleyValues(values, np.full(6, 0.5), values, ["a", "b"])
        assert repr(one).splitlines() == [
            "ShapleyValues of 6 samples and 2 inputs",
            "sample  mean  a  b  output",
            "0        0.5  0  1     1.5",
            "1        0.5  2  3     5.5",
            "2        0.5  4  5     9.5",
            "3        0.5  6  7    13.5",
            "4        0.5  8  9    17.5",
            "and 1 more sample",
        ]
        html = one._repr_html_()
        assert html.count("<tr") == 6
        assert "17.5" in html
        wide = ShapleyValues(np.zeros((1, 40, 3)), np.zeros((1, 3)), np.zeros((1, 40)), ["x"] * 40)
        assert repr(wide) == "ShapleyValues of 1 sample, 40 inputs and 3 outputs"

    def test_shap_gets_what_it_takes(self, monkeypatch):
        """Its Explanation has five of these names."""

        class Explanation:
            def __init__(self, values, base_values=None, data=None, display_data=None,
                         feature_names=None):  # fmt: skip
                assert display_data is None
                self.given = values, base_values, data, feature_names

        monkeypatch.setitem(sys.modules, "shap", types.SimpleNamespace(Explanation=Explanation))
        one = ShapleyValues(np.ones((1, 2)), np.ones(1), np.zeros((1, 2)), ["a", "b"])
        assert one.to_shap().given == (one.values, one.base_values, one.data, one.feature_names)
        monkeypatch.setitem(sys.modules, "shap", None)
        with pytest.raises(ImportError, match="pip install shap"):
            one.to_shap()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_change_nothing(n_jobs):
    X, Y = samples(60, 3)
    model = GegenbauerRegressorCV(intervals="one_spectrum", n_jobs=1).fit(X, Y[:, 0])
    expected = shapley_values(model, X).values
    found = shapley_values(model.set_params(n_jobs=n_jobs), X).values
    assert_array_equal(found, expected)
