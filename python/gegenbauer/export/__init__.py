"""Fitted models for other places: ONNX, C, NumPy and SQL."""

from __future__ import annotations

from gegenbauer.export.c_source import to_c
from gegenbauer.export.numpy_source import to_numpy_source

__all__ = ["to_c", "to_numpy_source"]
