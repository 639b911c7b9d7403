"""A fitted model in words, for the reports of ``fit``, ``tune`` and ``info``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gegenbauer.cli.messages import count, number, quoted
from gegenbauer.cli.output import Line
from gegenbauer.estimators._search import SearchEstimator
from gegenbauer.estimators._summary import basis_of, describe_spectrum, describe_terms, task_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "alternatives_lines",
    "choice_line",
    "clipped_lines",
    "describe_terms",
    "parameters_line",
    "solution_line",
    "spectrum_line",
    "task_of",
    "terms_line",
]


# Inputs that are listed in a line
_MOST_LISTED = 5


def terms_line(model: Any) -> Line:
    """Describe the set of terms; of all there are, with --json, there is no number."""
    basis, text = basis_of(model), describe_terms(model)
    values = {"terms": None if basis is None else basis.n_terms, "term_set": text}
    return Line("terms", text, values)


def choice_line(model: Any) -> Line:
    """Report which penalty a model chose by ``choose_alpha``, and from which."""
    tried = model.alpha_results_["alpha"]
    text = (
        f"{number(model.alpha)}, the best by generalised cross-validation of {tried.size} from "
        f"{number(tried.min())} to {number(tried.max())}"
    )
    return Line("alpha", text, {"alpha": model.alpha, "alphas_tried": tried})


def parameters_line(model: Any) -> Line:
    """List the parameters that shape the model; those at rest are left out."""
    given = model.get_params(deep=False)
    chosen = isinstance(model, SearchEstimator)
    values = {
        "alpha": model.alpha_ if chosen else given.get("alpha"),
        "lam": None if chosen and model.spectra_ else model.basis_.lam,
        "domain": model.scaling_.domain,
        "out_of_range": model.out_of_range,
        "free_constant": not given.get("penalize_constant", True),
    }
    return Line("parameters", ", ".join(_parameters(model)), {"parameters": values})


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


def spectrum_line(model: Any) -> Line:
    """Describe the weights of the terms of a model."""
    return Line("spectrum", describe_spectrum(model))


def solution_line(model: Any) -> Line:
    """Describe how the weights were found."""
    plain = not isinstance(model, SearchEstimator)
    products = f"{model.precision_} products, " if plain and model.precision_ is not None else ""
    text = (
        f"{model.engine_} engine, {model.solver_.replace('_', ' ')} solver, {products}rcond "
        f"{model.rcond_:.1e}"
    )
    values = {
        "engine": model.engine_, "method": model.solver_, "rcond": model.rcond_,
        "refinements": model.n_refinements_ if plain else None,
    }  # fmt: skip
    if plain:
        text += f", {count(model.n_refinements_, 'refinement')}"
    return Line("solved by", text, {"solver": values})


def alternatives_lines(model: Any) -> list[Line]:
    """Return a line on the other models that were tried, if there were some."""
    if not isinstance(model, SearchEstimator):
        return []
    found = [
        f"{name.replace('_', ' ')} {'taken' if each.is_clear else 'not taken'} "
        f"(loss smaller by {each.usual_gain:.2g} +- {each.standard_error:.1g})"
        for name, each in model.alternatives_.items()
    ]
    values = [
        {
            "model": name, "taken": bool(each.is_clear), "gain": each.usual_gain,
            "standard_error": each.standard_error,
        }
        for name, each in model.alternatives_.items()
    ]  # fmt: skip
    return [Line("alternatives", "; ".join(found), {"alternatives": values})] if found else []


def clipped_lines(model: Any, names: Sequence[str]) -> list[Line]:
    """Return a line on values beyond the box of a model that chose it, if there are some."""
    found = [
        f"{count(n, 'value')} of {quoted(name)}"
        for name, n in zip(names, model.n_clipped_.tolist(), strict=True)
        if n
    ]
    more = f" and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
    shown = ", ".join(found[:_MOST_LISTED])
    values = {
        name: n for name, n in zip(names, model.n_clipped_.tolist(), strict=True) if n
    }  # fmt: skip
    return [Line("clipped", f"{shown}{more} beyond the box", {"clipped": values})] if found else []
