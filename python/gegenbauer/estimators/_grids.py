"""What a search has to choose from, as its parameters give it."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message, Setting
from gegenbauer._validation import check_integer, check_number
from gegenbauer.basis.index_sets import require_few_terms
from gegenbauer.basis.spectrum import Spectrum
from gegenbauer.estimators._ridge import PAPER_LAM, PAPER_N_TERMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.levels import Levels

__all__ = ["alpha_grid", "basis_grid", "given_spectrum"]


def _listed(values: Any, name: str) -> list[Any]:
    """Return one value, or some to choose from, as a list."""
    try:
        found = list(values)
    except TypeError:  # a number
        found = [values]
    if not found:
        raise ValueError(Message("`{}` must not be empty: give values to choose from", name))
    return found


def alpha_grid(alphas: Any) -> Doubles | None:
    """Return the requested alphas, absolute; None if the search is free."""
    if isinstance(alphas, str):
        return None
    found = [
        check_number(alpha, "alphas", minimum=0, open_below=True)
        for alpha in _listed(alphas, "alphas")
    ]
    return np.unique(found)


def basis_grid(spectrum: Any, lam: Any, n_terms: Any) -> tuple[list[float], list[int]] | None:
    """Return lams and numbers of terms to choose from with the paper's basis; None without."""
    several = n_terms is not None and not isinstance(n_terms, Integral)
    if spectrum is not None:
        if lam is not None:
            raise ValueError(
                Message(
                    "`lam` is of the raw polynomials of the paper, which spectrum=None takes; got "
                    "`lam={!r}` with `spectrum={!r}`, whose polynomials are Chebyshev's",
                    lam,
                    spectrum,
                    ways=["leave `lam` out", "set `spectrum=None`"],
                )
            )
        if several:
            raise ValueError(
                Message(
                    "several `n_terms` to choose from need the basis of the paper, spectrum=None; "
                    "got `n_terms={!r}` with `spectrum={!r}`",
                    n_terms,
                    spectrum,
                    ways=["give one number", "set `spectrum=None`"],
                )
            )
        if n_terms is not None:
            require_few_terms(int(n_terms), Setting("n_terms", str(n_terms)))
        return None
    lams = _listed(PAPER_LAM if lam is None else lam, "lam")
    sizes = _listed(PAPER_N_TERMS if n_terms is None else n_terms, "n_terms")
    sizes = [check_integer(size, "n_terms", minimum=1) for size in sizes]
    require_few_terms(max(sizes), Setting("n_terms", str(max(sizes))))
    return [check_number(lam, "lam", minimum=-0.5, open_below=True) for lam in lams], sizes


def given_spectrum(
    components: Any, n_features: int, levels: Sequence[Levels | None] | None
) -> Spectrum:
    """Return the spectrum that is requested; levels are those of the samples, whatever it has."""
    spectrum = Spectrum(Spectrum(components).components, levels)
    if not spectrum.interactions(n_features).any():
        raise ValueError(
            Message(
                "the spectrum gives no input a weight",
                ways=Message("set an interaction (q) above zero, got `spectrum={!r}`", components),
            )
        )
    return spectrum
