"""Plots of models, in the pattern of scikit-learn's displays. Needs the extra ``plot``.

A display holds the numbers of one plot. ``from_...`` methods compute them and draw; ``plot``
draws, into given axes or new ones, and leaves the artists in attributes. Decision boundaries and
calibration on other samples are scikit-learn's own: ``DecisionBoundaryDisplay`` and
``CalibrationDisplay`` take our estimators as they are, and so does ``PartialDependenceDisplay``,
whose means over samples `DependenceDisplay` has exactly, of independent inputs or of a background.
"""

from __future__ import annotations

from gegenbauer.plotting.basis import BasisDisplay
from gegenbauer.plotting.contributions import ContributionDisplay
from gegenbauer.plotting.dependence import DependenceDisplay
from gegenbauer.plotting.inputs import InputDisplay
from gegenbauer.plotting.interactions import InteractionDisplay
from gegenbauer.plotting.leverage import LeverageDisplay
from gegenbauer.plotting.path import PathDisplay
from gegenbauer.plotting.reliability import ReliabilityDisplay, left_out_outcomes
from gegenbauer.plotting.sensitivity import SensitivityDisplay

__all__ = [
    "BasisDisplay",
    "ContributionDisplay",
    "DependenceDisplay",
    "InputDisplay",
    "InteractionDisplay",
    "LeverageDisplay",
    "PathDisplay",
    "ReliabilityDisplay",
    "SensitivityDisplay",
    "left_out_outcomes",
]
