"""Checks of scikit-learn on all estimators, in many settings; what fails by design is named."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    GeometricDecay,
    PowerDecay,
    Spectrum,
)

# Settings of the sets of terms, with few of them for speed
TERMS = [
    {"n_terms": 15},
    {"n_terms": 1},
    {"n_terms": 15, "lam": -0.4},
    {"n_terms": 15, "lam": 0.0},
    {"n_terms": 15, "lam": 2.0},
    {"n_terms": 15, "domain": (-1, 1)},
    {"n_terms": 15, "term_order": "grevlex"},
    {"n_terms": 15, "term_order": "grlex_ascending"},
    {"n_terms": 15, "max_interaction": 1},
    {"n_terms": 15, "spectrum": "orthonormal"},
    {"n_terms": 15, "spectrum": (0.5, 2.0), "index_set": "largest_weight"},
    {"n_terms": 15, "spectrum": PowerDecay(0.5, 1.0), "index_set": "largest_weight"},
    {"n_terms": 15, "spectrum": GeometricDecay(0.5, 0.3), "index_set": "largest_weight"},
    {"n_terms": None, "degree": 0},
    {"n_terms": None, "degree": 1, "max_interaction": 1},
    {"n_terms": None, "degree": 2, "index_set": "hyperbolic_cross"},
    {"n_terms": 15, "out_of_range": "error"},
    {"n_terms": 15, "out_of_range": "warn"},
    {"n_terms": 15, "out_of_range": "extrapolate"},
    {"n_terms": 15, "n_jobs": 1},
]

SOLVES = [
    {"n_terms": 15, "engine": "primal"},
    {"n_terms": 15, "engine": "dual"},
    {"n_terms": 15, "engine": "kernel"},
    {"n_terms": 15, "engine": "moments"},
    {"n_terms": 15, "solver": "cholesky"},
    {"n_terms": 15, "solver": "orthogonal"},
    {"n_terms": 15, "precision": "float64"},
    {"n_terms": 15, "alpha": 1e-8},
    {"n_terms": 15, "alpha": 10.0},
    {"n_terms": 15, "penalize_constant": False},
    {"n_terms": 15, "penalize_constant": False, "engine": "dual", "solver": "orthogonal"},
]

# Settings of the estimators that choose by themselves
CHOICES = [
    {},
    {"spectrum": (0.5, 2.0)},
    {"spectrum": PowerDecay(0.5, 1.0)},
    {"spectrum": Spectrum([PowerDecay(0.3, 2.0), GeometricDecay(0.1, 0.2)])},
    {"spectrum": (0.5, 2.0), "alphas": [0.1]},
    {"alphas": [0.01, 0.1, 1.0]},
    {"n_terms": 20},
    {"spectrum": (0.5, 2.0), "n_terms": 20},
    {"kernel_samples": 0, "spectrum": (0.5, 2.0), "n_terms": 20},
    {"search_samples": 20},
    {"spectrum": None, "n_terms": 20},
    {"spectrum": None, "n_terms": [10, 30]},
    {"spectrum": None, "lam": [0.05, 0.5], "n_terms": 20},
    {"spectrum": None, "n_terms": 10, "alphas": [1e-3, 1.0]},
    {"cv": 3, "spectrum": (0.5, 2.0)},
    {"cv": 3, "spectrum": (0.5, 2.0), "n_terms": 20},
    {"cv": 3, "alphas": [0.1]},
    {"cv": 3, "spectrum": None, "n_terms": [5, 10]},
    {"spectrum": (0.5, 2.0), "n_terms": 20, "out_of_range": "extrapolate"},
    {"spectrum": (0.5, 2.0), "out_of_range": "warn"},
    {"spectrum": (0.5, 2.0), "n_jobs": 1},
]

CLASSIFIER_CHOICES = [
    {"penalize_constant": False},
    {"spectrum": (0.5, 2.0), "scoring": "accuracy"},
    {"spectrum": (0.5, 2.0), "class_weight": "balanced"},
    {"spectrum": (0.5, 2.0), "scoring": "accuracy", "cv": 3},
    {"n_spectra": 5},
    {"n_spectra": 5, "penalize_constant": False, "scoring": "neg_log_loss"},
]

REGRESSOR_CHOICES = [
    {"penalize_constant": True},
    {"spectrum": (0.5, 2.0), "scoring": "r2"},
    {"search": "squared_error", "search_samples": 20},
    {"spectrum": (0.5, 2.0), "scoring": "neg_mean_absolute_error", "cv": 3},
]

SETTINGS = [
    GegenbauerRegressorCV(cv=3, alphas=[0.1]),
    GegenbauerClassifierCV(spectrum=(0.5, 2.0), n_terms=20),
    *(GegenbauerFeatures(**options) for options in TERMS),
    *(GegenbauerClassifier(**options) for options in [*TERMS, *SOLVES]),
    GegenbauerClassifier(n_terms=15, class_weight="balanced"),
    *(GegenbauerRegressor(**options) for options in [*TERMS, *SOLVES]),
    *(GegenbauerClassifierCV(**options) for options in [*CHOICES, *CLASSIFIER_CHOICES]),
    *(GegenbauerRegressorCV(**options) for options in [*CHOICES, *REGRESSOR_CHOICES]),
]

QUICK = [
    GegenbauerClassifierCV(),
    GegenbauerClassifierCV(spectrum=None, n_terms=[10, 30]),
    GegenbauerRegressorCV(intervals="one_spectrum"),  # five take long
    GegenbauerRegressorCV(spectrum=None, lam=[0.05, 0.5], n_terms=20),
]


TRAINING = ["check_classifiers_train", "check_regressors_train"]


def by_design(estimator):
    """Name the checks that a setting fails because of what it is set to do."""
    parameters = estimator.get_params()
    failing = {}
    if parameters.get("n_terms") == 1 or parameters.get("degree") == 0:
        failing |= dict.fromkeys(TRAINING, "one term is a constant, which learns nothing")
    if parameters["out_of_range"] == "error" and "alpha" in parameters:
        reason = "they predict samples outside of the range of those of positive weight"
        for kind in ("dense", "sparse"):
            failing[f"check_sample_weight_equivalence_on_{kind}_data"] = reason
        failing["check_class_weight_classifiers"] = reason
        # its samples are rounded to codes, since categories are taken
        for name in (
            "representation_invariance", "output_format_predict", "output_format_decision_function"
        ):  # fmt: skip
            failing[f"check_classifiers_multilabel_{name}"] = reason
    if parameters.get("n_spectra") == 5:  # which leave out one sample at a time
        for kind in ("dense", "sparse"):
            failing[f"check_sample_weight_equivalence_on_{kind}_data"] = "it sets cv to splits"
    return failing


# Many of the tables that are checked are noise, and some settings warn as they should
EXPECTED_WARNINGS = [
    pytest.mark.filterwarnings(f"ignore::gegenbauer.errors.{name}")
    for name in ("UnderfittingWarning", "GridEdgeWarning", "OutOfRangeWarning")
]
# scikit-learn's own, of splits by class into three parts of some of its tables
EXPECTED_WARNINGS.append(
    pytest.mark.filterwarnings("ignore:The least populated class in y:UserWarning")
)


def tolerant(test):
    for mark in EXPECTED_WARNINGS:
        test = mark(test)
    return test


@tolerant
@parametrize_with_checks(QUICK)  # strict by the settings of pytest
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@tolerant
@pytest.mark.parametrize("at", range(len(SETTINGS)))
def test_checks_in_all_settings(at):
    """One test a setting, since eight thousand take seconds to be collected."""
    estimator = SETTINGS[at]
    found = check_estimator(
        estimator, expected_failed_checks=by_design(estimator), on_skip=None, on_fail=None
    )
    assert len(found) > 40
    for one in found:
        allowed = {"xfail"} if one["expected_to_fail"] else {"passed", "skipped"}
        assert one["status"] in allowed, (estimator, one["check_name"], one["exception"])
