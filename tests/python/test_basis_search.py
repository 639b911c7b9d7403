"""The paper's basis with everything chosen: against refits one by one."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import KFold, LeaveOneOut, cross_val_predict

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    InputScaling,
    RidgePath,
    Spectrum,
    TensorBasis,
    sobol_indices,
)
from gegenbauer.errors import GridEdgeWarning
from gegenbauer.selection import search_basis
from gegenbauer.selection.basis_search import PAPER_ALPHAS

LAMS, SIZES, ALPHAS = [0.05, 0.5], [1, 6, 15], 2.0 ** np.arange(-14, 1, 6)
SHAPE = len(LAMS), len(SIZES), len(ALPHAS)
GRID = {"spectrum": None, "lam": LAMS, "n_terms": SIZES, "alphas": ALPHAS}


def rows(n=26, seed=0):
    """Rows whose box stays the same whichever is left out: two are at every face of it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    X[:8] = [[0, 0.2], [0, 0.8], [1, 0.3], [1, 0.7], [0.2, 0], [0.8, 0], [0.3, 1], [0.7, 1]]
    y = np.sin(4 * X[:, 0]) + X[:, 1] ** 2 + 0.05 * rng.normal(size=n)
    return X, y


def refits(plain, X, y, method):
    """What plain estimators predict for samples left out, one fit after the other."""
    found = []
    for lam, size, alpha in itertools.product(LAMS, SIZES, ALPHAS):
        model = clone(plain).set_params(lam=lam, n_terms=size, alpha=alpha)
        for i in range(len(y)):
            model.fit(np.delete(X, i, axis=0), np.delete(y, i))
            found.append(getattr(model, method)(X[[i]])[0])
    return np.array(found).reshape(*SHAPE, len(y), *np.shape(found[0]))


def by_prefixes(monkeypatch):
    monkeypatch.setattr(
        "gegenbauer.selection.basis_search._BasisProblem._path_is_cheaper",
        lambda self, n_alphas: False,
    )


def by_paths(monkeypatch):
    monkeypatch.setattr(
        "gegenbauer.selection.basis_search._BasisProblem._path_is_cheaper",
        lambda self, n_alphas: True,
    )


WAYS = [by_prefixes, by_paths]


@pytest.mark.filterwarnings("ignore::gegenbauer.errors.GridEdgeWarning")
class TestRefits:
    @pytest.mark.parametrize(
        "penalize_constant", [pytest.param(False, marks=pytest.mark.slow), True]
    )
    def test_regression(self, penalize_constant):
        X, y = rows()
        plain = GegenbauerRegressor(penalize_constant=penalize_constant)
        left_out = refits(plain, X, y, "predict")
        table = ((left_out - y) ** 2).mean(axis=-1) / y.var()
        i, size, g = np.unravel_index(table.argmin(), table.shape)
        chosen = plain.set_params(lam=LAMS[i], n_terms=SIZES[size], alpha=ALPHAS[g]).fit(X, y)
        Z = np.random.default_rng(1).uniform(-0.2, 1.2, (30, 2))
        for way in WAYS:
            with pytest.MonkeyPatch.context() as monkeypatch:
                way(monkeypatch)
                model = GegenbauerRegressorCV(**GRID, penalize_constant=penalize_constant).fit(X, y)
            assert_allclose(-model.surface_["score"], table, rtol=1e-6)
            assert (model.lam_, model.n_terms_, model.alpha_) == (LAMS[i], SIZES[size], ALPHAS[g])
            assert_allclose(model.best_score_, -table.min(), rtol=1e-6)
            assert_allclose(model.loo_predictions_, left_out[i, size, g], atol=1e-8)
            assert_allclose(model.predict(Z), chosen.predict(Z), atol=1e-9)
            assert_allclose(sobol_indices(model).total, sobol_indices(chosen).total, atol=1e-9)
            assert model.scaling_ == chosen.scaling_
            assert model.spectrum_ is None
            assert not hasattr(model, "relevances_")

    @pytest.mark.parametrize("n_classes", [pytest.param(2, marks=pytest.mark.slow), 3])
    def test_classification(self, n_classes):
        X, y = rows()
        labels = np.array(["a", "b", "c"])[np.digitize(y, [0.5, 1.0][: n_classes - 1])]
        left_out = refits(GegenbauerClassifier(), X, labels, "decision_function")
        # one number makes probabilities of scores: the best of a fine grid, by definition
        F = left_out if n_classes > 2 else np.stack([-left_out / 2, left_out / 2], axis=-1)
        betas = np.exp(np.linspace(-5, 7, 1201))
        codes = np.unique(labels, return_inverse=True)[1]
        best = np.empty(SHAPE)
        for place in np.ndindex(best.shape):
            z = betas[:, np.newaxis, np.newaxis] * F[place]
            own = z[:, np.arange(len(codes)), codes]
            best[place] = (logsumexp(z, axis=-1) - own).mean(axis=1).min()
        for way in WAYS:
            with pytest.MonkeyPatch.context() as monkeypatch:
                way(monkeypatch)
                model = GegenbauerClassifierCV(**GRID).fit(X, labels)
            assert_array_equal(model.classes_, np.unique(labels))
            assert_allclose(-model.surface_["score"], best, rtol=1e-3)
            i, size, g = np.unravel_index(model.surface_["score"].argmax(), SHAPE)
            assert (model.lam_, model.n_terms_, model.alpha_) == (LAMS[i], SIZES[size], ALPHAS[g])
            assert_allclose(model.loo_predictions_, left_out[i, size, g], atol=1e-8)
            assert log_loss(labels, model.loo_probabilities_) < 0.6
            chosen = GegenbauerClassifier(SIZES[size], lam=LAMS[i], alpha=ALPHAS[g]).fit(X, labels)
            assert_allclose(
                model.term_coef_.reshape(chosen.term_coef_.shape), chosen.term_coef_, atol=1e-9
            )

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
    @pytest.mark.slow
    def test_a_scorer(self):
        X, y = rows()
        labels = y > 0.7
        left_out = refits(GegenbauerClassifier(), X, labels, "predict")
        table = np.apply_along_axis(lambda found: accuracy_score(labels, found), 3, left_out)
        # of equal ones the fewest terms, then the largest alpha
        best = np.argwhere(table == table.max())
        i, size, g = min(best.tolist(), key=lambda place: (place[1], -place[2], place[0]))
        for way in WAYS:
            with pytest.MonkeyPatch.context() as monkeypatch:
                way(monkeypatch)
                model = GegenbauerClassifierCV(**GRID, scoring="accuracy").fit(X, labels)
            assert_allclose(model.surface_["score"], table)
            assert (model.lam_, model.n_terms_, model.alpha_) == (LAMS[i], SIZES[size], ALPHAS[g])

    @pytest.mark.parametrize("way", WAYS)
    def test_splits(self, monkeypatch, way):
        """Means over folds of what fits to the other folds predict."""
        way(monkeypatch)
        X, y = rows(40)
        faces = np.arange(8)  # always trained on, so that every fold has the box of all rows
        folds = KFold(4, shuffle=True, random_state=0).split(X[8:])
        splits = [(np.r_[faces, 8 + train], 8 + test) for train, test in folds]
        found = search_basis(
            X, y, lambda p, at: ((p[:, :, 0] - y[at]) ** 2).mean(axis=1), lams=LAMS,
            n_terms=SIZES, alphas=ALPHAS, cv=splits, widen=False,
        )  # fmt: skip
        for i, size, g in np.ndindex(SHAPE):
            plain = GegenbauerRegressor(SIZES[size], lam=LAMS[i], alpha=ALPHAS[g])
            errors = [
                ((plain.fit(X[train], y[train]).predict(X[test]) - y[test]) ** 2).mean()
                for train, test in splits
            ]
            assert_allclose(found.losses[i, size, g], np.mean(errors), rtol=1e-6)
        assert found.losses.min() == found.loss
        model = GegenbauerRegressorCV(**GRID, cv=splits, penalize_constant=True).fit(X, y)
        assert_allclose(-model.surface_["score"] * y.var(), found.losses, rtol=1e-6)

    @pytest.mark.parametrize("way", WAYS)
    def test_weights_are_repeated_rows(self, monkeypatch, way):
        way(monkeypatch)
        X, y = rows()
        repeats = np.random.default_rng(0).integers(1, 4, len(y))
        a = GegenbauerRegressorCV(**GRID).fit(X, y, repeats)
        again = np.repeat(np.arange(len(y)), repeats)
        b = GegenbauerRegressorCV(**GRID).fit(X[again], y[again])
        assert_allclose(a.surface_["score"], b.surface_["score"], rtol=1e-8)
        assert_allclose(a.predict(X), b.predict(X), rtol=1e-8)

    @pytest.mark.parametrize("way", WAYS)
    def test_more_terms_than_rows(self, monkeypatch, way):
        way(monkeypatch)
        X, y = rows()
        model = GegenbauerRegressorCV(
            spectrum=None, lam=0.05, n_terms=[40, 60], alphas=[1e-4, 1e-2], penalize_constant=True
        ).fit(X, y)
        plain = GegenbauerRegressor(model.n_terms_, alpha=model.alpha_)
        left_out = cross_val_predict(plain, X, y, cv=LeaveOneOut())
        assert_allclose(model.loo_predictions_, left_out, atol=1e-8)
        assert_allclose(model.best_score_, -((left_out - y) ** 2).mean() / y.var(), rtol=1e-6)


class TestSearch:
    def test_both_ways_agree_and_the_cheaper_one_is_taken(self, monkeypatch):
        """Many numbers of terms are prefixes, few ones paths, with all alphas of the paper."""
        from gegenbauer.selection import basis_search

        X, y = rows(60)
        calls = []
        prefixes, candidate = basis_search.prefix_surface, basis_search.Candidate
        monkeypatch.setattr(
            basis_search, "prefix_surface", lambda *a, **k: calls.append(1) or prefixes(*a, **k)
        )
        monkeypatch.setattr(
            basis_search, "Candidate", lambda *a, **k: calls.append(2) or candidate(*a, **k)
        )

        def score(predictions, at):
            return ((predictions[:, :, 0] - y[at]) ** 2).mean(axis=1)

        many = search_basis(X, y, score, n_terms=range(1, 41), widen=False)
        few = search_basis(X, y, score, n_terms=[10, 40], widen=False)
        assert calls == [1, 2, 2]
        assert_array_equal(many.alphas, PAPER_ALPHAS)
        trusted = np.isfinite(few.losses) & np.isfinite(many.losses[:, [9, 39]])
        assert trusted.mean() > 0.8
        assert_allclose(many.losses[:, [9, 39]][trusted], few.losses[trusted], rtol=1e-3)

    def test_steps(self):
        X, y = rows()
        steps = []
        search_basis(
            X, y, lambda p, at: ((p[:, :, 0] - y[at]) ** 2).mean(axis=1), lams=LAMS,
            n_terms=[3, 5], alphas=[1e-3], callback=steps.append,
        )  # fmt: skip
        assert steps == list(range(1, len(steps) + 1))
        assert len(steps) in (2, 4)

    def test_widens_for_the_best_lam_alone(self):
        X, y = rows()

        def score(predictions, at):
            return ((predictions[:, :, 0] - y[at]) ** 2).mean(axis=1)

        given = {"lams": LAMS, "n_terms": SIZES, "alphas": [1.0, 2.0]}
        fixed = search_basis(X, y, score, **given, widen=False)
        assert fixed.alpha == 1.0
        assert "alphas" in fixed.on_edge
        wide = search_basis(X, y, score, **given)
        assert_array_equal(wide.alphas, [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0])
        best = LAMS.index(wide.basis.lam)
        assert np.isfinite(wide.losses[best]).all()
        assert np.isnan(wide.losses[1 - best][:, :4]).all()
        assert_allclose(wide.losses[:, :, 4:], fixed.losses)
        assert wide.loss < fixed.loss
        at = np.r_[LAMS.index(wide.basis.lam), SIZES.index(wide.basis.n_terms)]
        assert wide.losses[at[0], at[1], wide.alphas.tolist().index(wide.alpha)] == wide.loss

    def test_alphas_too_small_for_sums(self):
        """Features judge them as far as float64 goes, against refits in 80 digits; then none.

        Products of features lose them all: 1.6e-6 was the best.
        """
        X = np.linspace(0, 1, 30)[:, np.newaxis]
        y = np.exp(X[:, 0])
        found = search_basis(
            X, y, lambda p, at: ((p[:, :, 0] - y[at]) ** 2).mean(axis=1), lams=[0.5],
            n_terms=range(1, 26), alphas=[1e-40, 1e-35, 1e-2, 1.0], widen=False,
        )  # fmt: skip
        assert found.basis.n_terms == 10
        assert found.alpha == 1e-35  # of equals the largest
        for n_terms in (2, 6, 10):
            loss = self.in_80_digits(TensorBasis(1, n_terms=n_terms, lam=0.5).evaluate(X), y)
            # a loss of 1e-23 is that of residuals of 4e-12, of which float64 has two digits
            assert_allclose(found.losses[0, n_terms - 1, :2], loss, rtol=2e-2)
        assert (found.losses[:, 12:, :2] == np.inf).all()
        assert np.isfinite(found.losses[:, :, 2:]).all()

    @staticmethod
    def in_80_digits(G, y):
        with mpmath.workdps(80):
            G, y = mpmath.matrix(G.tolist()), mpmath.matrix(y.tolist())
            inverse = (G.T * G) ** -1
            weights, total = inverse * (G.T * y), mpmath.mpf(0)
            for i in range(G.rows):
                g = G[i, :]
                total += ((y[i] - (g * weights)[0]) / (1 - (g * inverse * g.T)[0])) ** 2
            return float(total / G.rows)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"lams": []}, "`lams` must not be empty"),
            ({"lams": [-0.5]}, "`lams` must be"),
            ({"n_terms": [0]}, "`n_terms` must be"),
            ({"n_terms": [1.5]}, "`n_terms` must be"),
            ({"n_terms": []}, "`n_terms` must not be empty"),
            ({"alphas": [0.0]}, "`alphas` must be"),
            ({"alphas": [np.inf]}, "`alphas` must be"),
            ({"sample_weight": np.zeros(26)}, "sample_weight"),
        ],
    )
    def test_arguments(self, options, message):
        X, y = rows()
        with pytest.raises((ValueError, TypeError), match=message):
            search_basis(X, y, lambda p, at: np.zeros(len(p)), **options)

    def test_no_finite_score(self):
        X, y = rows()
        with pytest.raises(ValueError, match="no candidate has a finite loss"):
            search_basis(X, y, lambda p, at: np.full(len(p), np.nan), n_terms=[3])


@pytest.mark.parametrize("kind", [GegenbauerClassifierCV, GegenbauerRegressorCV])
class TestEstimators:
    @staticmethod
    def table(kind):
        X, y = rows(40)
        return X, y > 0.7 if kind is GegenbauerClassifierCV else y

    def test_defaults_are_the_paper(self, kind):
        X, y = self.table(kind)
        model = kind(spectrum=None).fit(X, y)
        assert model.n_terms_ == 1000
        assert model.lam_ == 0.05
        table = model.surface_
        assert table["lam"].tolist() == [0.05]
        assert table["n_terms"].tolist() == [1000]
        assert set(PAPER_ALPHAS) <= set(table["alpha"].tolist())
        assert model.alpha_ in table["alpha"]
        assert model.scaling_ == InputScaling.fit(X, domain=(0, 1))
        assert model.basis_.spectrum == Spectrum.paper(0.05)
        assert model.basis_.term_order == "grlex"
        assert model.n_search_samples_ == 40
        assert not hasattr(model, "kernel_")

    def test_given_alphas_are_not_widened(self, kind):
        X, y = self.table(kind)
        model = kind(spectrum=None, n_terms=5, lam=0.5, alphas=[2.0, 1.0, 1.0]).fit(X, y)
        assert model.surface_["alpha"].tolist() == [1.0, 2.0]
        assert model.surface_["score"].shape == (1, 1, 2)

    def test_the_best_of_given_ones_at_an_end_is_reported(self, kind):
        X, y = self.table(kind)
        y[::7] = y[::7][::-1]  # noise, without which no penalty is best
        best = kind(spectrum=None, n_terms=5, lam=0.5).fit(X, y).alpha_
        grid = {"spectrum": None, "n_terms": 5, "lam": 0.5}
        kind(**grid, alphas=[best / 2, best, best * 2]).fit(X, y)  # reports nothing
        kind(**grid, alphas=[best, best * 2]).fit(X, y)  # two have no middle
        with pytest.warns(GridEdgeWarning, match="best of `alphas` and is the smallest") as caught:
            kind(**grid, alphas=best * 2.0 ** np.arange(3)).fit(X, y)
        assert caught[0].filename == __file__
        with pytest.warns(
            GridEdgeWarning, match="best of `alphas` and is the largest: give larger"
        ):
            kind(**grid, alphas=best / 2.0 ** np.arange(3)).fit(X, y)
        with pytest.warns(GridEdgeWarning, match="best of `n_terms` and is the smallest"):
            kind(spectrum=None, n_terms=[400, 450, 500], lam=0.5).fit(X, y)

    def test_one_number_is_a_list_of_one(self, kind):
        X, y = self.table(kind)
        one = kind(spectrum=None, n_terms=7, lam=0.5).fit(X, y)
        some = kind(spectrum=None, n_terms=np.array([7]), lam=(0.5,)).fit(X, y)
        assert_array_equal(one.term_coef_, some.term_coef_)
        assert_array_equal(one.surface_["score"], some.surface_["score"])

    def test_another_spectrum_after_it(self, kind):
        X, y = self.table(kind)
        again = kind(spectrum=None, n_terms=5).fit(X, y).set_params(spectrum="auto").fit(X, y)
        fresh = kind(n_terms=5).fit(X, y)
        assert vars(again).keys() == vars(fresh).keys()
        assert_array_equal(again.term_coef_, fresh.term_coef_)
        assert again._margin == fresh._margin
        assert again.lam_ == 0.0

    def test_extrapolates(self, kind):
        X, y = self.table(kind)
        model = kind(spectrum=None, n_terms=3, out_of_range="extrapolate").fit(X, y)
        model.predict(X + 1)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"lam": 0.5},
                "`lam` is of the raw polynomials .*`spectrum='auto'`, .* set `spectrum=None`",
            ),
            ({"lam": 0.5, "spectrum": (1.0, 1.0)}, r"spectrum=\(1.0, 1.0\)"),
            ({"n_terms": [3, 5]}, "several `n_terms` .* spectrum=None; got `n_terms=.3, 5.`"),
            ({"spectrum": None, "lam": -0.5}, "lam"),
            ({"spectrum": None, "lam": [0.5, -1.0]}, "lam"),
            ({"spectrum": None, "lam": []}, "`lam` must not be empty"),
            ({"spectrum": None, "n_terms": [0]}, "`n_terms` must be"),
            ({"spectrum": None, "n_terms": [2.5]}, "`n_terms` must be"),
            ({"spectrum": None, "n_terms": "many"}, "n_terms"),
            (
                {"spectrum": None, "alphas": [0.0]},
                "`alphas` must be a finite number greater than 0",
            ),
        ],
    )
    def test_arguments(self, kind, options, message):
        X, y = self.table(kind)
        with pytest.raises((ValueError, TypeError), match=message):
            kind(**options).fit(X, y)


def test_standard_deviations_and_intervals():
    X, y = rows(60)
    model = GegenbauerRegressorCV(spectrum=None, n_terms=[5, 15], penalize_constant=True).fit(X, y)
    G = model.basis_.evaluate(X, scaling=model.scaling_)
    inverse = np.linalg.inv(model.alpha_ * np.eye(G.shape[1]) + G.T @ G)
    h = np.einsum("ij,jk,ik->i", G, inverse, G)
    _, std = model.predict(X, return_std=True)
    assert_allclose(std, np.sqrt(model.noise_variance_ * (1 + h)), rtol=1e-6)
    lower, upper = model.predict_interval(X, 0.8)
    assert 0.75 < ((lower <= y) & (y <= upper)).mean() < 1


class TestTableOfCandidates:
    """`cv_results_` in scikit-learn's form."""

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.GridEdgeWarning")
    def test_of_the_papers_basis(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(40, 2))
        model = GegenbauerRegressorCV(
            spectrum=None, lam=[0.05, 0.5], n_terms=[3, 6, 10], alphas=[0.1, 1.0]
        ).fit(X, X[:, 0] ** 2 + 0.1 * rng.normal(size=40))
        table = pd.DataFrame(model.cv_results_)
        assert len(table) == 12
        for _, row in table.iterrows():
            place = tuple(
                np.flatnonzero(model.surface_[name] == row[f"param_{name}"])[0]
                for name in ("lam", "n_terms", "alpha")
            )
            assert row["mean_test_score"] == model.surface_["score"][place]
            assert row["params"] == {
                name: row[f"param_{name}"] for name in ("lam", "n_terms", "alpha")
            }
        best = table.loc[table["rank_test_score"].idxmin()]
        assert best["rank_test_score"] == 1
        assert best["mean_test_score"] == pytest.approx(model.best_score_, rel=1e-12)
        assert (best["param_lam"], best["param_n_terms"]) == (model.lam_, model.n_terms_)
        order = table.sort_values("rank_test_score")["mean_test_score"]
        assert (np.diff(order) <= 0).all()

    def test_of_a_spectrum_that_is_given(self):
        X = np.linspace(0, 1, 30)[:, np.newaxis]
        model = GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(X, np.sin(5 * X[:, 0]))
        assert model.surface_ == {}
        assert len(pd.DataFrame(model.cv_results_)) == 0
        assert set(model.cv_results_) == {"params", "mean_test_score", "rank_test_score"}

    def test_what_was_not_tried_comes_last(self):
        X = np.linspace(0, 1, 60)[:, np.newaxis]
        model = GegenbauerClassifierCV().fit(X, X[:, 0] > 0.4)
        found = model.cv_results_
        known = np.isfinite(found["mean_test_score"])
        assert found["rank_test_score"][known].max() <= known.sum()
        assert (found["rank_test_score"][~known] == known.sum() + 1).all()


def test_penalties_beyond_what_sums_resolve_are_reached(monkeypatch):
    """Sums end where losses still fall: the features themselves go on to the best penalty."""
    rng = np.random.default_rng(0)
    X = 2 * rng.beta(30, 1, size=(1500, 2)) - 1
    Y = np.sin(9 * X[:, :1]) * X[:, 1:]

    def squared_error(predictions, rows):
        return ((predictions - Y[rows]) ** 2).mean(axis=(1, 2))

    monkeypatch.setattr("gegenbauer.selection._factorisations._SMALL", 0.0)
    options = {"lams": [2.0], "n_terms": [153], "alphas": 2.0 ** np.arange(-60, 30, 5)}
    found = search_basis(X, Y, squared_error, **options)
    path = RidgePath(found.basis, X, Y, method="svd")
    predictions = path.leave_one_out(found.alphas).predictions
    losses = squared_error(predictions, np.arange(len(X)))
    finite = np.isfinite(found.losses[0, 0])
    assert found.alphas[finite].min() == found.alpha < 1e-6  # sums end at 32, with 2.5e-6
    assert_allclose(found.losses[0, 0, finite], losses[finite], rtol=1e-4)
