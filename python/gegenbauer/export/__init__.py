"""Fitted models for other places: ONNX, C, NumPy and SQL."""

from __future__ import annotations

from gegenbauer.export.c_source import to_c
from gegenbauer.export.numpy_source import to_numpy_source
from gegenbauer.export.onnx_model import to_onnx
from gegenbauer.export.pipelines import register_skl2onnx
from gegenbauer.export.sql import to_sql

__all__ = ["register_skl2onnx", "to_c", "to_numpy_source", "to_onnx", "to_sql"]
