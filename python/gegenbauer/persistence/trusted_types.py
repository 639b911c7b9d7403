"""What skops must be allowed to make again of a fitted estimator."""

from __future__ import annotations

__all__ = ["TRUSTED_TYPES"]

# All that estimators hold beside types of Python and NumPy, in whatever way they were fitted.
TRUSTED_TYPES = (
    "gegenbauer.basis.kernels.SpectrumKernel",
    "gegenbauer.basis.levels.Levels",
    "gegenbauer.basis.scaling.InputScaling",
    "gegenbauer.basis.spectrum.GegenbauerDecay",
    "gegenbauer.basis.spectrum.GeometricDecay",
    "gegenbauer.basis.spectrum.PowerDecay",
    "gegenbauer.basis.spectrum.Spectrum",
    "gegenbauer.basis.tensor_basis.TensorBasis",
    "gegenbauer.estimators._categories.Category",
    "gegenbauer.estimators._categories.CategoryEncoder",
    "gegenbauer.estimators._label_set.LabelSet",
    "gegenbauer.estimators._solution.Solution",
    "gegenbauer.estimators.classifier.GegenbauerClassifier",
    "gegenbauer.estimators.classifier_cv.GegenbauerClassifierCV",
    "gegenbauer.estimators.regressor.GegenbauerRegressor",
    "gegenbauer.estimators.regressor_cv.GegenbauerRegressorCV",
    "gegenbauer.estimators.transformer.GegenbauerFeatures",
    "gegenbauer.ridge.expansions.KernelExpansion",
    "gegenbauer.ridge.expansions.KernelPosterior",
    "gegenbauer.ridge.expansions.LandmarkPosterior",
    "gegenbauer.ridge.expansions.TermExpansion",
    "gegenbauer.ridge.expansions.TermPosterior",
    "gegenbauer.ridge.mean_expansion.MeanExpansion",
    "gegenbauer.ridge.statistics.gram.GramStatistics",
    "gegenbauer.ridge.statistics.moments.MomentStatistics",
    "gegenbauer.selection.calibration.ProbabilityMap",
)
