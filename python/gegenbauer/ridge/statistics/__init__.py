"""Additive statistics of a data set: everything that a ridge solve needs to know of it."""

from __future__ import annotations

from gegenbauer.ridge.statistics.gram import GramStatistics
from gegenbauer.ridge.statistics.moments import MomentStatistics

__all__ = ["GramStatistics", "MomentStatistics"]
