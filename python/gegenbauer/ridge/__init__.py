"""Regularised solves on tensor features and kernels, predictions, additive statistics."""

from __future__ import annotations

from gegenbauer.ridge.cost import (
    default_kernel_samples,
    default_landmarks,
    fit_cost,
    fit_memory,
)
from gegenbauer.ridge.expansions import KernelExpansion, TermExpansion, predict
from gegenbauer.ridge.kernel_ridge import KernelSolution, predict_kernel, solve_kernel
from gegenbauer.ridge.mean_expansion import MeanExpansion
from gegenbauer.ridge.solve import RidgeSolution, solve_dual, solve_primal, solve_ridge
from gegenbauer.ridge.statistics import GramStatistics, MomentStatistics

__all__ = [
    "GramStatistics",
    "KernelExpansion",
    "KernelSolution",
    "MeanExpansion",
    "MomentStatistics",
    "RidgeSolution",
    "TermExpansion",
    "default_kernel_samples",
    "default_landmarks",
    "fit_cost",
    "fit_memory",
    "predict",
    "predict_kernel",
    "solve_dual",
    "solve_kernel",
    "solve_primal",
    "solve_ridge",
]
