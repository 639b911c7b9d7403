"""The samples behind coefficients.json."""

from __future__ import annotations

import numpy as np

DEGREE = 4
X = 2.0 * ((np.arange(1, 81)[:, np.newaxis] * np.sqrt([2.0, 3.0, 5.0])) % 1.0) - 1.0
y = np.exp(X[:, 0]) + X[:, 1] * X[:, 2] ** 2 + 1.0 / (3.0 + X[:, 0] + X[:, 1])
