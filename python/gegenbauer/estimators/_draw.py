"""An even draw of the samples of a source that is too large to keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles

__all__ = ["SAMPLE_SIZE", "Draw", "folds_of_places", "keys_of_places"]

# Samples that are kept of very many: on some of them the spectrum is learned, and by all of them
# outputs are calibrated
SAMPLE_SIZE = 20_000


class Draw(NamedTuple):
    """Samples with the smallest of random keys: the draw of two parts is made of theirs."""

    key: Doubles
    number: NDArray[np.intp]  # of the part of the source that a sample is of
    place: NDArray[np.intp]  # in it
    X: NDArray[Any]
    y: NDArray[Any]
    weight: Doubles

    def smallest(self, most: int) -> Self:
        """Return the samples of the smallest keys, in their order."""
        chosen = np.sort(np.argsort(self.key, kind="stable")[:most])
        columns: Any = (column[chosen] for column in self)
        return type(self)(*columns)

    def joined(self, other: Self, most: int) -> Self:
        """Return the draw of both, of at most so many."""
        both: Any = [np.concatenate(pair) for pair in zip(self, other, strict=True)]
        return type(self)(*both).smallest(most)


def _mixed(places: NDArray[np.intp], stream: int) -> NDArray[np.uint64]:
    """Return 64 random bits of each place, for each of several independent uses of them."""
    # the finaliser of SplitMix64 (Steele, Lea, Flood 2014), whose states are steps of 2^64 / phi
    z = (places.astype(np.uint64) * np.uint64(2) + np.uint64(1 + stream)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def keys_of_places(places: NDArray[np.intp]) -> Doubles:
    """Return random keys from 0 to below 1, by the places of samples alone."""
    return np.asarray((_mixed(places, 0) >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def folds_of_places(places: NDArray[np.intp], n_folds: int) -> NDArray[np.intp]:
    """Return the fold of each sample, by its place in the stream alone.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.estimators._draw import folds_of_places
    >>> np.bincount(folds_of_places(np.arange(1000), 4))
    array([245, 247, 259, 249])
    """
    return np.asarray(_mixed(places, 1) >> np.uint64(11), dtype=np.intp) % n_folds
