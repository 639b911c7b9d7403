"""Names of the types of arrays."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Doubles", "Places"]

Doubles: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]  # of samples, in an array of them
