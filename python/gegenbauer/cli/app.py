"""The commands; each is a module that is imported when it runs.

What they take stands in `options` and `table_options`.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path  # noqa: TC003  # typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gegenbauer.cli import options as opt
from gegenbauer.cli import table_options as tab
from gegenbauer.cli.choices import OutOfRange, Target, Task
from gegenbauer.cli.messages import UserError
from gegenbauer.cli.parameters import naming_options_of
from gegenbauer.cli.piped import at_hand
from gegenbauer.cli.results import collector

if TYPE_CHECKING:
    from gegenbauer.cli.training import Source

__all__ = ["app"]

app = typer.Typer(
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback()
def gegenbauer(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001  # its callback does the work
        bool,
        typer.Option(
            "--version",
            help="Print the version and leave.",
            is_eager=True,
            callback=lambda value: _print_version() if value else None,
        ),
    ] = False,
    debug: Annotated[  # noqa: ARG001  # main() takes it out of the arguments
        bool, typer.Option("--debug", help="With an error, print where it came from; anywhere.")
    ] = False,
) -> None:
    """Learn tables with tensor products of Gegenbauer polynomials and one linear solve."""
    collector().command = context.invoked_subcommand or ""
    for command in app.registered_commands:
        if command.callback is not None and command.callback.__name__ == context.invoked_subcommand:
            context.with_resource(naming_options_of(command.callback))


def _print_version() -> None:
    print(f"gegenbauer {metadata.version('gegenbauer')}")
    raise typer.Exit


def _source(
    target: str,
    task: Task,
    ignored: list[str] | None,
    ids: list[str] | None,
    weight: str | None,
    *dialect: Any,
) -> Source:
    """Return what is learned of tables, and how these are written."""
    from gegenbauer.cli.tables import Parts
    from gegenbauer.cli.training import Source

    parts = Parts(target, ignored or [], ids or [], weight)
    return Source(parts, task, tab.dialect_of(*dialect))


@app.command()
def fit(
    tables: tab.TablesArgument,
    target: tab.Target,
    task: tab.TaskOption = Task.auto,
    ignore: tab.Ignore = None,
    id_columns: tab.Ids = None,
    weight: tab.Weight = None,
    separator: tab.Separator = None,
    decimal: tab.Decimal = None,
    na: tab.Missing = None,
    out: opt.ModelOutput = None,
    n_terms: opt.Terms = None,
    degree: opt.Degree = None,
    lam: opt.Lam = None,
    alpha: opt.Alpha = None,
    free_constant: opt.FreeConstant = False,
    domain: opt.DomainOption = None,
    index_set: opt.IndexSetOption = None,
    max_interaction: opt.MaxInteraction = None,
    spectrum: opt.SpectrumOption = None,
    out_of_range: opt.OutOfRangeOption = None,
    validation_fraction: opt.ValidationFraction = 0.25,
    seed: opt.Seed = 0,
    stream: opt.Stream = False,
    checkpoint: opt.Checkpoint = None,
    n_jobs: opt.Jobs = None,
    config: opt.Config = None,  # noqa: ARG001  # its callback does the work
    as_json: opt.Json = False,  # noqa: ARG001  # likewise
) -> None:
    """Learn one column of a table from the others, and score the model on rows held out.

    The model that is kept is fitted on all rows.

    [dim]gegenbauer fit iris.csv --target species --out iris.safetensors[/]

    [dim]gegenbauer fit folder --target y --stream --checkpoint run.safetensors[/]
    """
    if not stream:
        tab.require_one_table(tables)
        if checkpoint is not None:
            raise UserError("--checkpoint needs --stream")
        if alpha == opt.AUTO:
            raise UserError(
                "--alpha auto needs --stream; of a table in memory, gegenbauer tune chooses all "
                "settings"
            )
    parameters = opt.model_parameters(
        n_terms=n_terms, degree=degree, index_set=index_set, spectrum=spectrum,
        free_constant=free_constant, out_of_range=out_of_range, lam=lam,
        alpha=None if alpha == opt.AUTO else alpha, domain=domain,
        max_interaction=max_interaction, n_jobs=n_jobs,
    )  # fmt: skip
    source = _source(target, task, ignore, id_columns, weight, separator, decimal, na)
    data: dict[str, Any] = {
        "out": out, "parameters": parameters, "validation_fraction": validation_fraction,
        "seed": seed,
    }  # fmt: skip
    with at_hand(tables) as paths:
        if stream:
            from gegenbauer.cli.commands import stream as streaming

            choose = alpha == opt.AUTO
            streaming.run(paths, source, checkpoint=checkpoint, choose_alpha=choose, **data)
        else:
            from gegenbauer.cli.commands.fit import run

            run(paths[0], source, **data)


@app.command()
def tune(
    tables: tab.TablesArgument,
    target: tab.Target,
    task: tab.TaskOption = Task.auto,
    ignore: tab.Ignore = None,
    id_columns: tab.Ids = None,
    weight: tab.Weight = None,
    separator: tab.Separator = None,
    decimal: tab.Decimal = None,
    na: tab.Missing = None,
    out: opt.ModelOutput = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", readable=False,
            help="Draw the scores and the probabilities or leave-one-out predictions, as .svg, "
            ".png or .pdf.",
        ),
    ] = None,
    n_terms: Annotated[
        Any,
        typer.Option(
            parser=opt.whole_number(1, note="; without --n-terms all terms are taken"),
            metavar="N", help="Number of terms of largest weight.",
            show_default="all there are for up to some 280,000 rows, by the machine, else 2000; "
            "with --stream the best of 250, 500, 1000 and 2000",
        ),
    ] = None,
    out_of_range: Annotated[
        OutOfRange | None,
        typer.Option(
            metavar="POLICY", help="What predictions do with values beyond those seen here: "
            "clip, warn, error or, with --n-terms, extrapolate.",
            show_default="warn",
        ),
    ] = None,
    max_seconds: Annotated[
        Any,
        typer.Option(
            parser=lambda text: opt.number(text, above=0.0), metavar="SECONDS",
            help="About how long the fit may take: where it would take longer, cheaper ways are "
            "taken, and reported.",
            show_default="no limit",
        ),
    ] = None,
    n_spectra: opt.Spectra = None,
    stream: opt.Stream = False,
    landmarks: opt.OfLandmarks = False,
    n_jobs: opt.Jobs = None,
    config: opt.Config = None,  # noqa: ARG001  # its callback does the work
    as_json: opt.Json = False,  # noqa: ARG001  # likewise
) -> None:  # fmt: skip
    """Learn one column of a table from the others, and choose all settings by the data.

    The scores are those of exact leave-one-out, so no rows are held back.

    With --stream they are those of five folds, from one pass over the tables.

    [dim]gegenbauer tune iris.csv --target species --out iris.safetensors --plot iris.svg[/]

    [dim]gegenbauer tune folder --target y --stream --out model.safetensors[/]
    """
    if not stream:
        tab.require_one_table(tables)
        if landmarks:
            raise UserError("--landmarks needs --stream")
    elif landmarks and n_terms is not None:
        raise UserError("--landmarks takes all terms: leave out --n-terms")
    elif max_seconds is not None:
        raise UserError(
            "--max-seconds is for a table in memory: leave it out, for --stream takes as long as "
            "one pass does"
        )
    elif n_spectra is not None:
        raise UserError(
            "--n-spectra is for a table in memory: leave it out, for --stream has the sums of five "
            "folds"
        )
    parameters = {
        "n_terms": n_terms,
        "max_seconds": max_seconds,
        "out_of_range": out_of_range and out_of_range.value,
        "n_jobs": n_jobs,
    }
    source = _source(target, task, ignore, id_columns, weight, separator, decimal, na)
    data: dict[str, Any] = {
        "out": out, "plot": plot,
        "parameters": {name: value for name, value in parameters.items() if value is not None},
    }  # fmt: skip
    with at_hand(tables) as paths:
        if stream:
            from gegenbauer.cli.commands import tune_stream

            tune_stream.run(paths, source, landmarks=landmarks, **data)
        else:
            from gegenbauer.cli.commands.tune import run

            run(paths[0], source, n_spectra=n_spectra, **data)


@app.command()
def predict(
    model: opt.ModelArgument,
    table: tab.TableArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", readable=False, help="Write the predictions here, in the format "
            "of the name's ending, as a table is read.",
            show_default="-, CSV to stdout",
        ),
    ] = None,
    out_of_range: opt.OutOfRangeOfModel = None,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities", help="Add the probability of each class, of a model that tune wrote."
        ),
    ] = False,
    interval: opt.Interval = None,
    id_columns: tab.IdsOfPredictions = None,
    separator: tab.Separator = None,
    decimal: tab.Decimal = None,
    na: tab.Missing = None,
    n_jobs: opt.Jobs = None,
    config: opt.Config = None,  # noqa: ARG001  # its callback does the work
    as_json: opt.Json = False,  # noqa: ARG001  # likewise
) -> None:  # fmt: skip
    """Apply a model to a table: one prediction a row.

    Columns are found by their names; others are ignored.

    [dim]gegenbauer predict iris.safetensors new.csv --out predicted.csv[/]
    """
    from gegenbauer.cli.commands.predict import run

    dialect = tab.dialect_of(separator, decimal, na)
    with at_hand([table]) as paths:
        run(
            model,
            paths[0],
            out=out,
            out_of_range=out_of_range and out_of_range.value,
            probabilities=probabilities,
            interval=interval,
            n_jobs=n_jobs,
            dialect=dialect,
            ids=id_columns or [],
            makers=(fit, tune),
        )


@app.command()
def export(
    model: opt.ModelArgument,
    to: Annotated[
        Target,
        typer.Option(
            metavar="TARGET", help="What to write: onnx, c (C99), numpy (a Python module) or sql "
            "(PostgreSQL and DuckDB).",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", readable=False, help="Write it here; ONNX, which is no text, needs it.",
            show_default="-, text to stdout",
        ),
    ] = None,
    out_of_range: opt.OutOfRangeOfModel = None,
    float32: Annotated[
        bool, typer.Option("--float32", help="With --to onnx, numbers of float32.")
    ] = False,
    config: opt.Config = None,  # noqa: ARG001  # its callback does the work
    as_json: opt.Json = False,  # noqa: ARG001  # likewise
) -> None:  # fmt: skip
    """Write a model for other places, where gegenbauer is not installed.

    [dim]gegenbauer export model.safetensors --to c --out model.c[/]
    """
    from gegenbauer.cli.commands.export import run

    run(
        model,
        target=to,
        out=out,
        out_of_range=out_of_range and out_of_range.value,
        float32=float32,
        makers=(fit, tune),
    )


@app.command()
def info(
    model: opt.ModelArgument,
    limit: Annotated[
        Any,
        typer.Option(
            parser=opt.whole_number(1), metavar="N", help="Most inputs and terms to list."
        ),
    ] = 10,
    config: opt.Config = None,  # noqa: ARG001  # its callback does the work
    as_json: opt.Json = False,  # noqa: ARG001  # likewise
) -> None:
    """Show what a model file holds: inputs, classes, parameters and the largest weights."""
    from gegenbauer.cli.commands.info import run

    run(model, limit=limit)


@app.command()
def report(
    model: opt.ModelArgument,
    table: tab.TableArgument,
    out: Annotated[
        Path, typer.Option(metavar="FILE", readable=False, help="Write the page here, as .html.")
    ],
    target: tab.TargetOfModel = None,
    separator: tab.Separator = None,
    decimal: tab.Decimal = None,
    na: tab.Missing = None,
    n_jobs: opt.Jobs = None,
    config: opt.Config = None,  # noqa: ARG001  # its callback does the work
    as_json: opt.Json = False,  # noqa: ARG001  # likewise
) -> None:
    """Write a page on a model and a table: scores, inputs, effects, explained predictions.

    The page holds its plots and loads nothing from elsewhere. With the table of the fit itself,
    scores of a model that tune wrote are those of samples left out.

    [dim]gegenbauer report iris.safetensors iris.csv --target species --out report.html[/]
    """
    from gegenbauer.cli.commands.report import run

    dialect = tab.dialect_of(separator, decimal, na)
    with at_hand([table]) as paths:
        run(model, paths[0], out=out, target=target, dialect=dialect, n_jobs=n_jobs)


@app.command()
def demo(
    seed: opt.Seed = 0,
    config: opt.Config = None,  # noqa: ARG001  # its callback does the work
    as_json: opt.Json = False,  # noqa: ARG001  # likewise
) -> None:
    """Learn Iris, Wine and Breast Cancer as the paper does, beside the paper in plain NumPy."""
    from gegenbauer.cli.commands.demo import run

    run(seed)
