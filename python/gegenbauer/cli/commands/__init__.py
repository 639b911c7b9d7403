"""The commands, one module each, imported when it is called."""

from __future__ import annotations
