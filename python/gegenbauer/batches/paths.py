"""Files and folders that a table consists of."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gegenbauer._messages import Message
from gegenbauer.batches.formats import ending_of, format_of, listed_endings

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["find_files", "is_dataset", "packed"]


def find_files(paths: Any) -> list[tuple[str, Path, str]]:
    """Return name to show, path and ending of all files, which are of one format."""
    if is_dataset(paths):
        found = _files_of_dataset(paths)
    elif isinstance(paths, (str, os.PathLike)):
        found = list(_files_below(Path(paths), alone=True))
    elif isinstance(paths, Iterable):
        found = [file for path in paths for file in _files_below(Path(path), alone=False)]
    else:
        raise TypeError(
            Message(
                "`paths` must be a file, a folder, a sequence of these or a "
                "pyarrow.dataset.Dataset, got {}",
                type(paths).__name__,
            )
        )
    if not found:
        raise ValueError(
            Message("`paths` is empty; give at least one file that ends in {}", listed_endings())
        )
    formats = {format_of(ending): name for name, _, ending in found}
    if len(formats) > 1:
        one, other = [*formats.values()][:2]
        raise ValueError(
            f"files must be all of one format, got {one} and {other}; give those of one format"
        )
    seen: set[str] = set()
    for name, path, _ in found:
        real = os.path.realpath(path)
        if real in seen:
            raise ValueError(f"{name} is given twice, and its rows would count twice")
        seen.add(real)
    return found


def _files_below(path: Path, *, alone: bool) -> Iterator[tuple[str, Path, str]]:
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; check the path")
    if not path.is_dir():
        if not ending_of(path):
            raise ValueError(f"{path} must end in {listed_endings()}{packed(path)}")
        yield path.name if alone else str(path), path, ending_of(path)
        return
    below = sorted((file.relative_to(path).as_posix(), file) for file in path.rglob("*"))
    tables = [
        (name, file)
        for name, file in below
        if ending_of(file)
        and not any(part[0] in "._" for part in name.split("/"))
        and file.is_file()
    ]
    if not tables:
        names = [name for name, file in below if packed(file)]
        more = f" but {names[0]}{packed(Path(names[0]))}" if names else ""
        raise ValueError(f"the folder {path} holds no files that end in {listed_endings()}{more}")
    for name, file in tables:
        yield name if alone else str(path / name), file, ending_of(file)


def packed(path: Path) -> str:
    """Name what to do with a file that is compressed; nothing of others.

    Examples
    --------
    >>> packed(Path("t.csv.xz"))
    '; it is compressed: unpack it (unxz t.csv.xz), or write it as Parquet, which is compressed'
    """
    how = {".gz": "gunzip", ".bz2": "bunzip2", ".xz": "unxz", ".zst": "unzstd", ".zip": "unzip"}
    command = how.get(path.suffix.lower())
    if command is None:
        return ""
    return (
        f"; it is compressed: unpack it ({command} {path.name}), or write it as Parquet, which is "
        "compressed"
    )


def is_dataset(value: Any) -> bool:
    """Whether it is a dataset of pyarrow."""
    return type(value).__module__.startswith("pyarrow") and hasattr(value, "get_fragments")


def _files_of_dataset(dataset: Any) -> list[tuple[str, Path, str]]:
    format_ = type(getattr(dataset, "format", None)).__name__
    endings = {
        "ParquetFileFormat": ".parquet", "CsvFileFormat": ".csv", "JsonFileFormat": ".jsonl",
        "IpcFileFormat": ".arrow", "FeatherFileFormat": ".feather",
    }  # fmt: skip
    local = getattr(getattr(dataset, "filesystem", None), "type_name", None) == "local"
    if format_ not in endings or not local:
        raise ValueError(
            "a dataset must be of Parquet, Arrow, CSV or JSON files on this machine; of others, "
            "pass an iterable of tuples (X, y) made from dataset.to_batches()"
        )
    if getattr(dataset, "_scan_options", None):
        raise ValueError(
            "the filter of a dataset is not applied to batches of its files: pass an iterable of "
            "tuples (X, y) made from dataset.to_batches()"
        )
    files = [Path(file) for file in dataset.files]
    root = os.path.commonpath([file.parent for file in files]) if files else ""
    return [
        (file.relative_to(root).as_posix(), file, ending_of(file) or endings[format_])
        for file in files
    ]
