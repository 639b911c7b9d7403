"""The paper's tables and figures, reproduced: ``python -m experiments.paper``; see README.md."""

from __future__ import annotations
