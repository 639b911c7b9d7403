"""One folder that shows a run: ``python -m bench.report``; see ../README.md."""

from __future__ import annotations
