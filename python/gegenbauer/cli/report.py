"""A fitted model in words, for the reports of ``fit``, ``tune`` and ``info``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gegenbauer.cli.messages import count, number, quoted
from gegenbauer.estimators._search import SearchEstimator
from gegenbauer.estimators._summary import basis_of, describe_spectrum, describe_terms, task_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "describe_alternatives",
    "describe_choice",
    "describe_clipped",
    "describe_parameters",
    "describe_solution",
    "describe_spectrum",
    "describe_terms",
    "task_of",
]


# Inputs that are listed in a line
_MOST_LISTED = 5


def describe_choice(model: Any) -> str:
    """Report which penalty a model chose by ``choose_alpha``, and from which."""
    tried = model.alpha_results_["alpha"]
    return (
        f"{number(model.alpha)}, the best by generalised cross-validation of {tried.size} from "
        f"{number(tried.min())} to {number(tried.max())}"
    )


def describe_parameters(model: Any) -> str:
    """List the parameters that shape the model; those at rest are left out."""
    return ", ".join(_parameters(model))


def _parameters(model: Any) -> Iterator[str]:
    given = model.get_params(deep=False)
    chosen = isinstance(model, SearchEstimator)
    if not chosen or not model.spectra_:
        yield f"lam {number(model.basis_.lam)}"
    alpha = model.alpha_ if chosen else given.get("alpha")
    if alpha is not None:
        yield f"alpha {number(alpha)}"
    low, high = model.scaling_.domain
    yield f"domain [{low:g}, {high:g}]"
    yield f"out of range: {model.out_of_range}"
    if chosen and model.spectra_:
        yield f"spectrum {describe_spectrum(model)}"
    elif not chosen:
        short = model.basis_._spectrum_shorthand(without_levels=True)
        if short is not None:
            yield f"spectrum {short if isinstance(short, str) else describe_spectrum(model)}"
    basis = basis_of(model)
    if basis is not None and basis.term_order != "grlex":
        yield f"order {basis.term_order}"
    if not given.get("penalize_constant", True):
        yield "constant term without penalty"
    if given.get("class_weight") is not None:
        yield f"class weights {given['class_weight']}"


def describe_solution(model: Any) -> str:
    """Describe how the weights were found."""
    plain = not isinstance(model, SearchEstimator)
    products = f"{model.precision_} products, " if plain and model.precision_ is not None else ""
    text = (
        f"{model.engine_} engine, {model.solver_.replace('_', ' ')} solver, {products}rcond "
        f"{model.rcond_:.1e}"
    )
    return f"{text}, {count(model.n_refinements_, 'refinement')}" if plain else text


def describe_alternatives(model: Any) -> list[tuple[str, str]]:
    """Return a line on the other models that were tried, if there were some."""
    if not isinstance(model, SearchEstimator):
        return []
    found = [
        f"{name.replace('_', ' ')} {'taken' if each.is_clear else 'not taken'} "
        f"(loss smaller by {each.usual_gain:.2g} +- {each.standard_error:.1g})"
        for name, each in model.alternatives_.items()
    ]
    return [("alternatives", "; ".join(found))] if found else []


def describe_clipped(model: Any, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return a line on values beyond the box of a model that chose it, if there are some."""
    found = [
        f"{count(n, 'value')} of {quoted(name)}"
        for name, n in zip(names, model.n_clipped_.tolist(), strict=True)
        if n
    ]
    more = f" and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
    shown = ", ".join(found[:_MOST_LISTED])
    return [("clipped", f"{shown}{more} beyond the box")] if found else []
