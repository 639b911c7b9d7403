"""Loading of model files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gegenbauer._messages import Message
from gegenbauer.errors import ModelFileError, message_of
from gegenbauer.persistence._format import import_safetensors
from gegenbauer.persistence._read import read_file, read_tensors
from gegenbauer.persistence._restore import from_parts
from gegenbauer.persistence.atomic import as_path

if TYPE_CHECKING:
    import os
    from pathlib import Path

__all__ = ["library_version", "load", "load_as"]


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator that :func:`save` wrote.

    Nothing in the file is executed: it is numbers, and names from closed lists.

    Parameters
    ----------
    path : str or path-like
        File to read.

    Returns
    -------
    GegenbauerClassifier, GegenbauerRegressor, either with CV, or GegenbauerFeatures
        The fitted estimator.

    Raises
    ------
    ModelFileError
        The file is no model file, is truncated or damaged, is written in a newer format, or
        holds something that the schema does not allow. It is a ValueError.
    OSError
        The file cannot be read.
    ImportError
        The package safetensors is missing.

    Warns
    -----
    ModelVersionWarning
        The file was written by another version of this library.

    See Also
    --------
    save : Write a model to a file.
    library_version : Which version wrote a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gegenbauer import GegenbauerRegressor, load, save
    >>> model = GegenbauerRegressor(n_terms=2).fit([[0.0], [1.0]], [1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "model.safetensors")
    ...     same = load(Path(folder) / "model.safetensors")
    >>> (same.predict([[0.3]]) == model.predict([[0.3]])).all()
    np.True_
    """
    return load_as(as_path(path), as_path(path))


def load_as(path: Path, name: Path) -> Any:
    """Read a model file as `load` does, whose errors have the name that the caller knows."""
    import_safetensors()
    try:
        header, data = read_file(path)
        return from_parts(header, read_tensors(header, data))
    except ModelFileError as error:
        raise ModelFileError(Message("{}: {}", name, message_of(error))) from error.__cause__


def library_version(path: Any) -> str:
    """Return the version of the library that wrote a model file which `load` accepts.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    str

    Raises
    ------
    ImportError
        When safetensors is not installed (extra ``io``).

    See Also
    --------
    load : Read a model from a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import gegenbauer
    >>> from gegenbauer.persistence import library_version
    >>> model = gegenbauer.GegenbauerRegressor(n_terms=2).fit([[0.0], [1.0]], [1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.safetensors"
    ...     gegenbauer.save(model, path)
    ...     library_version(path) == gegenbauer.__version__
    True
    """
    import_safetensors()
    from safetensors import safe_open

    with safe_open(as_path(path), framework="numpy") as file:
        return str(file.metadata()["library_version"])
