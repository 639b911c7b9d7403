"""What a model contains: derivatives, Sobol' indices, its polynomial as text and as SymPy."""

from __future__ import annotations

from gegenbauer.inspection._polynomial_text import polynomial_text
from gegenbauer.inspection._to_sympy import to_sympy
from gegenbauer.inspection.anova import (
    AnovaComponents,
    PartialDependence,
    anova_components,
    partial_dependence,
)
from gegenbauer.inspection.derivatives import gradient, hessian
from gegenbauer.inspection.indices import SobolIndices
from gegenbauer.inspection.sensitivity import derivative_sensitivity
from gegenbauer.inspection.shapley import ShapleyValues, shapley_values
from gegenbauer.inspection.sobol import (
    kernel_sobol_indices,
    sobol_indices,
    term_sobol_indices,
)

__all__ = [
    "AnovaComponents",
    "PartialDependence",
    "ShapleyValues",
    "SobolIndices",
    "anova_components",
    "derivative_sensitivity",
    "gradient",
    "hessian",
    "kernel_sobol_indices",
    "partial_dependence",
    "polynomial_text",
    "shapley_values",
    "sobol_indices",
    "term_sobol_indices",
    "to_sympy",
]
