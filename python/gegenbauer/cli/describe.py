"""A fitted model in words, for the reports of ``fit`` and ``info``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gegenbauer.cli.words import count, number

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["describe_parameters", "describe_solution", "describe_terms", "task_of"]


def task_of(model: Any) -> str:
    """Return "classification", "multilabel classification", "regression" or "features"."""
    name = type(model).__name__
    if name == "GegenbauerClassifier":
        return "multilabel classification" if model.multilabel_ else "classification"
    return "regression" if name == "GegenbauerRegressor" else "features"


def describe_terms(model: Any) -> str:
    """Describe the set of terms.

    Examples
    --------
    >>> from gegenbauer import GegenbauerFeatures
    >>> describe_terms(GegenbauerFeatures(n_terms=5).fit([[0.0, 0.0], [1.0, 1.0]]))
    '5: all of total degree up to 1, and 2 of degree 2'
    """
    basis = model.basis_
    if basis.index_set != "total_degree" or basis.n_terms == 1:
        kind = basis.index_set.replace("_", " ")
        text = f"{basis.n_terms} ({kind}, up to degree {basis.max_degree} in one input)"
    else:
        degree, beyond = basis.complete_degree()
        text = f"{basis.n_terms}: all of total degree up to {degree}"
        if beyond:
            text += f", and {beyond} of degree {degree + 1}"
    if basis.max_interaction is not None:
        text += f", with at most {count(basis.max_interaction, 'input')} in a term"
    return text


def describe_parameters(model: Any) -> str:
    """List the parameters that shape the model; those at rest are left out."""
    return ", ".join(_parameters(model))


def _parameters(model: Any) -> Iterator[str]:
    yield f"lam {number(model.basis_.lam)}"
    if hasattr(model, "gamma"):
        yield f"gamma {number(model.gamma)}"
    low, high = model.scaling_.domain
    yield f"domain [{low:g}, {high:g}]"
    yield f"out of range: {model.out_of_range}"
    spectrum = model.basis_.spectrum
    if isinstance(spectrum, str):
        yield f"spectrum {spectrum}"
    elif spectrum is not None:
        yield f"spectrum q {number(spectrum[0])}, s {number(spectrum[1])}"
    if model.basis_.order != "grlex":
        yield f"order {model.basis_.order}"
    if not getattr(model, "penalize_constant", True):
        yield "constant term without penalty"
    if getattr(model, "class_weight", None) is not None:
        yield f"class weights {model.class_weight}"


def describe_solution(model: Any) -> str:
    """Describe how the weights were found."""
    products = "" if model.precision_ is None else f"{model.precision_} products, "
    return (
        f"{model.engine_} engine, {model.solver_.replace('_', ' ')} solver, {products}rcond "
        f"{model.rcond_:.1e}, {count(model.n_refinements_, 'refinement')}"
    )
