"""Exact model selection: leave-one-out, K-fold, penalties, spectra and bases, on arrays."""

from __future__ import annotations

from gegenbauer._renamed import former_names_of
from gegenbauer.selection._learn_spectrum import learn_spectrum
from gegenbauer.selection._leave_one_out import LeaveOneOutPredictions, leave_one_out
from gegenbauer.selection._prefix_surface import PrefixSurface, prefix_surface
from gegenbauer.selection.basis_search import BasisSearch, search_basis
from gegenbauer.selection.kfold import KFoldPredictions, kfold_predictions
from gegenbauer.selection.objective import SpectrumObjective, spectrum_objective
from gegenbauer.selection.penalty import search_alpha
from gegenbauer.selection.ridge_path import RidgePath
from gegenbauer.selection.spectrum_search import SpectrumSearch, search_spectrum

__all__ = [
    "BasisSearch",
    "KFoldPredictions",
    "LeaveOneOutPredictions",
    "PrefixSurface",
    "RidgePath",
    "SpectrumObjective",
    "SpectrumSearch",
    "kfold_predictions",
    "learn_spectrum",
    "leave_one_out",
    "prefix_surface",
    "search_alpha",
    "search_basis",
    "search_spectrum",
    "spectrum_objective",
]

__getattr__ = former_names_of(__name__)
