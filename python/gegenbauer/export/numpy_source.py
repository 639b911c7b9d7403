"""A fitted model as the source of a Python module that needs NumPy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.export import numpy_parts as parts
from gegenbauer.export.description import Category, describe
from gegenbauer.export.precision import require_digits
from gegenbauer.export.term_sum import TermSum
from gegenbauer.export.text import (
    MOST_NUMBERS,
    describe_inputs,
    listing,
    require_few_numbers,
    rounding_line,
    title,
    unbroken,
    wrapped,
)
from gegenbauer.selection.calibration import ORDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gegenbauer.export.description import Model, Number
    from gegenbauer.export.kernel_sum import KernelPart, KernelSum

__all__ = ["to_numpy_source"]


def to_numpy_source(model: Any) -> str:
    """Write a fitted model as a Python module that needs NumPy alone.

    Parameters
    ----------
    model : fitted estimator of this library
        A regressor or classifier.

    Returns
    -------
    str
        The source. Its functions take an array X of shape (n_samples, n_features) of numbers:
        ``predict(X)``; of a classifier ``decision_function(X)``, too, and ``predict_proba(X)`` if
        the model has probabilities. They return what the methods of the model return, up to
        rounding. A category arrives as its code, the place of its value in ``CATEGORIES`` of the
        module, whose last value None is what is missing; any other number is a level that is not
        known. ``encode(rows)`` makes such an array of rows of values, or of a table. Policies for
        samples beyond the range of the fit are those of the model: what it refuses is a ValueError,
        and what it warns of a UserWarning.

    Raises
    ------
    TypeError
        The model is no regressor or classifier of this library.
    sklearn.exceptions.NotFittedError
        It is not fitted.
    ValueError
        Its tables hold more than 500,000 numbers.

    Warns
    -----
    RoundingWarning
        Rounding changes outputs by more than 1e-9 of the largest.

    See Also
    --------
    to_c, to_onnx, to_sql : Other targets.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor
    >>> from gegenbauer.export import to_numpy_source
    >>> x = np.linspace(-1, 1, 50)[:, np.newaxis]
    >>> model = GegenbauerRegressor(n_terms=20, alpha=1e-8).fit(x, np.sin(3 * x[:, 0]))
    >>> module = {}
    >>> exec(to_numpy_source(model), module)
    >>> float(module["predict"]([[0.5]])[0].round(3))
    0.997
    """
    found = describe(model)
    require_few_numbers(found, MOST_NUMBERS, "a Python module")
    lines = [
        *_heading(found, require_digits(found)),
        *_inputs(found),
        *(_terms(found.function) if isinstance(found.function, TermSum) else _kernels(found)),
        *_outputs(found),
        *_answers(found),
    ]
    return "\n".join(lines) + "\n"


# ---- the module, from top to bottom -----------------------------------------------------------


def _array(name: str, values: Any, dtype: str = "") -> str:
    """Write an array of any shape as an assignment."""
    array = np.asarray(values)
    shape = f".reshape({array.shape})" if array.ndim != 1 else ""
    kind = f", dtype={dtype}" if dtype else ""
    return f"{name} = np.array([\n{listing(array)}\n]{kind}){shape}"


def _heading(model: Model, share: float) -> Iterator[str]:
    yield f'"""{title(model)}.'
    yield ""
    yield "Inputs, the columns of X:"
    for line in describe_inputs(model):
        yield from wrapped(line.replace("\\", "\\\\").replace('"', '\\"'), "      ", first="  ")
    yield ""
    yield f"{rounding_line(share)}."
    yield '"""'
    yield ""
    if model.out_of_range == "warn":
        yield "import warnings\n"
    yield "import numpy as np\n"
    yield "inf, nan = np.inf, np.nan"


def _inputs(model: Model) -> Iterator[str]:
    inputs = model.inputs
    names = ", ".join(unbroken(one.name) for one in inputs)
    yield "INPUTS = (\n" + "\n".join(wrapped(f"{names},", "    ")) + "\n)"
    categories = {t: one for t, one in enumerate(inputs) if isinstance(one, Category)}
    yield "# By column, the values whose places are the codes; None is what is missing"
    yield "CATEGORIES = {"
    for t, one in categories.items():
        values = ", ".join([*map(unbroken, one.values), *["None"] * one.has_missing])
        yield from wrapped(f"{t}: ({values}{',' * bool(values)}),", "        ", first="    ")
    yield "}"
    numbers = [None if isinstance(one, Category) else one for one in inputs]

    def each(name: str, of_category: float) -> list[float]:
        return [of_category if one is None else getattr(one, name) for one in numbers]

    def seen(side: int, otherwise: float) -> list[float]:
        return [otherwise if one is None or one.seen is None else one.seen[side] for one in numbers]

    yield _array("TAKES_GAPS", [one.takes_gaps for one in inputs])
    yield _array("NEW_GAPS", [one.new_gaps for one in inputs])
    yield _array("SEEN_FROM", seen(0, -np.inf))
    yield _array("SEEN_TO", seen(1, np.inf))
    yield _array("HALF_LOWER", each("half_lower", 0.0))
    yield _array("HALF_RANGE", each("half_range", 1.0))
    yield _array("OFFSET", each("offset", 0.0))
    yield _array("SPAN", each("span", 0.0))
    yield from _warping(numbers)
    yield parts.ENCODE
    yield parts.CHECK[0] + parts.POLICIES.get(model.out_of_range, "") + parts.CHECK[1]
    clip = ".clip(0.0, 1.0)" if model.clips else ""
    least = "\n    U = U.clip(max=1.0)  # by rounding" if model.clips else ""
    yield parts.SCALE.format(clip=clip, least=least)


def _warping(numbers: list[Number | None]) -> Iterator[str]:
    yield "# By column, a map of the share of the range: where pieces start, values there, slopes"
    yield "PIECES = {"
    for t, one in enumerate(numbers):
        if one is not None and one.pieces is not None:
            yield f"    {t}: np.array([\n{listing(np.array(one.pieces), ' ' * 8)}"
            yield "    ]).reshape(3, -1),"
    yield "}"


def _terms(function: TermSum) -> Iterator[str]:
    places, width = function.places(), max(1, function.interaction)
    yield "# Of a x p - b q, the polynomial behind p and q"
    yield _array("A", function.a)
    yield _array("B", function.b)
    yield "# By column, where its functions begin; contrasts of levels; polynomials where missing"
    yield "FUNCTIONS = {"
    for t, (start, own) in enumerate(zip(function.starts, function.functions, strict=True)):
        if own.size:
            yield f"    {t}: ({start}, np.array(["
            yield listing(own.contrasts, " " * 8)
            yield f"    ]).reshape({own.contrasts.shape}), np.array(["
            yield listing(own.absent, " " * 8)
            yield "    ])),"
    yield "}"
    yield f"N_FUNCTIONS = {1 + sum(own.size for own in function.functions)}"
    yield "# The functions of which each term is the product; the first one is 1"
    yield _array("TERMS", [row + [0] * (width - len(row)) for row in places], "np.intp")
    yield _array("COEF", function.coef)
    yield parts.OF_TERMS


def _kernels(model: Model) -> Iterator[str]:
    function = model.function
    assert not isinstance(function, TermSum)
    yield "# Scaled numbers, NaN where missing, and codes of levels, NaN where not known"
    yield _array("CENTRES", function.centres)
    yield _array("A", function.a)
    yield _array("B", function.b)
    yield "# By column, what the levels are like: codes of a category, or given and missing"
    yield "LEVELS = {"
    for t, offsets in enumerate(function.offsets):
        if offsets is not None:
            yield f"    {t}: np.array([\n{listing(offsets, ' ' * 8)}\n    ]),"
    yield "}"
    yield "# Of each kernel: coefficients, cubics, (ratio, factors), sums over degrees, of levels"
    yield "PARTS = ["
    for part in function.parts:
        yield from _kernel_part(part)
    yield "]"
    yield parts.OF_KERNELS.format(angles=_angles(function))


def _kernel_part(part: KernelPart) -> Iterator[str]:
    def array(values: Any) -> str:
        shape = np.shape(values)
        return f"np.array([\n{listing(values, ' ' * 12)}\n        ]).reshape({shape})"

    yield f"    ({array(part.coef)}, {array(part.cubic)}, ["
    for ratio, own in part.geometric:
        yield f"        ({ratio!r}, {array(own)}),"
    yield f"    ], {array(part.sums)}, {array(part.levels)}),"


def _angles(function: KernelSum) -> str:
    """Write what is found of a pair of numbers x and z, as far as the kernels need it."""
    lines = []
    if function.has_cubic:
        lines.append("a, c = np.arcsin(x), np.arcsin(z)")
        lines.append("w = (np.pi - np.abs(a - c)) ** 2, (a + c) ** 2")
    if function.has_geometric:
        lines.append("one = np.sqrt((1.0 - x) / 2.0) * np.sqrt((1.0 + z) / 2.0)")
        lines.append("other = np.sqrt((1.0 + x) / 2.0) * np.sqrt((1.0 - z) / 2.0)")
        lines.append("h = (one - other) ** 2, (one + other) ** 2")
    return "\n".join(f"        {line}" for line in lines)


def _outputs(model: Model) -> Iterator[str]:
    yield _array("INTERCEPT", model.intercept)
    yield parts.OUTPUTS


def _answers(model: Model) -> Iterator[str]:
    answers = model.answers
    flat = "[:, 0]" if answers.flat else ""
    if not answers.is_classifier:
        yield f"\ndef predict(X):\n    return _outputs(X){flat}"
        return
    if answers.classes is not None:
        kind = "object" if answers.classes.dtype.kind in "OT" else repr(answers.classes.dtype.str)
        labels = ", ".join(unbroken(label) for label in answers.classes.tolist())
        yield "CLASSES = np.array([\n" + "\n".join(wrapped(labels, "    ")) + f"\n], dtype={kind})"
    else:
        names = ", ".join(unbroken(name) for name in answers.names or ())
        yield "LABEL_NAMES = (\n" + "\n".join(wrapped(f"{names},", "    ")) + "\n)"
    if answers.maps:
        yield from _calibration(model)
    else:
        yield f"\ndef decision_function(X):\n    return _outputs(X){flat}\n"
    if answers.classes is None:
        chosen = "(decisions > 0).astype(int)"
    elif answers.flat:
        chosen = "CLASSES[(decisions > 0).astype(int)]"
    else:
        chosen = "CLASSES[decisions.argmax(axis=1)]"
    yield f"\ndef predict(X):\n    decisions = decision_function(X)\n    return {chosen}"


def _calibration(model: Model) -> Iterator[str]:
    answers = model.answers
    yield "# Of each map to probabilities: scale, biases, largest difference of scores that counts"
    yield "MAPS = ["
    for one in answers.maps:
        yield f"    ({one.scale!r}, np.array(["
        yield listing(one.bias, " " * 8)
        yield f"    ]), {one.reach!r}),"
    yield "]"
    yield parts.CALIBRATION.format(order=ORDER)
    if answers.names is not None:
        yield parts.OF_LABELS
    elif answers.flat:
        yield parts.OF_TWO
    else:
        yield parts.OF_CLASSES
