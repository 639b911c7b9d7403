"""NIST's sets for linear regression (StRD), and how many digits of coefficients are found.

The eleven sets of https://www.itl.nist.gov/div898/strd/lls/lls.shtml, as numbers. The judge is not
the certified values but exact least squares in fractions, of the numbers as float64 has them.

    python tests/python/nist.py

prints the table of docs/accuracy.md.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import NamedTuple

import mpmath
import numpy as np
import oracles

from gegenbauer import InputScaling, TensorBasis, solve_ridge

_NORRIS_Y = """
0.1 338.8 118.1 888.0 9.2 228.1 668.5 998.5 449.1 778.9 559.2 0.3 0.1 778.1 668.8 339.3 448.9
10.8 557.7 228.3 998.0 888.8 119.6 0.3 0.6 557.6 339.3 888.0 998.5 778.9 10.2 117.6 228.9 668.4
449.2 0.2
"""
_NORRIS_X = """
0.2 337.4 118.2 884.6 10.1 226.5 666.3 996.3 448.6 777.0 558.2 0.4 0.6 775.5 666.9 338.0 447.5
11.6 556.0 228.1 995.8 887.6 120.2 0.3 0.3 556.8 339.1 887.2 999.0 779.0 11.1 118.3 229.2 669.1
448.9 0.5
"""
_PONTIUS_Y = """
.11019 .21956 .32949 .43899 .54803 .65694 .76562 .87487 .98292 1.09146 1.20001 1.30822 1.41599
1.52399 1.63194 1.73947 1.84646 1.95392 2.06128 2.16844 .11052 .22018 .32939 .43886 .54798
.65739 .76596 .87474 .98300 1.09150 1.20004 1.30818 1.41613 1.52408 1.63159 1.73965 1.84696
1.95445 2.06177 2.16829
"""
_FILIP_Y = """
0.8116 0.9072 0.9052 0.9039 0.8053 0.8377 0.8667 0.8809 0.7975 0.8162 0.8515 0.8766 0.8885
0.8859 0.8959 0.8913 0.8959 0.8971 0.9021 0.909 0.9139 0.9199 0.8692 0.8872 0.89 0.891 0.8977
0.9035 0.9078 0.7675 0.7705 0.7713 0.7736 0.7775 0.7841 0.7971 0.8329 0.8641 0.8804 0.7668
0.7633 0.7678 0.7697 0.77 0.7749 0.7796 0.7897 0.8131 0.8498 0.8741 0.8061 0.846 0.8751 0.8856
0.8919 0.8934 0.894 0.8957 0.9047 0.9129 0.9209 0.9219 0.7739 0.7681 0.7665 0.7703 0.7702 0.7761
0.7809 0.7961 0.8253 0.8602 0.8809 0.8301 0.8664 0.8834 0.8898 0.8964 0.8963 0.9074 0.9119
0.9228
"""
_FILIP_X = """
-6.860120914 -4.324130045 -4.358625055 -4.358426747 -6.955852379 -6.661145254 -6.355462942
-6.118102026 -7.115148017 -6.815308569 -6.519993057 -6.204119983 -5.853871964 -6.109523091
-5.79832982 -5.482672118 -5.171791386 -4.851705903 -4.517126416 -4.143573228 -3.709075441
-3.499489089 -6.300769497 -5.953504836 -5.642065153 -5.031376979 -4.680685696 -4.329846955
-3.928486195 -8.56735134 -8.363211311 -8.107682739 -7.823908741 -7.522878745 -7.218819279
-6.920818754 -6.628932138 -6.323946875 -5.991399828 -8.781464495 -8.663140179 -8.473531488
-8.247337057 -7.971428747 -7.676129393 -7.352812702 -7.072065318 -6.774174009 -6.478861916
-6.159517513 -6.835647144 -6.53165267 -6.224098421 -5.910094889 -5.598599459 -5.290645224
-4.974284616 -4.64454848 -4.290560426 -3.885055584 -3.408378962 -3.13200249 -8.726767166
-8.66695597 -8.511026475 -8.165388579 -7.886056648 -7.588043762 -7.283412422 -6.995678626
-6.691862621 -6.392544977 -6.067374056 -6.684029655 -6.378719832 -6.065855188 -5.752272167
-5.132414673 -4.811352704 -4.098269308 -3.66174277 -3.2644011
"""
_LONGLEY = """
60323  83.0 234289 2356 1590 107608 1947
61122  88.5 259426 2325 1456 108632 1948
60171  88.2 258054 3682 1616 109773 1949
61187  89.5 284599 3351 1650 110929 1950
63221  96.2 328975 2099 3099 112075 1951
63639  98.1 346999 1932 3594 113270 1952
64989  99.0 365385 1870 3547 115094 1953
63761 100.0 363112 3578 3350 116219 1954
66019 101.2 397469 2904 3048 117388 1955
67857 104.6 419180 2822 2857 118734 1956
68169 108.4 442769 2936 2798 120445 1957
66513 110.8 444546 4681 2637 121950 1958
68655 112.6 482704 3813 2552 123366 1959
69564 114.2 502601 3931 2514 125368 1960
69331 115.7 518173 4806 2572 127852 1961
70551 116.9 554894 4007 2827 130081 1962
"""
_WAMPLER_NOISE = """
759 -2048 2048 -2048 2523 -2048 2048 -2048 1838 -2048 2048 -2048 1838 -2048 2048 -2048 2523 -2048
2048 -2048 759
"""


def _numbers(text: str) -> np.ndarray:
    return np.array(text.split(), dtype=np.float64)


class Set(NamedTuple):
    X: np.ndarray  # (n, m)
    y: np.ndarray
    degree: int


def _polynomial(x: np.ndarray, y: np.ndarray, degree: int) -> Set:
    return Set(x[:, np.newaxis], y, degree)


def _wampler(base: float, noise: int) -> Set:
    """1 + base x + (base x)^2 + ... + (base x)^5, rounded once, and a multiple of the noise."""
    x = np.arange(21)
    exact = [sum((Fraction(int(v)) / round(1 / base)) ** k for k in range(6)) for v in x]
    return _polynomial(
        x.astype(float), np.array([float(v) for v in exact]) + noise * _numbers(_WAMPLER_NOISE), 5
    )


def _without_intercept(x: np.ndarray, y: np.ndarray) -> Set:
    """With the points mirrored at the origin the intercept is zero and the slope the same."""
    return _polynomial(np.append(x, -x), np.append(y, -y), 1)


_longley = _numbers(_LONGLEY).reshape(16, 7)

SETS = {
    "Norris": _polynomial(_numbers(_NORRIS_X), _numbers(_NORRIS_Y), 1),
    "Pontius": _polynomial(np.tile(np.arange(1, 21) * 150000.0, 2), _numbers(_PONTIUS_Y), 2),
    "NoInt1": _without_intercept(np.arange(60.0, 71.0), np.arange(130.0, 141.0)),
    "NoInt2": _without_intercept(np.array([4.0, 5.0, 6.0]), np.array([3.0, 4.0, 4.0])),
    "Filip": _polynomial(_numbers(_FILIP_X), _numbers(_FILIP_Y), 10),
    "Longley": Set(_longley[:, 1:], _longley[:, 0], 1),
    "Wampler1": _wampler(1.0, 0),
    "Wampler2": _wampler(0.1, 0),
    "Wampler3": _wampler(1.0, 1),
    "Wampler4": _wampler(1.0, 100),
    "Wampler5": _wampler(1.0, 10000),
}


def monomials(X: np.ndarray, degree: int) -> list[list[Fraction]]:
    """Powers of one input, or several inputs behind a one, of each sample."""
    rows = [[Fraction(float(v)) for v in x] for x in X]
    return [
        [x[0] ** k for k in range(degree + 1)] if len(x) == 1 else [Fraction(1), *x] for x in rows
    ]


def least_squares(A: list[list[Fraction]], y: list[Fraction]) -> list[Fraction]:
    """Solve the normal equations in fractions, by elimination."""
    n = len(A[0])
    M = [
        [sum(a[i] * a[j] for a in A) for j in range(n)]
        + [sum(a[i] * v for a, v in zip(A, y, strict=True))]
        for i in range(n)
    ]
    for i in range(n):
        for k in range(n):
            if k != i and M[k][i]:
                ratio = M[k][i] / M[i][i]
                M[k] = [u - ratio * v for u, v in zip(M[k], M[i], strict=True)]
    return [M[i][n] / M[i][i] for i in range(n)]


@cache
def exact(name: str) -> list[Fraction]:
    """Coefficients of the powers of x, or of the inputs behind the intercept, of a set."""
    data = SETS[name]
    return least_squares(monomials(data.X, data.degree), [Fraction(float(v)) for v in data.y])


def in_powers(
    W: np.ndarray, basis: TensorBasis, data: Set, domain: tuple[int, int], *, orthonormal: bool
) -> list:
    """Expand what the weights W stand for in the same coefficients, with 60 digits."""
    with mpmath.workdps(60):
        lows, highs = data.X.min(axis=0), data.X.max(axis=0)
        slopes = [
            mpmath.mpf(domain[1] - domain[0]) / (mpmath.mpf(b) - mpmath.mpf(a))
            for a, b in zip(lows, highs, strict=True)
        ]
        shifts = [domain[0] - s * mpmath.mpf(a) for s, a in zip(slopes, lows, strict=True)]
        lam = mpmath.mpf(basis.lam)
        size = (lambda n: 1 / oracles.norm(n, basis.lam)) if orthonormal else (lambda n: 1)
        total = [mpmath.mpf(0)] * (data.degree + 1 if len(slopes) == 1 else len(slopes) + 1)
        for w, index in zip(W, basis.indices, strict=True):
            if not index.any():
                total[0] += mpmath.mpf(float(w))
                continue
            (t,) = np.flatnonzero(index)
            before, p = [mpmath.mpf(0)], [mpmath.mpf(1)]
            for n in range(1, int(index[t]) + 1):
                a = 2 * (n - 1 + lam) / n
                b = (n - 2 + 2 * lam) / n if n > 1 else 0
                q = [a * shifts[t] * c for c in p] + [mpmath.mpf(0)]
                for k, c in enumerate(p):
                    q[k + 1] += a * slopes[t] * c
                for k, c in enumerate(before):
                    q[k] -= b * c
                before, p = p, q
            for k, c in enumerate(p):
                place = k if len(slopes) == 1 or k == 0 else int(t) + 1
                total[place] += mpmath.mpf(float(w)) * size(int(index[t])) * c
        return total


def digits(found: list, true: list[Fraction]) -> float:
    """Correct digits of the worst coefficient that is not zero, at most 16."""
    with mpmath.workdps(60):
        worst = mpmath.mpf(10) ** -16
        for a, b in zip(found, true, strict=True):
            if b:
                exact = mpmath.mpf(b.numerator) / b.denominator
                worst = max(worst, abs((a - exact) / exact))
        return float(-mpmath.log10(worst))


def digits_of_numpy(name: str) -> float:
    """Return those of polyfit, or of lstsq where there are several inputs."""
    data = SETS[name]
    if data.X.shape[1] == 1:
        found = np.polyfit(data.X[:, 0], data.y, data.degree)[::-1]
    else:
        A = np.column_stack([np.ones(len(data.y)), data.X])
        found = np.linalg.lstsq(A, data.y, rcond=None)[0]
    return digits([mpmath.mpf(float(v)) for v in found], exact(name))


VARIANTS = {  # domain, spectrum, penalize_constant
    "[-1, 1]": ((-1, 1), None, True),
    "[-1, 1], free constant": ((-1, 1), None, False),
    "[-1, 1], orthonormal": ((-1, 1), "orthonormal", True),
    "[0, 1]": ((0, 1), None, True),
    "[0, 1], free constant": ((0, 1), None, False),
    "[0, 1], orthonormal": ((0, 1), "orthonormal", True),
}


def digits_of_ours(name: str, variant: str) -> float:
    """Return those of `solve_ridge` without a penalty, Legendre polynomials."""
    data = SETS[name]
    domain, spectrum, penalize_constant = VARIANTS[variant]
    basis = TensorBasis(data.X.shape[1], degree=data.degree, lam=0.5, spectrum=spectrum)
    scaling = InputScaling.fit(data.X, domain=domain)
    solution = solve_ridge(
        basis, data.X, data.y, 0.0, scaling=scaling, penalize_constant=penalize_constant
    )
    found = in_powers(solution.weights[:, 0], basis, data, domain, orthonormal=spectrum is not None)
    return digits(found, exact(name))


def table() -> str:
    """Return the table of docs/accuracy.md."""
    lines = ["| set | NumPy | " + " | ".join(VARIANTS) + " |", "|---" * (2 + len(VARIANTS)) + "|"]
    for name in SETS:
        row = [digits_of_numpy(name), *(digits_of_ours(name, variant) for variant in VARIANTS)]
        lines.append(f"| {name} | " + " | ".join(f"{v:.1f}" for v in row) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
