"""Closed-form learning from tables on tensor products of Gegenbauer polynomials.

The names here are those that most programs need; each package holds the others, and documents
all of its own: :mod:`~gegenbauer.basis`, :mod:`~gegenbauer.ridge`,
:mod:`~gegenbauer.selection`, :mod:`~gegenbauer.inspection`, :mod:`~gegenbauer.batches`,
:mod:`~gegenbauer.estimators`, :mod:`~gegenbauer.export`, :mod:`~gegenbauer.persistence`,
:mod:`~gegenbauer.plotting`, :mod:`~gegenbauer.report`, :mod:`~gegenbauer.dask`, and
:mod:`~gegenbauer.errors` for warnings and errors.

The functions on arrays are imported at once, together with the compiled core that suits the
processor. What needs scikit-learn or an optional package is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

from gegenbauer import basis, errors, inspection, ridge, selection
from gegenbauer._dispatch import default_threads, show_versions
from gegenbauer._renamed import NEW_FUNCTIONS, missing_name
from gegenbauer.basis import (
    GegenbauerDecay,
    GeometricDecay,
    InputScaling,
    PowerDecay,
    Spectrum,
    TensorBasis,
)
from gegenbauer.inspection import polynomial_text, sobol_indices, to_sympy
from gegenbauer.ridge import GramStatistics, MomentStatistics, solve_kernel, solve_ridge
from gegenbauer.selection import RidgePath

if TYPE_CHECKING:
    from gegenbauer.batches import ArrayBatches, TableBatches
    from gegenbauer.estimators import (
        GegenbauerClassifier,
        GegenbauerClassifierCV,
        GegenbauerFeatures,
        GegenbauerRegressor,
        GegenbauerRegressorCV,
    )
    from gegenbauer.persistence import Checkpoint, load, save

__version__ = metadata.version("gegenbauer")

__all__ = [
    "ArrayBatches",
    "Checkpoint",
    "GegenbauerClassifier",
    "GegenbauerClassifierCV",
    "GegenbauerDecay",
    "GegenbauerFeatures",
    "GegenbauerRegressor",
    "GegenbauerRegressorCV",
    "GeometricDecay",
    "GramStatistics",
    "InputScaling",
    "MomentStatistics",
    "PowerDecay",
    "RidgePath",
    "Spectrum",
    "TableBatches",
    "TensorBasis",
    "__version__",
    "default_threads",
    "load",
    "polynomial_text",
    "save",
    "show_versions",
    "sobol_indices",
    "solve_kernel",
    "solve_ridge",
    "to_sympy",
]

# Where the names live that are imported at their first use.
_LAZY = {
    "ArrayBatches": "batches",
    "Checkpoint": "persistence",
    "GegenbauerClassifier": "estimators",
    "GegenbauerClassifierCV": "estimators",
    "GegenbauerFeatures": "estimators",
    "GegenbauerRegressor": "estimators",
    "GegenbauerRegressorCV": "estimators",
    "TableBatches": "batches",
    "load": "persistence",
    "save": "persistence",
}

# Packages that are imported when they are first looked up; dask and cli need packages of their own.
_PACKAGES = {"batches", "estimators", "export", "persistence", "plotting", "report"}

# Public names of these packages that are not here; an error names the package, and imports nothing.
_ELSEWHERE = {
    "Batch": "batches",
    "as_batches": "batches",
    "register_skl2onnx": "export",
    "to_c": "export",
    "to_numpy_source": "export",
    "to_onnx": "export",
    "to_sql": "export",
    "library_version": "persistence",
    "trusted_types": "persistence",
    "BasisDisplay": "plotting",
    "ContributionDisplay": "plotting",
    "DependenceDisplay": "plotting",
    "InputDisplay": "plotting",
    "InteractionDisplay": "plotting",
    "LeverageDisplay": "plotting",
    "PathDisplay": "plotting",
    "ReliabilityDisplay": "plotting",
    "SensitivityDisplay": "plotting",
    "left_out_outcomes": "plotting",
    "html_report": "report",
}


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"{__name__}.{name}")
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    name, old = NEW_FUNCTIONS.get(name, name), name
    home = _ELSEWHERE.get(name)
    for package in (basis, errors, inspection, ridge, selection):
        if name in package.__all__:
            home = package.__name__.removeprefix(f"{__name__}.")
    subject = "it" if old == name else f"it is called {name} and"
    hint = "" if home is None else f": {subject} is in {__name__}.{home}"
    raise missing_name(__name__, old, hint)


def __dir__() -> list[str]:
    packages = {"basis", "errors", "inspection", "ridge", "selection", *_PACKAGES}
    return sorted({*__all__, *packages})
