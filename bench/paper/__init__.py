"""The tables and figures of the paper, made again: ``python -m bench.paper``; see ../README.md."""

from __future__ import annotations
