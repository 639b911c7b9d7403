"""Closed-form learning from tables on tensor products of Gegenbauer polynomials.

The names here are those that most programs need; each package holds the others, and documents
all of its own: :mod:`~gegenbauer.basis`, :mod:`~gegenbauer.ridge`,
:mod:`~gegenbauer.selection`, :mod:`~gegenbauer.inspection`, :mod:`~gegenbauer.batches`,
:mod:`~gegenbauer.estimators`, :mod:`~gegenbauer.persistence`, :mod:`~gegenbauer.plotting`,
:mod:`~gegenbauer.dask`, and :mod:`~gegenbauer.errors` for warnings and errors.

The functions on arrays are imported at once, together with the compiled core that suits the
processor. What needs scikit-learn or an optional package is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

from gegenbauer._dispatch import default_threads, show_versions
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

# Packages that hold public names.
_PACKAGES = (
    "basis",
    "ridge",
    "selection",
    "inspection",
    "errors",
    "batches",
    "estimators",
    "persistence",
)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    if not name.startswith("_"):
        for package in _PACKAGES:
            if name in import_module(f"{__name__}.{package}").__all__:
                raise AttributeError(
                    f"module {__name__!r} has no attribute {name!r}: it is in {__name__}.{package}"
                )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
