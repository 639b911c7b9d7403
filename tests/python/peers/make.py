"""Make coefficients.json by OpenTURNS and chaospy, which the tests themselves do not need.

    pip install openturns==1.27 chaospy==4.3.21
    python tests/python/peers/make.py

Least squares on the terms of total degree 4 in three inputs that are uniform on [-1, 1], in
Legendre polynomials of unit norm.
"""

from __future__ import annotations

import json
from pathlib import Path

import chaospy
import numpy as np
import openturns
from design import DEGREE, X, y

m = X.shape[1]


def by_openturns() -> dict[tuple[int, ...], float]:
    enumeration = openturns.LinearEnumerateFunction(m)
    algorithm = openturns.FunctionalChaosAlgorithm(
        openturns.Sample(X),
        openturns.Sample(y[:, np.newaxis]),
        openturns.JointDistribution([openturns.Uniform(-1, 1)] * m),
        openturns.FixedStrategy(
            openturns.OrthogonalProductPolynomialFactory(
                [openturns.LegendreFactory()] * m, enumeration
            ),
            enumeration.getStrataCumulatedCardinal(DEGREE),
        ),
        openturns.LeastSquaresStrategy(),
    )
    algorithm.run()
    result = algorithm.getResult()
    values = np.asarray(result.getCoefficients())[:, 0]
    return {tuple(enumeration(i)): v for i, v in zip(result.getIndices(), values, strict=True)}


def by_chaospy() -> dict[tuple[int, ...], float]:
    inputs = chaospy.J(*[chaospy.Uniform(-1, 1) for _ in range(m)])
    terms, norms = chaospy.generate_expansion(DEGREE, inputs, normed=False, retall=True)
    _, values = chaospy.fit_regression(terms, X.T, y, retall=1)
    found = {}
    for term, norm, value in zip(terms, norms, values, strict=True):
        exponents = np.asarray(term.exponents)
        leading = exponents[exponents.sum(axis=1).argmax()]  # of a monic polynomial
        found[tuple(leading)] = value * norm**0.5
    return found


if __name__ == "__main__":
    peers = {"openturns": (openturns, by_openturns), "chaospy": (chaospy, by_chaospy)}
    result = {
        name: {
            "version": package.__version__,
            "coefficients": [[*map(int, k), float(v)] for k, v in run().items()],
        }
        for name, (package, run) in peers.items()
    }
    path = Path(__file__).with_name("coefficients.json")
    path.write_text(json.dumps(result, indent=1) + "\n")
