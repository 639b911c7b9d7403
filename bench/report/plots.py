"""Plots of sweeps and cases; the only module of `bench` that needs matplotlib."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from bench.peers import PEERS
from bench.report.svg import compact
from bench.runner import PEAK
from bench.scaling import never, series
from bench.sweeps import OURS, our_names
from bench.table import MUCH, disturbed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from matplotlib.axes import Axes

    from bench.results import Run
    from bench.runner import CaseResult
    from bench.scaling import Series
    from bench.sweeps import Sweep

STYLE = {
    # The same file each time: names of elements would be random.
    "svg.hashsalt": "gegenbauer",
    # Text is kept as text, which takes a third of the bytes of its outlines and can be searched.
    "svg.fonttype": "none",
    "font.size": 9.0,
    "font.family": "sans-serif",
    "font.sans-serif": [
        "DejaVu Sans",
        "Verdana",
    ],  # of equal widths, for readers who lack the first
}
DPI = 150  # of what is drawn as pixels within a plot
ROOM = 30.0  # below the fastest fit, for the limits

# By contestant, so that all plots agree; ours are blue or green, peers warm or black.
OUR_COLOURS = ("#0072b2", "#56b4e9", "#009e73", "#332288", "#44aa99", "#1a3a5c")
PEER_COLOURS = ("#000000", "#e69f00", "#d55e00", "#8c510a", "#cc79a7", "#999933")
RUN_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#000000")
MARKERS = "osD^vP"


def style(name: str) -> dict[str, Any]:
    """Return how a contestant is drawn."""
    ours, peers = our_names(), [peer.name for peer in PEERS]
    mine = name in ours
    at = (ours if mine else peers).index(name)
    colours = OUR_COLOURS if mine else PEER_COLOURS
    return {
        "color": colours[at % len(colours)],
        "marker": MARKERS[at % len(MARKERS)],
        "linestyle": "-" if mine else "--",
        "linewidth": 2.4 if name == OURS else 1.2,
        "zorder": 3 if mine else 2,
    }


def save(figure: Figure, folder: Path, name: str) -> Path:
    """Write a figure as SVG, without the date, in few bytes."""
    path, drawn = folder / f"{name}.svg", StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(drawn, format="svg", metadata={"Date": None}, dpi=DPI, bbox_inches="tight")
    path.write_text(compact(drawn.getvalue()), encoding="utf-8")
    return path


# --- Sweeps ---------------------------------------------------------------------------------------


def limits(points: Sequence[CaseResult], peak: Mapping[str, Any]) -> dict[str, list[float]]:
    """Return the least seconds that the machine allows, at every point."""
    sizes = [point.sizes for point in points]
    flops, bandwidth = peak["flops"], peak["read_bandwidth"]
    return {
        f"S L² flops at {flops / 1e9:.0f} GFLOP/s (any Gram product)": [
            s["S"] * s["L"] ** 2 / flops for s in sizes
        ],
        f"X read once at {bandwidth / 1e9:.0f} GB/s": [
            8.0 * s["S"] * s["m"] / bandwidth for s in sizes
        ],
    }


def sweep_figure(sweep: Sweep, points: Sequence[CaseResult], run: Run) -> Figure:
    """Draw the times of all contestants against one size, beside the limits."""
    variable = sweep.variable
    points = sorted(points, key=lambda point: point.sizes[variable])
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 5.6), layout="constrained")
        axes = figure.add_subplot()
        found = series(points, variable)
        for one in found:
            _draw(axes, one)
        sizes = [point.sizes[variable] for point in points]
        for dashes, (label, seconds) in zip(
            (":", "-."), limits(points, _peak(run)).items(), strict=True
        ):
            axes.plot(sizes, seconds, dashes, color="0.45", label=label, zorder=1)
        axes.set(
            xscale="log",
            yscale="log",
            xlabel=f"{variable} ({sweep.shows})",
            ylabel=f"seconds a fit (median of {run.settings['rounds']} rounds)",
            title=f"Whole fits, from X and Y to the weights; {_fixed(points, variable)}",
        )
        fastest = min(min(one.medians) for one in found)
        axes.set_ylim(bottom=fastest / ROOM)  # limits far below need not be seen where they are
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=30 * (len(sizes) > 7))
        axes.minorticks_off()
        axes.grid(visible=True, which="major", alpha=0.3)
        handles, labels = axes.get_legend_handles_labels()
        n = len(handles) - len(found)  # the limits, which come first and are to stand last
        axes.legend(
            handles[n:] + handles[:n],
            labels[n:] + labels[:n],
            loc="center left",
            bbox_to_anchor=(1.01, 0.5),
            frameon=False,
            alignment="left",
            title=f"exponent of {variable} ± standard error,\nof the upper half of its range",
        )
        notes = [f"{one.name} ends {one.ends}" for one in found if one.ends]
        notes += [f"{name}: no point, {why}" for name, why in never(points).items()]
        doubtful = [f"{point.sizes[variable]:,}" for point in points if disturbed(point)]
        if doubtful:
            notes.append(
                f"other programs took {MUCH:.0%} of the processors or more at {variable} = "
                + "; ".join(doubtful)
            )
        figure.supxlabel(
            "\n".join([*map(_shortened, notes), _where(run)]), fontsize=7, ha="left", x=0.02
        )
    return figure


def _draw(axes: Axes, one: Series) -> None:
    spread = [
        [m - low for m, low in zip(one.medians, one.lows, strict=True)],
        [high - m for m, high in zip(one.medians, one.highs, strict=True)],
    ]
    power, look = one.exponent, style(one.name)
    label = f"{one.name}: {power}" if power is not None else one.name
    axes.errorbar(
        one.sizes, one.medians, spread, label=label, markersize=4.5, capsize=2, **look
    )  # fmt: skip
    if one.ends:
        last = (one.sizes[-1], one.medians[-1])
        axes.plot(*last, "x", color=look["color"], markersize=11, markeredgewidth=2, zorder=4)


def _peak(run: Run) -> Mapping[str, Any]:
    threads = run.facts["threads"]
    return next(peak for peak in run.peaks if peak["threads"] == threads)


def _fixed(points: Sequence[CaseResult], variable: str) -> str:
    """Describe the other sizes."""
    texts = []
    for name in points[0].sizes:
        values = [point.sizes[name] for point in points]
        if name != variable:
            low, high = min(values), max(values)
            texts.append(f"{name} = {low:,}" + (f" to {high:,}" if high > low else ""))
    return ", ".join(texts)


def _where(run: Run) -> str:
    facts = run.facts
    commit = "no commit" if facts["git"] is None else f"commit {facts['git']['commit'][:12]}"
    quick = "; QUICK: times mean nothing" if run.settings["quick"] else ""
    return (
        f"{facts['machine']['processor']}, {facts['threads']} thread(s), "
        f"ISA variant {facts['isa']}; "
        f"{commit}; × marks where a contestant ends; bars are the range of the rounds{quick}"
    )


def _shortened(text: str, length: int = 150) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


# --- Cases ----------------------------------------------------------------------------------------


def cases_figure(runs: Mapping[str, Run]) -> Figure:
    """Draw the ratios of all cases and peers, a colour a run, beside the goals."""
    rows = list(
        dict.fromkeys(
            (case.name, peer.name)
            for run in runs.values()
            for case in run.cases
            for peer in case.peers
        )
    )
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 1.6 + 0.24 * len(rows)), layout="constrained")
        axes = figure.add_subplot()
        for at, (title, run) in enumerate(runs.items()):
            shift = 0.3 * (at / max(len(runs) - 1, 1) - 0.5) if len(runs) > 1 else 0.0
            ratios = {(c.name, p.name): c.ratio(p) for c in run.cases for p in c.peers}
            there = [row for row in rows if row in ratios]
            medians = [ratios[row].median for row in there]
            errors = [
                [ratios[row].median - ratios[row].low for row in there],
                [ratios[row].high - ratios[row].median for row in there],
            ]
            heights = [rows.index(row) + shift for row in there]
            axes.errorbar(
                medians, heights, xerr=errors, label=title, fmt=MARKERS[at],
                color=RUN_COLOURS[at % len(RUN_COLOURS)], markersize=4, linewidth=1,
            )  # fmt: skip
        goals = {
            (case.name, peer): goal
            for run in runs.values()
            for case in run.cases
            for peer, goal in case.goals.items()
            if peer != PEAK
        }
        marked = [row for row in rows if row in goals]
        axes.plot(
            [goals[row] for row in marked], [rows.index(row) for row in marked], "|",
            color="#d55e00", markersize=13, markeredgewidth=2.5, label="goal", zorder=1,
        )  # fmt: skip
        axes.axvline(1.0, color="0.4", linewidth=1)
        axes.set(xscale="log", xlabel="time of theirs / time of ours: right of 1, ours is faster")
        axes.set_yticks(range(len(rows)), [f"{name} / {peer}" for name, peer in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.xaxis.set_major_formatter(lambda value, _at: f"{value:g}")
        if rows:
            low, high = axes.get_xlim()
            axes.set_xlim(min(low, 0.5), max(high, 2.0))
            axes.set_xticks([t for t in _ticks() if min(low, 0.5) <= t <= max(high, 2.0)])
        axes.minorticks_off()
        axes.grid(visible=True, axis="x", alpha=0.3)
        figure.legend(loc="outside lower center", ncols=len(runs) + 1, frameon=False)
        first = next(iter(runs.values()))
        axes.set_title(f"Cases: medians of {first.settings['rounds']} rounds and their intervals")
    return figure


def _ticks() -> list[float]:
    return [step * 10.0**power for power in range(-3, 5) for step in (1, 2, 5)]
