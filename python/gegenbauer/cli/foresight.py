"""Long fits, announced before they begin."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from gegenbauer.basis.index_sets import count_terms
from gegenbauer.basis.tensor_basis import MAX_TERMS, require_room
from gegenbauer.cli.messages import count, refusals
from gegenbauer.ridge.cost import fit_cost
from gegenbauer.ridge.statistics.choice import choose_statistics

if TYPE_CHECKING:
    import pandas as pd

    from gegenbauer.cli.output import Steps

__all__ = ["announce", "knowing_levels"]

# Multiply-adds a second, as measured of fits on one processor
_RATE = 1e10

# Seconds of a fit that is not announced
_SOON = 30.0

# Terms whose basis is made at once; what more of them cost grows with their number
_FEW = 1_000_000


def knowing_levels(model: Any, inputs: pd.DataFrame) -> Any:
    """Return an unfitted copy of a model that knows the levels of a table.

    Raises
    ------
    UserError
        The parameters are none, or the model does not take the inputs.
    """
    with refusals(lambda _: None):
        known = clone(model)
        known._validate_params()
        known._find_levels(known._validate_inputs(inputs, reset=True), None)
    return known


def announce(
    model: Any, n_inputs: int, n_rows: int, n_fits: int, steps: Steps, *, stream: bool = False
) -> None:
    """Warn of a fit that takes long, with what makes it shorter.

    Parameters
    ----------
    model : GegenbauerClassifier or GegenbauerRegressor
        What is to be fitted.
    n_inputs, n_rows : int
        Size of the table.
    n_fits : int
        How often the model is fitted.
    steps : Steps
        Where the warning goes.
    stream : bool
        Whether sums over the rows are solved. The time that goes by reading is not counted: it is
        shown as it passes.

    Raises
    ------
    UserError
        The parameters describe no model, or one beyond memory.
    """
    with refusals(lambda _: None):  # the fit warns of the same things
        model._validate_params()
        n_terms = count_terms(
            n_inputs, n_terms=model.n_terms, degree=model.degree,
            index_set=model.index_set, max_interaction=model.max_interaction,
            levels=model._levels,
        )  # fmt: skip
        require_room(n_terms)
        few = model
        if _FEW < n_terms <= MAX_TERMS:
            few = copy.copy(model).set_params(n_terms=_FEW)
        basis = few._make_basis(n_inputs)
        if stream:
            choose_statistics(basis)  # refuses sums beyond memory
            work = fit_cost(basis, 1)["primal"]
        else:
            work = min(fit_cost(basis, n_rows).values()) * n_terms / basis.n_terms
    seconds = n_fits * work / _RATE
    if seconds < _SOON:
        return
    lower = "--n-terms" if model.degree is None else "--degree"
    sums = (
        f", or leave out --stream: {count(n_rows, 'row')} need no sums" if n_rows < n_terms else ""
    )
    steps.warn(
        f"{count(n_terms, 'term')} take about {_in_words(seconds)}; lower {lower} for less"
        f"{sums if stream else ''}"
    )


def _in_words(seconds: float) -> str:
    for unit, name in ((86_400.0, "day"), (3_600.0, "hour"), (60.0, "minute")):
        if seconds >= 1.5 * unit:
            return count(round(seconds / unit), name)
    return "a minute"
