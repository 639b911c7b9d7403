"""A fitted model as one function of C99."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.export.c_functions import kernel_lines, term_lines
from gegenbauer.export.c_names import check_name
from gegenbauer.export.c_text import array, numbers_of, strided
from gegenbauer.export.description import Category, describe
from gegenbauer.export.precision import require_digits
from gegenbauer.export.term_sum import TermSum
from gegenbauer.export.text import (
    MOST_NUMBERS,
    describe_inputs,
    require_few_numbers,
    rounding_line,
    shown_value,
    title,
    wrapped,
)
from gegenbauer.selection.calibration import ORDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gegenbauer.export.description import Model

__all__ = ["to_c"]

_LARGEST = sys.float_info.max


def to_c(model: Any, *, name: str = "predict") -> str:
    """Write a fitted model as one function of C99, ``int predict(const double *x, double *y)``.

    It includes ``math.h`` alone, allocates nothing and keeps no state, so that any number of
    threads may call it.

    Parameters
    ----------
    model : fitted estimator of this library
        A regressor or classifier.
    name : str
        Name of the function, an identifier of C.

    Returns
    -------
    str
        The source. ``x`` holds the inputs of one sample, and ``y`` gets what `predict` returns for
        it: of a regressor the outputs; of a classifier the place of the class in ``classes_``, or a
        0 or 1 for each label of a multilabel y; then the numbers of ``decision_function``, and
        those of ``predict_proba`` if the model has probabilities. A comment lists the inputs and
        what ``y`` holds. A category arrives as its code in that comment, any other number being a
        level that is not known; a number that is missing is NaN.

        The function returns 0, or, if the model refuses the sample, the place of the input, counted
        from 1, for which it does; ``y`` is NaN then. Refused are infinities, NaN in numbers that
        must not be missing, and what ``out_of_range="error"`` forbids. There are no warnings:
        ``out_of_range="warn"`` clips.

    Raises
    ------
    TypeError
        The model is no regressor or classifier of this library; ``name`` is no text.
    sklearn.exceptions.NotFittedError
        It is not fitted.
    ValueError
        Its tables hold more than 500,000 numbers; ``name`` is no identifier of C, or one that C,
        C++ or ``math.h`` have.

    Warns
    -----
    RoundingWarning
        Rounding changes outputs by more than 1e-9 of the largest.

    See Also
    --------
    to_numpy_source, to_onnx, to_sql : Other targets.

    Notes
    -----
    The comment reports the share of the largest output by which it may differ from ``predict``.
    Compile without options such as ``-ffast-math``, by which NaN is not
    seen.

    Examples
    --------
    >>> from gegenbauer import GegenbauerRegressor
    >>> from gegenbauer.export import to_c
    >>> model = GegenbauerRegressor(n_terms=2).fit([[0.0], [1.0]], [1.0, 2.0])
    >>> print(to_c(model).partition("{")[0].splitlines()[-1])
    int predict(const double *x, double *y)
    """
    check_name(name)
    found = describe(model)
    require_few_numbers(found, MOST_NUMBERS, "a C function")
    function = found.function
    sums = [*(term_lines(found) if isinstance(function, TermSum) else kernel_lines(found))]
    lines = [
        *_comment(found, name, require_digits(found)),
        "#include <math.h>",
        "",
        f"int {name}(const double *x, double *y)",
        "{",
        *_inputs(found, "".join(sums)),
        *sums,
        *_answers(found),
        "  return 0;",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _comment(model: Model, name: str, share: float) -> Iterator[str]:
    texts = [title(model), ""]
    texts += [f"int {name}(const double *x, double *y)", "x: the inputs of a sample"]
    texts += [f"  {line}" for line in describe_inputs(model)]
    texts += [f"y: {text}" if k == 0 else f"  {text}" for k, text in enumerate(_results(model))]
    texts.append(f"Returns 0, or t + 1 if input t is refused ({_refused(model)}): y is NaN then")
    texts.append(rounding_line(share))
    for k, text in enumerate(texts):
        # what would end the comment, begin one or be a trigraph
        text = text.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
        yield from wrapped(text, " *     ", first="/* " if k == 0 else " * ") if text else [" *"]
    yield " */"


def _results(model: Model) -> Iterator[str]:
    answers, n = model.answers, model.n_outputs
    if not answers.is_classifier:
        yield "the prediction" if n == 1 else f"{n} predictions"
        return
    if answers.names is not None:
        names = ", ".join(map(shown_value, answers.names))
        kinds = ["0 or 1", "decision, positive for 1", "probability of 1"]
        for kind in kinds if answers.maps else kinds[:2]:
            yield f"{kind}, for each of {n}: {names}"
        return
    labels = answers.classes.tolist()
    yield f"class: {', '.join(f'{k} {shown_value(label)}' for k, label in enumerate(labels))}"
    yield "decision, positive for class 1" if n == 1 else f"{n} decisions, largest for the class"
    if answers.maps:
        yield f"{len(labels)} probabilities of the classes"


def _refused(model: Model) -> str:
    found = ["infinite"]
    if any(not isinstance(one, Category) and not one.takes_gaps for one in model.inputs):
        found.append("NaN")
    if model.out_of_range == "error":
        found.append("outside of what the fit saw")
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} or {found[-1]}"


def _n_results(model: Model) -> int:
    """Return how many numbers y gets."""
    answers, n = model.answers, model.n_outputs
    if not answers.is_classifier:
        return n
    if answers.names is not None:
        return n * (3 if answers.maps else 2)
    return 1 + n + (len(answers.classes) if answers.maps else 0)


# ---- inputs -------------------------------------------------------------------------------------


def _inputs(model: Model, sums: str) -> Iterator[str]:
    """Check and scale the inputs: z, and levels of categories and of what may be missing.

    Sums without terms do not look at them, of which compilers would warn.
    """
    inputs, m = model.inputs, len(model.inputs)
    numbers = numbers_of(model)
    categories = any(one is None for one in numbers)
    gaps = any(one.takes_gaps for one in inputs)
    strict = model.out_of_range == "error"
    pieces = {
        t: one.pieces for t, one in enumerate(numbers) if one is not None and one.pieces is not None
    }
    for name, of_category in (("half_lower", 0), ("half_range", 1), ("offset", 0), ("span", 0)):
        values = [of_category if one is None else getattr(one, name) for one in numbers]
        yield from array(name, values)
    if strict:
        for side, name in enumerate(("from", "to")):
            default = (-_LARGEST, _LARGEST)[side]
            seen = [default if not one or one.seen is None else one.seen[side] for one in numbers]
            yield from array(name, seen)
    if categories:
        yield from array(
            "codes", [one.n_levels if isinstance(one, Category) else 0 for one in inputs], "int"
        )
    if gaps and not all(one.takes_gaps for one in inputs):
        yield from array("gaps", [int(one.takes_gaps) for one in inputs], "int")
    if pieces:
        yield from _piece_tables(pieces, m)
    yield f"  double z[{m}];"
    if gaps or categories:
        yield f"  int level[{m}];"
    yield "  int refused = 0;"
    yield "  int t, n;" if not pieces else "  int t, n, s;"
    yield ""
    yield f"  for (t = 0; t < {m}; t++) {{"
    yield "    double u = x[t];"
    takes = "1" if all(one.takes_gaps for one in inputs) else "gaps[t]"
    yield "    z[t] = 0;"
    if gaps or categories:
        yield "    level[t] = 0;"
    if categories:
        yield "    if (codes[t] > 0) {"
        yield "      level[t] = u >= 0 && u < codes[t] && u == (int)u ? (int)u : -1;"
        if takes != "1":
            refuses = "!gaps[t]" if gaps else "1"
            yield f"      if (level[t] < 0 && {refuses} && !refused) refused = t + 1;"
        yield "      continue;"
        yield "    }"
    if gaps:
        test = "u != u" if takes == "1" else "u != u && gaps[t]"
        yield f"    if ({test}) {{"
        yield "      level[t] = 1;"
        yield "      continue;"
        yield "    }"
    beyond = " || u < from[t] || u > to[t]" if strict else ""
    yield f"    if (!isfinite(u){beyond}) {{"
    yield "      if (!refused) refused = t + 1;"
    yield "      continue;"
    yield "    }"
    yield "    u = (0.5 * u - half_lower[t]) / half_range[t];"
    if model.clips:
        yield "    u = u < 0 ? 0 : u > 1 ? 1 : u;"
    if pieces:
        yield "    if (piece[t + 1] > piece[t]) {"
        yield "      for (s = piece[t]; s + 1 < piece[t + 1] && u >= starts[s + 1]; s++) {}"
        yield "      u = values[s] + slopes[s] * (u - starts[s]);"
        if model.clips:
            yield "      u = u > 1 ? 1 : u;"
        yield "    }"
    yield "    z[t] = offset[t] + span[t] * u;"
    yield "  }"
    yield "  if (refused) {"
    yield f"    for (n = 0; n < {_n_results(model)}; n++) y[n] = NAN;"
    yield "    return refused;"
    yield "  }"
    for name in ("z", "level"):
        if (name == "z" or gaps or categories) and f"{name}[" not in sums:
            yield f"  (void){name};"
    if model.answers.is_classifier:
        yield f"  double o[{model.n_outputs}];"
    else:
        yield "  double *o = y;"


def _piece_tables(pieces: dict[int, Any], m: int) -> Iterator[str]:
    sizes = [len(pieces[t][0]) if t in pieces else 0 for t in range(m)]
    yield from array("piece", strided(sizes), "int")
    for k, name in enumerate(("starts", "values", "slopes")):
        yield from array(name, np.concatenate([each[k] for each in pieces.values()]))


# ---- answers ------------------------------------------------------------------------------------


def _answers(model: Model) -> Iterator[str]:
    answers, n = model.answers, model.n_outputs
    if not answers.is_classifier:
        return
    labels = answers.names is not None
    first = n if labels else 1  # where decisions begin
    if answers.maps:
        yield from _calibration(model, first)
    else:
        yield f"  for (n = 0; n < {n}; n++) y[{first} + n] = o[n];"
    if labels:
        yield f"  for (n = 0; n < {n}; n++) y[n] = y[{n} + n] > 0;"
    elif n == 1:
        yield "  y[0] = y[1] > 0;"
    else:
        yield f"  for (t = 0, n = 1; n < {n}; n++) if (y[1 + n] > y[1 + t]) t = n;"
        yield "  y[0] = t;"


def _calibration(model: Model, first: int) -> Iterator[str]:
    """Write decisions and probabilities: softmax(scale s + bias) of scores s within reach."""
    answers, n, n_maps = model.answers, model.n_outputs, len(model.answers.maps)
    pairs = answers.names is not None or n == 1
    size = 2 if pairs else n
    reach = [min(one.reach, _LARGEST) for one in answers.maps]
    yield from array("scale", [one.scale for one in answers.maps])
    yield from array("bias", np.array([one.bias for one in answers.maps]))
    yield from array("reach", reach)
    yield f"  for (t = 0; t < {n_maps}; t++) {{"
    yield f"    double s[{size}], top, sum = 0;"
    yield "    int far = 0;"
    if pairs:
        yield "    s[0] = -0.5 * o[t];"
        yield "    s[1] = 0.5 * o[t];"
    else:
        yield f"    for (n = 0; n < {n}; n++) s[n] = o[n];"
    largest = f"    for (top = s[0], n = 1; n < {size}; n++) if (s[n] > top) top = s[n];"
    yield largest
    yield f"    for (n = 0; n < {size}; n++) if (top - s[n] > reach[t]) far = 1;"
    yield f"    for (n = 0; far && n < {size}; n++) {{"
    yield "      double d = top - s[n];"
    yield f"      if (d > reach[t]) d = reach[t] * (1 + {ORDER!r} * (1 - reach[t] / d));"
    yield "      s[n] = 0.5 * reach[t] - d;"
    yield "    }"
    if pairs:
        yield f"    y[{first} + t] = scale[t] * s[1] + bias[2 * t + 1];"
        yield f"    y[{first} + t] -= scale[t] * s[0] + bias[2 * t];"
    else:
        yield f"    for (n = 0; n < {n}; n++) y[1 + n] = scale[t] * s[n] + bias[n];"
    yield largest
    yield f"    for (n = 0; n < {size}; n++) s[n] = scale[t] * (s[n] - top) + bias[{size} * t + n];"
    yield largest
    yield f"    for (n = 0; n < {size}; n++) sum += s[n] = exp(s[n] - top);"
    if answers.names is not None:
        yield f"    y[{2 * n} + t] = s[1] / sum;"
    else:
        yield f"    for (n = 0; n < {size}; n++) y[{1 + n} + n] = s[n] / sum;"
    yield "  }"
