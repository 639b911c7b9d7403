"""Accuracies and training times of all methods on all data sets, beside the published numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.paper import plots
from experiments.paper.data import table
from experiments.paper.document import Block, Heading, Items, Plot, Table, Text
from experiments.paper.methods import ALL_GAMMAS, Tunable, right_for_gammas
from experiments.paper.published import (
    BAR_WIDTH,
    BARS,
    BINARY,
    METHODS,
    MULTICLASS,
    NAMES,
    PERFORMANCE,
    SPECIFICATIONS,
    errata,
)
from experiments.paper.readings import (
    COUNTERPART,
    GNN,
    GNN_BY_FOLDS,
    OURS,
    PRINTED_KERNEL,
    fixed_methods,
    paper_gnn,
    tried,
    tunable_methods,
)
from experiments.paper.store import Unit
from experiments.paper.trials import MAIN, Summary, summarise, trial_key, trial_unit, tuned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.paper.run import Job, Run
    from experiments.paper.trials import Plan

DOMAINS = ("unit", "symmetric")  # of GNN
MORE = 8  # times as many trials of GNN alone, which cost little, for what was expected of it
OUT_OF_REACH = (
    "Glass, Ecoli and Iris are out of reach of this basis on [0, 1], even with the best gamma of "
    "each trial on its test rows"
)


def gammas_key(name: str, scaling: str, trial: int, plan: Plan) -> dict[str, Any]:
    """Return what the accuracies of all gammas are kept by."""
    method = replace(paper_gnn(name, plan), scaling=scaling)
    return {**trial_key(name, method, trial, plan), "all gammas": plan.grid(ALL_GAMMAS)}


def _all_gammas(run: Run, name: str, scaling: str, trial: int) -> Any:
    def make() -> dict[str, Any]:
        rows = MAIN.rows(name, scaling, trial, run.plan)
        right = right_for_gammas(
            rows.train, rows.test, paper_gnn(name, run.plan).n_terms, run.plan.grid(ALL_GAMMAS),
            run.plan.n_threads,
        )  # fmt: skip
        return {"right": right, "of": len(rows.test.y)}

    return run.store.do(Unit(gammas_key(name, scaling, trial, run.plan), make))


def _tuned_trial(run: Run, name: str, method: Tunable, trial: int) -> Any:
    chosen = tuned(name, method, trial, run.plan, run.store)
    result = run.store.do(trial_unit(name, chosen, trial, run.plan))
    return {**result, "chosen": {"C": chosen.cost, "delta": chosen.delta}}


def jobs(run: Run) -> list[Job]:
    """List all trials."""
    plan, found = run.plan, []
    for name in NAMES:
        units = [
            *((method, MAIN) for method in fixed_methods(name, plan).values()),
            *((t.method, t.reading) for ts in tried(name, plan).values() for t in ts),
        ]
        found += [
            partial(run.store.do, trial_unit(name, method, trial, plan, reading))
            for method, reading in units
            for trial in range(plan.trials)
        ]
        found += [
            partial(_tuned_trial, run, name, method, trial)
            for method in tunable_methods(name, plan).values()
            for trial in range(plan.trials)
        ]
        found += [
            partial(_all_gammas, run, name, scaling, trial)
            for scaling in DOMAINS
            for trial in range(plan.trials)
        ]
        found += [
            partial(run.store.do, trial_unit(name, paper_gnn(name, plan), trial, plan))
            for trial in range(plan.trials, MORE * plan.trials)
        ]
    return found


# --- What was found -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """All that was found for one data set."""

    methods: dict[str, Summary]
    more: Summary  #: of more trials of GNN
    tried: dict[str, dict[str, Summary]]  #: other readings, by the method of the paper
    gammas: dict[str, np.ndarray]  #: accuracies (n_trials, n_gammas) by the domain


def outcome(run: Run, name: str) -> Outcome:
    """Collect what the jobs have left."""
    plan, store = run.plan, run.store
    methods = {
        label: summarise(store, name, method, plan)
        for label, method in fixed_methods(name, plan).items()
    }
    for label, method in tunable_methods(name, plan).items():
        methods[label] = Summary.of(
            [_tuned_trial(run, name, method, trial) for trial in range(plan.trials)]
        )
    others = {
        paper: {t.what: summarise(store, name, t.method, plan, t.reading) for t in ts}
        for paper, ts in tried(name, plan).items()
    }
    gammas = {}
    for scaling in DOMAINS:
        found = [store[gammas_key(name, scaling, trial, plan)] for trial in range(plan.trials)]
        gammas[scaling] = np.array([100.0 * np.array(f["right"]) / f["of"] for f in found])
    more = summarise(store, name, paper_gnn(name, plan), replace(plan, trials=MORE * plan.trials))
    return Outcome(methods, more, others, gammas)


def ranks(accuracies: np.ndarray) -> np.ndarray:
    """Rank the entries of each row, the largest first; equals share the mean of their ranks."""
    above = (accuracies[:, None, :] > accuracies[:, :, None]).sum(axis=2)
    equal = (accuracies[:, None, :] == accuracies[:, :, None]).sum(axis=2)
    return above + (equal + 1) / 2


def section(run: Run) -> list[Block]:
    """Write tables of accuracy and time, ranks, bars, and what could not be reached."""
    outcomes = {name: outcome(run, name) for name in NAMES}
    exponents = run.plan.grid(ALL_GAMMAS)
    return [
        Heading(2, "2. Accuracy and training time"),
        *_overview(outcomes),
        Plot(
            "accuracies",
            "Mean test accuracies beside the published ones; bars are standard deviations "
            "over trials",
            plots.accuracies({n: o.methods for n, o in outcomes.items()}, run.plan.trials),
        ),
        *_details("Two classes", BINARY, outcomes, run.plan),
        *_details("Several classes", MULTICLASS, outcomes, run.plan),
        *_expected(outcomes, exponents),
        *_gammas(outcomes, exponents),
        *_printed_kernel(outcomes),
        *_unreached(outcomes),
    ]


def _overview(outcomes: dict[str, Outcome]) -> Iterator[Block]:
    labels = [*next(iter(outcomes.values())).methods]
    means = np.array([[o.methods[label].mean for label in labels] for o in outcomes.values()])
    printed = np.array([[PERFORMANCE[name][m].accuracy for m in METHODS] for name in outcomes])

    def rows(names: list[str], values: np.ndarray) -> list[list[str]]:
        mean_ranks = ranks(values).mean(axis=0)
        return [
            [name, *(f"{v:.1f}" for v in values[:, j]), f"{values[:, j].mean():.2f}",
             f"{mean_ranks[j]:.2f}"]
            for j, name in enumerate(names)
        ]  # fmt: skip

    header = ("method", *outcomes, "mean", "mean rank")
    yield Text(
        """Mean test accuracies in per cent over the trials, with the splits of the paper. LS-SVM,
        ELM and kernel ELM have the C and delta of the paper's tables, or, where it reads tuned,
        those of the fewest errors in 4-fold cross-validation over the paper's grid; WDD is GNN
        with gamma = 0; the CV estimator is `GegenbauerClassifierCV` of this library with default
        settings. LS-SVM gets standardised inputs and both kinds of ELM inputs on [-1, 1], as is
        usual for them; GNN has [0, 1]. Ranks are among the methods of each table."""
    )
    yield Table(header, rows(labels, means))
    yield Text("As published:")
    yield Table(header, rows([f"{m}, published" for m in METHODS], printed))
    ours, gnn = means[:, labels.index(OURS)], means[:, labels.index(GNN)]
    paper = printed[:, METHODS.index(GNN)]
    yield Text(
        f"""GNN with the gamma of the paper less GNN as published: {(gnn - paper).mean():+.2f}
        points in the mean over the data sets, {np.abs(gnn - paper).mean():.2f} in absolute value.
        The CV estimator less GNN as found here: {(ours - gnn).mean():+.2f}; less GNN as published:
        {(ours - paper).mean():+.2f}."""
    )
    yield Text(_claims(outcomes, labels, means, printed))


def _claims(
    outcomes: dict[str, Outcome], labels: list[str], means: np.ndarray, printed: np.ndarray
) -> str:
    """Report what holds of the paper's comparison, among its three methods with its parameters."""
    three = means[:, [labels.index(method) for method in METHODS]]
    here, there = ranks(three).mean(axis=0), ranks(printed).mean(axis=0)
    order = ", ".join(
        f"{m} {a:.2f} ({b:.2f})" for m, a, b in zip(METHODS, here, there, strict=True)
    )
    gnn = METHODS.index(GNN)
    first = [name for name, row in zip(outcomes, three, strict=True) if row.argmax() == gnn]
    gaps = {
        label: np.abs(means[:, labels.index(label)] - printed[:, METHODS.index(paper)]).mean()
        for label, paper in COUNTERPART.items()
        if label in labels and not label.endswith(("tuned", "folds"))
    }
    there_elm = printed[:, METHODS.index("ELM")].mean()
    tuned = " and ".join(
        f"{label} has a mean of {means[:, labels.index(label)].mean():.2f}"
        for label in labels
        if label.endswith("tuned") and COUNTERPART[label] == "ELM"
    )
    if tuned:
        tuned = f"Tuned over the paper's grid {tuned}, where {there_elm:.2f} is published. "
    listed = ", ".join(f"{label} {gap:.2f}" for label, gap in gaps.items())
    return f"""What holds of the comparison: among LS-SVM, ELM and GNN with the parameters of the
        paper the mean ranks are {order}, published ones in brackets. GNN is the first of the three
        on {len(first)} of {len(outcomes)} data sets ({", ".join(first) or "none"}); as published on
        {int((printed.argmax(axis=1) == gnn).sum())}. The mean absolute gaps to the published
        accuracies are {listed}: ELM cannot be reproduced with the parameters that are printed,
        least of all on Banana and Glass. {tuned}Tuned rows are chosen on training rows of the first
        trial, which are test rows of others: they are a little too good beside methods that
        choose in every trial."""


def _details(
    title: str, names: tuple[str, ...], outcomes: dict[str, Outcome], plan: Plan
) -> Iterator[Block]:
    yield Heading(3, title)
    rows = []
    for name in names:
        methods = outcomes[name].methods
        order = ranks(np.array([[s.mean for s in methods.values()]]))[0]
        for (label, found), rank in zip(methods.items(), order, strict=True):
            printed = PERFORMANCE[name].get(COUNTERPART.get(label, ""))
            beside = ["", "", ""]
            if printed is not None:
                spread = np.hypot(found.deviation, printed.deviation) / np.sqrt(plan.trials)
                beside = [
                    f"{printed.accuracy:.2f} ± {printed.deviation:.2f}",
                    f"{found.mean - printed.accuracy:+.2f} ± {spread:.2f}",
                    f"{printed.seconds:.4f} s",
                ]
            rows.append(
                [name, label, f"{found.mean:.2f} ± {found.deviation:.2f}", *beside[:2],
                 f"{rank:g}", found.time, beside[2], _chosen(found)]
            )  # fmt: skip
    yield Table(
        ("data set", "method", "accuracy", "published", "difference ± standard error", "rank",
         "training time", "published", "chosen, median"),
        rows,
    )  # fmt: skip


def _chosen(found: Summary) -> str:
    return ", ".join(f"{name} 2^{np.median(values):g}" for name, values in found.chosen.items())


def _expected(outcomes: dict[str, Outcome], exponents: tuple[int, ...]) -> Iterator[Block]:
    yield Heading(3, "What was expected, and what was found")
    found = {name: outcomes[name].methods[GNN].mean for name in BARS}
    met = {name: abs(found[name] - bar) <= BAR_WIDTH for name, bar in BARS.items()}
    yield Text(
        f"""Expected before this was written, and not tuned towards. GNN on [0, 1] with the gamma of
        the paper was to reach these accuracies, within {BAR_WIDTH:g} point: {sum(met.values())} of
        {len(met)} are. Behind ± are standard errors. The mean over {MORE} times as many trials,
        which the tables do not use, distinguishes a reading that differs from shuffles that
        happen to be easy or hard."""
    )
    rows = []
    for name, bar in BARS.items():
        own, more = outcomes[name].methods[GNN], outcomes[name].more
        rows.append(
            [name, f"{bar:.1f}", own.with_error, f"{own.mean - bar:+.2f}",
             "yes" if met[name] else "**no**", more.with_error, f"{more.mean - bar:+.2f}"]
        )  # fmt: skip
    yield Table(
        ("data set", "expected", "found", "difference", "within", f"{MORE} times the trials",
         "difference"),
        rows,
    )  # fmt: skip
    printed = {name: PERFORMANCE[name] for name in outcomes}
    gap = np.mean([abs(found[name] - printed[name][GNN].accuracy) for name in outcomes])
    lssvm = {
        name: abs(o.methods["LS-SVM"].mean - printed[name]["LS-SVM"].accuracy)
        for name, o in outcomes.items()
    }
    farthest = max(lssvm, key=lssvm.__getitem__)
    of_farthest = f"{lssvm[farthest]:.2f} ({farthest})"
    banana = outcomes["banana"]
    best = exponents[int(banana.gammas["unit"].mean(axis=0).argmax())]
    by_folds = np.median(banana.methods[GNN_BY_FOLDS].chosen["gamma"])
    hoped = ("glass", "ecoli", "iris")
    at_best = {name: outcomes[name].gammas["unit"].max(axis=1).mean() for name in hoped}
    reached = [name for name in hoped if at_best[name] >= printed[name][GNN].accuracy]
    out_of_reach = "; ".join(
        f"{name}: published {printed[name][GNN].accuracy:.2f}, at best {at_best[name]:.2f}"
        for name in hoped
    )
    beyond = [name for name, off in lssvm.items() if off > 1.2]
    yield Table(
        ("expected", "found", "so"),
        [
            ("mean absolute gap of GNN to the paper about 2 points", f"{gap:.2f}",
             "true" if abs(gap - 2) <= 0.5 else "not true"),
            (OUT_OF_REACH, out_of_reach,
             f"true but for {', '.join(reached)}" if reached else "true"),
            ("Banana needs a gamma near 2^-18",
             f"best in the mean 2^{best}; chosen by 4 folds, median, 2^{by_folds:g}",
             "true" if abs(best + 18) <= 1 else "not true"),
            (
                "LS-SVM on standardised inputs agrees within about 1.2 points",
                f"mean gap {np.mean(list(lssvm.values())):.2f}, largest {of_farthest}",
                f"true in the mean, not for {', '.join(beyond)}" if beyond else "true",
            ),
            ("three printed differences are off", f"{len(errata())}: see section 1",
             "not true: two more"),
        ],
    )  # fmt: skip


def _gammas(outcomes: dict[str, Outcome], exponents: tuple[int, ...]) -> Iterator[Block]:
    yield Heading(3, "Every gamma")
    yield Text(
        """Accuracy of GNN for every power of two, from one decomposition a trial
        (`RidgePath`). "Best fixed" is the gamma that is best in the mean over all trials, "best a
        trial" another one for every trial; both look at the test rows, so that no honest choice
        can do better with this basis and these rows."""
    )
    yield Plot(
        "penalties",
        "Accuracy of GNN against gamma; dotted the published accuracy, a line at the "
        "published gamma",
        plots.gammas({name: o.gammas for name, o in outcomes.items()}, exponents),
    )
    rows = []
    for name, found in outcomes.items():
        cells = [name, f"{PERFORMANCE[name][GNN].accuracy:.2f}",
                 f"2^{SPECIFICATIONS[name].gamma}"]  # fmt: skip
        for scaling in DOMAINS:
            curve = found.gammas[scaling].mean(axis=0)
            best = int(curve.argmax())
            cells += [
                f"{curve[best]:.2f} (2^{exponents[best]})",
                f"{found.gammas[scaling].max(axis=1).mean():.2f}",
            ]
        rows.append(cells)
    yield Table(
        ("data set", "published", "its gamma", "[0, 1]: best fixed", "best a trial",
         "[-1, 1]: best fixed", "best a trial"),
        rows,
    )  # fmt: skip


def _printed_kernel(outcomes: dict[str, Outcome]) -> Iterator[Block]:
    yield Heading(3, "The kernel as printed")
    rows, low = [], 0
    far = {"used": 0.0, "printed": 0.0}  # kernel ELM from ELM as published
    for name, found in outcomes.items():
        y = table(name).y
        published = PERFORMANCE[name]["ELM"].accuracy
        far["used"] += abs(found.methods["kernel ELM"].mean - published) / len(outcomes)
        far["printed"] += abs(found.tried["ELM"][PRINTED_KERNEL].mean - published) / len(outcomes)
        printed, share = found.tried["LS-SVM"][PRINTED_KERNEL], 100 * np.bincount(y).max() / len(y)
        low += printed.mean <= share
        rows.append(
            [name, f"{printed.mean:.2f}", f"{found.methods['LS-SVM'].mean:.2f}", f"{share:.2f}"]
        )
    yield Text(
        f"""The paper prints exp(-delta d^2). With its deltas that kernel is close to the identity
        wherever delta is large: LS-SVM is then no better than naming the largest class on {low} of
        {len(rows)} data sets. exp(-d^2 / delta), which the common codes for LS-SVM and for ELM with
        a kernel compute, is used everywhere else here. For ELM with a kernel the numbers do not
        show which was meant: its mean absolute gap to the published ones is {far["used"]:.2f} with
        the latter and {far["printed"]:.2f} as printed."""
    )
    yield Table(
        ("data set", "exp(-delta d^2)", "exp(-d^2 / delta)", "share of the largest class"), rows
    )


def everything(found: Outcome, paper: str) -> dict[str, float]:
    """Return mean accuracies of all readings of a method of the paper."""
    means = {label: s.mean for label, s in found.methods.items() if COUNTERPART.get(label) == paper}
    return means | {what: s.mean for what, s in found.tried[paper].items()}


def _unreached(outcomes: dict[str, Outcome]) -> Iterator[Block]:
    yield Heading(3, "Published accuracies that were not reached")
    yield Text(
        f"""A published accuracy counts as reached when the mean of some reading that was tried
        comes within {BAR_WIDTH:g} point of it or beyond. That is generous: the best of several
        readings; of GNN the best gamma of each trial on its test rows is given besides."""
    )
    items = []
    for name, found in outcomes.items():
        for paper in METHODS:
            means = everything(found, paper)
            printed = PERFORMANCE[name][paper].accuracy
            best = max(means, key=means.__getitem__)
            if means[best] < printed - BAR_WIDTH:
                item = f"**{name}, {paper}**: published {printed:.2f}, at best {means[best]:.2f} "
                item += f"({best}). "
                if paper == GNN:
                    unit, symmetric = (found.gammas[d].max(axis=1).mean() for d in DOMAINS)
                    item += f"By the test rows {unit:.2f} on [0, 1], {symmetric:.2f} on [-1, 1]. "
                all_of_them = "; ".join(f"{what} {mean:.2f}" for what, mean in means.items())
                items.append(f"{item}Tried: {all_of_them}.")
    yield Items(items) if items else Text("None.")
    yield Heading(3, "All readings")
    for paper in METHODS:
        everybody = {name: everything(found, paper) for name, found in outcomes.items()}
        labels = dict.fromkeys(label for means in everybody.values() for label in means)
        yield Text(f"**{paper}**")
        yield Table(
            ("reading", *outcomes),
            [
                [label, *(f"{m[label]:.1f}" if label in m else "" for m in everybody.values())]
                for label in labels
            ]
            + [["published", *(f"{PERFORMANCE[name][paper].accuracy:.1f}" for name in outcomes)]],
        )
