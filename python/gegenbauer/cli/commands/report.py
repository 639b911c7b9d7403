"""``gegenbauer report``: a page of HTML on a model and a table."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from gegenbauer.batches.column_types import decoded
from gegenbauer.cli.choices import Task
from gegenbauer.cli.columns import read_target
from gegenbauer.cli.commands.predict import load_model, read_inputs
from gegenbauer.cli.files import check_output, write_bytes
from gegenbauer.cli.messages import UserError, count, printable, quoted, refusals
from gegenbauer.cli.output import Line, Steps, print_pairs
from gegenbauer.cli.report import task_of
from gegenbauer.cli.tables import Parts
from gegenbauer.report import html_report

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from gegenbauer.batches.formats import Dialect
    from gegenbauer.cli.tables import Table

__all__ = ["run"]


def run(
    model_path: Path,
    path: Path,
    *,
    out: Path,
    target: str | None,
    dialect: Dialect,
    n_jobs: int | None,
) -> None:
    """Write a page.

    Parameters
    ----------
    model_path, path : Path
        The model and the table.
    out : Path
        The page to write.
    target : str or None
        The column that the model predicts; None for a page without scores.
    dialect : Dialect
        How the table to read is written.
    n_jobs : int or None
        Number of threads.

    Raises
    ------
    UserError
        Anything is wrong with the model, the table, the target or the place of the page.
    """
    check_output(out, "page", sources=[model_path, path])
    if importlib.util.find_spec("matplotlib") is None:
        raise UserError("report needs matplotlib: run pip install 'gegenbauer[plot]'")
    with Steps(total=3) as steps:
        steps.begin(f"reading {printable(path.name)}")
        model = load_model(model_path, steps.warn)
        _require_able(model, model_path, target)
        table, inputs = read_inputs(model, path, dialect, Parts(target=target), steps.warn)
        named = getattr(model, "feature_names_in_", None) is not None
        y = None if target is None else _targets(model, table, target)
        steps.begin("explaining")
        model.set_params(n_jobs=n_jobs)
        with refusals(steps.warn):
            page = html_report(model, inputs if named else inputs.to_numpy(), y, target=target)
        steps.begin("writing")
        write_bytes(page.encode(), out)
    values = {"rows": table.n_rows, "report": str(out)}
    text = f"on {count(table.n_rows, 'row')}, written to {out}"
    print_pairs([Line("report", text, values)])


def _require_able(model: Any, path: Path, target: str | None) -> None:
    """Refuse features, and a target that is an input."""
    if task_of(model) == "features":
        raise UserError(
            f"{printable(str(path), 200)} holds features, which predict nothing; give a model that "
            "gegenbauer fit or tune wrote"
        )
    if target is not None and target in getattr(model, "feature_names_in_", ()):
        raise UserError(f"--target {quoted(target)} is an input of the model; give its target")


def _targets(model: Any, table: Table, target: str) -> NDArray[Any]:
    """Return the column to predict: of classes that are text, as it stands in the file."""
    if not is_classifier(model):
        values = read_target(table, target, Task.regression).values
    else:
        if isinstance(model.classes_.tolist()[0], str):
            column = decoded(table.columns[target])
            if column.null_count == 0:
                return np.array([str(value) for value in column.to_pylist()], dtype=object)
        values = read_target(table, target, Task.classification).values
    assert values is not None
    return values
