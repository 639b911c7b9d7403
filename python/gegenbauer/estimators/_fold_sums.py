"""The sums over each fold of a stream, with an even draw of its samples, in one pass.

Which fold a sample is in, and whether it is drawn, is a matter of its place in the stream alone, so
that neither depends on how the stream is cut into batches. Places count samples of positive weight.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gegenbauer._memory import require_memory
from gegenbauer._messages import Ways
from gegenbauer.basis.scaling import InputScaling
from gegenbauer.estimators._draw import SAMPLE_SIZE, Draw, folds_of_places, keys_of_places
from gegenbauer.ridge.statistics.choice import choose_statistics
from gegenbauer.ridge.statistics.gram import GramStatistics
from gegenbauer.ridge.statistics.landmarks import LandmarkStatistics
from gegenbauer.ridge.statistics.moments import MomentStatistics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.tensor_basis import TensorBasis
    from gegenbauer.ridge.statistics.choice import Statistics

__all__ = ["FoldSums", "Summed", "summed_terms"]


class Summed(NamedTuple):
    """Terms that are summed, or features of landmarks, and how."""

    basis: Any  # TensorBasis, or Landmarks for their statistics
    kind: type[Statistics]
    lams: tuple[float, ...]  # of the bases whose normal equations are made of these sums

    @property
    def of_landmarks(self) -> bool:
        """Whether it is no finite set of terms."""
        return issubclass(self.kind, LandmarkStatistics)

    def describe(self, n_folds: int, n_outputs: int) -> str:
        """Return what is held of all folds, and how much memory it takes."""
        size = self.kind._n_packed(self.basis, n_outputs)
        what = "moments" if self.kind is MomentStatistics else "products of features"
        terms = f"{self.basis.n_terms:,} terms"
        if self.of_landmarks:
            terms = f"{len(self.basis.centres):,} landmarks"
        return (
            f"{n_folds} folds of {size:,} {what} ({terms}): "
            f"{self.n_bytes(n_folds, n_outputs) / 1e6:,.1f} MB"
        )

    def n_bytes(self, n_folds: int, n_outputs: int) -> float:
        """Return the memory of the sums over all folds."""
        size = float(self.kind._n_packed(self.basis, n_outputs))
        if issubclass(self.kind, GramStatistics):  # which is held as a square
            size = float(self.basis.n_terms + n_outputs) ** 2
        return 8.0 * n_folds * size


def summed_terms(bases: Sequence[TensorBasis], n_outputs: int) -> list[Summed]:
    """Return what is to be summed for bases that differ in `lam` alone.

    Moments serve all of those for which they cost less and are accurate; each of the others needs
    sums of its own.
    """
    kinds = [choose_statistics(basis, n_outputs) for basis in bases]
    by_moments = [
        basis for basis, kind in zip(bases, kinds, strict=True) if kind is MomentStatistics
    ]
    found = [
        Summed(basis, kind, (basis.lam,))
        for basis, kind in zip(bases, kinds, strict=True)
        if kind is not MomentStatistics
    ]
    if by_moments:
        lams = tuple(basis.lam for basis in by_moments)
        found.append(Summed(by_moments[0], MomentStatistics, lams))
    return found


class FoldSums:
    """What `StreamEstimator` takes for statistics: sums over each fold, and a draw.

    Nothing is summed before the first samples have shown which terms are worth it: they wait, and
    are summed with the others then. A copy shares what is never changed in place.

    Parameters
    ----------
    n_folds : int
        Number of folds.
    n_outputs : int
        Number of targets; more may come.
    scaling : InputScaling
        Of the first samples.
    choose : callable
        Returns what is to be summed, and the bytes that the choice behind it takes, by inputs,
        targets and weights of the first samples, and their box.
    announce : callable
        Called with a sentence on the memory of the sums, before they begin.
    margin : callable or None
        Returns the box to begin with from that of the first samples; None if it is given, and
        does not grow.
    """

    def __init__(
        self,
        n_folds: int,
        n_outputs: int,
        scaling: InputScaling,
        choose: Callable[
            [NDArray[Any], Doubles, Doubles | None, InputScaling], tuple[list[Summed], float]
        ],
        announce: Callable[[str], None],
        *,
        margin: Callable[[InputScaling], InputScaling] | None,
    ) -> None:
        self.n_folds, self.n_outputs, self.scaling = n_folds, n_outputs, scaling
        self.n_samples = 0
        self.n_clipped = np.zeros(scaling.n_features, dtype=np.intp)  # values of each input
        self.weighted = False
        self.resolution = float(np.finfo(np.float64).eps)
        self.draw: Draw | None = None
        self.summed: list[Summed] = []
        self.folds: list[list[Statistics]] = []  # of each of `summed`
        self._choose, self._announce, self._margin = choose, announce, margin
        self._grows = margin is not None
        self._waiting: tuple[Draw, ...] | None = ()

    # ---- what `StreamEstimator` calls, on a copy that it drops when this fails -------------

    def update(
        self,
        X: NDArray[Any],
        Y: Doubles,
        *,
        sample_weight: Doubles | None = None,
        widen: bool = False,
        n_threads: int | None = None,
    ) -> FoldSums:
        """Add samples behind those before."""
        n = len(X)
        eps = float(np.finfo(X.dtype).eps)
        self.resolution = max(self.resolution, eps)
        if widen and self._grows:
            here = self.scaling.around(X)
            self.rescale(self.scaling.union(here, resolution=self.resolution))
        place = self.n_samples + np.arange(n)
        weight = np.ones(n) if sample_weight is None else sample_weight
        self.weighted = self.weighted or sample_weight is not None
        key = keys_of_places(place)
        batch = Draw(key, np.zeros(n, dtype=np.intp), place, X, Y, weight)
        self._draw_from(batch)
        self.n_samples += n
        if self._waiting is None:
            self._add(batch, n_threads)
            return self
        # the arrays are the user's, who may fill them with the next batch
        own = batch._replace(X=X.copy(), y=Y.copy(), weight=weight.copy())
        self._waiting = (*self._waiting, own)
        if self.n_samples >= SAMPLE_SIZE:
            self.begin(n_threads)
        return self

    def _draw_from(self, batch: Draw) -> None:
        """Let the samples of a batch whose keys are small enough take part in the draw."""
        if self.draw is None:
            self.draw = batch.smallest(SAMPLE_SIZE)
            return
        if len(self.draw.key) >= SAMPLE_SIZE:
            some = np.flatnonzero(batch.key < self.draw.key.max())
            columns: Any = (column[some] for column in batch)
            batch = Draw(*columns)
        if len(batch.key):
            self.draw = self.draw.joined(batch, SAMPLE_SIZE)

    def with_outputs(self, places: Sequence[int], n_outputs: int) -> FoldSums:
        """Return the same with more outputs, those that are new being zero in all samples."""

        def wider(some: Draw) -> Draw:
            Y = np.zeros((len(some.y), n_outputs))
            Y[:, places] = some.y
            return some._replace(y=Y)

        result = copy.copy(self)
        result.n_outputs = n_outputs
        result.draw = None if self.draw is None else wider(self.draw)
        if self._waiting is not None:
            result._waiting = tuple(wider(batch) for batch in self._waiting)
        result.folds = [
            [one.with_outputs(places, n_outputs) for one in part] for part in self.folds
        ]
        result._require_memory()
        return result

    # ---- sums --------------------------------------------------------------------

    def rescale(self, scaling: InputScaling) -> None:
        """Let the box of all sums be a wider one."""
        if scaling != self.scaling:
            self.folds = [[one.rescaled(scaling) for one in part] for part in self.folds]
            self.scaling = scaling

    def begin(self, n_threads: int | None = None) -> None:
        """Choose what is summed, and sum the samples that wait; nothing if that is done."""
        if self._waiting is None:
            return
        batches, self._waiting = self._waiting, None
        X, Y, weight = (
            np.concatenate([getattr(batch, name) for batch in batches])[:SAMPLE_SIZE]
            for name in ("X", "y", "weight")
        )
        box = self.scaling
        if self._margin is not None:
            # what came behind the first samples in their last batch does not count
            box = self._margin(InputScaling.fit(X, domain=box.domain, clip=box.clip))
        self.summed, later = self._choose(X, Y, weight if self.weighted else None, box)
        if self.summed[0].of_landmarks:  # which are of this box
            self.scaling, self._grows = box, False
        elif self._grows:
            self.rescale(self.scaling.union(box, resolution=self.resolution))
        self._require_memory()
        texts = [one.describe(self.n_folds, self.n_outputs) for one in self.summed]
        self._announce(f"{', '.join(texts)}; up to {later / 1e6:,.0f} MB to choose by them")
        self.folds = [
            [one.kind(one.basis, self.n_outputs, scaling=self.scaling) for _ in range(self.n_folds)]
            for one in self.summed
        ]
        for batch in batches:
            self._add(batch, n_threads)

    def _require_memory(self) -> None:
        """Refuse sums that do not fit, with those of a batch beside them."""
        if self.summed:
            n_bytes = sum(one.n_bytes(self.n_folds + 2, self.n_outputs) for one in self.summed)
            what = ", ".join(one.describe(self.n_folds, self.n_outputs) for one in self.summed)
            require_memory(n_bytes, f"one pass with {what}", Ways("lower", "`n_terms`", "`cv`"))

    def _add(self, batch: Draw, n_threads: int | None) -> None:
        fold_of = folds_of_places(batch.place, self.n_folds)
        order = np.argsort(fold_of, kind="stable")
        ends = np.searchsorted(fold_of[order], np.arange(self.n_folds + 1)).tolist()
        X, Y, weight = batch.X[order], batch.y[order], batch.weight[order]
        if not self._grows:
            box = self.scaling
            beyond = box.beyond(X, rounded=True)
            if self._margin is not None:  # the range of the first samples may be a point
                beyond |= box.is_constant & ((box.lower > X) | (box.upper < X))
            self.n_clipped = self.n_clipped + np.count_nonzero(beyond, axis=0)
        folds = [[copy.copy(one) for one in part] for part in self.folds]
        for number in range(self.n_folds):
            own = slice(ends[number], ends[number + 1])
            if own.start == own.stop:
                continue
            for part in folds:
                part[number].update(
                    X[own], Y[own], sample_weight=weight[own] if self.weighted else None,
                    n_threads=n_threads,
                )  # fmt: skip
        self.folds = folds
