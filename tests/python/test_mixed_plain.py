"""Estimators of given terms, on tables with categories and missing values."""

from __future__ import annotations

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerFeatures,
    GegenbauerRegressor,
    PowerDecay,
    Spectrum,
    load,
    polynomial_text,
    reference,
    save,
    sobol_indices,
    to_sympy,
)
from gegenbauer.basis import Levels
from gegenbauer.errors import OutOfRangeWarning

NAMES = ["x", "colour", "z", "old"]

CATEGORIES = {"colour", "old"}

KINDS = [GegenbauerRegressor, GegenbauerClassifier, GegenbauerFeatures]


def table(n=200, seed=0):
    """Two numbers, of which one has gaps, a category of four levels, and truth values."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "x": rng.uniform(2, 5, size=n),
            "colour": rng.choice(["blue", "green", "red", "white"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "z": rng.normal(size=n).clip(-2, 2),
            "old": rng.random(n) < 0.3,
        }
    )
    X.loc[rng.random(n) < 0.2, "z"] = np.nan
    y = np.sin(2 * X.x) * (X.colour == "blue") + 1.0 * X.z.isna() + X.old * X.z.fillna(0.0)
    return X, y.to_numpy() + 0.1 * rng.normal(size=n)


def functions_of(X, fitted_to, share, t, polynomials, q, domain):
    """Return the values of the functions of an input: contrasts, and polynomials."""
    name = NAMES[t]
    column, seen = X[name], fitted_to[name]
    if name in CATEGORIES:
        levels = sorted(seen.unique())
        p = [share[(seen == level).to_numpy()].sum() for level in levels]
        contrasts = np.sqrt(q[t]) * reference.level_contrasts(p)
        unknown = np.zeros((1, contrasts.shape[1]))
        place = column.map({level: k for k, level in enumerate(levels)}).fillna(len(levels))
        return np.vstack([contrasts, unknown])[place.astype(int)]
    low, high = domain
    u = low + (high - low) * ((column - seen.min()) / (seen.max() - seen.min())).clip(0, 1)
    found = polynomials(u.fillna(0.0).to_numpy(), t)
    found[column.isna()] = 0.0
    if not seen.isna().any():
        return found
    p = share[seen.isna().to_numpy()].sum()
    given, missing = np.sqrt(q[t]) * reference.level_contrasts([1 - p, p])[:, 0]
    return np.column_stack([np.where(column.isna(), missing, given), found])


def design(X, fitted_to, degree, polynomials, q, domain, weight=None):
    """Features by numpy alone; to a ridge the order of the columns is of no matter."""
    share = np.ones(len(fitted_to)) if weight is None else weight
    functions = [
        functions_of(X, fitted_to, share / share.sum(), t, polynomials, q, domain)
        for t in range(len(NAMES))
    ]
    columns = []
    for k in itertools.product(*(range(f.shape[1] + 1) for f in functions)):
        if sum(k) <= degree:
            factors = [f[:, n - 1] for f, n in zip(functions, k, strict=True) if n]
            columns.append(np.prod([np.ones(len(X)), *factors], axis=0))
    return np.column_stack(columns)


LAM, DEGREE = 0.3, 3

ALL_Q = (0.5, 0.3, 0.2, 0.7)


def weighted(q, s):
    """Orthonormal polynomials with the weights of a spectrum."""

    def polynomials(u, t):
        found = reference.orthonormal_gegenbauer(u, DEGREE, LAM)[:, 1:]
        return found * np.sqrt(q[t]) * np.arange(1.0, DEGREE + 1) ** -s

    return polynomials


SPECTRA = {
    "raw": (None, lambda u, t: reference.gegenbauer_recurrence(u, DEGREE, LAM)[:, 1:], [1.0] * 4),
    "orthonormal": ("orthonormal", weighted([1.0] * 4, 0.0), [1.0] * 4),
    "power": ((0.5, 1.5), weighted([0.5] * 4, 1.5), [0.5] * 4),
    "by input": (PowerDecay(ALL_Q, 1.0), weighted(ALL_Q, 1.0), ALL_Q),
}


@pytest.mark.parametrize("domain", [(0, 1), (-1, 1)])
@pytest.mark.parametrize("name", SPECTRA)
class TestRidge:
    """The fit is a ridge on products of contrasts and polynomials that are built by hand."""

    @staticmethod
    def both(name, domain, **more):
        spectrum, polynomials, q = SPECTRA[name]
        given = {"degree": DEGREE, "n_terms": None, "lam": LAM, "spectrum": spectrum}
        return {**given, "domain": domain, **more}, (DEGREE, polynomials, q, domain)

    def test_regression(self, name, domain):
        (X, y), (Z, _) = table(), table(60, seed=1)
        Z.loc[:4, "colour"] = "violet"
        given, built = self.both(name, domain, alpha=0.1, out_of_range="clip")
        model = GegenbauerRegressor(**given, penalize_constant=False).fit(X, y)
        G, H = (design(one, X, *built) for one in (X, Z))
        assert model.n_terms_ == G.shape[1]
        ridge = Ridge(0.1, solver="cholesky").fit(G[:, 1:], y)
        np.testing.assert_allclose(model.predict(X), ridge.predict(G[:, 1:]), atol=1e-10)
        np.testing.assert_allclose(model.predict(Z), ridge.predict(H[:, 1:]), atol=1e-10)

    def test_classification_with_weights(self, name, domain):
        """Shares of levels are those of the weights, of samples and of classes."""
        (X, y), (Z, _) = table(), table(60, seed=1)
        labels = np.where(y > 0.5, "high", "low")
        weight = np.random.default_rng(3).integers(0, 3, len(X)).astype(float)
        factor = np.where(labels == "high", 3.0, 1.0)
        given, built = self.both(name, domain, alpha=0.1, out_of_range="clip")
        model = GegenbauerClassifier(**given, class_weight={"high": 3.0})
        model.fit(X, labels, sample_weight=weight)
        used = weight > 0
        whole = (weight * factor)[used]
        G, H = (design(one, X[used], *built, weight=whole) for one in (X[used], Z))
        ridge = Ridge(0.1, fit_intercept=False, solver="cholesky")
        ridge.fit(G, np.where(labels == "low", 1.0, -1.0)[used], sample_weight=whole)
        np.testing.assert_allclose(model.decision_function(Z), ridge.predict(H), atol=1e-10)

    def test_features(self, name, domain):
        (X, _), (Z, _) = table(), table(60, seed=1)
        given, built = self.both(name, domain, out_of_range="clip")
        features = GegenbauerFeatures(**given).fit(X)
        found, expected = features.transform(Z), design(Z, X, *built)
        order, other = (np.lexsort(G[:7].round(9)) for G in (found, expected))
        np.testing.assert_allclose(found[:, order], expected[:, other], atol=1e-12)


class TestDefinition:
    def test_contrasts_count_as_degrees_one_after_another(self):
        X, _ = table()
        names = GegenbauerFeatures(degree=2, n_terms=None).fit(X).get_feature_names_out().tolist()
        assert names[:5] == ["1", "C1(x)", "level1(colour)", "missing(z)", "level1(old)"]
        assert {"level2(colour)", "C1(z)"} <= set(names)
        assert "level2(old)" not in names  # of two levels there is one
        assert "level3(colour)" not in names

    def test_largest_weight_takes_contrasts_by_their_one_weight(self):
        X, y = table()
        given = {"n_terms": 12, "index_set": "largest_weight"}
        model = GegenbauerRegressor(**given, spectrum=PowerDecay((0.1, 0.9, 0.1, 0.1), 2.0))
        names = model.fit(X, y).basis_.term_names(NAMES)
        assert {f"level{k}(colour)" for k in (1, 2, 3)} <= set(names)
        with pytest.raises(ValueError, match="needs a spectrum"):
            GegenbauerRegressor(**given).fit(X, y)

    def test_levels_of_a_spectrum_are_those_of_the_samples(self):
        X, y = table()
        others = [None, Levels((0.5, 0.5)), None, None]
        one, other = (
            GegenbauerRegressor(30, spectrum=Spectrum(PowerDecay(ALL_Q, 1.0), levels)).fit(X, y)
            for levels in (others, None)
        )
        np.testing.assert_array_equal(one.predict(X), other.predict(X))

    def test_constants_of_the_constructor(self):
        X, y = table()
        by_list = GegenbauerRegressor(30, categorical_features=["colour", "old"]).fit(X, y)
        by_mask = GegenbauerRegressor(30, categorical_features=[0, 1, 0, 1]).set_params(
            categorical_features=[False, True, False, True]
        )
        by_type = GegenbauerRegressor(30).fit(X, y)
        assert by_type.categories_ == [
            None, ["blue", "green", "red", "white"], None, [False, True],
        ]  # fmt: skip
        for model in (by_list, by_mask.fit(X, y)):
            np.testing.assert_array_equal(model.predict(X), by_type.predict(X))
        codes = X.assign(colour=X.colour.map({"blue": 7, "green": 8, "red": 9, "white": 11}))
        by_code = clone(by_list).fit(codes, y)
        np.testing.assert_array_equal(by_code.predict(codes), by_type.predict(X))
        numbers = X[["x", "old"]]
        model = GegenbauerRegressor(30, categorical_features=None).fit(numbers, y)
        assert model.categories_ == [None, None]
        with pytest.raises(ValueError, match=r"column 1 \('colour'\)"):
            clone(model).fit(X, y)

    def test_any_library_gives_the_same(self):
        X, y = table()
        expected = GegenbauerRegressor(60).fit(X, y).predict(X)
        for other in (pl.from_pandas(X), X.astype({"colour": "category"}), X.convert_dtypes()):
            model = GegenbauerRegressor(60).fit(other, y)
            np.testing.assert_array_equal(model.predict(other), expected)

    @pytest.mark.parametrize("engine", ["primal", "dual", "kernel"])
    def test_any_engine_gives_the_same(self, engine):
        X, y = table()
        model = GegenbauerRegressor(degree=3, n_terms=None, alpha=0.1, engine=engine).fit(X, y)
        expected = GegenbauerRegressor(degree=3, n_terms=None, alpha=0.1).fit(X, y)
        np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-10)
        assert model.engine_ == engine

    def test_moments_are_of_polynomials(self):
        X, y = table()
        with pytest.raises(ValueError, match=r"categories.* are not: .*`engine='primal'`"):
            GegenbauerRegressor(20, engine="moments").fit(X.fillna({"z": 0.0}), y)
        with pytest.raises(ValueError, match="NaN"):
            GegenbauerRegressor(20, engine="moments").fit(X, y)

    def test_in_float32_and_by_rows(self):
        X, y = table()
        single = X.astype({"x": np.float32, "z": np.float32})
        expected = GegenbauerRegressor(60).fit(X, y).predict(X)
        found = GegenbauerRegressor(60).fit(single, y).predict(single)
        np.testing.assert_allclose(found, expected, atol=1e-4)

    def test_bounds(self):
        X, y = table()
        bounds = [[0, 10], [0, 1], [-3, 3], [0, 1]]
        model = GegenbauerRegressor(60, bounds=bounds).fit(X, y)
        assert model.scaling_.lower.tolist() == [0, 0, -3, 0]
        assert model.scaling_.upper.tolist() == [10, 3, 3, 1]  # of levels, whatever was given
        assert model.score(X, y) > 0.8

    def test_missing_categories_are_a_level(self):
        X, y = table()
        X.loc[::7, "colour"] = None
        model = GegenbauerRegressor(60).fit(X, y)
        assert model.categories_[1] == ["blue", "green", "red", "white", None]
        named = X.fillna({"colour": "zzz"})
        other = GegenbauerRegressor(60).fit(named, y)
        np.testing.assert_array_equal(model.predict(X), other.predict(named))
        with pytest.raises(ValueError, match=r"column 1 \('colour'\) has one, first in row 0"):
            GegenbauerRegressor(60, missing="error").fit(X.assign(z=0.0), y)

    def test_levels_of_no_weight_are_none(self):
        X, y = table()
        weight = (X.colour != "red").to_numpy() * 1.0
        model = GegenbauerRegressor(60).fit(X, y, sample_weight=weight)
        assert model.categories_[1] == ["blue", "green", "white"]
        few = X.colour != "red"
        other = GegenbauerRegressor(60).fit(X[few], y[few])
        np.testing.assert_allclose(model.predict(X[few]), other.predict(X[few]), atol=1e-12)

    def test_cross_validation(self):
        X, y = table(1000)
        model = GegenbauerRegressor(200, alpha=0.1, lam=0.5, out_of_range="clip")
        assert cross_val_score(model, X, y).mean() > 0.9

    def test_a_column_of_nothing_or_of_one_level(self):
        X, y = table()
        more = X.assign(gone=np.nan, one="a")
        expected = GegenbauerRegressor(degree=2, n_terms=None).fit(X, y)
        model = GegenbauerRegressor(degree=2, n_terms=None, out_of_range="error").fit(more, y)
        assert not {"gone", "one"} & {
            name for text in model.basis_.term_names(more.columns)[1:] for name in text.split()
            if "level" in text
        }  # fmt: skip
        assert model.score(more, y) == pytest.approx(expected.score(X, y), abs=1e-3)
        found = model.predict(more.assign(one="b"))
        np.testing.assert_array_equal(found, model.predict(more))


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return GegenbauerRegressor(degree=3, n_terms=None, alpha=0.01).fit(X, y)


class TestUnknown:
    def test_levels_are_the_mean_over_the_samples(self, fitted):
        X, _ = table()
        with pytest.warns(OutOfRangeWarning, match=r"'colour'\) has a level that is not known"):
            found = fitted.predict(X[:5].assign(colour="violet"))
        shares = X.colour.value_counts(normalize=True)
        expected = sum(
            share * fitted.predict(X[:5].assign(colour=level)) for level, share in shares.items()
        )
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert fitted.count_out_of_range(X[:5].assign(colour="violet")) == 5

    @pytest.mark.parametrize("domain", [(0, 1), (-1, 1)])
    def test_numbers_are_the_mean_over_their_box(self, domain):
        X, y = table()
        X = X.assign(w=np.random.default_rng(5).uniform(size=len(X)))
        model = GegenbauerRegressor(degree=4, n_terms=None, alpha=0.1, domain=domain).fit(X, y)
        at, weights = np.polynomial.legendre.leggauss(5)
        few = X[:4].copy()
        box = model.scaling_

        def values(t):
            return box.lower[t] + (box.upper[t] - box.lower[t]) * 0.5 * (at + 1)

        few.loc[0, "x"] = few.loc[1, "x"] = few.loc[1, "w"] = np.nan
        with pytest.warns(OutOfRangeWarning, match=r"column 0 \('x'\) has no value in 2 of them"):
            found = model.predict(few)
        over_x = [model.predict(few[:1].assign(x=x))[0] for x in values(0)]
        over_both = [
            [model.predict(few[1:2].assign(x=x, w=w))[0] for x in values(0)] for w in values(4)
        ]
        expected = [0.5 * weights @ over_x, 0.25 * weights @ np.array(over_both) @ weights]
        np.testing.assert_allclose(found, [*expected, *model.predict(few[2:])], atol=1e-12)

        features = GegenbauerFeatures(degree=4, n_terms=None, domain=domain, out_of_range="clip")
        G = features.fit(X).transform(few)
        np.testing.assert_allclose(G @ model.term_coef_, found, atol=1e-12)

    def test_policies(self, fitted):
        X, _ = table(5, seed=2)
        strict = pickle.loads(pickle.dumps(fitted)).set_params(out_of_range="error")
        with pytest.raises(ValueError, match="has no value"):
            strict.predict(X.assign(x=np.nan))
        silent = strict.set_params(out_of_range="clip")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            silent.predict(X.assign(x=np.nan, colour="violet"))
        with pytest.raises(ValueError, match="NaN"):
            strict.set_params(missing="error").predict(X.assign(x=np.nan))

    def test_values_of_another_kind(self, fitted):
        X, _ = table(5)
        with pytest.raises(ValueError, match="must hold the kinds of values"):
            fitted.predict(X.assign(colour=3))


class TestInspection:
    @pytest.mark.parametrize("domain", [(0, 1), (-1, 1)])
    def test_sobol_indices_by_quadrature(self, domain):
        X, y = table()
        X = X[["x", "colour"]]
        model = GegenbauerRegressor(degree=3, n_terms=None, alpha=0.1, domain=domain).fit(X, y)
        found = sobol_indices(model)
        at, weights = np.polynomial.legendre.leggauss(8)
        levels = model.categories_[1]
        share = X.colour.value_counts(normalize=True)[levels].to_numpy()
        low, high = X.x.min(), X.x.max()
        grid = pd.DataFrame(
            itertools.product(low + (high - low) * 0.5 * (at + 1), levels), columns=X.columns
        )
        f = model.predict(grid).reshape(8, 4)
        w = 0.5 * weights
        mean = w @ f @ share
        variance = w @ (f - mean) ** 2 @ share
        first = [w @ (f @ share - mean) ** 2 / variance, (w @ f - mean) ** 2 @ share / variance]
        np.testing.assert_allclose(found.mean, mean, rtol=1e-10)
        np.testing.assert_allclose(found.variance, variance, rtol=1e-10)
        np.testing.assert_allclose(found.first_order[0], first, atol=1e-10)
        np.testing.assert_allclose(found.total[0], 1 - np.array(first[::-1]), atol=1e-10)

    def test_gradients(self, fitted):
        X, _ = table(20, seed=3)
        codes = fitted._validate_inputs(X, reset=False)
        found = fitted.expansion_.gradient(codes)
        step = 1e-5
        moved = [fitted.predict(X.assign(x=X.x + h)) for h in (step, -step)]
        np.testing.assert_allclose(found[:, 0], (moved[0] - moved[1]) / (2 * step), atol=1e-6)
        assert (found[:, [1, 3]] == 0.0).all()

    def test_text_and_expression(self, fitted):
        sympy = pytest.importorskip("sympy")
        text = polynomial_text(fitted, max_terms=500, digits=17)
        assert "level1(colour): " in text
        assert "Cn(z): 0 where z is missing" in text
        X, _ = table(6, seed=4)
        X["z"] = X.z.fillna(0.5)
        model = pickle.loads(pickle.dumps(fitted)).set_params(out_of_range="extrapolate")
        codes = model._validate_inputs(X, reset=False)
        expression = to_sympy(model)
        for row, expected in zip(codes, model.predict(X), strict=True):
            values = {
                sympy.Symbol(name): int(v) if name in CATEGORIES else v
                for name, v in zip(NAMES, row.tolist(), strict=True)
            }
            assert float(expression.subs(values)) == pytest.approx(expected, abs=1e-9)


class TestFiles:
    @pytest.mark.parametrize("spectrum", [None, (0.5, 1.5), PowerDecay(ALL_Q, 1.0)])
    @pytest.mark.parametrize("domain", [(0, 1), (-1, 1)])
    @pytest.mark.parametrize("kind", KINDS)
    def test_models_come_back(self, kind, domain, spectrum, tmp_path):
        X, y = table()
        y = y > 0.3 if kind is GegenbauerClassifier else y
        model = kind(degree=2, n_terms=None, domain=domain, spectrum=spectrum).fit(X, y)
        save(model, tmp_path / "model.safetensors")
        again = load(tmp_path / "model.safetensors")
        assert again.categories_ == model.categories_
        assert again.basis_ == model.basis_
        assert again.scaling_ == model.scaling_
        assert vars(again).keys() == vars(model).keys()
        Z, _ = table(30, seed=7)
        Z.loc[:3, "colour"] = "violet"
        for one in (model, again):
            one.set_params(out_of_range="clip")
        method = "transform" if kind is GegenbauerFeatures else "predict"
        found, expected = (getattr(one, method)(Z) for one in (again, model))
        np.testing.assert_array_equal(found, expected)
