"""What skops must be allowed to make again of a fitted estimator."""

from __future__ import annotations

__all__ = ["trusted_types"]

# All that estimators hold beside types of Python and NumPy, in whatever way they were fitted.
_TYPES = (
    "builtins.range",  # given as n_terms to choose from
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
    "gegenbauer.inspection.marginals.Condensed",
    "gegenbauer.inspection.marginals.Marginal",
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


def trusted_types() -> list[str]:
    """Return the types of this library that fitted estimators hold.

    For skops, which makes again what it is allowed to, and MLflow, which writes by it. None of them
    runs what a file holds; but what is in it is not checked, as :func:`load` does with the files of
    :func:`save`.

    Returns
    -------
    list of str
        Their names, with the modules.

    See Also
    --------
    load : Read an estimator from a model file, whose content is checked.
    save : Write an estimator to a model file.

    Examples
    --------
    >>> from gegenbauer.persistence import trusted_types
    >>> [name.rpartition(".")[2] for name in trusted_types()][:3]
    ['range', 'SpectrumKernel', 'Levels']
    """
    return [*_TYPES]
