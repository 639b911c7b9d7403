"""Models in files: numbers and a declared schema, never code."""

from __future__ import annotations

from gegenbauer.errors import ModelFileError, ModelVersionWarning
from gegenbauer.persistence._load import library_version, load
from gegenbauer.persistence._save import save
from gegenbauer.persistence._trusted import trusted_types
from gegenbauer.persistence.checkpoint import Checkpoint

__all__ = [
    "Checkpoint",
    "ModelFileError",
    "ModelVersionWarning",
    "library_version",
    "load",
    "save",
    "trusted_types",
]
