"""A fitted polynomial as an expression of SQL, for PostgreSQL and DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gegenbauer._messages import Message, Ways
from gegenbauer._validation import check_choice, check_sequence
from gegenbauer.export.description import Category, describe, require_no_errors
from gegenbauer.export.precision import require_digits
from gegenbauer.export.sql_answers import Answer, answers_of
from gegenbauer.export.sql_text import NAME, double, literal, number, quoted, total
from gegenbauer.export.term_sum import TermSum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gegenbauer._typing import Doubles
    from gegenbauer.export.description import Model, Number

__all__ = ["to_sql"]

# Of more terms, and of more queries within another, which higher degrees need, the text is slow to
# plan: 20 of these take DuckDB 1.4 a second
_MOST_TERMS, _MOST_DEGREE = 500, 30

# Degrees that a query finds: within it the text grows by the half with each
_DEGREES = 4

# Without it PostgreSQL puts the text of each query into the one around it, wherever a column of it
# occurs, which doubles the text with each degree
_FENCE = "OFFSET 0"

_METHODS = ("predict", "decision_function", "predict_proba")


def to_sql(model: Any, *, method: str = "predict", names: Sequence[str] | None = None) -> str:
    """Write a fitted polynomial as columns of a SELECT, for PostgreSQL and DuckDB.

    Parameters
    ----------
    model : fitted estimator of this library
        A regressor or classifier with a finite set of at most 500 terms, of degrees up to 30.
    method : {"predict", "decision_function", "predict_proba"}
        What to write, by the method that returns it.
    names : sequence of n_features str, optional
        Names of the columns that are the inputs; by default those seen in ``fit``, or x0, x1, ...

    Returns
    -------
    str
        ``expression AS "prediction"``, or ``"decision"``, or ``"probability_b"`` for the label b;
        of several outputs ``"prediction_0"`` and so on, separated by commas. Put it behind SELECT.
        Each expression is a scalar subquery over the columns alone, which stands for itself.
        Categories are columns of values as in ``fit``, text, numbers or truth values. NULL and NaN
        are missing. Where the model refuses a sample, as it does infinities, and missing numbers
        where there were none, the result is NULL. ``out_of_range="warn"`` clips.

    Raises
    ------
    TypeError
        The model is no regressor or classifier of this library; ``names`` are no texts.
    sklearn.exceptions.NotFittedError
        It is not fitted.
    ValueError
        The model has infinitely many terms, more than 500 or a degree above 30;
        ``out_of_range="error"``; ``names`` are not as many as the inputs, one is
        empty, or two differ by capitals alone; the model does not have the ``method``.

    See Also
    --------
    to_c, to_numpy_source, to_onnx : Other targets.

    Notes
    -----
    The order of rows is up to the database, and DuckDB may change it: select a key beside the
    result. A product too small for a double is an error in PostgreSQL, where other targets have 0.

    Examples
    --------
    >>> from gegenbauer import GegenbauerRegressor
    >>> from gegenbauer.export import to_sql
    >>> model = GegenbauerRegressor(degree=1, n_terms=None, lam=0.5)
    >>> text = to_sql(model.fit([[0.0], [1.0]], [1.0, 2.0]), names=["length"])
    >>> text.splitlines()[-1]
    ') AS "prediction"'
    """
    method = check_choice(method, "method", _METHODS)
    found = describe(model)
    _require_short(found)
    if method not in _methods(found):
        raise ValueError(
            Message(
                "`method={!r}` is not for this {}",
                method,
                found.estimator,
                ways=Ways("give", *(Message("`method={!r}`", one) for one in _methods(found))),
            )
        )
    require_digits(found)
    columns = _columns(found, names)
    inner = _Inner(found, [quoted(one, NAME) for one in columns])
    return ",\n".join(
        f"{inner.around(one)} AS {quoted(one.name, NAME)}" for one in answers_of(found, method)
    )


def _columns(model: Model, names: Sequence[str] | None) -> list[str]:
    """Return the names of the columns, checked."""
    if names is None:
        names = [one.name for one in model.inputs]
    names = check_sequence(names, "names", "texts")
    if not all(isinstance(one, str) for one in names):
        raise TypeError(Message("`names` must be a sequence of texts, got {!r}", names))
    if len(names) != len(model.inputs):
        raise ValueError(
            Message("`names` must have {} entries, got {}", len(model.inputs), len(names))
        )
    if "" in names:
        raise ValueError(Message("`names` must hold no empty text, got {!r}", list(names)))
    same: dict[bytes, str] = {}
    for name in names:
        other = same.setdefault(name.encode().lower(), name)  # of ASCII alone, as DuckDB has it
        if other != name:
            raise ValueError(
                Message(
                    "`names` must differ by more than capitals, which DuckDB does not distinguish, "
                    "got {!r} and {!r}: call the columns otherwise, in the query as well",
                    other,
                    name,
                )
            )
    return list(names)


def _methods(model: Model) -> tuple[str, ...]:
    if not model.answers.is_classifier:
        return _METHODS[:1]
    return _METHODS if model.answers.maps else _METHODS[:2]


_ELSEWHERE = "export it to C, NumPy or ONNX"


def _require_short(model: Model) -> None:
    function = model.function
    if not isinstance(function, TermSum):
        raise ValueError(
            Message(
                "`model` has infinitely many terms, and SQL is for short polynomials",
                ways=["fit with `n_terms`, such as `n_terms=50`", _ELSEWHERE],
            )
        )
    if function.n_terms > _MOST_TERMS:
        raise ValueError(
            Message(
                "`model` has {} terms, and SQL is for at most {}",
                function.n_terms,
                _MOST_TERMS,
                ways=["fit with fewer `n_terms`", _ELSEWHERE],
            )
        )
    if function.degree > _MOST_DEGREE:
        raise ValueError(
            Message(
                "`model` has polynomials of degree {}, and SQL is for at most {}",
                function.degree,
                _MOST_DEGREE,
                ways=["fit with a lower `degree`", _ELSEWHERE],
            )
        )
    require_no_errors(model, "SQL, whose expressions have no errors")


class _Inner:
    """The nested queries from the columns to the outputs, as far as an answer needs them."""

    def __init__(self, model: Model, columns: list[str]) -> None:
        assert isinstance(model.function, TermSum)
        self._model, self._columns, self._function = model, columns, model.function
        # DuckDB takes a name for the alias beside it, if there is one, and no column is to be it
        self._v = "v"
        while any(one[1:].casefold().startswith(self._v) for one in columns):
            self._v += "v"

    def around(self, answer: Answer) -> str:
        """Return a scalar subquery of an answer."""
        model, function = self._model, self._function
        kept = [row for row in range(function.n_terms) if function.coef[row, answer.outputs].any()]
        used = sorted({factor for row in kept for factor in function.factors[row]})
        sums = []
        for k in answer.outputs:
            products = [
                " * ".join(
                    [
                        number(function.coef[row, k]),
                        *(f"f{t}_{n}" for t, n in function.factors[row]),
                    ]
                )
                for row in kept
                if function.coef[row, k]
            ]
            shift = float(model.intercept[k])
            sums.append(total([*products, *[number(shift)] * bool(shift)]) + f" AS o{k}")
        numbers = [t for t, one in enumerate(model.inputs) if not isinstance(one, Category)]
        values = [f"{self._given(t)} AS {self._v}{t}" for t in range(len(model.inputs))]
        own = function.functions
        varies = sorted({t for t, n in used if own[t].degree and n >= own[t].contrasts.shape[1]})
        shares = [f"{self._share(t)} AS u{t}" for t in varies]
        scaled = [f"{self._scaled(t)} AS z{t}" for t in varies]
        functions = [f"{self._value_of(t, n)} AS f{t}_{n}" for t, n in used]
        refused = f"({self._refused(numbers)}) AS bad"
        levels = [
            [*values],
            ["*", refused, *shares],
            ["*", *scaled] if scaled else [],
            *self._polynomials(used),
            ["*", *functions] if functions else [],
            ["bad", *sums],
            *answer.levels,
            [f"CASE WHEN bad THEN NULL ELSE {answer.text} END"],
        ]
        text = ""
        for depth, level in enumerate(level for level in levels if level):
            query = ",\n  ".join(level)
            inner = f"\nFROM (\n{text}\n{_FENCE}) AS q{depth}" if text else ""
            text = f"SELECT {query}{inner}"
        return f"(\n{text}\n)"

    def _number_input(self, t: int) -> Number:
        one = self._model.inputs[t]
        assert not isinstance(one, Category)
        return one

    def _given(self, t: int) -> str:
        if isinstance(self._model.inputs[t], Category):
            return self._columns[t]
        nan = double("'NaN'")
        return f"NULLIF({double(self._columns[t])}, {nan})"

    def _refused(self, numbers: list[int]) -> str:
        infinite = double("'Infinity'")
        tests = []
        for t in numbers:
            gone = [] if self._number_input(t).takes_gaps else [f"{self._v}{t} IS NULL"]
            tests.append(" OR ".join([*gone, f"ABS({self._v}{t}) = {infinite}"]))
        return " OR ".join(tests) or "FALSE"

    def _share(self, t: int) -> str:
        one = self._number_input(t)
        u = f"(0.5e0 * {self._v}{t} - {number(one.half_lower)}) / {number(one.half_range)}"
        if not self._model.clips:
            return u
        # NULL, which is missing, stays what it is
        return f"CASE WHEN {u} < 0e0 THEN 0e0 WHEN {u} > 1e0 THEN 1e0 ELSE {u} END"

    def _scaled(self, t: int) -> str:
        one = self._number_input(t)
        u = f"u{t}"
        if one.pieces is not None:
            starts, values, slopes = one.pieces
            lines = [
                f"{number(value)} + {number(slope)} * (u{t} - {number(start)})"
                for start, value, slope in zip(starts, values, slopes, strict=True)
            ]
            tests = [f"WHEN u{t} < {number(start)} THEN " for start in starts[1:]]
            cases = " ".join(test + line for test, line in zip(tests, lines, strict=False))
            u = f"(CASE {cases} ELSE {lines[-1]} END)" if cases else f"({lines[-1]})"
        return f"{number(one.offset)} + {number(one.span)} * {u}"

    def _value_of(self, t: int, n: int) -> str:
        """Write function n of input t."""
        own = self._function.functions[t]
        n_contrasts = own.contrasts.shape[1]
        one = self._model.inputs[t]
        if isinstance(one, Category):
            return self._contrast(t, one, own.contrasts[:, n])
        if n < n_contrasts:
            given, missing = (number(value) for value in own.contrasts[:, n])
            return double(f"CASE WHEN {self._v}{t} IS NULL THEN {missing} ELSE {given} END")
        degree = n - n_contrasts + 1
        if not one.takes_gaps:
            return f"p{t}_{degree}"
        return f"COALESCE(p{t}_{degree}, {number(own.absent[degree - 1])})"

    def _polynomials(self, used: list[tuple[int, int]]) -> list[list[str]]:
        """Write the polynomials of numbers by their recurrence, some degrees a query."""
        own = self._function.functions
        degrees = {
            t: n - own[t].contrasts.shape[1] + 1 for t, n in used if own[t].degree
        }  # the last one is the largest
        last = max(degrees.values(), default=0)
        return [
            [
                "*",
                *(
                    f"{self._by_recurrence(t, n, known)} AS p{t}_{n}"
                    for t, degree in degrees.items()
                    for n in range(known + 1, min(known + _DEGREES, degree) + 1)
                ),
            ]
            for known in range(0, last, _DEGREES)
        ]

    def _by_recurrence(self, t: int, n: int, known: int) -> str:
        """Write the polynomial of degree n by those up to a degree, which are columns."""
        if n == 0:
            return "1e0"
        if n <= known:
            return f"p{t}_{n}"
        text = f"{number(self._function.a[n])} * z{t}"
        if n == 1:
            return text
        lower, lowest = (self._by_recurrence(t, n - k, known) for k in (1, 2))
        return f"({text} * {lower} - {number(self._function.b[n])} * {lowest})"

    def _contrast(self, t: int, one: Category, values: Doubles) -> str:
        column, cases = f"{self._v}{t}", []
        if one.has_missing:
            cases.append(f"WHEN {column} IS NULL THEN {number(values[-1])}")
        for level, own in zip(one.values, values.tolist(), strict=False):
            cases.append(f"WHEN {column} = {literal(level)} THEN {number(own)}")
        return double(f"CASE {' '.join(cases)} ELSE 0e0 END")
