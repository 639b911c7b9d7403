"""The plots; with `bench.report.plots` the only modules that need matplotlib."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from bench.report.plots import MARKERS, STYLE
from bench.scaling import series
from experiments.paper.published import (
    BINARY,
    FEW_TERMS,
    FEW_TERMS_EXPONENTS,
    METHODS,
    NOISE,
    PERFORMANCE,
    SPECIFICATIONS,
)
from experiments.paper.trials import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench.runner import CaseResult
    from experiments.paper.data import Doubles, Rows
    from experiments.paper.trials import Summary

#: By method, in all plots; what is published has the colour of its method and an open marker.
COLOURS = {
    "LS-SVM": "#d55e00", "ELM": "#e69f00", "kernel ELM": "#8c510a", "GNN": "#0072b2",
    "CV estimator": "#009e73",
}  # fmt: skip

LARGEST_GAMMA = 8  # exponent; beyond, everything is one class
DEPTH = 20.0  # points below the best that are drawn


@contextmanager
def _drawn(width: float, height: float) -> Iterator[Figure]:
    with mpl.rc_context(STYLE):
        yield Figure(figsize=(width, height), layout="constrained")


def accuracies(found: Mapping[str, Mapping[str, Summary]], n_trials: int) -> Figure:
    """Draw mean accuracies of the main methods, beside the published ones, by data set."""
    with _drawn(10.0, 4.8) as figure:
        axes = figure.add_subplot()
        places = np.arange(len(found), dtype=float)
        for at, (label, colour) in enumerate(COLOURS.items()):
            shift = 0.15 * (at - (len(COLOURS) - 1) / 2)
            means = [methods[label].mean for methods in found.values()]
            spread = [methods[label].deviation for methods in found.values()]
            axes.errorbar(
                places + shift, means, spread, fmt=MARKERS[at], color=colour, markersize=5,
                elinewidth=0.8, label=label,
            )  # fmt: skip
            if label in METHODS:
                printed = [PERFORMANCE[name][label].accuracy for name in found]
                axes.plot(
                    places + shift, printed, "D", color=colour, markersize=8, fillstyle="none",
                    label=f"{label}, published",
                )  # fmt: skip
        axes.set_xticks(places, list(found))
        axes.set(ylabel="test accuracy, per cent", title=f"Means of {count(n_trials)}")
        axes.grid(visible=True, axis="y", alpha=0.3)
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return figure


def gammas(curves: Mapping[str, Mapping[str, Doubles]], exponents: Sequence[int]) -> Figure:
    """Draw the accuracy of GNN against gamma, a panel a data set, a line a domain."""
    with _drawn(11.0, 4.8) as figure:
        panels = figure.subplots(2, len(BINARY), sharex=True)
        for axes, (name, by_domain) in zip(panels.flat, curves.items(), strict=True):
            for (domain, values), colour in zip(
                by_domain.items(), (COLOURS["GNN"], "#56b4e9"), strict=True
            ):
                label = {"unit": "[0, 1]", "symmetric": "[-1, 1]"}[domain]
                axes.plot(exponents, values.mean(axis=0), color=colour, label=label)
            axes.axhline(PERFORMANCE[name]["GNN"].accuracy, linestyle=":", color="0.2")
            axes.axvline(SPECIFICATIONS[name].gamma, linewidth=0.8, color="0.6")
            best = max(values.mean(axis=0).max() for values in by_domain.values())
            top = max(best, PERFORMANCE[name]["GNN"].accuracy) + 2
            axes.set(title=name, xlim=(exponents[0], LARGEST_GAMMA), ylim=(best - DEPTH, top))
            axes.grid(visible=True, alpha=0.3)
        figure.supxlabel("log2 gamma")
        figure.supylabel("test accuracy, per cent")
        panels.flat[0].legend(frameon=False)
    return figure


def boundaries(
    rows: Rows, axes_of: tuple[Doubles, Doubles], grids: Mapping[str, np.ndarray]
) -> Figure:
    """Draw points and the line where the output changes its sign, a panel a method."""
    with _drawn(10.5, 5.4) as figure:
        panels = figure.subplots(-(-len(grids) // 3), 3, sharex=True, sharey=True)
        for axes, (title, values) in zip(panels.flat, grids.items(), strict=True):
            for c, colour in enumerate(("#0072b2", "#d55e00")):
                # single pixels: a fraction of the bytes of thousands of circles
                axes.plot(*rows.X[rows.y == c].T, ",", color=colour, rasterized=True)
            axes.contour(*axes_of, values, levels=[0.0], colors="black", linewidths=1.5)
            axes.set_title(title)
            axes.set_aspect("equal")
        figure.supxlabel("x1")
        figure.supylabel("x2")
    return figure


def training_times(found: Mapping[str, Sequence[CaseResult]]) -> Figure:
    """Draw times against S and against L."""
    with _drawn(11.0, 4.2) as figure:
        for axes, (variable, results) in zip(
            figure.subplots(1, len(found)), found.items(), strict=True
        ):
            for at, line in enumerate(series(results, variable) if results else []):
                colour = {"ours": "#0072b2", "GNN in NumPy": "#000000"}.get(line.name)
                axes.plot(
                    line.sizes, line.medians, marker=MARKERS[at], markersize=4,
                    color=colour or COLOURS[line.name], label=f"{line.name}: {line.exponent}",
                )  # fmt: skip
            axes.set(
                xscale="log", yscale="log", ylabel="seconds",
                xlabel={"S": "S, rows", "L": "L, terms or nodes"}[variable],
            )  # fmt: skip
            axes.grid(visible=True, alpha=0.3)
            if results:
                axes.legend(title="and exponent", frameon=False)
    return figure


def _panels(figure: Figure, keys: Sequence[tuple[str, str]]) -> Iterator[tuple[Any, str, str]]:
    """Yield axes, a row a data set."""
    n_columns = len({algorithm for _, algorithm in keys})
    panels = figure.subplots(len(keys) // n_columns, n_columns, squeeze=False)
    for axes, (name, algorithm) in zip(panels.flat, keys, strict=True):
        axes.set_title(f"{algorithm} on {name}")
        yield axes, name, algorithm


def surfaces(
    values: Mapping[tuple[str, str], Doubles],
    sizes: Mapping[tuple[str, str], Sequence[int]],
    exponents: Sequence[int],
) -> Figure:
    """Draw accuracy as colour, for each data set on one scale."""
    with _drawn(10.0, 7.0) as figure:
        for axes, name, algorithm in _panels(figure, list(values)):
            same = [v for (other, _), v in values.items() if other == name]
            low, high = min(map(np.nanmin, same)), max(map(np.nanmax, same))
            mesh = axes.pcolormesh(
                exponents, sizes[name, algorithm], values[name, algorithm].T, shading="nearest",
                vmin=low, vmax=high, rasterized=True,
            )  # fmt: skip
            axes.set(
                yscale="log", ylabel="L",
                xlabel="log2 gamma" if algorithm == "GNN" else "log2 delta",
            )  # fmt: skip
            figure.colorbar(mesh, ax=axes, label="test accuracy, per cent")
    return figure


def few_terms(
    values: Mapping[tuple[str, str], Doubles],
    sizes: Mapping[tuple[str, str], Sequence[int]],
    exponents: Sequence[int],
) -> Figure:
    """Draw accuracy against a small number of terms, a line a gamma or delta."""
    with _drawn(10.0, 6.4) as figure:
        for axes, name, algorithm in _panels(figure, list(values)):
            L = np.array(sizes[name, algorithm])
            few = L <= FEW_TERMS
            symbol = "gamma" if algorithm == "GNN" else "delta"
            for exponent in FEW_TERMS_EXPONENTS:
                line = values[name, algorithm][exponents.index(exponent), few]
                axes.plot(L[few], line, label=f"{symbol} = 2^{exponent}")
            axes.set(xlabel="L", ylabel="test accuracy, per cent")
            axes.grid(visible=True, alpha=0.3)
            axes.legend(
                loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=7
            )  # fmt: skip
        for row in np.reshape(figure.axes, (-1, 2)):
            low, high = (f(axes.get_ylim()[i] for axes in row) for i, f in enumerate((min, max)))
            for axes in row:
                axes.set_ylim(low, high)
    return figure


def noise(
    found: Mapping[tuple[str, str, int], float], printed: Mapping[tuple[str, int], float]
) -> Figure:
    """Draw mean changes of the accuracy, a panel an amplitude, beside the published ones."""
    labels = list(dict.fromkeys(label for label, _, _ in found))
    kinds = list(dict.fromkeys(kind for _, kind, _ in found))
    with _drawn(9.0, 3.6) as figure:
        for axes, amplitude in zip(figure.subplots(1, len(NOISE), sharey=True), NOISE, strict=True):
            places = np.arange(len(labels), dtype=float)
            for at, kind in enumerate(kinds):
                axes.plot(
                    places + 0.15 * (at - 1), [found[label, kind, amplitude] for label in labels],
                    MARKERS[at], color=("#0072b2", "#56b4e9", "#332288")[at], label=kind,
                )  # fmt: skip
            axes.plot(
                places, [printed[label, amplitude] for label in labels], "D", color="black",
                fillstyle="none", markersize=9, label="published",
            )  # fmt: skip
            axes.axhline(0.0, linewidth=0.8, color="0.5")
            axes.set_xticks(places, labels)
            axes.set_title(f"noise of {amplitude} per cent")
            axes.grid(visible=True, axis="y", alpha=0.3)
        figure.axes[0].set_ylabel("change of the accuracy, points")
        figure.axes[0].legend(frameon=False)
    return figure
