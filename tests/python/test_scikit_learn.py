"""Checks of scikit-learn on the estimators that choose by themselves; none is expected to fail."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from gegenbauer import GegenbauerClassifierCV, GegenbauerRegressorCV


@parametrize_with_checks(
    [
        GegenbauerClassifierCV(),
        GegenbauerClassifierCV(spectrum=None, n_terms=[10, 30]),
        GegenbauerRegressorCV(),
        GegenbauerRegressorCV(spectrum=None, lam=[0.05, 0.5], n_terms=20),
    ]
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)
