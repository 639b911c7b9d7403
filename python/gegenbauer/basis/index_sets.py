"""Sets of multi-indices: how many terms they have, and their names and orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._messages import Message, Setting, Ways
from gegenbauer._validation import check_choice, check_integer
from gegenbauer.basis.levels import core_levels
from gegenbauer.basis.spectrum import Spectrum
from gegenbauer.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gegenbauer.basis.levels import Levels

__all__ = [
    "MOST_DEGREE",
    "MOST_TERMS",
    "count_terms",
    "require_degree",
    "require_few_terms",
    "set_arguments",
]

# What the core takes at most
MOST_DEGREE = 100_000

# More terms than any fit has memory or time for; to list so many takes a second
MOST_TERMS = 10_000_000

INDEX_SETS = ("total_degree", "tensor", "hyperbolic_cross", "largest_weight")

TERM_ORDERS = ("grlex", "grlex_ascending", "grevlex")


def set_arguments(
    n_features: object,
    n_terms: object,
    degree: object,
    index_set: object,
    max_interaction: object,
    term_order: object,
) -> dict[str, Any]:
    """Check what describes an index set; the result is what the core takes, but the spectrum."""
    checked_set = check_choice(index_set, "index_set", INDEX_SETS)
    degrees: list[int] = []
    single: int | None = None
    if degree is not None:
        if isinstance(degree, (list, tuple)) or (isinstance(degree, np.ndarray) and degree.ndim):
            degrees = [check_integer(d, "degree", minimum=0) for d in degree]
            if not degrees:
                raise ValueError(
                    Message("`degree` must not be empty", ways="give one degree for each input")
                )
        else:
            single = check_integer(degree, "degree", minimum=0)
    return {
        "n_inputs": check_integer(n_features, "n_features", minimum=1),
        "index_set": checked_set,
        "degree": single,
        "degrees": degrees,
        "n_terms": None if n_terms is None else check_integer(n_terms, "n_terms", minimum=1),
        "max_inputs": None
        if max_interaction is None
        else check_integer(max_interaction, "max_interaction", minimum=1),
        "order": check_choice(term_order, "term_order", TERM_ORDERS),
    }


def require_degree(arguments: dict[str, Any]) -> None:
    """Refuse more terms than there are up to the largest degree, where more of them follow.

    Parameters
    ----------
    arguments : dict
        What the core counts terms by.
    """
    n_terms = arguments["n_terms"]
    given = arguments["degree"] is not None or arguments["degrees"]
    if given or n_terms is None or n_terms <= MOST_DEGREE:
        return
    if arguments["index_set"] == "largest_weight":  # whose terms have a bound of their own
        return
    whole = arguments | {"n_terms": None}
    most, before = (
        core.count_terms(**{**whole, "degree": degree})[0]
        for degree in (MOST_DEGREE, MOST_DEGREE - 1)
    )
    if most is None or most >= n_terms or before == most:
        return
    raise ValueError(
        Message(
            "`n_terms` must be at most {}, the terms of degrees up to {}{}; got {}",
            most,
            MOST_DEGREE,
            _with_few_inputs(arguments),
            n_terms,
            ways=Ways(
                "",
                "lower `n_terms`",
                *([] if arguments["max_inputs"] is None else ["raise `max_interaction`"]),
            ),
        )
    )


def _with_few_inputs(arguments: dict[str, Any]) -> Message | str:
    if arguments["max_inputs"] is None:
        return ""
    return Message(" with `max_interaction={}`", arguments["max_inputs"])


# Ways to fewer terms, by what brings them there
_FEWER_TERMS = {
    "n_terms": Ways("lower", "`n_terms`"),
    "degree": Ways.of(
        [
            Ways("lower", "`degree`", "`max_interaction`"),
            "keep the first of them by `n_terms`",
            Message("use {}", Setting("n_features", words="fewer inputs")),
        ]
    ),
}


def require_few_terms(n_terms: float, given: Setting) -> None:
    """Refuse a set of too many terms before it is made, with the parameter that requests it."""
    if n_terms > MOST_TERMS:
        shown = f"{n_terms:d}" if isinstance(n_terms, int) else f"{n_terms:.3g}"
        raise TooLargeError(
            Message(
                "{} makes {} terms ({:.6g} bytes for one row of features), but at most {} can be "
                "handled",
                given,
                shown,
                8.0 * n_terms,
                MOST_TERMS,
                ways=_FEWER_TERMS[given.name],
            )
        )


def count_terms(
    n_features: int,
    *,
    n_terms: int | None = None,
    degree: int | Sequence[int] | None = None,
    index_set: str = "total_degree",
    max_interaction: int | None = None,
    levels: Sequence[Levels | None] | None = None,
) -> int:
    """Count the terms of an index set without making it.

    Parameters
    ----------
    n_features, n_terms, degree, index_set, max_interaction
        As for `TensorBasis`; in ``index_set="largest_weight"`` every input counts as one that has
        a weight.

    levels : sequence of Levels or None, optional
        What inputs have beside or in place of polynomials, as for `Spectrum`: a category has as
        many functions as contrasts.

    Returns
    -------
    int
        Exact up to 2^63; beyond, the nearest float64 as an integer, at most 2^1024.

    Raises
    ------
    ValueError, TypeError
        For parameters that describe no set.

    See Also
    --------
    TensorBasis : A finite set of terms.
    fit_cost : The operations of each engine.

    Examples
    --------
    >>> from gegenbauer.basis import count_terms
    >>> count_terms(33, degree=3)
    7140
    >>> count_terms(4, degree=2, max_interaction=1)
    9
    """
    arguments = set_arguments(n_features, n_terms, degree, index_set, max_interaction, "grlex")
    flat = Spectrum(Spectrum.flat(), levels)  # any weights but zero make as many terms
    arguments["spectrum"] = flat._core(arguments["n_inputs"])
    arguments["levels"] = core_levels(flat.levels)
    require_degree(arguments)
    exact, approximate = core.count_terms(**arguments)
    if exact is not None:
        return exact
    return int(approximate) if np.isfinite(approximate) else 2**1024
