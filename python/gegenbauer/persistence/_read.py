"""Reading of model files: header and tensors, checked before they are used."""

from __future__ import annotations

import math
import os
import re
import stat
import warnings
from typing import TYPE_CHECKING, Any

from gegenbauer import __version__
from gegenbauer._renamed import NEW_ATTRIBUTES, NEW_NAMES
from gegenbauer.errors import ModelFileError, ModelVersionWarning, stacklevel
from gegenbauer.persistence._checks import (
    check_fitted,
    check_tensors,
    is_int,
    parse_json,
    require_keys,
    show,
    wrong_number,
)
from gegenbauer.persistence._format import (
    DTYPES,
    ESTIMATORS,
    FORMAT,
    FORMAT_VERSION,
    LENGTH_BYTES,
    MAX_DIMENSIONS,
    MAX_HEADER_BYTES,
    METADATA_KEYS,
    Header,
    checksum_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["read_file", "read_tensors"]


def read_file(path: Path) -> tuple[Header, bytes]:
    """Read a file whose header, and then whose length, are right."""
    with open(path, "rb", opener=_open_without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError("not a regular file.")
        start = file.read(LENGTH_BYTES)
        n_header = int.from_bytes(start, "little")
        if len(start) < LENGTH_BYTES or n_header > status.st_size - LENGTH_BYTES:
            raise ModelFileError("not a model file, or a truncated one.")
        if n_header > MAX_HEADER_BYTES:
            raise ModelFileError(
                f"the header claims {n_header} bytes; no model has more than {MAX_HEADER_BYTES}."
            )
        text = file.read(n_header)
        header = _parse_header(text)
        if status.st_size != header.n_bytes:
            raise ModelFileError(
                f"the file has {status.st_size} bytes where its header describes "
                f"{header.n_bytes}; it is truncated or damaged."
            )
        data = start + text + file.read(header.n_bytes - LENGTH_BYTES - n_header)
    if len(data) != header.n_bytes:
        raise ModelFileError("the file became shorter while it was read.")
    return header, data


def _open_without_waiting(path: str, flags: int) -> int:
    # A named pipe without a writer would block for ever in open() itself.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _parse_header(text: bytes) -> Header:
    header = parse_json(text, "the header")
    if not isinstance(header, dict):
        raise ModelFileError("not a model file: its header is no JSON object.")
    entries = header.pop("__metadata__", None)
    if not isinstance(entries, dict) or entries.get("format") != FORMAT:
        raise ModelFileError(
            f"not a model file: its header does not have the format {FORMAT!r}. "
            "gegenbauer.save writes such files."
        )
    version = entries.get("format_version")
    if version not in ("1", FORMAT_VERSION):
        raise ModelFileError(
            f"its format_version is {show(version)}, and this version of gegenbauer, "
            f"{__version__}, reads '1' and {FORMAT_VERSION!r}. It may come from a "
            f"newer one: its library_version is {show(entries.get('library_version'))}."
        )
    require_keys({"checksum": None, **entries}, METADATA_KEYS, "__metadata__")
    if not all(isinstance(value, str) and _is_unicode(value) for value in entries.values()):
        raise ModelFileError("__metadata__ must hold strings only.")
    name = entries["estimator"]
    if name not in ESTIMATORS:
        raise ModelFileError(f"estimator must be one of {', '.join(ESTIMATORS)}; got {show(name)}.")
    _compare_versions(entries["library_version"])
    parameters = parse_json(entries["parameters"], "parameters")
    fitted = parse_json(entries["fitted"], "fitted")
    for key, value in (("parameters", parameters), ("fitted", fitted)):
        if not isinstance(value, dict):
            raise ModelFileError(f"{key} must be a JSON object; got {show(value)}.")
    tensors, n_bytes = _parse_tensors(header)
    old_names: dict[str, str] = {}
    if version == "1":
        parameters, fitted = _with_new_keys(parameters), _with_new_keys(fitted)
        if isinstance(fitted.get("basis"), dict):
            fitted["basis"] = _with_new_keys(fitted["basis"])
        old_names = {_new_name(old): old for old in tensors}
        if len(old_names) < len(tensors):
            raise ModelFileError("a file of version 1 must not hold a tensor by two names.")
        tensors = {_new_name(old): entry for old, entry in tensors.items()}
    end = LENGTH_BYTES + len(text) + n_bytes
    parsed = Header(name, parameters, fitted, tensors, end, entries, old_names)
    check_fitted(parsed)
    check_tensors(parsed)
    return parsed


def _new_name(old: str) -> str:
    """Return what a parameter, an attribute or a tensor of version 1 is called now."""
    names = {**NEW_NAMES, **NEW_ATTRIBUTES, "relative_gamma": "relative_alpha"}
    table, dot, name = old.rpartition(".")
    table = {"gamma_results": "alpha_results", "cv_results": "surface"}.get(table, table)
    return f"{table}{dot}{names.get(name, name)}"


def _with_new_keys(values: dict[str, Any]) -> dict[str, Any]:
    found = {_new_name(key): value for key, value in values.items()}
    if len(found) < len(values):
        raise ModelFileError("a file of version 1 must not hold one thing by two names.")
    return found


def _parse_tensors(
    header: dict[str, Any],
) -> tuple[dict[str, tuple[np.dtype[Any], tuple[int, ...]]], int]:
    """Return dtypes and shapes by name, and the number of bytes of all tensors."""
    tensors = {}
    ranges = []
    for name, entry in header.items():
        shown = f"tensor {show(name)}"
        if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
            raise ModelFileError(
                f"{shown} must have dtype, shape and data_offsets, and nothing else."
            )
        dtype = DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
        if dtype is None:
            raise ModelFileError(
                f"{shown} has the dtype {show(entry['dtype'])}; expected one of "
                f"{', '.join(DTYPES)}."
            )
        shape = _sizes(entry["shape"], f"the shape of {shown}")
        offsets = _sizes(entry["data_offsets"], f"data_offsets of {shown}")
        if len(shape) > MAX_DIMENSIONS:
            raise ModelFileError(
                f"{shown} has {len(shape)} dimensions; no tensor of a model has more than "
                f"{MAX_DIMENSIONS}."
            )
        n_bytes = math.prod(shape) * dtype.itemsize
        if len(offsets) != 2 or offsets[1] - offsets[0] != n_bytes:
            raise ModelFileError(
                f"{shown} of shape {show(list(shape))} takes {show(n_bytes)} bytes; its "
                f"data_offsets are {show(list(offsets))}."
            )
        tensors[name] = (dtype, shape)
        ranges.append(offsets)
    end = 0
    for begin, stop in sorted(ranges):
        if begin != end:
            raise ModelFileError("the tensors overlap or leave gaps in the file.")
        end = stop
    return tensors, end


def _sizes(value: Any, name: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(is_int(item) and 0 <= item < 2**63 for item in value):
        raise ModelFileError(f"{name} must be a list of non-negative ints; got {show(value)}.")
    return tuple(value)


def read_tensors(header: Header, data: bytes) -> dict[str, NDArray[Any]]:
    """Copy the arrays out of the file, by safetensors, which checks its part once more."""
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_safetensors

    try:
        read = from_safetensors(data)
    except SafetensorError as error:
        raise ModelFileError(f"safetensors cannot read it: {error}") from error
    arrays = {}
    for name, (dtype, shape) in header.tensors.items():
        found = read[header.old_names.get(name, name)]
        if found.dtype != dtype or found.shape != shape:
            raise ModelFileError(f"tensor {name!r} differs from its description.")
        arrays[name] = found.copy()  # owns its memory, aligned and writeable
    checksum = header.entries.get("checksum")
    if checksum is not None and checksum != checksum_of(header.entries, read):
        raise ModelFileError("it is damaged: its contents do not have its checksum.")
    for name, array in arrays.items():
        wrong = wrong_number(name, array)
        if wrong is not None:
            raise ModelFileError(f"tensor {name!r} must be {wrong}.")
    return arrays


def _compare_versions(written_by: str) -> None:
    if not re.fullmatch(r"[0-9A-Za-z.+_-]{1,64}", written_by):  # it is shown as it is
        raise ModelFileError(f"library_version must be one; got {show(written_by)}.")
    ours = __version__
    if written_by != ours:
        warnings.warn(
            f"the model was written by gegenbauer {written_by} and is read by {ours}; check "
            "its predictions before you rely on them.",
            ModelVersionWarning,
            stacklevel=stacklevel(),
        )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair, as "\\ud800" makes it
        return False
    return True
