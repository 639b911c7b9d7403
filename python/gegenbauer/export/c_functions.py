"""The fitted function in C: sums of terms, and sums of kernels at centres.

Lines before them have set z, the scaled inputs, and level where there are levels or gaps: of a
number 0, or 1 where it is missing; of a category its code, or -1. They set the outputs o.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.export.c_text import array, least_integer, strided
from gegenbauer.export.term_sum import TermSum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gegenbauer.export.description import Model
    from gegenbauer.export.kernel_sum import KernelSum

__all__ = ["kernel_lines", "term_lines"]


def term_lines(model: Model) -> Iterator[str]:
    """Write the sum of terms."""
    function, n_outputs = model.function, model.n_outputs
    assert isinstance(function, TermSum)
    own, m = function.functions, len(function.functions)
    size = 1 + sum(each.size for each in own)
    gaps = any(one.takes_gaps for one in model.inputs)
    contrasts = any(each.contrasts.size for each in own)
    yield f"  double f[{size}];"
    if function.degree:
        yield from array("degree", [each.degree for each in own], "int")
        yield from array("a", function.a)
        yield from array("b", function.b)
    if contrasts:
        yield from array("n_contrasts", [each.contrasts.shape[1] for each in own], "int")
        yield from array("at", strided(each.contrasts.size for each in own), "int")
        yield from array("contrast", np.concatenate([each.contrasts.ravel() for each in own]))
    absent = np.concatenate([each.absent for each in own])
    means = gaps and absent.any()
    if means:
        yield from array("mean", absent)
    yield "  {"
    yield "    double *p = f;"
    if means:
        yield "    const double *q = mean;"
    yield "    *p++ = 1;"
    if function.degree or contrasts:
        yield f"    for (t = 0; t < {m}; t++) {{"
        if contrasts:
            yield "      for (n = 0; n < n_contrasts[t]; n++)"
            value = "contrast[at[t] + level[t] * n_contrasts[t] + n]"
            yield f"        *p++ = level[t] < 0 ? 0 : {value};"
        if function.degree:
            yield "      double before = 0, now = 1;"
            yield "      for (n = 1; n <= degree[t]; n++) {"
            yield "        double next = a[n] * z[t] * now - b[n] * before;"
            yield "        before = now;"
            yield "        now = next;"
            value = "level[t] ? *q : now" if means else "level[t] ? 0 : now" if gaps else "now"
            yield f"        *p++ = {value};"
            if means:
                yield "        q++;"
            yield "      }"
        yield "    }"
    yield "  }"
    yield from _sum(function, model.intercept, n_outputs, size)


def _sum(function: TermSum, intercept: np.ndarray, n_outputs: int, size: int) -> Iterator[str]:
    yield f"  for (n = 0; n < {n_outputs}; n++) o[n] = 0;"
    if function.n_terms:
        places = [place for row in function.places() for place in (len(row), *row)]
        kind = least_integer(max(size, *places))
        yield from array("term", places, kind)
        yield from array("coef", function.coef)
        yield f"  const {kind} *g = term;"
        yield f"  for (t = 0; t < {function.n_terms}; t++) {{"
        yield "    double product = 1;"
        yield "    for (n = *g++; n > 0; n--) product *= f[*g++];"
        if n_outputs == 1:
            yield "    o[0] += coef[t] * product;"
        else:
            yield f"    for (n = 0; n < {n_outputs}; n++)"
            yield f"      o[n] += coef[{n_outputs} * t + n] * product;"
        yield "  }"
    else:
        yield "  (void)f;"
    yield from _add_intercept(intercept)


def _add_intercept(intercept: np.ndarray) -> Iterator[str]:
    if intercept.any():
        yield from array("intercept", intercept)
        yield f"  for (n = 0; n < {intercept.size}; n++) o[n] += intercept[n];"


def kernel_lines(model: Model) -> Iterator[str]:
    """Write the sum of kernels at centres."""
    function, k = model.function, model.n_outputs
    assert not isinstance(function, TermSum)
    n, m = function.centres.shape
    n_parts = len(function.parts)
    levels = _has_levels(function) or any(one.takes_gaps for one in model.inputs)
    yield from _tables(function, levels=levels)
    if not levels and _has_category(function):
        levels = True
    yield from _sample(function)
    yield "  int i, p;"
    yield f"  for (n = 0; n < {k}; n++) o[n] = 0;"
    yield f"  for (i = 0; i < {n}; i++) {{"
    yield f"    double product[{n_parts}];"
    yield f"    for (p = 0; p < {n_parts}; p++) product[p] = 1;"
    yield f"    for (t = 0; t < {m}; t++) {{"
    yield from _pair(function, m, levels=levels)
    yield "    }"
    yield f"    for (p = 0; p < {n_parts}; p++)"
    yield f"      for (n = 0; n < {k}; n++)"
    yield f"        o[n] += coef[(p * {n} + i) * {k} + n] * product[p];"
    yield "  }"
    yield from _add_intercept(model.intercept)


def _has_category(function: KernelSum) -> bool:
    return bool(function.category.any())


def _has_levels(function: KernelSum) -> bool:
    some = any(each is not None for each in function.offsets)
    return some or _has_category(function) or bool(np.isnan(function.centres).any())


def _tables(function: KernelSum, *, levels: bool) -> Iterator[str]:
    centres, numbers = function.centres, ~function.category
    z = np.where(np.isnan(centres) | function.category, 0.0, centres)
    if function.has_cubic:
        yield from array("angle", np.arcsin(z))
        yield from array("cubic", np.array([part.cubic for part in function.parts]))
    if function.has_geometric:
        yield from array("sine", np.sqrt((1.0 - z) / 2.0))
        yield from array("cosine", np.sqrt((1.0 + z) / 2.0))
        ratios = [[ratio for ratio, _ in part.geometric] for part in function.parts]
        yield from array("ratios", strided(map(len, ratios)), "int")
        yield from array("ratio", [ratio for own in ratios for ratio in own])
        shares = [own for part in function.parts for _, own in part.geometric]
        yield from array("share", np.array(shares))
    if function.degree:
        yield from array("a", function.a)
        yield from array("b", function.b)
        yield from array("centre", z)
        sums = np.zeros((len(function.parts), z.shape[1], function.degree))
        for own, part in zip(sums, function.parts, strict=True):
            own[:, : part.sums.shape[1]] = part.sums
        yield from array("sums", sums)
    if levels:
        gone = np.isnan(centres)
        code = np.where(numbers, gone, np.where(gone, -1.0, centres)).astype(int)
        kind = "signed char" if code.max(initial=0) < 2**7 else "short"
        yield from array("code", code, kind if code.max(initial=0) < 2**15 else "int")
        yield from array("category", function.category.astype(int), "int")
        if any(each is not None for each in function.offsets):
            sizes = [0 if each is None else each.size for each in function.offsets]
            yield from array("at", strided(sizes), "int")
            yield from array(
                "away", np.concatenate([each for each in function.offsets if each is not None])
            )
            yield from array("factor", np.array([part.levels for part in function.parts]))
    yield from array("coef", np.array([part.coef for part in function.parts]))


def _sample(function: KernelSum) -> Iterator[str]:
    """Write what is found of each scaled input once."""
    m = len(function.category)
    lines = []
    if function.has_cubic:
        yield f"  double own_angle[{m}];"
        lines.append("own_angle[t] = asin(z[t]);")
    if function.has_geometric:
        yield f"  double own_sine[{m}], own_cosine[{m}];"
        lines.append("own_sine[t] = sqrt((1 - z[t]) / 2);")
        lines.append("own_cosine[t] = sqrt((1 + z[t]) / 2);")
    if function.degree:
        yield f"  double own[{m}][{function.degree + 1}];"
        lines.append("own[t][0] = 1;")
        lines.append(
            f"for (n = 1; n <= {function.degree}; n++) "
            "own[t][n] = a[n] * z[t] * own[t][n - 1] - (n > 1 ? b[n] * own[t][n - 2] : 0);"
        )
    if lines:
        yield f"  for (t = 0; t < {m}; t++) {{"
        yield from (f"    {line}" for line in lines)
        yield "  }"


def _pair(function: KernelSum, m: int, *, levels: bool) -> Iterator[str]:
    """Write the factors 1 + k of one input."""
    n_parts = len(function.parts)
    some = levels and any(each is not None for each in function.offsets)
    closed = function.has_cubic or function.has_geometric or function.degree
    if levels:
        yield f"      int one = level[t], other = code[{m} * i + t];"
        if closed:
            yield "      int given = !category[t] && !one && !other;"
    if some:
        yield "      double same = 0;"
        yield "      if (at[t + 1] > at[t] && one >= 0 && other >= 0)"
        yield "        same = (one == other) + away[at[t] + one] + away[at[t] + other];"
    if function.has_cubic:
        yield f"      double c = angle[{m} * i + t];"
        yield "      double w = 3.141592653589793 - fabs(own_angle[t] - c), v = own_angle[t] + c;"
        yield "      w *= w;"
        yield "      v *= v;"
    if function.has_geometric:
        yield f"      double e = own_sine[t] * cosine[{m} * i + t];"
        yield f"      double d = own_cosine[t] * sine[{m} * i + t];"
        yield "      double g = (e - d) * (e - d), h = (e + d) * (e + d);"
    yield f"      for (p = 0; p < {n_parts}; p++) {{"
    yield "        double k = 0;"
    if closed:
        yield f"        {'if (given) ' if levels else ''}{{"
        yield from _closed(function, m)
        yield "        }"
    if some:
        yield f"        k += factor[{m} * p + t] * same;"
    yield "        product[p] *= 1 + k;"
    yield "      }"


def _closed(function: KernelSum, m: int) -> Iterator[str]:
    if function.has_cubic:
        yield f"          const double *q = cubic + ({m} * p + t) * 4;"
        yield "          k += q[0] + ((q[3] * w + q[2]) * w + q[1]) * w;"
        yield "          k += ((q[3] * v + q[2]) * v + q[1]) * v;"
    if function.has_geometric:
        yield "          for (n = ratios[p]; n < ratios[p + 1]; n++) {"
        yield "            double r = ratio[n], rest = (1 - r) * (1 - r);"
        yield "            double sum = (1 - r - 2 * g) / (rest + 4 * r * g);"
        yield "            sum += (1 - r - 2 * h) / (rest + 4 * r * h);"
        yield f"            k += share[{m} * n + t] * sum;"
        yield "          }"
    if function.degree:
        d = function.degree
        yield "          double before = 0, now = 1;"
        yield f"          for (n = 1; n <= {d}; n++) {{"
        yield f"            double next = a[n] * centre[{m} * i + t] * now - b[n] * before;"
        yield "            before = now;"
        yield "            now = next;"
        yield f"            k += sums[({m} * p + t) * {d} + n - 1] * own[t][n] * now;"
        yield "          }"
