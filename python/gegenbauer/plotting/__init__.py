"""Plots of models, in the pattern of scikit-learn's displays. Needs the extra ``plot``.

A display holds the numbers of one plot. ``from_...`` methods compute them and draw; ``plot``
draws, into given axes or new ones, and leaves the artists in attributes. Decision boundaries,
partial dependence and calibration on other samples are scikit-learn's own:
``DecisionBoundaryDisplay``, ``PartialDependenceDisplay`` and ``CalibrationDisplay`` take our
estimators as they are.
"""

from __future__ import annotations

from gegenbauer.plotting.basis import BasisDisplay
from gegenbauer.plotting.inputs import InputDisplay
from gegenbauer.plotting.leverage import LeverageDisplay
from gegenbauer.plotting.path import PathDisplay
from gegenbauer.plotting.reliability import ReliabilityDisplay, left_out_outcomes
from gegenbauer.plotting.sensitivity import SensitivityDisplay

__all__ = [
    "BasisDisplay",
    "InputDisplay",
    "LeverageDisplay",
    "PathDisplay",
    "ReliabilityDisplay",
    "SensitivityDisplay",
    "left_out_outcomes",
]
