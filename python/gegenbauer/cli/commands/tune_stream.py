"""``gegenbauer tune --stream``: choose all settings for tables that need not fit into memory.

The tables are read twice, in batches: the target alone, to choose the task as for a table in
memory, and all columns once, after which everything is chosen.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from gegenbauer.cli.commands.tune import check_plot
from gegenbauer.cli.judged import JudgedModel
from gegenbauer.cli.messages import duration, listed, number, refusals
from gegenbauer.cli.output import Steps, print_pairs
from gegenbauer.cli.report import describe_solution, describe_spectrum, describe_terms
from gegenbauer.cli.streaming import (
    MAX_FILES_SHOWN,
    Pace,
    open_training_tables,
    require_tables,
)
from gegenbauer.cli.tables import check_output, write_bytes
from gegenbauer.cli.training import (
    Written,
    describe_data,
    describe_kept,
    keep,
    require_written,
    writes,
)
from gegenbauer.estimators.classifier_cv import GegenbauerClassifierCV
from gegenbauer.estimators.regressor_cv import GegenbauerRegressorCV

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gegenbauer.cli.choices import Task

__all__ = ["run"]

_N_FOLDS = 5


def run(
    paths: Sequence[Path],
    *,
    target: str,
    task: Task,
    out: Path | None,
    plot: Path | None,
    parameters: dict[str, Any],
    ignored: Sequence[str],
    separator: str | None,
    landmarks: bool,
) -> None:
    """Look at the target, take one pass over all batches, choose, save, draw and report.

    Parameters
    ----------
    paths : sequence of Path
        Files or folders of tables, all CSV or all Parquet.
    target, task, out, plot, parameters, ignored, separator
        As for ``tune`` of a table in memory.
    landmarks : bool
        As for ``fit_stream``.

    Raises
    ------
    UserError
        Anything is wrong with the tables, the target, the parameters or the places of the files.
    """
    require_tables(paths)
    if out is not None:
        check_output(out, "model", sources=paths)
    if plot is not None:
        check_plot(plot, paths)
    with Steps(total=3 + (out is not None) + (plot is not None)) as steps:
        source, chosen, looking = open_training_tables(
            paths, target=target, task=task, ignored=ignored, separator=separator, steps=steps,
            mixed=parameters.get("spectrum", "auto") is not None,
        )  # fmt: skip
        steps.begin("summing, and choosing the polynomials and the penalty")
        start = time.perf_counter()
        pace, sums = Pace(steps, chosen.seen.n_rows), _Sums(steps)
        kind = GegenbauerClassifierCV if chosen.classify else GegenbauerRegressorCV
        with refusals(steps.warn):
            model = kind(**parameters, cv=_N_FOLDS).fit_stream(
                source, landmarks=landmarks, callback=pace.until, announce=sums.note
            )
        fitting = time.perf_counter() - start
        kept = keep(model, out, steps)
        steps.begin("judging")
        judged = JudgedModel(
            model, model.loo_targets_, source.inputs, f"{_N_FOLDS} folds, each left out"
        )
        drawn = Written(plot, "drawn to")
        if plot is not None:
            steps.begin("drawing")
            with writes(drawn):
                write_bytes(judged.plot(plot.suffix.lower()[1:]), plot)
    n_rows, n_drawn = chosen.seen.n_rows, len(model.loo_targets_)
    rows = f"{n_rows}, in {_N_FOLDS} folds, each left out of a fit to all others"
    if n_drawn < n_rows:
        rows += f"; scores are of {n_drawn}, evenly drawn"
    rows += f"; the spectrum was chosen on {model.n_search_samples_}"
    files = f"{len(source.files)}: {listed(source.files, MAX_FILES_SHOWN)}"
    times = f"{duration(looking)} to look at the target, {duration(fitting)} to sum, choose and fit"
    print_pairs(
        [
            ("files", files),
            *describe_data(source.inputs, chosen, task, rows),
            ("sums", sums.text),
            ("terms", describe_terms(model)),
            ("spectrum", describe_spectrum(model)),
            ("alpha", number(model.alpha_)),
            ("solved by", describe_solution(model)),
            ("calibration", judged.calibration),
            ("time", times),
            ("model", describe_kept(n_rows, kept)),
            *([("plot", drawn.describe(""))] if plot is not None else []),
        ]
    )
    judged.print_scores()
    require_written(model=kept, plot=drawn)


class _Sums:
    """Shows how many sums there are, and how much memory they take, before they begin."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self.text = ""

    def note(self, text: str) -> None:
        """Keep the line for the report, and show it."""
        self.text = text
        self._steps.detail(text)
