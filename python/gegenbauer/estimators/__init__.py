"""The scikit-learn estimators."""

from __future__ import annotations

from gegenbauer.estimators.classifier import GegenbauerClassifier
from gegenbauer.estimators.classifier_cv import GegenbauerClassifierCV
from gegenbauer.estimators.regressor import GegenbauerRegressor
from gegenbauer.estimators.regressor_cv import GegenbauerRegressorCV
from gegenbauer.estimators.transformer import GegenbauerFeatures

__all__ = [
    "GegenbauerClassifier",
    "GegenbauerClassifierCV",
    "GegenbauerFeatures",
    "GegenbauerRegressor",
    "GegenbauerRegressorCV",
]
