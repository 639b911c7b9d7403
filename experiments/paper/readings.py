"""Who takes part in the comparisons, and the other readings of the paper that were tried."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from experiments.paper.data import table
from experiments.paper.methods import (
    Elm,
    Gnn,
    GnnByFolds,
    KernelElm,
    LsSvm,
    Method,
    OurCV,
    Tunable,
)
from experiments.paper.published import GRID, SPECIFICATIONS
from experiments.paper.trials import MAIN, Reading

if TYPE_CHECKING:
    from experiments.paper.trials import Plan

TUNED = ", tuned"
GNN, GNN_BY_FOLDS = "GNN", "GNN, gamma by 4 folds"
WDD, OURS = "WDD", "CV estimator"
PRINTED_KERNEL = "kernel as printed, exp(-delta d^2)"

#: Whose published numbers stand beside a method.
COUNTERPART = {
    "LS-SVM": "LS-SVM",
    "LS-SVM, tuned": "LS-SVM",
    "ELM": "ELM",
    "ELM, tuned": "ELM",
    "kernel ELM": "ELM",
    "kernel ELM, tuned": "ELM",
    GNN: GNN,
    GNN_BY_FOLDS: GNN,
}


@dataclass(frozen=True)
class Tried:
    """Another reading of the paper, of one of its methods."""

    what: str
    method: Method
    reading: Reading = MAIN


def paper_gnn(name: str, plan: Plan) -> Gnn:
    """Return GNN as the paper has it."""
    printed = SPECIFICATIONS[name]
    return Gnn(gamma=printed.gamma, n_terms=plan.terms(printed.gnn_terms))


def fixed_methods(name: str, plan: Plan) -> dict[str, Method]:
    """Return the methods whose parameters the paper gives, or that choose them in training."""
    printed = SPECIFICATIONS[name]
    cost, delta = printed.elm
    gnn = paper_gnn(name, plan)
    return {
        "LS-SVM": LsSvm(cost=printed.lssvm[0], delta=printed.lssvm[1]),
        "ELM": Elm(cost=cost, delta=delta, n_nodes=plan.terms(printed.elm_terms)),
        "kernel ELM": KernelElm(cost=cost, delta=delta),
        GNN: gnn,
        GNN_BY_FOLDS: GnnByFolds(n_terms=gnn.n_terms, exponents=plan.grid(GRID)),
        WDD: replace(gnn, gamma=None),
        OURS: OurCV(),
    }


def tunable_methods(name: str, plan: Plan) -> dict[str, Tunable]:
    """Return the methods whose C and delta 4-fold cross-validation chooses."""
    if plan.tune == "never":
        return {}
    return {
        label + TUNED: method
        for label, method in fixed_methods(name, plan).items()
        if isinstance(method, Tunable)
    }


def tried(name: str, plan: Plan) -> dict[str, list[Tried]]:
    """Return other readings of each method of the paper; tuned ones are not among them."""
    fixed, gnn = fixed_methods(name, plan), paper_gnn(name, plan)
    lssvm, elm, kernel_elm = (fixed[label] for label in ("LS-SVM", "ELM", "kernel ELM"))
    assert isinstance(lssvm, LsSvm)
    assert isinstance(elm, Elm)
    assert isinstance(kernel_elm, KernelElm)
    other_terms = 1000 if SPECIFICATIONS[name].gnn_terms == 1500 else 1500
    found = {
        GNN: [
            Tried("inputs on [-1, 1]", replace(gnn, scaling="symmetric")),
            Tried(f"L = {other_terms}", replace(gnn, n_terms=plan.terms(other_terms))),
            Tried("terms of a degree in reverse order", replace(gnn, order="grlex_ascending")),
            Tried("inputs scaled by all rows", gnn, Reading(whole_range=True)),
            Tried("rows split by class", gnn, Reading(by_class=True)),
        ],
        "LS-SVM": [
            Tried("inputs on [0, 1]", replace(lssvm, scaling="unit")),
            Tried("inputs on [-1, 1]", replace(lssvm, scaling="symmetric")),
            Tried(PRINTED_KERNEL, replace(lssvm, delta=-lssvm.delta)),
        ],
        "ELM": [
            Tried(f"{label}, inputs {where}", replace(method, scaling=scaling))
            for label, method in (("random layer", elm), ("kernel", kernel_elm))
            for where, scaling in (("on [0, 1]", "unit"), ("standardised", "standard"))
        ]
        + [
            Tried("random layer, as printed, exp(-delta d^2)", replace(elm, delta=-elm.delta)),
            Tried(PRINTED_KERNEL, replace(kernel_elm, delta=-kernel_elm.delta)),
            Tried("random layer of sigmoids", replace(elm, nodes="sigmoid", delta=0)),
        ],
    }
    if SPECIFICATIONS[name].n_features == table(name).X.shape[1] - 1:
        found[GNN] += [
            Tried(f"without input {column + 1}", gnn, Reading(without=column))
            for column in range(table(name).X.shape[1])
        ]
    return found
