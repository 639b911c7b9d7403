"""Decision boundaries on the double moon, all rows being used to train, as in the paper."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.paper import plots
from experiments.paper.baselines import fit_kernel_machine, fit_output_weights, gaussian_layer
from experiments.paper.data import Split, double_moon, scaled
from experiments.paper.document import Block, Heading, Plot, Table, Text
from experiments.paper.published import DOUBLE_MOON, DOUBLE_MOON_ROWS, DOUBLE_MOON_TERMS, LAM
from experiments.paper.store import Unit
from gegenbauer import GegenbauerClassifierCV, TensorBasis, solve_ridge
from gegenbauer.ridge import predict

if TYPE_CHECKING:
    from collections.abc import Callable

    from experiments.paper.data import Doubles, Rows
    from experiments.paper.run import Job, Run
    from experiments.paper.trials import Plan

N_PIXELS = 100  # a side
MARGIN = 1.0  # around the points


@dataclass(frozen=True)
class Drawn:
    """A contestant whose output is drawn."""

    method: str
    parameters: str
    scaling: str | None  #: None leaves the coordinates as they are
    train: Callable[[Rows, int], Callable[[Doubles], Doubles]]


def _powers(method: str) -> list[float]:
    return [2.0**e for e in DOUBLE_MOON[method]]


def _lssvm(rows: Rows, _: int) -> Callable[[Doubles], Doubles]:
    return fit_kernel_machine(rows.X, rows.Y, *_powers("LS-SVM"), bias=True)


def _elm(rows: Rows, _: int) -> Callable[[Doubles], Doubles]:
    cost, delta = _powers("ELM")
    box = {"low": rows.X.min(axis=0), "high": rows.X.max(axis=0)}
    layer = gaussian_layer(DOUBLE_MOON_TERMS, rows.X.shape[1], delta, seed=0, **box)
    W = fit_output_weights(layer(rows.X), rows.Y, cost)
    return lambda Z: layer(Z) @ W


def _gnn(rows: Rows, n_threads: int) -> Callable[[Doubles], Doubles]:
    (gamma,) = _powers("GNN")
    basis = TensorBasis(rows.X.shape[1], n_terms=DOUBLE_MOON_TERMS, lam=LAM)
    W = solve_ridge(basis, rows.X, rows.Y, gamma, n_threads=n_threads).weights
    return lambda Z: predict(basis, Z, W, n_threads=n_threads)


def _ours(rows: Rows, n_threads: int) -> Callable[[Doubles], Doubles]:
    model = GegenbauerClassifierCV(n_jobs=n_threads).fit(rows.X, rows.y)
    return lambda Z: np.asarray(model.decision_function(Z))


_LSSVM, _ELM = "C = 2^-5, delta = 2^0", "C = 2^-2, delta = 2^4, L = 100"
CONTESTANTS = (
    Drawn("LS-SVM, standardised", _LSSVM, "standard", _lssvm),
    Drawn("ELM, on [-1, 1]", _ELM, "symmetric", _elm),
    Drawn("GNN, on [0, 1]", "gamma = 2^-6, L = 100", "unit", _gnn),
    Drawn("LS-SVM, not scaled", _LSSVM, None, _lssvm),
    Drawn("ELM, not scaled", _ELM, None, _elm),
    Drawn("CV estimator", "no setting", None, _ours),
)


def _rows(plan: Plan) -> Rows:
    return double_moon(DOUBLE_MOON_ROWS // (20 if plan.quick else 1))


def axes_of(rows: Rows) -> tuple[Doubles, Doubles]:
    """Return the coordinates of the pixels."""
    low, high = rows.X.min(axis=0) - MARGIN, rows.X.max(axis=0) + MARGIN
    x, y = (np.linspace(a, b, N_PIXELS) for a, b in zip(low, high, strict=True))
    return x, y


def _unit(drawn: Drawn, plan: Plan) -> Unit:
    rows = _rows(plan)

    def make() -> dict[str, Any]:
        x, y = axes_of(rows)
        pixels = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        split = Split(rows, replace(rows, X=pixels))
        if drawn.scaling is not None:  # where there is a box, pixels beyond it go to its edge
            split = scaled(split, drawn.scaling)
        output = drawn.train(split.train, plan.n_threads)
        right = (output(split.train.X).ravel() > 0) == (rows.y == 1)
        values = output(split.test.X).reshape(N_PIXELS, N_PIXELS)
        return {"right": int(right.sum()), "of": right.size, "grid": values.round(4).tolist()}

    return Unit({"double moon": drawn.method, "rows": len(rows.y)}, make)


def jobs(run: Run) -> list[Job]:
    """List the contestants."""
    return [partial(run.store.do, _unit(drawn, run.plan)) for drawn in CONTESTANTS]


def section(run: Run) -> list[Block]:
    """Draw the boundaries and count what is right in training."""
    rows = _rows(run.plan)
    found = [(drawn, run.store.do(_unit(drawn, run.plan))) for drawn in CONTESTANTS]
    grids = {
        f"{drawn.method}\n{drawn.parameters}": np.array(one["grid"]) for drawn, one in found
    }  # fmt: skip
    return [
        Heading(2, "3. Decision boundaries"),
        Text(
            f"""Double moon with {len(rows.y)} points, all of them training rows: half rings of
            radius 10 and width 6, of which the second is turned over and moved so that each reaches
            into the other (the paper gives neither formula nor distances, nor a scaling). Beyond
            the points, GNN and the CV estimator go on with the values at the edge of their
            range."""
        ),
        Plot(
            "boundaries",
            "Decision boundaries on the double moon with the parameters of the paper",
            plots.boundaries(rows, axes_of(rows), grids),
        ),
        Table(
            ("method", "parameters", "training rows that are right"),
            [
                (drawn.method, drawn.parameters, f"{one['right']} of {one['of']}")
                for drawn, one in found
            ],
        ),
    ]
