"""Accuracy over (gamma, L) for GNN and over (delta, L) for ELM, down to very few terms."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.paper import plots
from experiments.paper.baselines import first_nodes_outputs
from experiments.paper.document import Block, Heading, Plot, Table, Text
from experiments.paper.methods import Elm, codes_of
from experiments.paper.published import (
    FEW_TERMS,
    FEW_TERMS_EXPONENTS,
    GRID,
    LAM,
    SPECIFICATIONS,
    SURFACE_TRIALS,
)
from experiments.paper.store import Unit
from experiments.paper.trials import MAIN, count
from gegenbauer import TensorBasis
from gegenbauer.selection import prefix_surface

if TYPE_CHECKING:
    from experiments.paper.data import Doubles, Split
    from experiments.paper.run import Job, Run
    from experiments.paper.trials import Plan

DATA = ("liver", "vehicle")
GNN, ELM = "GNN", "ELM"
NEAR = 2.0  # points below the best that still count as good


def exponents_of(plan: Plan) -> tuple[int, ...]:
    """Return those of gamma and delta: the paper's grid and those of its curves of few terms."""
    return tuple(sorted({*plan.grid(GRID), *FEW_TERMS_EXPONENTS}))


def sizes_of(name: str, algorithm: str, plan: Plan) -> tuple[int, ...]:
    """Return numbers of terms: every one up to 50, then in steps of some 13 per cent."""
    printed = SPECIFICATIONS[name]
    most = plan.terms(printed.gnn_terms if algorithm == GNN else printed.elm_terms)
    many = np.geomspace(FEW_TERMS, most, 28).round().astype(int) if most > FEW_TERMS else []
    return tuple(int(n) for n in sorted({*range(1, min(FEW_TERMS, most) + 1), *many}))


def _right(test: Split, outputs: Doubles) -> Doubles:
    return (codes_of(outputs) == test.test.y).sum(axis=-1)


def _gnn(rows: Split, sizes: tuple[int, ...], exponents: tuple[int, ...], plan: Plan) -> Any:
    basis = TensorBasis(rows.train.X.shape[1], n_terms=sizes[-1], lam=LAM)
    surface = prefix_surface(
        basis, rows.train.X, rows.train.Y, [2.0**e for e in exponents], n_terms=list(sizes),
        loss=lambda outputs: -_right(rows, outputs).astype(float), X_test=rows.test.X,
        n_threads=plan.n_threads,
    )  # fmt: skip
    # infinite where gamma is too small for float64
    return [
        [int(-score) if np.isfinite(score) else None for score in scores]
        for scores in surface.losses
    ]


def _elm(
    rows: Split, sizes: tuple[int, ...], exponents: tuple[int, ...], cost: int, trial: int
) -> Any:
    found = []
    for delta in exponents:
        method = Elm(cost=cost, delta=delta, n_nodes=sizes[-1])
        layer = method.layer(rows.train.X.shape[1], delta, trial)
        outputs = first_nodes_outputs(
            layer(rows.train.X), rows.train.Y, 2.0**cost, layer(rows.test.X), sizes
        )
        found.append([int(n) for n in _right(rows, outputs)])
    return found


def _unit(name: str, algorithm: str, trial: int, plan: Plan) -> Unit:
    sizes, exponents = sizes_of(name, algorithm, plan), exponents_of(plan)
    key = {
        "surface": algorithm, "data": name, "trial": trial, "sizes": sizes, "exponents": exponents,
        "most_rows": plan.most_rows,
    }  # fmt: skip

    def make() -> dict[str, Any]:
        if algorithm == GNN:
            rows = MAIN.rows(name, "unit", trial, plan)
            right = _gnn(rows, sizes, exponents, plan)
        else:
            rows = MAIN.rows(name, Elm().scaling, trial, plan)
            right = _elm(rows, sizes, exponents, SPECIFICATIONS[name].elm[0], trial)
        return {"right": right, "of": len(rows.test.y)}

    return Unit(key, make)


def jobs(run: Run) -> list[Job]:
    """List the surfaces of all trials."""
    return [
        partial(run.store.do, _unit(name, algorithm, trial, run.plan))
        for name in DATA
        for algorithm in (GNN, ELM)
        for trial in range(run.plan.trials)
    ]


def surface(run: Run, name: str, algorithm: str) -> Doubles:
    """Return mean accuracies in per cent, (n_exponents, n_sizes); NaN where there are none."""
    units = [_unit(name, algorithm, trial, run.plan) for trial in range(run.plan.trials)]
    found = [run.store.do(unit) for unit in units]
    return np.mean([100 * np.array(f["right"], dtype=float) / f["of"] for f in found], axis=0)


def section(run: Run) -> list[Block]:
    """Draw surfaces and curves of few terms; report how much of each surface is good."""
    plan, exponents = run.plan, exponents_of(run.plan)
    surfaces = {(name, a): surface(run, name, a) for name in DATA for a in (ELM, GNN)}
    sizes = {key: sizes_of(*key, plan) for key in surfaces}
    even = np.isin(exponents, plan.grid(GRID))  # every factor of gamma and of L counts the same
    rows = []
    for (name, algorithm), values in surfaces.items():
        L = np.array(sizes[name, algorithm])
        best = np.nanmax(values)
        at = np.unravel_index(np.nanargmax(values), values.shape)
        good = values >= best - NEAR
        few = [f"{np.nanmax(values[:, n >= L]):.1f}" for n in (5, 10, 20, FEW_TERMS)]
        share = good[even][:, _evenly(L)].mean()
        rows.append(
            [name, algorithm, f"{best:.2f}", f"2^{exponents[at[0]]}, L = {L[at[1]]}",
             f"{share:.0%}", f"{L[good.any(axis=0)].min()}", *few]
        )  # fmt: skip
    return [
        Heading(2, "5. Sensitivity to gamma, delta and the number of terms"),
        Text(
            f"""Means of {count(plan.trials)} (the paper has {SURFACE_TRIALS}). Of GNN every
            number of terms comes from one factorisation a gamma (`prefix_surface`), of ELM from one
            a delta, with the first nodes of one random layer and the C of the paper's tables. In
            the figures gamma grows to the right; the paper draws 1 / gamma."""
        ),
        Plot(
            "surfaces",
            "Test accuracy over gamma or delta and the number of terms",
            plots.surfaces(surfaces, sizes, exponents),
        ),
        Plot(
            "few-terms",
            f"Test accuracy with up to {FEW_TERMS} terms, for the gammas and deltas of the paper's "
            "curves",
            plots.few_terms(surfaces, sizes, exponents),
        ),
        Text(
            f"""The share is that of the surface, in the logarithms of both axes, within {NEAR:g}
            points of its best mean accuracy; the last columns are the best accuracy of any gamma or
            delta with at most so many terms."""
        ),
        Table(
            ("data set", "method", "best", "at", f"share within {NEAR:g} points",
             f"fewest terms within {NEAR:g} points", "L <= 5", "L <= 10", "L <= 20",
             f"L <= {FEW_TERMS}"),
            rows,
        ),
    ]  # fmt: skip


def _evenly(sizes: np.ndarray) -> np.ndarray:
    """Return places of sizes whose logarithms are evenly spread; some may occur repeatedly."""
    wanted = np.geomspace(1, sizes[-1], 200)
    return np.abs(np.log(sizes) - np.log(wanted)[:, None]).argmin(axis=1)
