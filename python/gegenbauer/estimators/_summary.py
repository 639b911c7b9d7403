"""A fitted model in words, for notebooks and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import is_classifier, is_regressor

from gegenbauer._html import html_table
from gegenbauer._messages import count, number
from gegenbauer.basis.spectrum import GeometricDecay, PowerDecay, Spectrum
from gegenbauer.ridge.expansions import TermExpansion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gegenbauer.basis.tensor_basis import TensorBasis

__all__ = [
    "basis_of",
    "describe_spectrum",
    "describe_terms",
    "fitted_summary",
    "summary_html",
    "task_of",
]

# Classes that are named, and letters of a name
_MOST_NAMED, _LETTERS = 8, 40


def task_of(model: Any) -> str:
    """Return "classification", "multilabel classification", "regression" or "features"."""
    if is_classifier(model):
        return "multilabel classification" if model.multilabel_ else "classification"
    return "regression" if is_regressor(model) else "features"


def _chosen(model: Any) -> Sequence[Spectrum] | None:
    """Return the spectra that a model chose; None for one that chooses nothing."""
    found: Sequence[Spectrum] | None = getattr(model, "spectra_", None)
    return found


def basis_of(model: Any) -> TensorBasis | None:
    """Return the terms; None for a model of all there are."""
    if _chosen(model) is not None and not isinstance(model.expansion_, TermExpansion):
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
    basis = basis_of(model)
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


def describe_spectrum(model: Any) -> str:
    """Describe the weights of the terms of a model, chosen or given."""
    chosen = _chosen(model)
    if chosen is not None and len(chosen) > 1:
        first, n = _describe_spectrum(chosen[0]), len(chosen)
        return f"{first}; {n} of them, each learned without 1/{n} of the samples"
    return _describe_spectrum(model.basis_.spectrum if chosen is None else model.spectrum_)


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


def fitted_summary(model: Any) -> list[tuple[str, str]]:
    """Return what a fitted estimator has learned and chosen, in words.

    Nothing is computed for it: sums of batches are not solved.

    Examples
    --------
    >>> from gegenbauer import GegenbauerFeatures
    >>> model = GegenbauerFeatures(n_terms=5).fit([[0.0, 0.0], [1.0, 1.0]])
    >>> fitted_summary(model)[:2]
    [('inputs', '2'), ('terms', '5: all of total degree up to 1, and 2 of degree 2')]
    """
    pairs = [("inputs", str(model.n_features_in_))]
    if is_classifier(model):
        labels = [str(label) for label in model._answers.tolist()]
        shown = [label if len(label) <= _LETTERS else f"{label[:_LETTERS]}..." for label in labels]
        more = f" and {len(labels) - _MOST_NAMED} more" if len(labels) > _MOST_NAMED else ""
        kind = "labels" if model.multilabel_ else "classes"
        pairs.append((kind, f"{len(labels)}: {', '.join(shown[:_MOST_NAMED])}{more}"))
    pairs.append(("terms", describe_terms(model)))
    chosen = _chosen(model)
    alpha = getattr(model, "alpha", None) if chosen is None else model.alpha_
    if alpha is not None:
        pairs.append(("alpha", number(alpha)))
    if chosen or (chosen is None and model.spectrum is not None):
        pairs.append(("spectrum", describe_spectrum(model)))
    else:  # raw polynomials
        pairs.append(("lam", number(model.basis_.lam)))
    return pairs if chosen is None else [*pairs, _score(model)]


def _score(model: Any) -> tuple[str, str]:
    """Return the score of samples left out; a loss that is one of the variance as R2."""
    best, scoring = float(model.best_score_), model.scoring
    if scoring is not None:
        name = scoring if isinstance(scoring, str) else "score"
        return f"{name} of samples left out", f"{best:.4g}"
    if is_classifier(model):
        return "log-loss of samples left out, before calibration", f"{-best + 0.0:.4g}"
    return "R2 of samples left out", f"{1.0 + best:.4f}"


def summary_html(model: Any) -> str:
    """Return the same as a table of HTML."""
    return html_table(f"Fitted {type(model).__name__}", ["of the fit", ""], fitted_summary(model))
