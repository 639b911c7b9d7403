"""Studies that are no benchmarks; each folder is one, and a command from the root."""

from __future__ import annotations
