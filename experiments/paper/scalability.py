"""Training times as Liver grows by copies of its rows, and as the number of terms grows.

Every point is a case of the benchmarks: contestants in turns in one process, after a check of what
they computed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.runner import Agreement, Case, Contest, Contestant
from bench.scaling import series
from bench.sweeps import OURS, Budget, predicted_seconds
from bench.table import MUCH, disturbed, seconds_text, three_digits
from experiments.paper import plots
from experiments.paper.baselines import (
    fit_kernel_machine,
    fit_output_weights,
    gaussian,
    gaussian_layer,
)
from experiments.paper.data import Split, amplified, scaled, table
from experiments.paper.document import Block, Heading, Items, Plot, Table, Text
from experiments.paper.published import LAM, SPECIFICATIONS
from gegenbauer import TensorBasis, reference, solve_ridge
from gegenbauer.ridge import predict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.runner import CaseResult
    from experiments.paper.baselines import KernelMachine
    from experiments.paper.data import Doubles, Rows
    from experiments.paper.run import Job, Run
    from experiments.paper.trials import Plan

NUMPY, ELM, LSSVM = "GNN in NumPy", "ELM", "LS-SVM"
ROUNDS = 3

#: By what grows: sizes, and what the other one is.
SIZES: dict[str, tuple[tuple[int, ...], int]] = {
    "S": ((500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000),
          100),
    "L": ((50, 100, 200, 500, 1000, 1500, 2000, 3000), 1000),
}  # fmt: skip
QUICK: dict[str, tuple[tuple[int, ...], int]] = {"S": ((40, 80, 160), 10), "L": ((5, 10, 20), 50)}
PRINTED = SPECIFICATIONS["liver"]
N_CHECKED = 200  # rows


def points(variable: str, plan: Plan) -> list[dict[str, int]]:
    """Return the sizes of a figure, upwards."""
    sizes, other = (QUICK if plan.quick else SIZES)[variable]
    return [{"S": n, "L": other} if variable == "S" else {"S": other, "L": n} for n in sizes]


def name_of(variable: str, sizes: Mapping[str, int]) -> str:
    """Name the case of a point."""
    return f"{variable}={sizes[variable]}"


def _scaled(rows: Rows, scaling: str) -> Doubles:
    return scaled(Split(rows, rows), scaling).train.X


def _ours(X: Doubles, Y: Doubles, L: int, n_threads: int) -> Doubles:
    basis = TensorBasis(X.shape[1], n_terms=L, lam=LAM)
    return solve_ridge(basis, X, Y, 2.0**PRINTED.gamma, n_threads=n_threads).weights


def _numpy(X: Doubles, Y: Doubles, L: int) -> Doubles:
    indices = reference.graded_lexicographic(X.shape[1], L)
    G = reference.activation_matrix(X, indices, LAM)
    return reference.rwdd(G, Y, 2.0**PRINTED.gamma)


def _elm(X: Doubles, Y: Doubles, L: int) -> Doubles:
    layer = gaussian_layer(L, X.shape[1], 2.0 ** PRINTED.elm[1], seed=0)
    return fit_output_weights(layer(X), Y, 2.0 ** PRINTED.elm[0])


def _lssvm(X: Doubles, Y: Doubles) -> KernelMachine:
    cost, delta = PRINTED.lssvm
    return fit_kernel_machine(X, Y, 2.0**cost, 2.0**delta, bias=True)


def case(variable: str, sizes: Mapping[str, int], why_not: Mapping[str, str]) -> Case:
    """Make a point a case; `why_not` names those that take no part."""

    def build(*, n_threads: int, S: int, L: int) -> Contest:
        rows = amplified(table("liver"), S)
        unit, symmetric, standard = (_scaled(rows, s) for s in ("unit", "symmetric", "standard"))
        Y = rows.Y
        everybody = [
            Contestant(OURS, "solve_ridge", partial(_ours, unit, Y, L, n_threads)),
            Contestant(NUMPY, "gegenbauer.reference", partial(_numpy, unit, Y, L)),
            Contestant(ELM, "a layer at random and its weights", partial(_elm, symmetric, Y, L)),
        ]
        if variable == "S":  # it has no L
            does = "kernel matrix, factorisation, bias"
            everybody.append(Contestant(LSSVM, does, partial(_lssvm, standard, Y)))
        taking_part = [one for one in everybody if one.name not in why_not]
        check = partial(_agreements, unit, symmetric, standard, Y)
        return Contest({"S": S, "L": L}, taking_part, check, absent=dict(why_not))

    shows = f"training on Liver, amplified; {variable} grows"
    return Case(name_of(variable, sizes), shows, build, sizes, sizes)


def _agreements(
    unit: Doubles, symmetric: Doubles, standard: Doubles, Y: Doubles, results: Mapping[str, Any]
) -> list[Agreement]:
    """Compare ours with NumPy by what they predict; check that the others solved their problem."""
    some = slice(0, N_CHECKED)
    found = []
    if NUMPY in results:
        L = len(results[OURS])
        basis = TensorBasis(unit.shape[1], n_terms=L, lam=LAM)
        mine, theirs = (predict(basis, unit[some], results[who]) for who in (OURS, NUMPY))
        off = float(np.abs(mine - theirs).max() / np.abs(mine).max())
        found.append(Agreement(f"{NUMPY}: predictions of ours", off, 1e-6))
    if ELM in results:
        W = results[ELM]
        H = gaussian_layer(len(W), symmetric.shape[1], 2.0 ** PRINTED.elm[1], seed=0)(symmetric)
        penalty = 2.0 ** -PRINTED.elm[0]
        left = H.T @ (Y - H @ W) - penalty * W
        found.append(
            Agreement(f"{ELM}: normal equations", float(np.abs(left).max() / len(Y)), 1e-6)
        )
    if LSSVM in results:
        machine, penalty = results[LSSVM], 2.0 ** -PRINTED.lssvm[0]
        K = gaussian(standard[some], standard, machine.delta)
        left = K @ machine.coefficients + machine.bias - Y[some]
        left += penalty * machine.coefficients[some]
        found.append(Agreement(f"{LSSVM}: its equations", float(np.abs(left).max()), 1e-6))
    return found


def _why_not(
    earlier: list[CaseResult], variable: str, sizes: Mapping[str, int], budget: Budget
) -> dict[str, str]:
    """Name those that would take too long or too much memory, and why; ours never does."""
    n_bytes = {
        NUMPY: 16.0 * sizes["S"] * sizes["L"],
        ELM: 16.0 * sizes["S"] * sizes["L"],
        LSSVM: 8.0 * sizes["S"] ** 2,
    }
    found = {}
    for name, need in n_bytes.items():
        seconds = predicted_seconds(earlier, name, variable, sizes[variable])
        if seconds > budget.seconds:
            found[name] = f"would take some {seconds:.3g} s, over {budget.seconds:g} s"
        elif need > budget.n_bytes:
            found[name] = f"needs {need / 1e9:.3g} GB, over {budget.n_bytes / 1e9:.3g} GB"
    return found


def points_of(run: Run, variable: str) -> list[CaseResult]:
    """Return the points of a figure that are there."""
    names = [name_of(variable, sizes) for sizes in points(variable, run.plan)]
    return [result for result in run.recorder.done if result.name in names]


def _point(run: Run, variable: str, sizes: Mapping[str, int]) -> object:
    earlier = [p for p in points_of(run, variable) if p.sizes[variable] < sizes[variable]]
    absent = _why_not(earlier, variable, sizes, Budget(run.plan.seconds))
    return run.recorder.run(case(variable, sizes, absent))


def jobs(run: Run) -> list[Job]:
    """List the points; a later one needs those before it."""
    return [
        partial(_point, run, variable, sizes)
        for variable in SIZES
        for sizes in points(variable, run.plan)
    ]


def section(run: Run) -> list[Block]:
    """Draw times and write exponents."""
    found = {variable: points_of(run, variable) for variable in SIZES}
    return [
        Heading(2, "4. Scalability and efficiency of training"),
        Text(
            f"""Liver amplified by copies of rows drawn at random, its scaled inputs given, with the
            parameters of the paper's tables; times from inputs to weights, medians of
            {run.recorder.settings.rounds} rounds in which all take turns, with
            {run.recorder.settings.n_threads} thread(s) each. Before anything is timed, predictions
            of ours and of the NumPy reference are compared, and ELM and LS-SVM must solve their
            equations. The exponent p of time = c size^p is fitted to the upper half of a
            contestant's sizes. A contestant leaves where one fit would take more than
            {run.plan.seconds:g} s, as predicted from its last two points, or half of the
            memory. The paper calls the growth of LS-SVM exponential; it is a power of S."""
        ),
        Plot(
            "training-times",
            "Training time against the number of rows (L fixed) and against the number of terms "
            "(S fixed)",
            plots.training_times(found),
        ),
        *(block for variable in SIZES for block in _table(variable, found[variable])),
        *_notes([p for ps in found.values() for p in ps], run),
    ]


def _table(variable: str, results: list[CaseResult]) -> list[Block]:
    if not results:
        return []
    other = "L" if variable == "S" else "S"
    lines = series(results, variable)
    times = dict(zip(lines[0].sizes, lines[0].medians, strict=True))
    rows = []
    for line in lines:
        largest, seconds = line.sizes[-1], line.medians[-1]
        ratio = "" if line.name == OURS else three_digits(seconds / times[largest])
        rows.append(
            [line.name, str(line.exponent or ""), f"{largest:,}", seconds_text(seconds).strip(),
             ratio, line.ends]
        )  # fmt: skip
    return [
        Text(f"{variable} grows, {other} = {results[0].sizes[other]:,}:"),
        Table(
            ("contestant", "exponent", "largest size", "time there", "ours is faster there by",
             "ends"),
            rows,
        ),
    ]  # fmt: skip


def _notes(results: list[CaseResult], run: Run) -> list[Block]:
    doubtful = [result.name for result in results if disturbed(result)]
    notes = [f"failed: {failure.name}: {failure.reason}" for failure in run.recorder.failures]
    if doubtful:
        notes.append(
            f"other programs took {MUCH:.0%} of the processors or more at {', '.join(doubtful)}"
        )
    return [Items(notes)] if notes else []
