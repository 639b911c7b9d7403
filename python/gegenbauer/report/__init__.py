"""A page of HTML on a model: what it has learned, how good it is, and why it predicts so."""

from __future__ import annotations

from gegenbauer.report._report import html_report

__all__ = ["html_report"]
