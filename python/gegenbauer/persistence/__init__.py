"""Models in files: numbers and a declared schema, never code."""

from __future__ import annotations

from gegenbauer.errors import ModelFileError, ModelVersionWarning
from gegenbauer.persistence._load import library_version, load
from gegenbauer.persistence._save import save
from gegenbauer.persistence.checkpoint import Checkpoint
from gegenbauer.persistence.trusted_types import TRUSTED_TYPES

__all__ = [
    "TRUSTED_TYPES",
    "Checkpoint",
    "ModelFileError",
    "ModelVersionWarning",
    "library_version",
    "load",
    "save",
]
