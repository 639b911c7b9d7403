"""Checks of scikit-learn on the estimators that choose by themselves; none is expected to fail."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from gegenbauer import GegenbauerClassifierCV, GegenbauerRegressorCV


@parametrize_with_checks([GegenbauerClassifierCV(), GegenbauerRegressorCV()])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)
