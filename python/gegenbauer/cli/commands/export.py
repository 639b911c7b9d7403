"""``gegenbauer export``: a model for other places."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from gegenbauer.cli.choices import Target
from gegenbauer.cli.commands.predict import load_model, maker_of
from gegenbauer.cli.files import STANDARD, check_output, write_bytes
from gegenbauer.cli.messages import DataError, UserError, printable, refusals
from gegenbauer.cli.output import Line, Steps, print_pairs
from gegenbauer.cli.parameters import naming_options_of
from gegenbauer.cli.report import task_of
from gegenbauer.cli.results import collector, in_json
from gegenbauer.export import to_c, to_numpy_source, to_onnx, to_sql

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gegenbauer.cli.commands.predict import Makers

__all__ = ["run"]


def run(
    path: Path,
    *,
    target: Target,
    out: Path | None,
    out_of_range: str | None,
    float32: bool,
    makers: Makers,
) -> None:
    """Write a model for another place.

    Parameters
    ----------
    path : Path
        The model file.
    target : Target
        Which place.
    out : Path or None
        The file to write; None prints text to stdout.
    out_of_range : str or None
        What to do with values beyond the range seen in ``fit``; None for the model's policy.
    float32 : bool
        Whether a model of ONNX has float32 in the place of float64.
    makers : tuple of callable
        The commands that fit models, and that tune them: errors name their options.

    Raises
    ------
    UserError
        Anything is wrong with the model or the place of the output, or the target has no place for
        the model.
    """
    if out is not None and str(out) == STANDARD:
        out = None
    if target == Target.onnx and out is None:
        raise UserError("a model of ONNX is no text: give --out FILE, such as model.onnx")
    if float32 and target != Target.onnx:
        raise UserError("--float32 is for --to onnx; the other targets are float64")
    if out is not None:
        check_output(out, "model", sources=[path])
    with Steps(total=3) as steps:
        steps.begin(f"reading {printable(path.name)}")
        model = load_model(path, steps.warn)
        if task_of(model) == "features":
            raise DataError(
                f"{printable(str(path), 200)} holds features, which predict nothing; give a model "
                "that gegenbauer fit or tune wrote"
            )
        if out_of_range is not None:
            model.set_params(out_of_range=out_of_range)
        steps.begin("exporting")
        with naming_options_of(maker_of(model, makers), also=True), refusals(steps.warn):
            try:
                data = _written(model, target, float32=float32)
            except ImportError as error:
                raise UserError(str(error)) from error
        steps.begin("writing")
        if out is not None:
            write_bytes(data, out)
    collector().stdout_is_taken = out is None
    if out is None:
        sys.stdout.write(data.decode())
    if out is not None or in_json():
        values = {
            "target": target.value, "bytes": len(data), "export": None if out is None else str(out)
        }  # fmt: skip
        print_pairs([Line("exported", f"{len(data) / 1e3:.1f} kB, written to {out}", values)])


def _written(model: Any, target: Target, *, float32: bool) -> bytes:
    """Return the model as the content of a file."""
    if target == Target.onnx:
        made = to_onnx(model, dtype="float32" if float32 else "float64")
        data: bytes = made.SerializeToString()
        return data
    texts: dict[Target, Callable[[Any], str]] = {
        Target.c: to_c,
        Target.numpy: to_numpy_source,
        Target.sql: lambda model: f"{to_sql(model)}\n",
    }
    return texts[target](model).encode()
