"""A fitted model in words, for the reports of ``fit``, ``tune`` and ``info``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import is_classifier, is_regressor

from gegenbauer.basis.spectrum import GeometricDecay, PowerDecay, Spectrum
from gegenbauer.cli.messages import count, number, quoted
from gegenbauer.estimators._search import SearchEstimator
from gegenbauer.ridge.expansions import TermExpansion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gegenbauer.basis.tensor_basis import TensorBasis

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


def task_of(model: Any) -> str:
    """Return "classification", "multilabel classification", "regression" or "features"."""
    if is_classifier(model):
        return "multilabel classification" if model.multilabel_ else "classification"
    return "regression" if is_regressor(model) else "features"


def _basis_of(model: Any) -> TensorBasis | None:
    """Return the terms; None for a model of all there are."""
    if isinstance(model, SearchEstimator) and not isinstance(model.expansion_, TermExpansion):
        return None
    basis: TensorBasis = model.basis_
    return basis


def describe_terms(model: Any) -> str:
    """Describe the set of terms.

    Examples
    --------
    >>> from gegenbauer import GegenbauerFeatures
    >>> describe_terms(GegenbauerFeatures(n_terms=5).fit([[0.0, 0.0], [1.0, 1.0]]))
    '5: all of total degree up to 1, and 2 of degree 2'
    """
    basis = _basis_of(model)
    if basis is None:
        return "all there are"
    if basis.index_set != "total_degree" or basis.n_terms == 1:
        kind = basis.index_set.replace("_", " ")
        text = f"{basis.n_terms} ({kind}, up to degree {basis.max_polynomial_degree} in one input)"
    else:
        degree, beyond = basis.complete_degree()
        text = f"{basis.n_terms}: all of total degree up to {degree}"
        if beyond:
            text += f", and {beyond} of degree {degree + 1}"
    if basis.max_interaction is not None:
        text += f", with at most {count(basis.max_interaction, 'input')} in a term"
    return text


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
    basis = _basis_of(model)
    if basis is not None and basis.term_order != "grlex":
        yield f"order {basis.term_order}"
    if not given.get("penalize_constant", True):
        yield "constant term without penalty"
    if given.get("class_weight") is not None:
        yield f"class weights {given['class_weight']}"


def describe_spectrum(model: Any) -> str:
    """Describe the weights of the terms of a model, chosen or given."""
    chosen = isinstance(model, SearchEstimator)
    if chosen and len(model.spectra_) > 1:
        first = _describe_spectrum(model.spectra_[0])
        n = len(model.spectra_)
        return f"{first}; {n} of them, each learned without 1/{n} of the samples"
    return _describe_spectrum(model.spectrum_ if chosen else model.basis_.spectrum)


def _describe_spectrum(spectrum: Spectrum) -> str:
    spectrum = Spectrum(spectrum.components)
    pair = spectrum._pair()
    if pair is not None:
        return f"q {number(pair[0])}, s {number(pair[1])}"
    if len(spectrum.components) == 1 and isinstance(spectrum.components[0], PowerDecay):
        return f"of each input its own q, s {number(spectrum.components[0].smoothness)}"
    kinds = [
        f"n^-{2 * part.smoothness:g}" if isinstance(part, PowerDecay)
        else f"{part.ratio:g}^(n-1)" if isinstance(part, GeometricDecay)
        else f"|C_n|^2 of lam {part.lam:g}"
        for part in spectrum.components
    ]  # fmt: skip
    owner = "of each input its own, " if spectrum.n_features is not None else ""
    return f"{owner}a sum of {', '.join(kinds)} for degree n"


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
