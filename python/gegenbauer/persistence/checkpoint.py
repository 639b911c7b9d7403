"""Models that are written while they learn from batches."""

from __future__ import annotations

import copy
import os
import time
from pathlib import Path
from typing import Any

from gegenbauer._messages import Message, Setting
from gegenbauer._renamed import FormerNames, refuse_old_names
from gegenbauer._validation import check_integer, check_number
from gegenbauer.errors import ModelFileError
from gegenbauer.estimators._streaming import StreamEstimator
from gegenbauer.persistence._format import import_safetensors
from gegenbauer.persistence._load import load_as
from gegenbauer.persistence._save import plain_parameter, require_same, to_bytes
from gegenbauer.persistence.atomic import as_path, write_atomically

__all__ = ["Checkpoint"]

_OTHER_PLACE = ["give another file", "remove this one to begin anew"]


class Checkpoint(FormerNames):
    """A file in which ``fit_stream`` keeps what it has learned, to go on after an interrupt.

    It is a model file, which `load` reads as well. It is written anew now and then, whole or not at
    all, and also when the stream fails or is interrupted (by Ctrl-C; SIGTERM ends Python at once,
    unless the program turns it into an exception). A later ``fit_stream`` with the
    same parameters, batches and checkpoint goes on behind the last batch in it, with a bitwise
    identical result. When all batches are learned it stays, and new ones may follow.

    Parameters
    ----------
    path : str or path-like
        The file, by custom with the suffix ``.safetensors``.
    every_samples : int, default=10_000_000
        Most samples between two writings.
    every_seconds : float, default=60
        Most seconds between two writings, of which a batch may take longer.

    See Also
    --------
    load : Read a model from a file.
    TableBatches : Batches of CSV and Parquet files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from gegenbauer import Checkpoint, GegenbauerRegressor
    >>> x = np.linspace(0, 1, 40)[:, np.newaxis]
    >>> batches = [(x[i : i + 10], x[i : i + 10, 0] ** 2) for i in range(0, 40, 10)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(Path(folder) / "run.safetensors")
    ...     half = GegenbauerRegressor(n_terms=5).fit_stream(batches[:2], checkpoint=checkpoint)
    ...     model = GegenbauerRegressor(n_terms=5).fit_stream(batches, checkpoint=checkpoint)
    >>> half.n_samples_seen_, model.n_samples_seen_
    (20, 40)
    """

    @refuse_old_names
    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        every_samples: int = 10_000_000,
        every_seconds: float = 60.0,
    ) -> None:
        import_safetensors()
        self.path = as_path(path)
        self._place = Path(os.path.realpath(self.path))  # wherever the process goes
        self.every_samples = check_integer(every_samples, "every_samples", minimum=1)
        self.every_seconds = check_number(every_seconds, "every_seconds", minimum=0)
        self._rows, self._time = 0, time.monotonic()  # of what is in the file
        if not self._place.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {str(self.path.parent)!r} to write into")
        if self._place.exists() and not self._place.is_file():
            raise OSError(f"{os.fspath(path)!r} is a folder or a device; give the name of a file")

    def read(self, blank: Any) -> tuple[Any, int, str] | None:
        """Return the model in the file, its number of batches and their fingerprint.

        Parameters
        ----------
        blank : GegenbauerClassifier or GegenbauerRegressor
            The estimator that is to go on, whose parameters must be those in the file but for
            those of the solve.

        Returns
        -------
        (estimator, n_batches, fingerprint) or None
            None if there is no file.

        Raises
        ------
        ModelFileError
            The file is no checkpoint.
        ValueError
            It is of another estimator, or of other parameters.
        """
        self._rows, self._time = 0, time.monotonic()
        if not self._place.exists():
            return None
        model = load_as(self._place, self.path)
        position = model._position if isinstance(model, StreamEstimator) else None
        if position is None:
            raise ModelFileError(
                Message(
                    "{} is a model, but no checkpoint of a stream: give another name", self.path
                )
            )
        if type(model) is not type(blank):
            raise ValueError(
                Message(
                    "{} is the checkpoint of a {}, not of a {}",
                    self.path,
                    type(model).__name__,
                    type(blank).__name__,
                    ways=_OTHER_PLACE,
                )
            )
        kept = set(model._sum_parameters()) | {"engine"}
        differ = [
            name
            for name, value in blank.get_params(deep=False).items()
            if name in kept
            and plain_parameter(name, value) != plain_parameter(name, getattr(model, name))
        ]
        if differ:
            name = differ[0]
            raise ValueError(
                Message(
                    "{} is the checkpoint of a model with {}, and this one has {}",
                    self.path,
                    Setting(name, repr(getattr(model, name))),
                    Setting(name, repr(getattr(blank, name))),
                    ways=["give the same", *_OTHER_PLACE],
                )
            )
        del model._position
        model.set_params(**blank.get_params(deep=False))
        model._summed_with = model._sum_parameters()
        model._forget_solution()
        self._rows = model.n_samples_seen_
        return model, int(position[0]), str(position[1])

    def is_due(self, model: Any) -> bool:
        """Whether enough samples came, or time passed, since the file was written."""
        seen = 0 if model._statistics is None else model.n_samples_seen_
        new = seen - self._rows
        return new >= self.every_samples or time.monotonic() - self._time >= self.every_seconds

    def write(self, model: Any, n_batches: int, fingerprint: str) -> None:
        """Replace the file by one of the present state."""
        if model._statistics is None:  # nothing has been learned yet
            return
        bare = copy.copy(model)
        bare._forget_solution()
        try:
            data = to_bytes(bare, [int(n_batches), fingerprint])
            write_atomically(self._place, data, require_same)
        except OSError as error:
            raise OSError(
                error.errno, f"the checkpoint cannot be written: {error.strerror}", str(self.path)
            ) from error
        self._rows, self._time = model.n_samples_seen_, time.monotonic()
