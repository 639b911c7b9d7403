"""``scoring=`` of the estimators that choose: scores are those of scikit-learn's metrics."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn import metrics
from sklearn.model_selection import GridSearchCV

from gegenbauer import GegenbauerClassifier, GegenbauerClassifierCV, GegenbauerRegressorCV
from gegenbauer.calibration import best_temperatures, class_scores

pytestmark = [
    # scikit-learn's word on probabilities of labels, of which each may come with others
    pytest.mark.filterwarnings("ignore:The y_prob values do not sum to one"),
    pytest.mark.filterwarnings("ignore:Jaccard is ill-defined"),
    pytest.mark.filterwarnings("ignore::gegenbauer.GridEdgeWarning"),
]


def labels(n_labels, n=90):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    sides = [X[:, 0] + 0.5 * rng.normal(size=n), X[:, 1], X[:, 2] + X[:, 0] - 0.3]
    return X, (np.column_stack(sides[:n_labels]) > 0).astype(int)


def probabilities_of(outputs, Y):
    """Those of each label at its best temperature."""
    found = []
    for column, y in zip(outputs.T, Y.T, strict=True):
        beta = best_temperatures(class_scores(column[:, np.newaxis]), y)[0]
        found.append(expit(beta * column))
    return np.column_stack(found)


MULTILABEL = {
    "roc_auc": (metrics.roc_auc_score, 1, False, {}),
    "average_precision": (metrics.average_precision_score, 1, False, {}),
    "roc_auc_ovr": (metrics.roc_auc_score, 1, True, {}),
    "neg_log_loss": (metrics.log_loss, -1, True, {}),
    "neg_brier_score": (metrics.brier_score_loss, -1, True, {}),
}


class TestMultilabel:
    @pytest.mark.parametrize("n_labels", [2, 3])
    @pytest.mark.parametrize("scoring", MULTILABEL)
    @pytest.mark.parametrize("options", [{}, {"n_terms": 30}, {"spectrum": None, "n_terms": 10}])
    def test_the_score_is_that_of_the_predictions(self, scoring, n_labels, options):
        X, Y = labels(n_labels)
        model = GegenbauerClassifierCV(**{"spectrum": (0.5, 2.0), **options}, scoring=scoring)
        model.fit(X, Y)
        metric, sign, needs_probabilities, arguments = MULTILABEL[scoring]
        outputs = model.loo_predictions_
        scores = probabilities_of(outputs, Y) if needs_probabilities else outputs
        assert_allclose(model.best_score_, sign * metric(Y, scores, **arguments), rtol=1e-9)

    @pytest.mark.parametrize("scoring", ["accuracy", "f1_macro", "jaccard_samples"])
    def test_of_the_labels(self, scoring):
        X, Y = labels(3)
        model = GegenbauerClassifierCV(spectrum=(0.5, 2.0), scoring=scoring).fit(X, Y)
        metric = {
            "accuracy": metrics.accuracy_score,
            "f1_macro": lambda *y: metrics.f1_score(*y, average="macro"),
            "jaccard_samples": lambda *y: metrics.jaccard_score(*y, average="samples"),
        }[scoring]
        assert_allclose(model.best_score_, metric(Y, (model.loo_predictions_ > 0).astype(int)))

    @pytest.mark.parametrize("scoring", MULTILABEL)
    def test_through_a_grid_search(self, scoring):
        X, Y = labels(3)
        folds = [(np.arange(60), np.arange(60, 90)), (np.arange(30, 90), np.arange(30))]
        model = GegenbauerClassifierCV(spectrum=(0.5, 2.0), gammas=[0.5])
        search = GridSearchCV(model, {"gammas": [[0.5]]}, scoring=scoring, cv=folds, refit=False)
        search.fit(X, Y)
        metric, sign, needs_probabilities, arguments = MULTILABEL[scoring]
        for k, (train, test) in enumerate(folds):
            fitted = GegenbauerClassifierCV(spectrum=(0.5, 2.0), gammas=[0.5])
            fitted.fit(X[train], Y[train])
            scores = (fitted.predict_proba if needs_probabilities else fitted.decision_function)(
                X[test]
            )
            expected = sign * metric(Y[test], scores, **arguments)
            assert_allclose(search.cv_results_[f"split{k}_test_score"][0], expected)

    def test_errors_name_no_class_of_ours(self):
        X, Y = labels(3)
        with pytest.raises(ValueError, match=r"scoring='f1' cannot score these targets") as error:
            GegenbauerClassifierCV(spectrum=(0.5, 2.0), scoring="f1").fit(X, Y)
        assert "_" not in str(error.value).replace("average_precision", "")

    def test_decisions_of_plain_classifiers(self):
        X, Y = labels(3)
        search = GridSearchCV(GegenbauerClassifier(n_terms=10), {"gamma": [0.1]}, scoring="roc_auc")
        assert search.fit(X, Y).best_score_ > 0.9


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

    options = {"spectrum": None, "n_terms": [3, 6, 10], "gammas": 2.0 ** np.arange(-12, 6)}
    weights = rng.integers(1, 4, 40).astype(float) if weighted else None
    found = GegenbauerRegressorCV(scoring=name, **options).fit(X, y, weights)
    expected = GegenbauerRegressorCV(scoring=own, **options).fit(X, y, weights)
    assert len(calls) >= 3 * 18
    assert_allclose(
        found.cv_results_["score"], expected.cv_results_["score"], rtol=1e-9, equal_nan=True
    )
    assert (found.gamma_, found.n_terms_) == (expected.gamma_, expected.n_terms_)
    assert_allclose(
        found.best_score_, sign * metric(y, found.loo_predictions_, sample_weight=weights)
    )


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
        "gammas": 2.0 ** np.arange(-12, 6),
        "cv": cv,
    }
    found = GegenbauerClassifierCV(scoring=name, **options).fit(X, y, weights)
    expected = GegenbauerClassifierCV(scoring=own, **options).fit(X, y, weights)
    assert len(calls) >= 3 * 18
    assert_allclose(
        found.cv_results_["score"], expected.cv_results_["score"], rtol=1e-9, equal_nan=True
    )
    assert found.gamma_ == expected.gamma_


def test_temperatures_are_looked_for_only_where_probabilities_are(monkeypatch):
    from gegenbauer import model_selection

    calls = []
    search = model_selection.best_temperatures
    monkeypatch.setattr(
        model_selection, "best_temperatures", lambda *a: calls.append(a[0].shape) or search(*a)
    )
    X, Y = labels(1)
    options = {"spectrum": None, "n_terms": [3, 6], "gammas": [0.1, 0.2, 0.5, 1.0]}
    by_accuracy = GegenbauerClassifierCV(scoring="accuracy", **options).fit(X, Y[:, 0])
    assert calls == []
    by_loss = GegenbauerClassifierCV(scoring="neg_log_loss", **options).fit(X, Y[:, 0])
    assert max(shape[0] for shape in calls) > 1  # several gammas at once
    assert_array_equal(by_accuracy.classes_, by_loss.classes_)
