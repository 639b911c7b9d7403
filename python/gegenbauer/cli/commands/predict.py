"""``gegenbauer predict``: apply a model to a table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from gegenbauer._validation import apart
from gegenbauer.cli.columns import select_inputs
from gegenbauer.cli.files import STANDARD, check_output, require_file
from gegenbauer.cli.messages import (
    DataError,
    UserError,
    count,
    data_rows,
    listed,
    printable,
    quoted,
    refusals,
)
from gegenbauer.cli.output import Line, Steps, print_pairs
from gegenbauer.cli.parameters import in_options, naming_options_of
from gegenbauer.cli.report import task_of
from gegenbauer.cli.results import collector, in_json
from gegenbauer.cli.tables import Parts, read_table, write_table
from gegenbauer.errors import ModelFileError, message_of
from gegenbauer.estimators._search import SearchEstimator
from gegenbauer.estimators.classifier_cv import GegenbauerClassifierCV
from gegenbauer.estimators.regressor_cv import GegenbauerRegressorCV
from gegenbauer.persistence._load import load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from gegenbauer.batches.formats import Dialect
    from gegenbauer.cli.tables import Table
    from gegenbauer.estimators._mixed_inputs import MixedInputs

    # The commands that fit models, and that tune them
    Makers: TypeAlias = "tuple[Callable[..., None], Callable[..., None]]"

__all__ = ["load_model", "maker_of", "read_inputs", "run"]

_MAX_REASON = 400  # characters


def run(
    model_path: Path,
    path: Path,
    *,
    out: Path | None,
    out_of_range: str | None,
    probabilities: bool,
    interval: float | None,
    n_jobs: int | None,
    dialect: Dialect,
    ids: Sequence[str],
    makers: Makers,
) -> None:
    """Write one prediction a row.

    Parameters
    ----------
    model_path, path : Path
        The model and the table.
    out : Path or None
        The table to write; None and "-" print CSV to stdout.
    out_of_range : str or None
        What to do with values beyond the range seen in ``fit``; None for the model's policy.
    probabilities : bool
        Whether to add the probability of each class.
    interval : float or None
        Share of the values that an interval to add should hold, between 0 and 1.
    n_jobs : int or None
        Number of threads.
    dialect : Dialect
        How the table to read is written.
    ids : sequence of str
        Columns that identify rows, which the predictions have, too.
    makers : tuple of callable
        The commands that fit models, and that tune them: errors name their options.

    Raises
    ------
    UserError
        Anything is wrong with the model, the table or the place of the output.
    """
    if out is not None and str(out) == STANDARD:
        out = None
    if out is not None:
        check_output(out, "table", sources=[model_path, path])
    collector().stdout_is_taken = out is None
    with Steps(total=3) as steps:
        steps.begin(f"reading {printable(path.name)}")
        model = load_model(model_path, steps.warn)
        maker = maker_of(model, makers)
        _require_able(
            model, model_path, maker.__name__, probabilities=probabilities,
            interval=interval is not None,
        )  # fmt: skip
        names = getattr(model, "feature_names_in_", None)
        _require_no_inputs(ids, () if names is None else names)
        table, inputs = read_inputs(model, path, dialect, Parts(ids=ids), steps.warn)
        columns, X = [*inputs.columns], inputs.to_numpy() if names is None else inputs
        steps.begin("predicting")
        model.set_params(n_jobs=n_jobs)
        if out_of_range is not None:
            model.set_params(out_of_range=out_of_range)
        notes: list[str] = []  # not before an error, which alone is what to act on
        _apply_range_policy(model, X, columns, table, notes.append)
        with naming_options_of(maker, also=True), refusals(steps.warn):
            predictions = _as_table(model, model.predict(X))
            if probabilities:
                names = [f"probability_{label}" for label in model._answers]
                predictions[names] = model.predict_proba(X)
            if interval is not None:
                for name, values in zip(
                    ("lower", "upper"), model.predict_interval(X, interval), strict=True
                ):
                    ends = _as_table(model, values)
                    predictions[ends.columns.str.replace("prediction", name)] = ends.to_numpy()
        predictions = _with_ids(table, ids, predictions)
        for note in notes:
            steps.warn(note)
        steps.begin("writing")
        if out is not None:
            write_table(predictions, out)
    if out is None:
        predictions.to_csv(sys.stdout, index=False)
    if out is not None or in_json():
        values = {
            "rows": len(predictions), "columns": list(predictions.columns),
            "predictions": None if out is None else str(out),
        }  # fmt: skip
        text = f"{count(len(predictions), 'row')}, written to {out}"
        print_pairs([Line("predicted", text, values)])


def _require_able(
    model: Any, path: Path, maker: str, *, probabilities: bool, interval: bool
) -> None:
    """Refuse a model that cannot give what is requested."""
    if task_of(model) == "features":
        raise DataError(
            f"{printable(str(path), 200)} holds features, which predict nothing; give a model that "
            "gegenbauer fit or tune wrote"
        )
    for wanted, option, kind, task in (
        (probabilities, "--probabilities", GegenbauerClassifierCV, "classification"),
        (interval, "--interval", GegenbauerRegressorCV, "regression"),
    ):
        if wanted and not isinstance(model, kind):
            raise UserError(
                f"{option} is not for {printable(str(path), 200)}, which holds a model for "
                f"{task_of(model)} as gegenbauer {maker} writes; it needs one for {task} that "
                "gegenbauer tune wrote"
            )


def read_inputs(
    model: Any, path: Path, dialect: Dialect, parts: Parts, warn: Callable[[str], None]
) -> tuple[Table, pd.DataFrame]:
    """Read a table; return it, and its columns that are inputs of the model, as that takes them."""
    names = getattr(model, "feature_names_in_", None)
    categories = model.categories_
    texts = [] if names is None else [
        name for name, values in zip(names, categories, strict=False)
        if values is not None and isinstance(values[0], str)
    ]  # fmt: skip
    table = read_table(path, dialect, parts, as_text=texts)
    no_inputs = {*parts.ids, parts.target}
    others = {name: column for name, column in table.columns.items() if name not in no_inputs}
    with refusals(warn):
        inputs = select_inputs(
            table._replace(columns=others) if others else table, names, model.n_features_in_,
            categories, missing=model._takes_missing,
        )  # fmt: skip
    return table, inputs


def _require_no_inputs(ids: Sequence[str], names: Sequence[str]) -> None:
    """Refuse to keep a column as a name of rows that the model learned from."""
    for name in ids:
        if name in names:
            raise UserError(
                f"{quoted(name)} is an input of the model, and --id is for columns that are none: "
                "give another column, or fit with the same --id"
            )


def _with_ids(table: Table, ids: Sequence[str], predictions: pd.DataFrame) -> pd.DataFrame:
    """Return the predictions behind the columns that identify their rows."""
    for place, name in enumerate(dict.fromkeys(ids)):
        if name in predictions.columns:
            raise DataError(
                f"--id {quoted(name)} is called like a column of predictions; give it another name"
            )
        values = table.columns[name].to_pandas(integer_object_nulls=True)
        predictions.insert(place, name, values.to_numpy())
    return predictions


def maker_of(model: Any, makers: Makers) -> Callable[..., None]:
    """Return the command that makes such models."""
    return makers[isinstance(model, SearchEstimator)]


def load_model(path: Path, warn: Callable[[str], None]) -> Any:
    """Read a model file.

    Raises
    ------
    UserError
        The file is not there, or is no model file or a damaged one.
    """
    require_file(path, "model")
    with refusals(warn):
        try:
            return load(path)
        except ModelFileError as error:
            reason = printable(in_options(message_of(error)), _MAX_REASON).rstrip(".")
            advice = "give a whole file that gegenbauer fit or tune --out wrote"
            raise DataError(f"{reason}; {advice}") from error


def _report_unknown(
    model: MixedInputs, X: Any, names: list[Any], table: Table, warn: Callable[[str], None]
) -> Any:
    """Report rows with what no row of ``fit`` had, or refuse them; return X as numbers."""
    with refusals(warn):
        encoded = model._validate_inputs(X, reset=False)
    unknown = model._unknown(encoded)
    if not unknown.any():
        return encoded
    row, column = (int(place) for place in np.argwhere(unknown)[0])
    value = np.asarray(X, dtype=object)[row, column]
    what = "has no value" if value is None or value != value else f"is {quoted(value)}"
    n_rows = int(np.count_nonzero(unknown.any(axis=1)))
    message = (
        f"{n_rows} of {count(len(encoded), 'row')} {'has' if n_rows == 1 else 'have'} what no row "
        f"had in fit, in {listed([names[t] for t in np.flatnonzero(unknown.any(axis=0))])}; the "
        f"first is {data_rows(table.row(row))}, where {quoted(names[column])} {what}"
    )
    if model.out_of_range == "error":
        raise DataError(f"{message}; give --out-of-range clip or warn to accept them")
    if model.out_of_range == "warn":
        model.set_params(out_of_range="clip")
        warn(f"{message}; taken as the mean there")
    return encoded


def _apply_range_policy(
    model: Any, X: Any, names: list[Any], table: Table, warn: Callable[[str], None]
) -> None:
    """Report how many rows lie beyond the range seen in ``fit``, or refuse them."""
    policy = model.out_of_range
    X = _report_unknown(model, X, names, table, warn)
    values, scaling = np.asarray(X), model._seen
    n_outside = int(np.count_nonzero(scaling.outside(values, rounded=True)))
    if n_outside == 0:
        return
    beyond = scaling.beyond(values, rounded=True)
    row, column = (int(place) for place in np.argwhere(beyond)[0])
    value, low, high = apart(values[row, column], scaling.lower[column], scaling.upper[column])
    message = (
        f"{n_outside} of {count(len(values), 'row')} "
        f"{'lies' if n_outside == 1 else 'lie'} beyond the values seen in fit, in "
        f"{listed([names[t] for t in np.flatnonzero(beyond.any(axis=0))])}; the first is "
        f"{data_rows(table.row(row))}, where {quoted(names[column])} is {value} and was {low} to "
        f"{high}"
    )
    if policy == "error":
        raise DataError(f"{message}; give --out-of-range clip, warn or extrapolate to accept them")
    if policy == "clip":  # as requested
        return
    if policy == "warn":
        model.set_params(out_of_range="clip")
    warn(f"{message}; {'extrapolated' if policy == 'extrapolate' else 'clipped to that'}")


def _as_table(model: Any, values: NDArray[Any]) -> pd.DataFrame:
    """Name the predictions: one column, or one for each output."""
    if values.ndim == 1:
        return pd.DataFrame({"prediction": values})
    outputs = model._answers if is_classifier(model) else range(values.shape[1])
    return pd.DataFrame(values, columns=[f"prediction_{output}" for output in outputs])
