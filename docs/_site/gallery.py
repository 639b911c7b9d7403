"""The order of the examples in the gallery."""

from __future__ import annotations

from pathlib import Path

ORDER = [
    "classification",
    "regression",
    "surrogate",
    "response_surface",
    "stream_folder",
    "resume",
    "dask_local",
    "from_lssvm_and_elm",
    "from_polynomial_features",
    "from_chaospy_and_openturns",
    "hyperparameters",
    "paper",
]


class Place:
    """A key to sort by; sphinx-gallery makes it for a folder and calls it with names of files."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> int:
        """Return the place of an example; a `ValueError` where it has none."""
        return ORDER.index(Path(name).stem)
