"""Tables of specifications, from the data themselves, and the paper's errors of arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.paper import data
from experiments.paper.document import Block, Heading, Table, Text
from experiments.paper.published import SPECIFICATIONS, errata

if TYPE_CHECKING:
    from experiments.paper.published import Specification
    from experiments.paper.run import Job, Run


def jobs(_: Run) -> list[Job]:
    """Nothing has to be trained."""
    return []


def _against(found: int, printed: int) -> str:
    return f"{found}" if found == printed else f"**{found}** (printed {printed})"


def _power(exponent: int) -> str:
    return f"2^{exponent}"


def natural_cuts(name: str) -> tuple[int, int]:
    """Count training rows for a cut of all rows, rounded down, and of every class, rounded up.

    At 70 per cent; at 30 for Banana, which the paper cuts so.
    """
    parts = 3 if name == "banana" else 7
    counts = np.bincount(data.table(name).y)
    return int(parts * counts.sum() // 10), int((-(-parts * counts // 10)).sum())


def _counts(name: str, printed: Specification) -> list[str]:
    whole, used = data.complete(name), data.table(name)
    n = len(used.y)
    whole_cut, by_class = natural_cuts(name)
    inputs = _against(whole.X.shape[1], printed.n_features)
    if whole.X.shape[1] != used.X.shape[1]:
        inputs += f", {used.X.shape[1]} used"
    return [
        name, _against(n, printed.n_train + printed.n_test), inputs,
        _against(used.n_classes, printed.n_classes),
        f"{printed.n_train} + {printed.n_test}", f"{printed.n_train / n:.1%}",
        f"{whole_cut}", f"{by_class}", ", ".join(map(str, np.bincount(used.y))),
    ]  # fmt: skip


def _parameters(name: str, printed: Specification) -> list[str]:
    return [
        name, *map(_power, printed.lssvm), *map(_power, printed.elm), f"{printed.elm_terms}",
        _power(printed.gamma), f"{printed.gnn_terms}",
    ]  # fmt: skip


def section(_: Run) -> list[Block]:
    """Describe data sets, splits and parameters."""
    return [
        Heading(2, "1. Data sets, splits and parameters"),
        Text(
            """Rows, inputs and classes are counted in the data; what differs from the paper is
            bold. Of Australian's 14 inputs the six continuous ones are used (x2, x3, x7, x10, x13,
            x14), since the paper has six and does not name them; in this source the decimal points
            of x2, x3 and x7 are lost. Of Iris' four inputs all are used; the paper has three and
            does not name them. All splits of the paper add up to all rows, but not all are cuts at
            70 per cent: Banana trains on 30, Glass and Ecoli on more than 70. The training rows of
            Australian, Banana, Wine and Vehicle are 70 (30) per cent of every class, rounded up,
            which hints at a split by class there; those of Diabetes, Liver and Ionosphere are 70
            per cent of all rows, rounded down; Iris is both. Neither gives the counts of Glass and
            Ecoli."""
        ),
        Table(
            ("data set", "rows", "inputs", "classes", "split of the paper", "its share",
             "70% of all, down", "70% of each class, up", "rows of the classes"),
            [_counts(*item) for item in SPECIFICATIONS.items()],
        ),
        Text("Parameters as the paper gives them, taken as they are for the main tables below."),
        Table(
            ("data set", "LS-SVM C", "delta", "ELM C", "delta", "L", "GNN gamma", "L"),
            [_parameters(*item) for item in SPECIFICATIONS.items()],
        ),
        Heading(3, "Printed differences that are not those of the printed numbers"),
        Table(
            ("where", "printed", "computed from the tables"),
            [(one.where, f"{one.printed:+.2f}", f"{one.computed:+.2f}") for one in errata()],
        ),
        Text(
            """All other differences that the tables and the text name agree with the numbers
            they are of. One claim of the text does not: that GNN has the smaller deviations on
            all data sets of several classes (on Glass 4.94 against 4.27 for ELM). All accuracies
            fall with noise, as the text states, though that of GNN on Wine less by 10 per cent than
            by 5. Of the five, the differences of Glass (GNN) and Wine (LS-SVM) with noise and the
            gains on Glass were expected, as three; LS-SVM on Glass is one more, and the gains are
            two. Every method has the paper's lambda of 0.05 where it has one."""
        ),
    ]  # fmt: skip
