"""The commands and their options; each command is a module that is imported when it runs."""

from __future__ import annotations

import math
import re
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from gegenbauer.cli.choices import Domain, IndexSet, OutOfRange, Task

__all__ = ["app"]

app = typer.Typer(
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

_MAX_SEED = 2**32 - 1  # of NumPy's generator that scikit-learn uses

_MODEL_PANEL = "The model (defaults: the setting of the paper)"

_CHECK_PANEL = "The score on rows held out"

_DATA_PANEL = "The table"

_STREAM_PANEL = "Tables beyond memory"

# Whether a path can be read is found out where it is read: there, the error can say more.
TableArgument = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        readable=False,
        help="CSV or Parquet file (.csv, .tsv, .parquet) with a header.",
    ),
]

TablesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="TABLE...",
        readable=False,
        help="CSV or Parquet file (.csv, .tsv, .parquet) with a header; with --stream also several "
        "files, or a folder of them.",
    ),
]

ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", readable=False, help="File that fit or tune wrote.")
]

TargetOption = Annotated[
    str, typer.Option(metavar="COLUMN", help="Column to learn.", rich_help_panel=_DATA_PANEL)
]

TaskOption = Annotated[
    Task,
    typer.Option(
        metavar="TASK",
        help="classification, regression or auto, which decides by the column and reports why: "
        "text, true and false, or few whole numbers are classes.",
        rich_help_panel=_DATA_PANEL,
    ),
]

IgnoreOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that is no input; repeat it for more.",
        show_default=False,
        rich_help_panel=_DATA_PANEL,
    ),
]

ModelOutput = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="MODEL", readable=False,
        help="Save the model here, by custom as .safetensors.",
    ),
]  # fmt: skip

Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR", help="Separator of a CSV file; 'tab' for tabs.",
        show_default="a comma, or a tab in .tsv files", rich_help_panel=_DATA_PANEL,
    ),
]  # fmt: skip

Jobs = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Number of threads.", show_default="all")
]


@app.callback()
def gegenbauer(
    version: Annotated[  # its callback does the work
        bool,
        typer.Option(
            "--version",
            help="Print the version and leave.",
            is_eager=True,
            callback=lambda value: _print_version() if value else None,
        ),
    ] = False,
    debug: Annotated[  # main() takes it out of the arguments
        bool, typer.Option("--debug", help="With an error, print where it came from; anywhere.")
    ] = False,
) -> None:
    """Learn tables with tensor products of Gegenbauer polynomials and one linear solve."""


def _print_version() -> None:
    print(f"gegenbauer {metadata.version('gegenbauer')}")
    raise typer.Exit


@app.command()
def fit(
    tables: TablesArgument,
    target: TargetOption,
    task: TaskOption = Task.auto,
    ignore: IgnoreOption = None,
    separator: Separator = None,
    out: ModelOutput = None,
    n_terms: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="Number of terms, or 'all' of --degree.",
            show_default="1000, or all if --degree is given", rich_help_panel=_MODEL_PANEL,
        ),
    ] = None,
    degree: Annotated[
        str | None,
        typer.Option(
            metavar="D", help="Highest degree; one for each input, as in 3,2,2, with "
            "--index-set tensor.",
            show_default="as --n-terms needs", rich_help_panel=_MODEL_PANEL,
        ),
    ] = None,
    lam: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER", help="Parameter of the polynomials, above -1/2.",
            show_default="0.05", rich_help_panel=_MODEL_PANEL,
        ),
    ] = None,
    alpha: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER", help="Ridge penalty, from 0 up; also written as 2^-12. With "
            "--stream also 'auto': the best of 2^-30 to 2^30 by generalised cross-validation.",
            show_default="2^-12", rich_help_panel=_MODEL_PANEL,
        ),
    ] = None,
    free_constant: Annotated[
        bool,
        typer.Option(
            "--free-constant", help="Leave the constant term without penalty: for targets whose "
            "mean is far from zero.",
            rich_help_panel=_MODEL_PANEL,
        ),
    ] = False,
    domain: Annotated[
        Domain | None,
        typer.Option(
            metavar="A,B", help="Interval to which the inputs are scaled: 0,1 or -1,1.",
            show_default="0,1", rich_help_panel=_MODEL_PANEL,
        ),
    ] = None,
    index_set: Annotated[
        IndexSet | None,
        typer.Option(
            metavar="SET", help="Which terms are used: total_degree, tensor, hyperbolic_cross or "
            "largest_weight.",
            show_default="total_degree", rich_help_panel=_MODEL_PANEL,
        ),
    ] = None,
    max_interaction: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Most inputs in one term.",
            show_default="no limit", rich_help_panel=_MODEL_PANEL,
        ),
    ] = None,
    spectrum: Annotated[
        str | None,
        typer.Option(
            metavar="WEIGHTS", help="Weights of the terms: 'orthonormal', or Q,S for the decay "
            "of an interaction and of a degree.",
            show_default="raw polynomials", rich_help_panel=_MODEL_PANEL,
        ),
    ] = None,
    out_of_range: Annotated[
        OutOfRange | None,
        typer.Option(
            metavar="POLICY", help="What predictions do with values beyond those seen here: "
            "clip, warn, error or extrapolate.",
            show_default="warn", rich_help_panel=_MODEL_PANEL,
        ),
    ] = None,
    validation_fraction: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="Share of the rows to hold out, below 1; 0 for no score.",
            rich_help_panel=_CHECK_PANEL,
        ),
    ] = 0.25,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=_MAX_SEED, help="Chooses these rows.",
            rich_help_panel=_CHECK_PANEL,
        ),
    ] = 0,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream", help="Read in batches: for tables that do not fit into memory.",
            rich_help_panel=_STREAM_PANEL,
        ),
    ] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", readable=False, help="Keep here what was learned so far; the same "
            "command goes on from there after an interrupt.",
            rich_help_panel=_STREAM_PANEL,
        ),
    ] = None,
    n_jobs: Jobs = None,
) -> None:  # fmt: skip
    """Learn one column of a table from the others, and score the model on rows held out.

    The model that is kept is fitted on all rows.

    [dim]gegenbauer fit iris.csv --target species --out iris.safetensors[/]

    [dim]gegenbauer fit folder --target y --stream --checkpoint run.safetensors[/]
    """
    if not stream and len(tables) > 1:
        raise typer.BadParameter("several tables need --stream", param_hint="TABLE")
    if not stream and checkpoint is not None:
        raise typer.BadParameter("needs --stream", param_hint="--checkpoint")
    choose_alpha = alpha == "auto"
    if choose_alpha:
        if not stream:
            raise typer.BadParameter(
                "'auto' needs --stream; of a table in memory, gegenbauer tune chooses all settings",
                param_hint="--alpha",
            )
        alpha = None
    parameters = {
        "n_terms": _terms(n_terms, degree),
        "degree": _degree(degree),
        "lam": _number(lam, "--lam", above=-0.5),
        "alpha": _number(alpha, "--alpha", least=0.0),
        "penalize_constant": False if free_constant else None,
        "domain": None if domain is None else tuple(int(end) for end in domain.split(",")),
        "index_set": index_set and index_set.value,
        "max_interaction": max_interaction,
        "spectrum": _spectrum(spectrum),
        "out_of_range": out_of_range and out_of_range.value,
        "n_jobs": n_jobs,
    }
    given: dict[str, Any] = {k: value for k, value in parameters.items() if value is not None}
    if degree is not None and "n_terms" not in given:
        given["n_terms"] = None
    if isinstance(given.get("degree"), tuple) and index_set is not IndexSet.tensor:
        raise typer.BadParameter("several degrees need --index-set tensor", param_hint="--degree")
    if index_set is IndexSet.largest_weight and not isinstance(given.get("spectrum"), tuple):
        raise typer.BadParameter("largest_weight needs --spectrum Q,S", param_hint="--index-set")
    if not 0 <= validation_fraction < 1:
        raise typer.BadParameter(
            f"{validation_fraction:g} is not from 0 to below 1", param_hint="--validation-fraction"
        )

    options: dict[str, Any] = {
        "target": target,
        "task": task,
        "out": out,
        "parameters": given,
        "ignored": ignore or [],
        "validation_fraction": validation_fraction,
        "seed": seed,
        "separator": _separator(separator),
    }
    if stream:
        from gegenbauer.cli.commands import stream as streaming

        streaming.run(tables, checkpoint=checkpoint, choose_alpha=choose_alpha, **options)
    else:
        from gegenbauer.cli.commands.fit import run

        run(tables[0], **options)


@app.command()
def tune(
    table: TableArgument,
    target: TargetOption,
    task: TaskOption = Task.auto,
    ignore: IgnoreOption = None,
    separator: Separator = None,
    out: ModelOutput = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", readable=False,
            help="Draw the scores and the probabilities or leave-one-out predictions, as .svg, "
            ".png or .pdf.",
        ),
    ] = None,
    n_terms: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Number of terms of largest weight.",
            show_default="all there are for up to 5000 rows, else 2000",
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
    n_jobs: Jobs = None,
) -> None:  # fmt: skip
    """Learn one column of a table from the others, and choose all settings by the data.

    The scores are those of exact leave-one-out, so no rows are held back.

    [dim]gegenbauer tune iris.csv --target species --out iris.safetensors --plot iris.svg[/]
    """
    parameters = {
        "n_terms": n_terms,
        "out_of_range": out_of_range and out_of_range.value,
        "n_jobs": n_jobs,
    }

    from gegenbauer.cli.commands.tune import run

    run(
        table,
        target=target,
        task=task,
        out=out,
        plot=plot,
        parameters={name: value for name, value in parameters.items() if value is not None},
        ignored=ignore or [],
        separator=_separator(separator),
    )


@app.command()
def predict(
    model: ModelArgument,
    table: TableArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", readable=False, help="Write the predictions here, as .csv or .parquet.",
            show_default="CSV to stdout",
        ),
    ] = None,
    out_of_range: Annotated[
        OutOfRange | None,
        typer.Option(
            metavar="POLICY", help="What to do with values beyond those seen in fit: clip, warn, "
            "error or extrapolate.",
            show_default="as in fit",
        ),
    ] = None,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities", help="Add the probability of each class, of a model that tune wrote."
        ),
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Add an interval that holds this share of the values, such as "
            "0.9, of a model that tune wrote.",
        ),
    ] = None,
    separator: Separator = None,
    n_jobs: Jobs = None,
) -> None:  # fmt: skip
    """Apply a model to a table: one prediction a row.

    Columns are found by their names; others are ignored.

    [dim]gegenbauer predict iris.safetensors new.csv --out predicted.csv[/]
    """
    if interval is not None and not 0 < interval < 1:
        raise typer.BadParameter(f"{interval:g} is not between 0 and 1", param_hint="--interval")

    from gegenbauer.cli.commands.predict import run

    run(
        model,
        table,
        out=out,
        out_of_range=out_of_range and out_of_range.value,
        probabilities=probabilities,
        interval=interval,
        n_jobs=n_jobs,
        separator=_separator(separator),
    )


@app.command()
def info(
    model: ModelArgument,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, help="Most inputs and terms to list.")
    ] = 10,
) -> None:
    """Show what a model file holds: inputs, classes, parameters and the largest weights."""
    from gegenbauer.cli.commands.info import run

    run(model, limit=limit)


@app.command()
def demo(
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, max=_MAX_SEED, help="Chooses the rows held out.")
    ] = 0,
) -> None:
    """Learn Iris, Wine and Breast Cancer as the paper does, beside the paper in plain NumPy."""
    from gegenbauer.cli.commands.demo import run

    run(seed)


# ---- options that are more than a word or a number -----------------------------------


def _number(
    text: str | None, option: str, *, least: float = -math.inf, above: float = -math.inf
) -> float | None:
    """Read a finite number, or a power such as 2^-12 or 2**-12."""
    if text is None:
        return None
    power = re.fullmatch(r"\s*(\d+)(?:\^|\*\*)([+-]?\d{1,4})\s*", text)
    try:
        value = float(power[1]) ** int(power[2]) if power else float(text)
    except (ValueError, OverflowError, ZeroDivisionError):
        value = math.nan
    if not (math.isfinite(value) and value >= least and value > above):
        wanted = f"above {above:g}" if above > -math.inf else f"of at least {least:g}"
        raise typer.BadParameter(f"{text!r} is no number {wanted}", param_hint=option)
    return value


def _terms(text: str | None, degree: str | None) -> int | None:
    """Read a number of terms; None for all."""
    if text is None:
        return None
    if text.casefold() == "all":
        if degree is None:
            raise typer.BadParameter("'all' needs --degree", param_hint="--n-terms")
        return None
    if not re.fullmatch(r"\d{1,18}", text) or int(text) < 1:
        raise typer.BadParameter(
            f"{text!r} is neither a number from 1 up nor 'all'", param_hint="--n-terms"
        )
    return int(text)


def _degree(text: str | None) -> int | tuple[int, ...] | None:
    """Read one degree, or several with commas between."""
    if text is None:
        return None
    if not re.fullmatch(r"\d{1,9}(,\d{1,9})*", text):
        raise typer.BadParameter(
            f"{text!r} is neither a number from 0 up nor several with commas between, as in 3,2,2",
            param_hint="--degree",
        )
    degrees = tuple(int(part) for part in text.split(","))
    return degrees if len(degrees) > 1 else degrees[0]


def _spectrum(text: str | None) -> str | tuple[float, ...] | None:
    """Read 'orthonormal' or Q,S."""
    if text is None or text == "orthonormal":
        return text
    parts = text.split(",")
    if len(parts) != 2:
        raise typer.BadParameter(
            f"{text!r} is neither 'orthonormal' nor two numbers Q,S", param_hint="--spectrum"
        )
    return tuple(_number(part, "--spectrum", above=0.0) or 0.0 for part in parts)


def _separator(text: str | None) -> str | None:
    if text is None:
        return None
    text = "\t" if text in ("tab", r"\t") else text
    if len(text) != 1 or text in '"\r\n' or not text.isascii():
        raise typer.BadParameter(
            f"{text!r} is neither one character of ASCII nor 'tab'", param_hint="--separator"
        )
    return text
