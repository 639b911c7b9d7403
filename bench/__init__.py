"""Benchmarks side by side: ``python -m bench`` from the root of the repository; see README.md."""

from __future__ import annotations
