"""One pass over batches, of which what was learned is kept now and then."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from sklearn.base import is_regressor

from gegenbauer.batches.iterables import as_batches
from gegenbauer.batches.tables import TableBatches
from gegenbauer.estimators._first_samples import look_at_first

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gegenbauer.batches.arrays import Batch
    from gegenbauer.estimators._progress import RowProgress

__all__ = ["StreamRun"]


class StreamRun:
    """What ``fit_stream`` learns, batch by batch, and the checkpoint that it is kept in.

    Parameters
    ----------
    blank : StreamEstimator
        Unfitted; it stays so.
    batches : TableBatches, ArrayBatches or iterable
        Of all samples, also of those that are in the checkpoint.
    classes : array-like or None
        All labels that may come, in classification.
    checkpoint : Checkpoint or None
        Where to keep what was learned.
    """

    def __init__(self, blank: Any, batches: Any, classes: Any, checkpoint: Any) -> None:
        self._source = as_batches(batches)
        if is_regressor(blank) and isinstance(self._source, TableBatches):
            self._source.require_real_target()  # in the words of the table, not of arrays
        self._classes, self._checkpoint = classes, checkpoint
        self._work, self._n_batches, known = blank, 0, None
        if checkpoint is not None:
            found = checkpoint.read(blank)
            if found is not None:
                self._work, self._n_batches, known = found
                self._work._announce(classes, grow=True)
        self._n_saved = self._n_batches
        begins = self._n_batches == 0
        iterator = self._source.start(self._n_batches)
        first = next(iterator, None)
        if known is not None and self._source.fingerprint(self._n_batches) != known:
            raise ValueError(
                f"the checkpoint {checkpoint.path} is of {self._n_batches} other batches than "
                "those that come here: give the same ones (a generator anew, from its beginning), "
                "or another place for the checkpoint"
            )
        self._remaining: Iterator[Batch]
        self._remaining = itertools.chain([] if first is None else [first], iterator)
        if begins:
            self._work, self._remaining, whole = look_at_first(self._work, self._remaining, classes)
            if not whole:  # what is learned before the error is not to be continued
                self._checkpoint = None

    @property
    def n_samples(self) -> int | None:
        """Number of samples of all batches, if it is known."""
        return self._source.n_rows

    @property
    def n_done(self) -> int:
        """Number of samples that were learned."""
        return 0 if self._work._statistics is None else int(self._work.n_samples_seen_)

    def learn(self, progress: RowProgress) -> Any:
        """Learn all batches and return the estimator that has; no samples are an error."""
        try:
            for batch in self._remaining:
                self._work, n_rows = self._work._with_batch(batch, self._classes)
                self._n_batches += 1
                progress.advance(n_rows)
                if self._checkpoint is not None and self._checkpoint.is_due(self._work):
                    self._save()
        except BaseException as error:  # an interrupt, too: what was learned is not lost
            if self._checkpoint is not None and self._work._statistics is not None:
                try:
                    self._save()
                    error.add_note(
                        f"The {self._n_batches} batches before are kept in "
                        f"{self._checkpoint.path}, and the same call goes on behind them."
                    )
                except (OSError, TypeError, ValueError) as another:
                    error.add_note(f"Beside that, {another}")
            raise
        self._work._require_whole()
        if self._checkpoint is not None:
            self._save()
        if self._work._statistics is None:
            raise ValueError("the batches held no samples (of positive weight)")
        return self._work

    def _save(self) -> None:
        """Write the checkpoint, unless it holds all of this."""
        if self._n_batches > self._n_saved:
            fingerprint = self._source.fingerprint(self._n_batches)
            self._checkpoint.write(self._work, self._n_batches, fingerprint)
            self._n_saved = self._n_batches
