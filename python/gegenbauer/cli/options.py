"""Every option of the command line that two commands share or that takes more than a word.

An option is declared once, as an annotated type, and reads its own text: a command gets values.
`model_parameters` checks what options mean together, and gives the estimators their parameters.
By `Sets`, messages of the library find the way back to the option.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gegenbauer._validation import MAX_THREADS
from gegenbauer.cli.choices import Domain, IndexSet, OutOfRange
from gegenbauer.cli.config import take_options
from gegenbauer.cli.messages import UserError
from gegenbauer.cli.parameters import Sets
from gegenbauer.cli.results import turn_on

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ALL_TERMS",
    "AUTO",
    "Alpha",
    "Checkpoint",
    "Config",
    "Degree",
    "DomainOption",
    "FreeConstant",
    "IndexSetOption",
    "Interval",
    "Jobs",
    "Json",
    "Lam",
    "MaxInteraction",
    "ModelArgument",
    "ModelOutput",
    "OutOfRangeOfModel",
    "OutOfRangeOption",
    "Seed",
    "Spectra",
    "SpectrumOption",
    "Stream",
    "Terms",
    "ValidationFraction",
    "model_parameters",
    "number",
    "whole_number",
]

AUTO = "auto"  # of --alpha

ALL_TERMS = "all"  # of --n-terms

_MAX_SEED = 2**32 - 1  # of NumPy's generator that scikit-learn uses

_MODEL_PANEL = "The model (defaults: the setting of the paper)"

_CHECK_PANEL = "The score on rows held out"

_STREAM_PANEL = "Tables beyond memory"


# ---- what options read -----------------------------------------------------------------


def number(text: str, *, least: float = -math.inf, above: float = -math.inf) -> float:
    """Read a finite number, or a power such as 2^-12 or 2**-12.

    Parameters
    ----------
    text : str
        What was given.
    least, above : float
        Bounds: the number must be at least `least`, and above `above`.

    Raises
    ------
    typer.BadParameter
        It is no such number.

    Examples
    --------
    >>> number("2^-3"), number("0.5", least=0.0)
    (0.125, 0.5)
    """
    power = re.fullmatch(r"\s*(\d+)(?:\^|\*\*)([+-]?\d{1,4})\s*", text)
    try:
        value = float(power[1]) ** int(power[2]) if power else float(text)
    except (ValueError, OverflowError, ZeroDivisionError):
        value = math.nan
    if not (math.isfinite(value) and value >= least and value > above):
        wanted = f"above {above:g}" if above > -math.inf else f"of at least {least:g}"
        raise typer.BadParameter(f"{text!r} is no number {wanted}")
    return value


def _read_alpha(text: str) -> float | str:
    return AUTO if text == AUTO else number(text, least=0.0)


def _read_lam(text: str) -> float:
    return number(text, above=-0.5)


def whole_number(least: int, most: int | None = None, note: str = "") -> Callable[[Any], int]:
    """Return what reads a whole number within bounds.

    Parameters
    ----------
    least, most : int
        The bounds; None for no upper one.
    note : str
        What the error adds.

    Examples
    --------
    >>> whole_number(1)("3")
    3
    """
    wanted = f"from {least} up" if most is None else f"from {least} to {most}"

    def read(text: Any) -> int:
        try:
            found = int(str(text))
        except ValueError:
            found = least - 1
        if found < least or (most is not None and found > most):
            raise typer.BadParameter(f"{str(text)!r} is no whole number {wanted}{note}")
        return found

    return read


def _read_terms(text: str) -> int | str:
    """Read a number of terms, or 'all'."""
    if text.casefold() == ALL_TERMS:
        return ALL_TERMS
    if not re.fullmatch(r"\d{1,18}", text) or int(text) < 1:
        raise typer.BadParameter(f"{text!r} is neither a number from 1 up nor 'all'")
    return int(text)


def _read_degree(text: str) -> int | tuple[int, ...]:
    """Read one degree, or several with commas between."""
    if not re.fullmatch(r"\d{1,9}(,\d{1,9})*", text):
        raise typer.BadParameter(
            f"{text!r} is neither a number from 0 up nor several with commas between, as in 3,2,2"
        )
    degrees = tuple(int(part) for part in text.split(","))
    return degrees if len(degrees) > 1 else degrees[0]


def _read_domain(text: str) -> tuple[int, ...]:
    if text not in [*Domain]:
        raise typer.BadParameter(f"{text!r} is not one of '0,1', '-1,1'")
    return tuple(int(end) for end in text.split(","))


def _read_spectrum(text: str) -> str | tuple[float, ...]:
    """Read 'orthonormal' or Q,S."""
    if text == "orthonormal":
        return text
    parts = text.split(",")
    if len(parts) != 2:
        raise typer.BadParameter(f"{text!r} is neither 'orthonormal' nor two numbers Q,S")
    return tuple(number(part, above=0.0) for part in parts)


def _read_spectra(text: str) -> int:
    if text not in ("1", "5"):
        raise typer.BadParameter(f"{text!r} is neither 1 nor 5")
    return int(text)


def _as_float(text: Any) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _read_share(text: Any) -> float:
    if not 0 <= (value := _as_float(text)) < 1:
        raise typer.BadParameter(f"{str(text)!r} is not from 0 to below 1")
    return value


def _read_coverage(text: Any) -> float:
    if not 0 < (value := _as_float(text)) < 1:
        raise typer.BadParameter(f"{str(text)!r} is not between 0 and 1")
    return value


# ---- the options -----------------------------------------------------------------------


ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", readable=False, help="File that fit or tune wrote.")
]


ModelOutput = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="MODEL", readable=False,
        help="Save the model here, by custom as .safetensors.",
    ),
]  # fmt: skip


Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Report in JSON: one object, of errors on stderr.",
        callback=lambda value: turn_on() if value else None,
    ),
]  # fmt: skip

Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", readable=False, is_eager=True, callback=take_options,
        help="Options in TOML, as in n-terms = 300; those of the command line come first.",
        show_default=False,
    ),
]  # fmt: skip

Jobs = Annotated[
    Any,
    typer.Option(
        parser=whole_number(1, MAX_THREADS),
        metavar="N", help="Number of threads.", show_default="all",
    ),
]  # fmt: skip

Terms = Annotated[
    Any,
    typer.Option(
        parser=_read_terms,
        metavar="N", help="Number of terms, or 'all' of --degree.",
        show_default="1000, or all if --degree is given", rich_help_panel=_MODEL_PANEL,
    ),
    Sets(values={"None": f"--n-terms {ALL_TERMS}"}),
]  # fmt: skip

Degree = Annotated[
    Any,
    typer.Option(
        parser=_read_degree,
        metavar="D", help="Highest degree; one for each input, as in 3,2,2, with "
        "--index-set tensor.",
        show_default="as --n-terms needs", rich_help_panel=_MODEL_PANEL,
    ),
]  # fmt: skip

Lam = Annotated[
    Any,
    typer.Option(
        parser=_read_lam,
        metavar="NUMBER", help="Parameter of the polynomials, above -1/2.",
        show_default="0.05", rich_help_panel=_MODEL_PANEL,
    ),
]  # fmt: skip

Alpha = Annotated[
    Any,
    typer.Option(
        parser=_read_alpha,
        metavar="NUMBER", help="Ridge penalty, from 0 up; also written as 2^-12. With "
        "--stream also 'auto': the best of 2^-30 to 2^30 by generalised cross-validation.",
        show_default="2^-12", rich_help_panel=_MODEL_PANEL,
    ),
    Sets(calls={"choose_alpha()": f"--alpha {AUTO}"}),
]  # fmt: skip

FreeConstant = Annotated[
    bool,
    typer.Option(
        "--free-constant", help="Leave the constant term without penalty: for targets whose "
        "mean is far from zero.",
        rich_help_panel=_MODEL_PANEL,
    ),
    Sets(("penalize_constant",), {"False": "--free-constant"}),
]  # fmt: skip

DomainOption = Annotated[
    Any,
    typer.Option(
        parser=_read_domain,
        metavar="A,B", help="Interval to which the inputs are scaled: 0,1 or -1,1.",
        show_default="0,1", rich_help_panel=_MODEL_PANEL,
    ),
]  # fmt: skip

IndexSetOption = Annotated[
    IndexSet | None,
    typer.Option(
        metavar="SET", help="Which terms are used: total_degree, tensor, hyperbolic_cross or "
        "largest_weight.",
        show_default="total_degree", rich_help_panel=_MODEL_PANEL,
    ),
]  # fmt: skip

MaxInteraction = Annotated[
    Any,
    typer.Option(
        parser=whole_number(1),
        metavar="N", help="Most inputs in one term.",
        show_default="no limit", rich_help_panel=_MODEL_PANEL,
    ),
]  # fmt: skip

SpectrumOption = Annotated[
    Any,
    typer.Option(
        parser=_read_spectrum,
        metavar="WEIGHTS", help="Weights of the terms: 'orthonormal', or Q,S for the decay "
        "of an interaction and of a degree.",
        show_default="raw polynomials", rich_help_panel=_MODEL_PANEL,
    ),
    Sets(values={"(q, s)": "--spectrum Q,S"}),
]  # fmt: skip

OutOfRangeOption = Annotated[
    OutOfRange | None,
    typer.Option(
        metavar="POLICY", help="What predictions do with values beyond those seen here: "
        "clip, warn, error or extrapolate.",
        show_default="warn", rich_help_panel=_MODEL_PANEL,
    ),
]  # fmt: skip

OutOfRangeOfModel = Annotated[
    OutOfRange | None,
    typer.Option(
        metavar="POLICY", help="What to do with values beyond those seen in fit: clip, warn, "
        "error or extrapolate.",
        show_default="as in fit",
    ),
]  # fmt: skip

ValidationFraction = Annotated[
    Any,
    typer.Option(
        parser=_read_share,
        metavar="SHARE", help="Share of the rows to hold out, below 1; 0 for no score.",
        rich_help_panel=_CHECK_PANEL,
    ),
]  # fmt: skip

Seed = Annotated[
    Any,
    typer.Option(
        parser=whole_number(0, _MAX_SEED),
        metavar="N", help="Chooses the rows held out.",
        rich_help_panel=_CHECK_PANEL,
    ),
]  # fmt: skip

Spectra = Annotated[
    Any,
    typer.Option(
        parser=_read_spectra,
        metavar="N", help="Number of spectra that are learned, 1 or 5: each of five without a "
        "fifth of the rows, so that scores and probabilities are honest where rows are few.",
        show_default="of numbers 5 for up to 300 rows, else 1",
    ),
    Sets(
        ("n_spectra", "intervals"),
        {
            "'auto'": "no --n-spectra",
            "'one_spectrum'": "--n-spectra 1",
            "'five_spectra'": "--n-spectra 5",
        },
    ),
]  # fmt: skip

Stream = Annotated[
    bool,
    typer.Option(
        "--stream", help="Read in batches: for tables that do not fit into memory.",
        rich_help_panel=_STREAM_PANEL,
    ),
    Sets(calls={"fit()": "no --stream"}),
]  # fmt: skip

OfLandmarks = Annotated[
    bool,
    typer.Option(
        "--landmarks", help="With --stream: take all terms, in the span of the kernel at some of "
        "the first 20,000 rows, whose range is the box; for rough functions of several columns.",
        rich_help_panel=_STREAM_PANEL,
    ),
]  # fmt: skip

Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", readable=False, help="Keep here what was learned so far; the same "
        "command goes on from there after an interrupt.",
        rich_help_panel=_STREAM_PANEL,
    ),
]  # fmt: skip

Interval = Annotated[
    Any,
    typer.Option(
        parser=_read_coverage,
        metavar="SHARE", help="Add an interval that holds this share of "
        "the values, such as 0.9, of a model that tune wrote.",
    ),
    Sets(("coverage",)),
]  # fmt: skip


# ---- what they mean together -----------------------------------------------------------


def model_parameters(
    *,
    n_terms: int | str | None,
    degree: int | tuple[int, ...] | None,
    index_set: IndexSet | None,
    spectrum: str | tuple[float, ...] | None,
    free_constant: bool,
    out_of_range: OutOfRange | None,
    **others: Any,
) -> dict[str, Any]:
    """Return the parameters of an estimator that were given.

    Parameters
    ----------
    n_terms, degree, index_set, spectrum, free_constant, out_of_range, **others
        As the options read them; None for an option that was not given.

    Raises
    ------
    UserError
        An option needs another one.
    """
    if n_terms == ALL_TERMS and degree is None:
        raise UserError("--n-terms all needs --degree")
    if isinstance(degree, tuple) and index_set is not IndexSet.tensor:
        raise UserError("several degrees in --degree need --index-set tensor")
    if index_set is IndexSet.largest_weight and not isinstance(spectrum, tuple):
        raise UserError("--index-set largest_weight needs --spectrum Q,S")
    parameters = {
        "n_terms": None if n_terms == ALL_TERMS else n_terms,
        "degree": degree,
        "penalize_constant": False if free_constant else None,
        "index_set": index_set and index_set.value,
        "spectrum": spectrum,
        "out_of_range": out_of_range and out_of_range.value,
        **others,
    }
    given = {name: value for name, value in parameters.items() if value is not None}
    return {"n_terms": None, **given} if degree is not None else given
