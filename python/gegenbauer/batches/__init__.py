"""Samples that come in batches: arrays, Parquet and CSV files, or whatever yields (X, y)."""

from __future__ import annotations

from gegenbauer.batches.arrays import ArrayBatches, Batch
from gegenbauer.batches.iterables import as_batches
from gegenbauer.batches.tables import TableBatches
from gegenbauer.errors import StreamError

__all__ = ["ArrayBatches", "Batch", "StreamError", "TableBatches", "as_batches"]
