"""``scoring=`` of the estimators that choose: scores are those of scikit-learn's metrics."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn import metrics
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.utils.fixes import parse_version
from sklearn.utils.multiclass import type_of_target

from gegenbauer import GegenbauerClassifier, GegenbauerClassifierCV, GegenbauerRegressorCV
from gegenbauer.errors import UnderfittingWarning
from gegenbauer.estimators._scores import _SCORES, Judged, score_at_once

pytestmark = [
    pytest.mark.filterwarnings("ignore:Jaccard is ill-defined"),
    pytest.mark.filterwarnings("ignore::gegenbauer.errors.GridEdgeWarning"),
]


def labels(n_labels, n=90):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    sides = [X[:, 0] + 0.5 * rng.normal(size=n), X[:, 1], X[:, 2] + X[:, 0] - 0.3]
    sides += [X[:, 0] * X[:, 1] + 0.2, X[:, 2] ** 2 - 1.0]
    return X, (np.column_stack(sides[:n_labels]) > 0).astype(int)


def probabilities_of(outputs, y):
    """Return Platt's, (n, n_classes): of a map that is fitted by a general minimiser."""
    F = np.column_stack([-0.5 * outputs, 0.5 * outputs]) if outputs.ndim == 1 else outputs
    n_classes = F.shape[1]
    rest = 1.0 / (np.bincount(y) + 2.0)[y]
    T = np.repeat(rest[:, np.newaxis] / (n_classes - 1), n_classes, axis=1)
    T[np.arange(y.size), y] = 1.0 - rest

    def loss(p):
        logs = log_softmax(np.exp(p[0]) * F + p[1:], axis=1)
        residual = np.exp(logs) - T
        slope = np.append(np.exp(p[0]) * (residual * F).sum(), residual.sum(axis=0) + p[1:])
        return -(T * logs).sum() + 0.5 * p[1:] @ p[1:], slope

    F = F / np.abs(F).max()
    options = {"bounds": [(-6, 12)] + [(None, None)] * n_classes, "method": "L-BFGS-B"}
    starts = [np.append(a, np.zeros(n_classes)) for a in (-2.0, 0.0, 2.0, 4.0)]
    found = [minimize(loss, start, jac=True, tol=1e-14, **options) for start in starts]
    best = min(found, key=lambda one: one.fun).x
    return softmax(np.exp(best[0]) * F + best[1:], axis=1)


def probabilities_of_labels(outputs, Y):
    return np.column_stack(
        [probabilities_of(column, y)[:, 1] for column, y in zip(outputs.T, Y.T, strict=True)]
    )


def scored(metric, **options):
    """Return the metric, without scikit-learn's word on probabilities that sum to more."""

    def value(truth, scores, **more):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"The y_\w+ values do not sum to one")
            return metric(truth, scores, **options, **more)

    return value


MULTILABEL = {
    "roc_auc": (metrics.roc_auc_score, 1, False, {}),
    "average_precision": (metrics.average_precision_score, 1, False, {}),
    "roc_auc_ovr": (metrics.roc_auc_score, 1, True, {}),
    "neg_log_loss": (scored(metrics.log_loss), -1, True, {}),
    "neg_brier_score": (scored(metrics.brier_score_loss), -1, True, {}),
}


OF_LABELS = {
    "accuracy": metrics.accuracy_score,
    "f1_macro": scored(metrics.f1_score, average="macro"),
    "f1_micro": scored(metrics.f1_score, average="micro"),
    "f1_samples": scored(metrics.f1_score, average="samples", zero_division=0.0),
    "jaccard_samples": scored(metrics.jaccard_score, average="samples", zero_division=0.0),
    "precision_weighted": scored(metrics.precision_score, average="weighted"),
}
# scikit-learn's Brier score knew two classes alone before
if parse_version(sklearn.__version__) < parse_version("1.7"):
    del MULTILABEL["neg_brier_score"]


class TestMultilabel:
    @pytest.mark.parametrize("n_labels", [2, 3, 5])
    @pytest.mark.parametrize("scoring", MULTILABEL)
    @pytest.mark.parametrize("options", [{}, {"n_terms": 30}, {"spectrum": None, "n_terms": 10}])
    def test_the_score_is_that_of_the_predictions(self, scoring, n_labels, options):
        X, Y = labels(n_labels)
        model = GegenbauerClassifierCV(**{"spectrum": (0.5, 2.0), **options}, scoring=scoring)
        model.fit(X, Y)
        metric, sign, needs_probabilities, arguments = MULTILABEL[scoring]
        outputs = model.loo_predictions_
        scores = probabilities_of_labels(outputs, Y) if needs_probabilities else outputs
        assert_allclose(model.best_score_, sign * metric(Y, scores, **arguments), rtol=1e-6)

    @pytest.mark.parametrize("n_labels", [2, 3, 5])
    @pytest.mark.parametrize("scoring", OF_LABELS)
    def test_of_the_labels(self, scoring, n_labels):
        X, Y = labels(n_labels)
        model = GegenbauerClassifierCV(spectrum=(0.5, 2.0), scoring=scoring).fit(X, Y)
        predicted = (model.loo_predictions_ > 0).astype(int)
        assert_allclose(model.best_score_, OF_LABELS[scoring](Y, predicted))

    @pytest.mark.filterwarnings(r"ignore:The y_\w+ values do not sum to one")
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
    @pytest.mark.parametrize("n_labels", [2, 3, 5])
    @pytest.mark.parametrize("scoring", [*MULTILABEL, *OF_LABELS])
    @pytest.mark.parametrize(
        "model",
        [
            GegenbauerClassifierCV(spectrum=(0.5, 2.0), alphas=[0.5]),
            GegenbauerClassifier(n_terms=10, alpha=0.1),
        ],
        ids=["chooses", "plain"],
    )
    def test_through_searches_of_scikit_learn(self, model, scoring, n_labels):
        metric, sign, needs_probabilities, _ = MULTILABEL.get(scoring, (None, 1, False, {}))
        if needs_probabilities and isinstance(model, GegenbauerClassifier):
            pytest.skip("it has none")
        X, Y = labels(n_labels)
        folds = [(np.arange(60), np.arange(60, 90)), (np.arange(30, 90), np.arange(30))]
        search = GridSearchCV(
            model, {"penalize_constant": [True]}, scoring=scoring, cv=folds, refit=False
        ).fit(X, Y)
        found = cross_val_score(model, X, Y, scoring=scoring, cv=folds)
        for k, (train, test) in enumerate(folds):
            fitted = clone(model).fit(X[train], Y[train])
            if scoring in OF_LABELS:
                expected = OF_LABELS[scoring](Y[test], fitted.predict(X[test]))
            else:
                judge = fitted.predict_proba if needs_probabilities else fitted.decision_function
                expected = sign * metric(Y[test], judge(X[test]))
            assert_allclose(search.cv_results_[f"split{k}_test_score"][0], expected)
            assert_allclose(found[k], expected)

    @pytest.mark.parametrize("n_labels", [1, 2, 3, 5])
    def test_classes_are_of_the_kind_of_the_targets(self, n_labels):
        X, Y = labels(n_labels)
        Y = Y[:, 0] if n_labels == 1 else Y  # a single label is two classes
        for model in (GegenbauerClassifier(n_terms=5), GegenbauerClassifierCV(alphas=[0.5])):
            model.fit(X, Y)
            assert type_of_target(model.classes_) == type_of_target(Y)
            assert len(model.classes_) == max(2, n_labels)
            found = cross_val_predict(model, X, Y, method="decision_function", cv=3)
            assert found.shape == Y.shape

    @pytest.mark.parametrize("n_labels", [2, 3])
    @pytest.mark.parametrize("by_name", [True, False])
    def test_no_word_on_probabilities_that_do_not_sum_to_one(self, n_labels, by_name):
        X, Y = labels(n_labels)
        scoring = "neg_log_loss" if by_name else metrics.get_scorer("neg_log_loss")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = GegenbauerClassifierCV(spectrum=(0.5, 2.0), scoring=scoring).fit(X, Y)
        assert model.best_score_ < 0

    def test_errors_name_no_class_of_ours(self):
        X, Y = labels(3)
        message = r"`scoring='f1'` cannot score these targets .* such as 'f1_macro', 'f1_samples'"
        with pytest.raises(ValueError, match=message) as error:
            GegenbauerClassifierCV(spectrum=(0.5, 2.0), scoring="f1").fit(X, Y)
        assert "Shell" not in str(error.value)

    def test_decisions_of_plain_classifiers(self):
        X, Y = labels(3)
        search = GridSearchCV(GegenbauerClassifier(n_terms=10), {"alpha": [0.1]}, scoring="roc_auc")
        assert search.fit(X, Y).best_score_ > 0.9


TARGETS = {
    "binary": lambda side: (side > 0).astype(int),
    "one first": lambda side: 2 - (side > 0.4),  # 1 and 2, of which 1 is positive for f1
    "text": lambda side: np.where(side > 0, "yes", "no"),
    "three": lambda side: np.digitize(side, [-0.7, 0.3]),
    "two labels": lambda side: np.column_stack([side > 0, np.abs(side) > 1]).astype(int),
    "four labels": lambda side: (side[:, np.newaxis] > [0, 0.5, -1, 1.4]).astype(int),
}
KINDS = {"three": "multiclass", "two labels": "multilabel", "four labels": "multilabel"}


def judges():
    for target in TARGETS:
        kind = KINDS.get(target, "binary")
        positive = {"binary": 1, "one first": 0}.get(target)
        for name in _SCORES:
            if score_at_once(name, kind, positive) is not None:
                yield pytest.param(name, target, id=f"{name} of {target}")


@pytest.fixture
def no_look_at_chance(monkeypatch):
    """Searches do not score halves of the samples, which costs as much as thirty candidates."""
    monkeypatch.setattr("gegenbauer.estimators._search.chance_of_scorer", lambda *_: 0.0)


@pytest.mark.usefixtures("no_look_at_chance")
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.filterwarnings("ignore:No positive class found in y_true")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
@pytest.mark.parametrize("weighted", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize(("name", "target"), list(judges()))
def test_scores_at_once_are_those_of_the_scorer(name, target, weighted):
    """By its name a scorer judges all at once, given itself it is called for each."""
    if name == "neg_brier_score" and (
        target == "text" or (parse_version(sklearn.__version__) < parse_version("1.7")
                             and target in KINDS)
    ):  # fmt: skip
        pytest.skip("scikit-learn refuses it")
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 2)), 1)
    X[40:] = X[20:40]  # samples, and outputs, that repeat
    y = TARGETS[target](X[:, 0] + 0.5 * np.repeat(rng.normal(size=20), 3))
    weights = rng.uniform(0.5, 3.0, 60) if weighted else None
    options = {"spectrum": None, "n_terms": [3, 10], "alphas": [1e-4, 1e2], "cv": 2}
    found = GegenbauerClassifierCV(scoring=name, **options).fit(X, y, weights)
    expected = GegenbauerClassifierCV(scoring=metrics.get_scorer(name), **options)
    expected.fit(X, y, weights)
    values = found.surface_["score"]
    assert_allclose(values, expected.surface_["score"], rtol=1e-9, atol=1e-12)
    assert np.ptp(values) > 0


@pytest.mark.parametrize("weighted", [False, True])
def test_curves_of_outputs_that_are_equal(weighted):
    rng = np.random.default_rng(1)
    truth = rng.random((50, 3)) < [0.2, 0.5, 0.9]
    truth[:, 2] = True
    outputs = rng.integers(-2, 3, (4, 50, 3)) + truth * rng.integers(0, 3, (4, 50, 3)).astype(float)
    weight = rng.uniform(0.5, 2.0, 50) if weighted else np.ones(50)
    for curve, metric, columns in [
        ("roc_auc", metrics.roc_auc_score, 2),
        ("average_precision", metrics.average_precision_score, 3),
    ]:
        judged = Judged("multilabel", truth[:, :columns], weight, outputs[..., :columns], list)
        found = score_at_once(curve, "multilabel", None)(judged)
        expected = [
            metric(truth[:, :columns].astype(int), one, sample_weight=weight)
            for one in outputs[..., :columns]
        ]
        assert_allclose(found, expected, rtol=1e-12)
    judged = Judged("multilabel", truth, weight, outputs, list)
    with pytest.raises(ValueError, match="all of one class"):
        score_at_once("roc_auc", "multilabel", None)(judged)


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_equal_predictions_have_equal_scores(kind):
    """The search takes the fewest terms of those that are equally good."""
    rng = np.random.default_rng(2)
    n_columns = {"binary": 2, "multiclass": 4, "multilabel": 3}[kind]
    truth = rng.random((61, n_columns)) < 0.5
    if kind != "multilabel":
        truth = rng.integers(0, n_columns, 61)[:, np.newaxis] == np.arange(n_columns)
    outputs = np.tile(rng.normal(size=(61, 1 if kind == "binary" else n_columns)), (7, 1, 1))
    p = np.tile(rng.dirichlet(np.ones(n_columns), 61), (7, 1, 1))
    judged = Judged(kind, truth, rng.uniform(0.5, 2.0, 61), outputs, lambda: p, 1)
    for name in _SCORES:
        score = score_at_once(name, kind, 1)
        if score is not None:
            assert np.ptp(score(judged)) == 0, name


def test_scorers_that_do_not_fit_are_left_to_scikit_learn():
    assert score_at_once("f1", "multilabel", None) is None
    assert score_at_once("f1", "binary", None) is None  # no class is called 1
    assert score_at_once("f1_samples", "multiclass", None) is None
    assert score_at_once("balanced_accuracy", "multilabel", None) is None
    assert score_at_once("roc_auc", "multiclass", None) is None
    assert score_at_once("top_k_accuracy", "multiclass", None) is None


SEARCHES = [GegenbauerClassifierCV, GegenbauerRegressorCV]


class TestRefusedAtTheStart:
    @pytest.mark.parametrize("estimator", SEARCHES)
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"scoring": "nonsense"}, "'scoring' parameter"),
            ({"alphas": []}, "`alphas` must not be empty"),
            ({"alphas": [-1]}, "`alphas` must be a finite number greater than 0, got -1"),
            ({"alphas": [1.0, np.nan]}, "`alphas` must be .* got nan"),
            ({"spectrum": None, "n_terms": []}, "`n_terms` must not be empty"),
            ({"spectrum": None, "lam": [-1]}, "`lam` must be .* -1"),
            ({"lam": 0.1}, "`lam` is of the raw polynomials"),
        ],
    )
    def test_parameters(self, estimator, options, message):
        with pytest.raises(ValueError, match=message):
            estimator(**options).fit("no table", None)  # before there is a look at X

    @pytest.mark.parametrize(
        ("estimator", "scoring", "y", "message"),
        [
            (GegenbauerRegressorCV, "accuracy", np.linspace(0, 1, 20), "take one such as 'r2'"),
            (GegenbauerClassifierCV, "f1", np.arange(20) % 3, "than two classes .* 'f1_macro'"),
            (GegenbauerClassifierCV, "f1", ["a", "b"] * 10, "Code the positive class as 1"),
            (GegenbauerClassifierCV, "roc_auc", np.arange(20) % 3, "'roc_auc_ovr'"),
            (GegenbauerClassifierCV, "f1", np.eye(20, 2, dtype=int), "multilabel y .*'accuracy'"),
        ],
    )
    def test_scorers_of_other_targets(self, monkeypatch, estimator, scoring, y, message):
        for search in ("regressor_cv.learn_spectrum", "classifier_cv.search_spectrum"):
            monkeypatch.setattr(f"gegenbauer.estimators.{search}", None)
        X = np.random.default_rng(0).uniform(size=(20, 2))
        with pytest.raises(ValueError, match=rf"`scoring='{scoring}'` cannot score .*{message}"):
            estimator(scoring=scoring).fit(X, y)

    def test_a_scorer_without_weights(self, monkeypatch):
        monkeypatch.setattr("gegenbauer.estimators.regressor_cv.learn_spectrum", None)
        X = np.random.default_rng(0).uniform(size=(20, 2))
        with pytest.raises(TypeError, match="takes no sample_weight, but weights were given"):
            GegenbauerRegressorCV(scoring="neg_max_error").fit(X, X[:, 0], X[:, 1] + 1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize(
    ("name", "metric", "sign"),
    [
        ("r2", metrics.r2_score, 1),
        ("explained_variance", metrics.explained_variance_score, 1),
        ("neg_mean_squared_error", metrics.mean_squared_error, -1),
        ("neg_root_mean_squared_error", metrics.root_mean_squared_error, -1),
        ("neg_mean_absolute_error", metrics.mean_absolute_error, -1),
        ("neg_median_absolute_error", metrics.median_absolute_error, -1),
        ("neg_mean_absolute_percentage_error", metrics.mean_absolute_percentage_error, -1),
    ],
)
def test_all_candidates_at_once_as_one_by_one(name, metric, sign, n_outputs, weighted):
    """A scorer of the user's own is called once for each; one by its name once for all."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 2))
    y = (5 + X @ [[1.0, -2.0], [3.0, 0.5]])[:, :n_outputs] + 0.3 * rng.normal(size=(40, n_outputs))
    y = y[:, 0] if n_outputs == 1 else y
    calls = []

    def own(estimator, X, y, sample_weight=None):
        calls.append(1)
        return sign * metric(y, estimator.predict(X), sample_weight=sample_weight)

    options = {"spectrum": None, "n_terms": [3, 6, 10], "alphas": 2.0 ** np.arange(-12, 6)}
    weights = rng.integers(1, 4, 40).astype(float) if weighted else None
    found = GegenbauerRegressorCV(scoring=name, **options).fit(X, y, weights)
    expected = GegenbauerRegressorCV(scoring=own, **options).fit(X, y, weights)
    assert len(calls) >= 3 * 18
    assert_allclose(found.surface_["score"], expected.surface_["score"], rtol=1e-9, equal_nan=True)
    assert (found.alpha_, found.n_terms_) == (expected.alpha_, expected.n_terms_)
    assert_allclose(
        found.best_score_, sign * metric(y, found.loo_predictions_, sample_weight=weights)
    )


@pytest.mark.usefixtures("no_look_at_chance")
@pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cv", [None, 4])
@pytest.mark.parametrize(
    ("name", "metric", "n_classes"),
    [
        ("accuracy", lambda y, m, w: metrics.accuracy_score(y, m.predict(y), sample_weight=w), 2),
        ("accuracy", lambda y, m, w: metrics.accuracy_score(y, m.predict(y), sample_weight=w), 3),
        ("neg_log_loss",
         lambda y, m, w: -metrics.log_loss(y, m.predict_proba(y), sample_weight=w), 2),
        ("neg_log_loss",
         lambda y, m, w: -metrics.log_loss(y, m.predict_proba(y), sample_weight=w), 3),
        ("roc_auc",
         lambda y, m, w: metrics.roc_auc_score(y, m.decision_function(y), sample_weight=w), 2),
    ],
)  # fmt: skip
def test_classes_at_once_as_one_by_one(name, metric, n_classes, cv, weighted):
    rng = np.random.default_rng(0)
    X = np.round(rng.uniform(size=(60, 2)), 1)  # with samples, and outputs, that repeat
    y = np.array(["a", "b", "c"])[((n_classes * X[:, 0] + 0.3 * rng.normal(size=60)) % n_classes)
                                  .astype(int)]  # fmt: skip
    weights = rng.integers(1, 4, 60).astype(float) if weighted else None
    calls = []

    def own(estimator, X, y, sample_weight=None):
        calls.append(1)
        return metric(y, estimator, sample_weight)

    options = {
        "spectrum": None,
        "n_terms": [3, 6, 10],
        "alphas": 2.0 ** np.arange(-12, 6),
        "cv": cv,
    }
    found = GegenbauerClassifierCV(scoring=name, **options).fit(X, y, weights)
    expected = GegenbauerClassifierCV(scoring=own, **options).fit(X, y, weights)
    assert len(calls) >= 3 * 18
    assert_allclose(found.surface_["score"], expected.surface_["score"], rtol=1e-9, equal_nan=True)
    assert found.alpha_ == expected.alpha_


def test_probabilities_are_made_only_where_they_are_scored(monkeypatch):
    from gegenbauer.estimators import classifier_cv

    calls = []
    make = classifier_cv.calibrated_probabilities
    monkeypatch.setattr(
        classifier_cv, "calibrated_probabilities", lambda *a: calls.append(a[0].shape) or make(*a)
    )
    X, Y = labels(1)
    options = {"spectrum": None, "n_terms": [3, 6], "alphas": [0.1, 0.2, 0.5, 1.0]}
    by_accuracy = GegenbauerClassifierCV(scoring="accuracy", **options).fit(X, Y[:, 0])
    assert calls == []
    by_loss = GegenbauerClassifierCV(scoring="neg_log_loss", **options).fit(X, Y[:, 0])
    assert max(shape[0] for shape in calls) > 1  # several alphas at once
    assert_array_equal(by_accuracy.classes_, by_loss.classes_)


@pytest.mark.parametrize("options", [{}, {"spectrum": None, "n_terms": [5, 10]}])
@pytest.mark.parametrize("cv", [None, 4])
@pytest.mark.parametrize(
    ("scoring", "metric"),
    [
        ("neg_log_loss", lambda y, p: -metrics.log_loss(y, p)),
        ("neg_brier_score",
         lambda y, p: -((p - np.eye(3)[y][:, : p.shape[1]]) ** 2).sum(axis=1).mean()
         * (0.5 if p.shape[1] == 2 else 1.0)),
        ("roc_auc_ovr",
         lambda y, p: metrics.roc_auc_score(y, p[:, 1] if p.shape[1] == 2 else p,
                                            multi_class="ovr")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.filterwarnings("ignore::gegenbauer.errors.UnderfittingWarning")
def test_probabilities_are_those_that_the_model_reports(scoring, metric, n_classes, cv, options):
    """One map serves all parts; their scores are averaged, as scikit-learn does."""
    X, Y = labels(3)
    y = Y[:, 0] if n_classes == 2 else Y[:, 0] + Y[:, 1]
    if n_classes == 2 and scoring == "neg_brier_score":
        y[:30] = 0  # classes of different sizes, which a temperature knows nothing of
    folds = None
    if cv is not None:
        order = np.random.default_rng(0).permutation(90)
        folds = [(np.setdiff1d(order, part), part) for part in np.array_split(order, cv)]
    model = GegenbauerClassifierCV(scoring=scoring, cv=folds, **options).fit(X, y)
    reported = model.loo_probabilities_
    assert_allclose(reported, probabilities_of(model.loo_predictions_, y), atol=1e-5)
    parts = [np.arange(90)] if folds is None else [test for _, test in folds]
    expected = np.mean([metric(y[part], reported[part]) for part in parts])
    assert_allclose(model.best_score_, expected, rtol=1e-9)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score"])
@pytest.mark.parametrize("kind", ["binary", "multilabel"])
def test_probabilities_of_noise_are_base_rates(scoring, kind):
    """No candidate gains by labels that are more probable than they are, and the fit warns.

    At base rates scikit-learn's log-loss of labels is the sum of -r log r, and 0.65 here.
    """
    if scoring not in MULTILABEL:
        pytest.skip("scikit-learn does not know it for labels")
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (100, 3))
    Y = (rng.uniform(size=(100, 2)) < [0.3, 0.6]).astype(int)
    y = Y if kind == "multilabel" else Y[:, 0]
    with pytest.warns(UnderfittingWarning):
        model = GegenbauerClassifierCV(spectrum=(0.5, 2.0), scoring=scoring).fit(X, y)
    rates = Y.mean(axis=0)
    if kind == "binary":
        r = rates[0]
        known = {
            "neg_log_loss": r * np.log(r) + (1 - r) * np.log(1 - r),
            "neg_brier_score": -r * (1 - r),
        }
    else:
        known = {
            "neg_log_loss": (rates * np.log(rates)).sum(),
            "neg_brier_score": -(rates * (1 - rates)).mean(),
        }
    assert model.best_score_ == pytest.approx(known[scoring], rel=0.03)
