"""What notebooks show of spectra and bases, whose modules use this one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._html import MAX_SHOWN_INPUTS, html_table
from gegenbauer._validation import and_more

if TYPE_CHECKING:
    from gegenbauer.basis.levels import Levels

__all__ = ["basis_html", "spectrum_html"]

# Degrees of which weights are shown, terms that are named, and degrees whose terms are counted
_DEGREES, _NAMED, _COUNTED = 3, 8, 12

# Terms that are counted by degree within a hundredth of a second
_MOST_COUNTED = 10**6

_PARAMETERS = ("smoothness", "ratio", "lam")


def spectrum_html(spectrum: Any) -> str:
    """Return a table of HTML of a `Spectrum`: the weights of each input and its first degrees."""
    n = spectrum.n_features
    kinds = [
        f"{type(part).__name__}, "
        + ", ".join(
            f"{name}={getattr(part, name):.4g}" for name in _PARAMETERS if hasattr(part, name)
        )
        for part in spectrum.components
    ]
    header = ["input", *(f"q of {kind}" for kind in kinds)]
    header += [f"squared weight of degree {k}" for k in range(1, _DEGREES + 1)]
    if spectrum.levels is not None:
        header.append("levels")
    interactions = spectrum.interactions(n or 1)
    weights = spectrum.squared_weights(n or 1, _DEGREES)[:, 1:]
    rows = []
    for t in range(min(n or 1, MAX_SHOWN_INPUTS)):
        row: list[object] = ["each" if n is None else f"x{t}", *map(float, interactions[t])]
        row += map(float, weights[t])
        if spectrum.levels is not None:
            one = spectrum.levels[t]
            if one is not None and one.category:  # which has no polynomials
                row[1 + len(kinds) :] = [""] * _DEGREES
            row.append(_describe(one))
        rows.append(row)
    more = (n or 1) - len(rows)
    title = f"Spectrum of {'any number of inputs' if n is None else f'{n} inputs'}"
    return html_table(title, header, rows, and_more(more, "input").strip())


def _describe(one: Levels | None) -> str:
    if one is None:
        return ""
    if one.category:
        return f"{len(one.shares)} of a category"
    return f"missing in {100 * one.shares[1]:.3g} per cent"


def basis_html(basis: Any) -> str:
    """Return a table of HTML of a `TensorBasis`: terms by total degree and number of inputs."""
    names = basis.term_names(terms=range(min(basis.n_terms, _NAMED)))
    more = basis.n_terms - len(names)
    note = f"Terms: {', '.join(names)}{f' and {more} more' if more else ''}"
    if basis.n_terms > _MOST_COUNTED:
        return html_table(repr(basis), ["", "terms"], [["all", basis.n_terms]], note)
    counts = basis.count_by_degree()
    degrees = [str(degree) for degree in range(len(counts))]
    table = counts
    if len(counts) > _COUNTED:
        table = np.vstack([counts[: _COUNTED - 1], counts[_COUNTED - 1 :].sum(axis=0)])
        degrees[_COUNTED - 1 :] = [f"{_COUNTED - 1} to {len(counts) - 1}"]
    header = ["total degree", *(f"terms of {k} inputs" for k in range(table.shape[1])), "all terms"]
    rows = [
        [degree, *row.tolist(), int(row.sum())] for degree, row in zip(degrees, table, strict=True)
    ]
    return html_table(repr(basis), header, rows, note)
