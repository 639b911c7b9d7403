"""``gegenbauer tune --stream``: choose all settings for tables that need not fit into memory.

The tables are read twice, in batches: the target alone, to choose the task as for a table in
memory, and all columns once, after which everything is chosen.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from gegenbauer.cli.commands.tune import check_plot
from gegenbauer.cli.files import check_output, write_bytes
from gegenbauer.cli.judged import JudgedModel
from gegenbauer.cli.lines import describe_data, model_line, plot_lines, rows_line, times_line
from gegenbauer.cli.messages import DataError, count, number, refusals
from gegenbauer.cli.output import Line, Steps, print_pairs
from gegenbauer.cli.report import solution_line, spectrum_line, terms_line
from gegenbauer.cli.streaming import (
    Pace,
    files_line,
    open_training_tables,
    require_tables,
)
from gegenbauer.cli.written import Written, keep, require_written, writes
from gegenbauer.estimators.classifier_cv import GegenbauerClassifierCV
from gegenbauer.estimators.regressor_cv import GegenbauerRegressorCV

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gegenbauer.cli.training import Source

__all__ = ["run"]

_N_FOLDS = 5


def run(
    paths: Sequence[Path],
    wanted: Source,
    *,
    out: Path | None,
    plot: Path | None,
    parameters: dict[str, Any],
    landmarks: bool,
) -> None:
    """Look at the target, take one pass over all batches, choose, save, draw and report.

    Parameters
    ----------
    paths : sequence of Path
        Files or folders of tables, all of one format.
    wanted, out, plot, parameters
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
            paths, wanted, steps, mixed=parameters.get("spectrum", "auto") is not None,
        )  # fmt: skip
        if chosen.seen.n_rows < _N_FOLDS:
            raise DataError(
                f"{count(chosen.seen.n_rows, 'row')} will not do for the {_N_FOLDS} folds of "
                f"--stream; add rows, or leave out --stream for {_N_FOLDS - 1} or fewer"
            )
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
            model, model.loo_targets_, source.inputs, f"{_N_FOLDS} folds, each left out",
            model.loo_weights_,
        )  # fmt: skip
        drawn = Written(plot, "drawn to")
        if plot is not None:
            steps.begin("drawing")
            with writes(drawn):
                write_bytes(judged.plot(plot.suffix.lower()[1:]), plot)
    n_rows, n_drawn = chosen.seen.n_rows, len(model.loo_targets_)
    rows = f"{n_rows}, in {_N_FOLDS} folds, each left out of a fit to all others"
    if n_drawn < n_rows:
        kind_of = "" if model.loo_weights_ is None else " of positive weight"
        rows += f"; scores are of {n_drawn}{kind_of}, evenly drawn"
    rows += f"; the spectrum was chosen on {model.n_search_samples_}"
    n_search = model.n_search_samples_
    print_pairs(
        [
            files_line(source),
            *describe_data(
                source.inputs, chosen, wanted.task,
                rows_line(n_rows, rows, for_spectrum=n_search, scored=n_drawn),
            ),
            Line("sums", sums.text),
            terms_line(model),
            spectrum_line(model),
            Line("alpha", number(model.alpha_), {"alpha": model.alpha_}),
            solution_line(model),
            judged.calibration,
            times_line(
                target=(looking, "to look at the target"),
                tune=(fitting, "to sum, choose and fit"),
            ),
            model_line(n_rows, kept),
            *plot_lines(drawn),
        ]
    )  # fmt: skip
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
