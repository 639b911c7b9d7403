"""The fitted function in ONNX: scaled inputs, sums of terms, sums of kernels at centres."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gegenbauer.export.description import Category
from gegenbauer.export.term_sum import TermSum

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles
    from gegenbauer.export.description import Model
    from gegenbauer.export.kernel_sum import KernelPart, KernelSum
    from gegenbauer.export.onnx_graph import Graph

__all__ = ["outputs_of"]


class _Scaled(NamedTuple):
    """Names of what is known of the inputs.

    Attributes
    ----------
    x : str
        As given, (n, m).
    gone : str
        Whether they are NaN, (n, m).
    z : str
        Scaled, and finite, (n, m).
    refused : str
        Whether the model refuses the sample, (n, 1).
    """

    x: str
    gone: str
    z: str
    refused: str


def outputs_of(model: Model, graph: Graph, x: str) -> str:
    """Add the outputs of a model at x, (n, n_outputs), NaN where it refuses a sample."""
    scaled = _scale(model, graph, x)
    if isinstance(model.function, TermSum):
        found = _terms(model, graph, scaled)
    else:
        found = _kernels(model, graph, scaled)
    found = graph.add(found, model.intercept[np.newaxis])
    return graph.where(scaled.refused, np.nan, found)


def _scale(model: Model, g: Graph, x: str) -> _Scaled:
    numbers = [None if isinstance(one, Category) else one for one in model.inputs]
    gone = g.node("IsNaN", x)
    bad = g.node(
        "And", g.node("IsInf", x), g.constant(np.array([one is not None for one in numbers]))
    )
    barred = np.array([one is not None and not one.takes_gaps for one in numbers])
    if barred.any():
        bad = g.node("Or", bad, g.node("And", gone, g.constant(barred)))
    refused = g.node("Greater", g.total(g.cast(bad)), g.constant(0.5))

    def row(name: str, otherwise: float) -> Doubles:
        return np.array([[otherwise if one is None else getattr(one, name) for one in numbers]])

    u = g.mul(g.where(gone, 0.0, x), 0.5)
    u = g.div(g.sub(u, row("half_lower", 0.0)), row("half_range", 1.0))
    if model.clips:
        u = g.node("Clip", u, g.constant(0.0), g.constant(1.0))
    pieces = {t: one.pieces for t, one in enumerate(numbers) if one is not None and one.pieces}
    if pieces:
        columns = [g.column(u, t) for t in range(len(numbers))]
        for t, own in pieces.items():
            columns[t] = _warped(g, columns[t], own, clips=model.clips)
        u = g.concat(columns)
    z = g.add(g.mul(u, row("span", 0.0)), row("offset", 0.0))
    return _Scaled(x, gone, z, refused)


def _warped(g: Graph, u: str, pieces: Any, *, clips: bool) -> str:
    starts, values, slopes = pieces
    if len(starts) == 1:
        at = g.mul(u, 0.0)
        at = g.node("Cast", at, to=7)
    else:
        passed = g.node("GreaterOrEqual", u, g.constant(starts[np.newaxis, 1:]))
        at = g.total(g.node("Cast", passed, to=7))  # int64
    start, value, slope = (g.take(g.constant(each), at, 0) for each in (starts, values, slopes))
    found = g.add(g.mul(g.sub(u, start), slope), value)
    return g.node("Min", found, g.constant(1.0)) if clips else found


def _levels(model: Model, g: Graph, scaled: _Scaled, t: int, table: Doubles) -> str:
    """Return the rows of a table, one a level, for the levels of samples; 0 if not known."""
    one = model.inputs[t]
    if not isinstance(one, Category):
        given, missing = table
        return g.where(g.column(scaled.gone, t), missing[np.newaxis], given[np.newaxis])
    codes = np.arange(len(table), dtype=np.float64)
    own = g.cast(g.node("Equal", g.column(scaled.x, t), g.constant(codes[np.newaxis])))
    return g.node("MatMul", own, g.constant(table))


def _polynomials(g: Graph, z: str, a: Doubles, b: Doubles) -> list[str]:
    """Return the polynomials of degrees from 1 on, each of the shape of z."""
    found: list[str] = []
    for n in range(1, len(a)):
        value = g.mul(z, float(a[n]))
        if n > 1:
            value = g.mul(value, found[-1])
            value = g.sub(value, g.mul(found[-2], float(b[n])) if n > 2 else float(b[n]))
        found.append(value)
    return found


# ---- sums of terms -------------------------------------------------------------------------------


def _terms(model: Model, g: Graph, scaled: _Scaled) -> str:
    function = model.function
    assert isinstance(function, TermSum)
    own = function.functions
    tables = [g.where(g.column(scaled.gone, 0), 1.0, 1.0)]  # a column of ones
    places: dict[tuple[int, int], int] = {}  # of the functions of inputs
    width = 1
    for t, each in enumerate(own):
        if each.contrasts.size:
            tables.append(_levels(model, g, scaled, t, each.contrasts))
            places |= {(t, n): width + n for n in range(each.contrasts.shape[1])}
            width += each.contrasts.shape[1]
    varies = [t for t, each in enumerate(own) if each.degree]
    z, gone = (
        (g.take(table, varies, 1) for table in (scaled.z, scaled.gone)) if varies else ("", "")
    )
    gaps = any(model.inputs[t].takes_gaps for t in varies)
    for n, values in enumerate(_polynomials(g, z, function.a, function.b)):
        if gaps:
            absent = [own[t].absent[n] if n < own[t].degree else 0.0 for t in varies]
            values = g.where(gone, np.array([absent]), values)
        tables.append(values)
        for k, t in enumerate(varies):
            places[t, own[t].contrasts.shape[1] + n] = width + k
        width += len(varies)
    if function.n_terms == 0:
        return g.node("MatMul", tables[0], g.constant(np.zeros((1, model.n_outputs))))
    functions = g.concat(tables)
    columns = np.zeros((function.n_terms, max(1, function.interaction)), dtype=np.int64)
    for row, factors in zip(columns, function.factors, strict=True):
        row[: len(factors)] = [places[factor] for factor in factors]
    terms = [g.take(functions, column, 1) for column in columns.T]
    return g.node("MatMul", g.mul(*terms), g.constant(function.coef))


# ---- sums of kernels -----------------------------------------------------------------------------


def _kernels(model: Model, g: Graph, scaled: _Scaled) -> str:
    function = model.function
    assert not isinstance(function, TermSum)
    shared = _Shared(function, g, scaled, gaps=any(one.takes_gaps for one in model.inputs))
    kernels: list[list[str]] = [[] for _ in function.parts]
    for t in range(len(model.inputs)):
        offsets, levels = function.offsets[t], None
        if offsets is not None:
            levels = _levels(model, g, scaled, t, _likeness(function, t, offsets))
        pair = None if function.category[t] else shared.pair(t)
        for own, part in zip(kernels, function.parts, strict=True):
            k = [] if pair is None else shared.closed(part, t, *pair)
            if levels is not None and part.levels[t]:
                k.append(g.mul(levels, float(part.levels[t])))
            if k:
                own.append(g.add(1.0, *k))
    outputs = [
        g.node("MatMul", g.mul(*own), g.constant(part.coef))
        if own
        else g.node("MatMul", g.where(g.column(scaled.gone, 0), 1.0, 1.0),
                    g.constant(part.coef.sum(axis=0, keepdims=True)))
        for own, part in zip(kernels, function.parts, strict=True)
    ]  # fmt: skip
    return g.add(*outputs)


def _likeness(function: KernelSum, t: int, offsets: Doubles) -> Doubles:
    """Return how like the level of each centre each level is, (n_levels, n_centres)."""
    centres = function.centres[:, t]
    gone = np.isnan(centres)
    code = np.where(gone, 0.0, centres) if function.category[t] else gone
    code = code.astype(np.intp)
    found = (
        (np.arange(offsets.size)[:, np.newaxis] == code) + offsets[:, np.newaxis] + offsets[code]
    )
    if function.category[t]:
        found[:, gone] = 0.0
    return np.asarray(found)


class _Shared:
    """What the kernels have in common: functions of scaled inputs, and of centres."""

    def __init__(self, function: KernelSum, g: Graph, scaled: _Scaled, *, gaps: bool) -> None:
        self._g, self._function = g, function
        self._given = g.cast(g.node("Not", scaled.gone)) if gaps else None
        z = g.node("Clip", scaled.z, g.constant(-1.0), g.constant(1.0))
        if function.has_cubic:
            self._angle = g.arcsin(z)
        if function.has_geometric:
            self._sine = g.node("Sqrt", g.mul(g.sub(1.0, z), 0.5))
            self._cosine = g.node("Sqrt", g.mul(g.add(z, 1.0), 0.5))
        if function.degree:
            last = g.constant(np.array([2], np.int64))
            values = _polynomials(g, z, function.a, function.b)
            self._values = g.concat([g.node("Unsqueeze", each, last) for each in values], axis=2)

    def pair(self, t: int) -> tuple[Any, Any, Any]:
        """Return w, h and the polynomials of an input, in pairs with centres as in `KernelSum`."""
        g, function = self._g, self._function
        z = np.nan_to_num(function.centres[:, t])[np.newaxis]
        w = h = values = None
        if function.has_cubic:
            own, other = g.column(self._angle, t), np.arcsin(z)
            apart = g.sub(np.pi, g.node("Abs", g.sub(own, other)))
            both = g.add(own, other)
            w = g.mul(apart, apart), g.mul(both, both)
        if function.has_geometric:
            left = g.mul(g.column(self._sine, t), np.sqrt((1.0 + z) / 2.0))
            right = g.mul(g.column(self._cosine, t), np.sqrt((1.0 - z) / 2.0))
            minus, plus = g.sub(left, right), g.add(left, right)
            h = g.mul(minus, minus), g.mul(plus, plus)
        if function.degree:
            values = g.node(
                "Squeeze", g.take(self._values, [t], 1), g.constant(np.array([1], np.int64))
            )
        return w, h, values

    def closed(self, part: KernelPart, t: int, w: Any, h: Any, values: Any) -> list[str]:
        """Return the parts of k that are of numbers, (n, n_centres), 0 where one is missing."""
        g, found = self._g, []
        if part.cubic[t].any():
            constant, *rest = (float(each) for each in part.cubic[t])
            for each in w:
                value: Any = 0.0
                for factor in reversed(rest):
                    if isinstance(value, str) or factor:
                        value = g.mul(g.add(value, factor) if value else factor, each)
                found.append(value)
            found.append(g.constant(constant))
        for ratio, share in part.geometric:
            for each in h if share[t] else ():
                below = g.add(g.mul(each, 4.0 * ratio), (1.0 - ratio) ** 2)
                above = g.sub(float(share[t]) * (1.0 - ratio), g.mul(each, 2.0 * float(share[t])))
                found.append(g.div(above, below))
        if part.sums[t].any():
            n = part.sums.shape[1]
            table = self._at_centres(t, n) * part.sums[t][:, np.newaxis]
            if n < self._function.degree:
                table = np.vstack([table, np.zeros((self._function.degree - n, table.shape[1]))])
            found.append(g.node("MatMul", values, g.constant(table)))
        return [self._where_given(g.add(*found), t)] if found else []

    def _at_centres(self, t: int, degree: int) -> Doubles:
        z = np.nan_to_num(self._function.centres[:, t])
        a, b = self._function.a, self._function.b
        values = [np.ones_like(z), a[1] * z]
        for n in range(2, degree + 1):
            values.append(a[n] * z * values[-1] - b[n] * values[-2])
        return np.array(values[1 : degree + 1])

    def _where_given(self, k: str, t: int) -> str:
        g, gone = self._g, np.isnan(self._function.centres[:, t])
        if self._given is not None:
            k = g.mul(k, g.column(self._given, t))
        return g.mul(k, (~gone).astype(np.float64)[np.newaxis]) if gone.any() else k
