"""The words that options take."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Domain", "IndexSet", "OutOfRange", "Target", "Task"]


class Task(StrEnum):
    """What to learn; the library requires the choice; ``auto`` here decides, and reports why."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class IndexSet(StrEnum):
    """Which products of polynomials are used."""

    total_degree = "total_degree"
    tensor = "tensor"
    hyperbolic_cross = "hyperbolic_cross"
    largest_weight = "largest_weight"


class Domain(StrEnum):
    """Interval to which the inputs are scaled."""

    unit = "0,1"
    symmetric = "-1,1"


class Target(StrEnum):
    """What a model is exported to."""

    onnx = "onnx"
    c = "c"
    numpy = "numpy"
    sql = "sql"


class OutOfRange(StrEnum):
    """What to do with values beyond the range seen in fit."""

    clip = "clip"
    warn = "warn"
    error = "error"
    extrapolate = "extrapolate"
