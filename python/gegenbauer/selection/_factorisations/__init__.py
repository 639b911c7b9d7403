"""Three factorisations of a ridge problem with one interface, and which of them is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gegenbauer._messages import Message
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.ridge.landmarks import Landmarks
from gegenbauer.selection._factorisations.band import Band
from gegenbauer.selection._factorisations.base import Factorisation
from gegenbauer.selection._factorisations.normal_equations import NormalEquations
from gegenbauer.selection._factorisations.singular_values import SingularValues

if TYPE_CHECKING:
    from gegenbauer.selection._ridge_problem import RidgeProblem

__all__ = [
    "METHODS",
    "Band",
    "Factorisation",
    "NormalEquations",
    "SingularValues",
    "cheapest_method",
    "factorise",
]

METHODS: dict[str, type[Factorisation]] = {
    kind.method: kind for kind in (SingularValues, Band, NormalEquations)
}

# Multiply-adds up to which features are decomposed themselves, not their products
_SMALL = 4e8


def cheapest_method(n_rows: int, n_terms: int) -> str:
    """Return what ``method="auto"`` of `RidgePath` means for a basis of so many terms."""
    small, large = sorted((n_rows, n_terms))
    if float(small) ** 2 * large <= _SMALL:
        return "svd"
    return "dual" if n_rows <= n_terms else "primal"


def factorise(problem: RidgeProblem, method: str) -> Factorisation:
    """Factorise a problem by a method, or by the cheapest for ``"auto"``."""
    if isinstance(problem.model, TensorBasis):
        if method == "auto":
            method = cheapest_method(problem.n_samples, problem.model.n_terms)
    elif isinstance(problem.model, Landmarks):
        if method == "auto":  # as many samples as features at least
            method = "primal"
        elif method == "dual":
            raise ValueError(
                Message("`method='dual'` needs a kernel or a TensorBasis, got Landmarks")
            )
    elif method == "auto":
        method = "dual"
    elif method != "dual":
        raise ValueError(
            Message(
                "`method={!r}` needs a TensorBasis, whose terms can be enumerated; use "
                "'dual' for a kernel",
                method,
            )
        )
    return METHODS[method](problem)
