"""Classifiers and regressors on tensor products of Gegenbauer polynomials.

The functional layer (:class:`TensorBasis`, :func:`solve_ridge`, ...) works on arrays and is
imported at once, together with the compiled core that suits the processor. What needs
scikit-learn (:class:`GegenbauerClassifier`, :class:`GegenbauerRegressor`,
:class:`GegenbauerFeatures`) or an optional package (:func:`save`, :func:`load`) is imported
when it is first used.
"""

from __future__ import annotations

from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

from gegenbauer._arrays import TooLargeError
from gegenbauer._dispatch import default_threads, show_versions
from gegenbauer.basis import InputScaling, TensorBasis, count_terms, eval_gegenbauer
from gegenbauer.basis_search import BasisSearch, search_basis
from gegenbauer.insight import SobolIndices, kernel_sobol_indices, term_sobol_indices
from gegenbauer.kernel import (
    KernelSolution,
    SpectrumKernel,
    TotalDegreeKernel,
    predict_kernel,
    solve_kernel,
)
from gegenbauer.ridge import (
    RidgeSolution,
    fit_cost,
    predict,
    solve_dual,
    solve_primal,
    solve_ridge,
)
from gegenbauer.selection import (
    KFoldPredictions,
    LeaveOneOutPredictions,
    PrefixSurface,
    RidgePath,
    kfold_predictions,
    leave_one_out,
    prefix_surface,
)
from gegenbauer.spectrum import GegenbauerDecay, GeometricDecay, PowerDecay, Spectrum
from gegenbauer.spectrum_search import (
    SpectrumObjective,
    SpectrumSearch,
    learn_spectrum,
    search_gamma,
    search_spectrum,
    spectrum_objective,
)
from gegenbauer.statistics import GramStatistics, MomentStatistics

if TYPE_CHECKING:
    from gegenbauer.batches import ArrayBatches, StreamError, TableBatches
    from gegenbauer.estimators import (
        GegenbauerClassifier,
        GegenbauerRegressor,
        IllConditionedWarning,
        PenalizedConstantWarning,
    )
    from gegenbauer.explain import (
        CorrelatedInputsWarning,
        polynomial_text,
        sobol_indices,
        to_sympy,
    )
    from gegenbauer.features import GegenbauerFeatures, OutlierWarning, OutOfRangeWarning
    from gegenbauer.model_selection import (
        GegenbauerClassifierCV,
        GegenbauerRegressorCV,
        GridEdgeWarning,
        LightWeightsWarning,
        UnderfittingWarning,
    )
    from gegenbauer.persistence import Checkpoint, ModelFileError, ModelVersionWarning, load, save

__version__ = metadata.version("gegenbauer")

__all__ = [
    "ArrayBatches",
    "BasisSearch",
    "Checkpoint",
    "CorrelatedInputsWarning",
    "GegenbauerClassifier",
    "GegenbauerClassifierCV",
    "GegenbauerDecay",
    "GegenbauerFeatures",
    "GegenbauerRegressor",
    "GegenbauerRegressorCV",
    "GeometricDecay",
    "GramStatistics",
    "GridEdgeWarning",
    "IllConditionedWarning",
    "InputScaling",
    "KFoldPredictions",
    "KernelSolution",
    "LeaveOneOutPredictions",
    "LightWeightsWarning",
    "ModelFileError",
    "ModelVersionWarning",
    "MomentStatistics",
    "OutOfRangeWarning",
    "OutlierWarning",
    "PenalizedConstantWarning",
    "PowerDecay",
    "PrefixSurface",
    "RidgePath",
    "RidgeSolution",
    "SobolIndices",
    "Spectrum",
    "SpectrumKernel",
    "SpectrumObjective",
    "SpectrumSearch",
    "StreamError",
    "TableBatches",
    "TensorBasis",
    "TooLargeError",
    "TotalDegreeKernel",
    "UnderfittingWarning",
    "__version__",
    "count_terms",
    "default_threads",
    "eval_gegenbauer",
    "fit_cost",
    "kernel_sobol_indices",
    "kfold_predictions",
    "learn_spectrum",
    "leave_one_out",
    "load",
    "polynomial_text",
    "predict",
    "predict_kernel",
    "prefix_surface",
    "save",
    "search_basis",
    "search_gamma",
    "search_spectrum",
    "show_versions",
    "sobol_indices",
    "solve_dual",
    "solve_kernel",
    "solve_primal",
    "solve_ridge",
    "spectrum_objective",
    "term_sobol_indices",
    "to_sympy",
]

# Where the names live that are imported at their first use.
_LAZY = {
    "ArrayBatches": "batches",
    "Checkpoint": "persistence",
    "CorrelatedInputsWarning": "explain",
    "GegenbauerClassifier": "estimators",
    "GegenbauerClassifierCV": "model_selection",
    "GegenbauerFeatures": "features",
    "GegenbauerRegressor": "estimators",
    "GegenbauerRegressorCV": "model_selection",
    "GridEdgeWarning": "model_selection",
    "LightWeightsWarning": "model_selection",
    "IllConditionedWarning": "estimators",
    "ModelFileError": "persistence",
    "ModelVersionWarning": "persistence",
    "OutOfRangeWarning": "features",
    "OutlierWarning": "features",
    "PenalizedConstantWarning": "estimators",
    "load": "persistence",
    "polynomial_text": "explain",
    "save": "persistence",
    "StreamError": "batches",
    "TableBatches": "batches",
    "UnderfittingWarning": "model_selection",
    "sobol_indices": "explain",
    "to_sympy": "explain",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
