"""Noise in the training rows: three readings of an amplitude, beside the published changes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from experiments.paper import plots
from experiments.paper.data import NOISES
from experiments.paper.document import Block, Heading, Items, Plot, Table, Text
from experiments.paper.published import BAR_WIDTH, METHODS, MULTICLASS, NOISE
from experiments.paper.readings import COUNTERPART, fixed_methods
from experiments.paper.trials import MAIN, Reading, summarise, trial_unit

if TYPE_CHECKING:
    from experiments.paper.methods import Method
    from experiments.paper.run import Job, Run
    from experiments.paper.trials import Plan, Summary

LABELS = ("LS-SVM", "ELM", "kernel ELM", "GNN")
AMPLITUDES = tuple(NOISE)


def _methods(name: str, plan: Plan) -> dict[str, Method]:
    fixed = fixed_methods(name, plan)
    return {label: fixed[label] for label in LABELS}


def _readings() -> dict[tuple[str, int], Reading]:
    return {
        (kind, amplitude): Reading(noise=(kind, amplitude / 100))
        for amplitude in AMPLITUDES
        for kind in NOISES
    }


def jobs(run: Run) -> list[Job]:
    """List all trials, those without noise as well."""
    return [
        partial(run.store.do, trial_unit(name, method, trial, run.plan, reading))
        for name in MULTICLASS
        for method in _methods(name, run.plan).values()
        for reading in (MAIN, *_readings().values())
        for trial in range(run.plan.trials)
    ]


def section(run: Run) -> list[Block]:
    """Write tables of accuracies and changes, and which reading is closest to the paper."""
    clean: dict[tuple[str, str], Summary] = {}
    dirty: dict[tuple[str, str, str, int], Summary] = {}
    for name in MULTICLASS:
        for label, method in _methods(name, run.plan).items():
            clean[name, label] = summarise(run.store, name, method, run.plan)
            for (kind, amplitude), reading in _readings().items():
                dirty[name, label, kind, amplitude] = summarise(
                    run.store, name, method, run.plan, reading
                )
    changes = {key: found.mean - clean[key[:2]].mean for key, found in dirty.items()}
    return [
        Heading(2, "6. Noise in the training rows"),
        Text(
            """The paper adds random noise to the training rows, of an amplitude of 5 or of 10 per
            cent, and specifies no more. Inputs are scaled by the clean training rows, as all data
            are normalised before the experiments, and noise in parts of the range of each input is
            added then; test rows stay clean. Three readings of an amplitude a: uniform on [0, a],
            uniform on [-a, a], and normal with deviation a. Changes are against the same trials
            without noise."""
        ),
        *(block for amplitude in AMPLITUDES for block in _tables(amplitude, dirty, changes)),
        Plot(
            "noise",
            "Mean change of the accuracy over the five data sets, beside the published one",
            plots.noise(_mean_changes(changes), _published_changes()),
        ),
        *_closest(dirty, changes),
        *_unreached(dirty),
    ]


def _tables(
    amplitude: int,
    dirty: dict[tuple[str, str, str, int], Summary],
    changes: dict[tuple[str, str, str, int], float],
) -> list[Block]:
    rows = []
    for name in MULTICLASS:
        for label in LABELS:
            accuracy, change = NOISE[amplitude][name][COUNTERPART[label]]
            cells = [name, label]
            for kind in NOISES:
                key = (name, label, kind, amplitude)
                cells.append(f"{dirty[key].mean:.2f} ({changes[key]:+.2f})")
            rows.append([*cells, f"{accuracy:.2f} ({change:+.2f})"])
    return [
        Heading(3, f"Noise of {amplitude} per cent"),
        Table(("data set", "method", *NOISES, "published"), rows),
    ]


def _mean_changes(
    changes: dict[tuple[str, str, str, int], float],
) -> dict[tuple[str, str, int], float]:
    return {
        (label, kind, amplitude): float(
            np.mean([changes[name, label, kind, amplitude] for name in MULTICLASS])
        )
        for label in LABELS
        for kind in NOISES
        for amplitude in AMPLITUDES
    }


def _published_changes() -> dict[tuple[str, int], float]:
    return {
        (label, amplitude): float(
            np.mean([NOISE[amplitude][name][COUNTERPART[label]][1] for name in MULTICLASS])
        )
        for label in LABELS
        for amplitude in AMPLITUDES
    }


def _closest(
    dirty: dict[tuple[str, str, str, int], Summary],
    changes: dict[tuple[str, str, str, int], float],
) -> list[Block]:
    rows = []
    for kind in NOISES:
        keys = [key for key in dirty if key[2] == kind]
        printed = [NOISE[key[3]][key[0]][COUNTERPART[key[1]]] for key in keys]
        gaps = [abs(dirty[key].mean - p[0]) for key, p in zip(keys, printed, strict=True)]
        moved = [abs(changes[key] - p[1]) for key, p in zip(keys, printed, strict=True)]
        rows.append((kind, f"{np.mean(gaps):.2f}", f"{np.mean(moved):.2f}"))
    means = _mean_changes(changes)

    def least(labels: list[str]) -> str:
        return "; ".join(
            f"{kind} {amplitude}%: " + max(labels, key=lambda m: means[m, kind, amplitude])
            for kind in NOISES
            for amplitude in AMPLITUDES
        )

    return [
        Text("How far the readings are from the paper, over data sets, methods and amplitudes:"),
        Table(("reading", "mean gap of accuracies", "mean gap of changes"), rows),
        Text(
            "Who loses least in the mean over the data sets (as published, GNN throughout), of "
            f"LS-SVM, ELM and GNN: {least([m for m in LABELS if m != 'kernel ELM'])}. With kernel "
            f"ELM, whose published numbers are those of ELM: {least([*LABELS])}."
        ),
    ]


def _unreached(dirty: dict[tuple[str, str, str, int], Summary]) -> list[Block]:
    items = []
    for amplitude, by_name in NOISE.items():
        for name, by_method in by_name.items():
            for paper in METHODS:
                means = {
                    f"{label}, {kind}": dirty[name, label, kind, amplitude].mean
                    for label in LABELS
                    if COUNTERPART[label] == paper
                    for kind in NOISES
                }
                best = max(means, key=means.__getitem__)
                printed = by_method[paper][0]
                if means[best] < printed - BAR_WIDTH:
                    items.append(
                        f"**{name}, {paper}, {amplitude} per cent**: published {printed:.2f}, at "
                        f"best {means[best]:.2f} ({best})."
                    )
    return [
        Text(
            f"""Published accuracies under noise that no reading comes within {BAR_WIDTH:g} point
            of, or beyond:"""
        ),
        Items(items) if items else Text("None."),
    ]
