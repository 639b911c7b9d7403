"""From outputs to answers in SQL: labels, decisions and probabilities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from gegenbauer.export.sql_text import literal, number
from gegenbauer.selection.calibration import ORDER

if TYPE_CHECKING:
    from gegenbauer.export.description import Model

__all__ = ["Answer", "answers_of"]

# PostgreSQL refuses exp of more, and to round that of less than its negative to zero
_MOST = "7e2"


class Answer(NamedTuple):
    """A column of the result.

    Attributes
    ----------
    name : str
        Its name.
    text : str
        Its expression, by l0, l1, ... of `levels`, or by the outputs o0, o1, ... without them.
    outputs : list of int
        Outputs that occur.
    levels : list of list of str
        Queries between the outputs and the expression.
    """

    name: str
    text: str
    outputs: list[int]
    levels: list[list[str]]


def answers_of(model: Model, method: str) -> list[Answer]:
    """Return the columns that a method of the model has."""
    answers, n = model.answers, model.n_outputs
    every = list(range(n))
    if not answers.is_classifier:
        names = ["prediction"] if answers.flat else [f"prediction_{k}" for k in every]
        return [Answer(name, f"o{k}", [k], []) for name, k in zip(names, every, strict=True)]
    what = {"predict": "prediction", "decision_function": "decision"}.get(method, "probability")
    if answers.names is not None:
        texts = {"predict": f"CASE WHEN {_decision(model, 0)} > 0e0 THEN 1 ELSE 0 END"}
        texts["decision_function"] = _decision(model, 0)
        return [
            Answer(
                f"{what}_{label}",
                texts.get(method) or _share(1, 2),
                [k],
                _logits(model, k, [k]) or [["bad", f"o{k} AS l0"]],
            )
            for k, label in enumerate(answers.names)
        ]
    labels = answers.classes.tolist()
    levels = _logits(model, 0, every) or [["bad", *(f"o{k} AS l{k}" for k in every)]]
    decisions = [_decision(model, 0)] if n == 1 else [f"l{k}" for k in every]
    if method == "predict":
        if n == 1:
            cases = [f"WHEN {decisions[0]} > 0e0 THEN {literal(labels[1])}"]
            last = labels[0]
        else:  # the first of the largest
            cases = [
                f"WHEN {' AND '.join(f'l{k} >= l{j}' for j in range(k + 1, n))} THEN {literal(own)}"
                for k, own in enumerate(labels[:-1])
            ]
            last = labels[-1]
        return [Answer(what, f"CASE {' '.join(cases)} ELSE {literal(last)} END", every, levels)]
    if method == "predict_proba":
        decisions = [_share(k, len(labels)) for k in range(len(labels))]
    names = [what] if len(decisions) == 1 else [f"{what}_{label}" for label in labels]
    return [Answer(*pair, every, levels) for pair in zip(names, decisions, strict=True)]


def _decision(model: Model, first: int) -> str:
    """Write the decision between two: an output, or the difference of the logits."""
    return f"(l{first + 1} - l{first})" if model.answers.maps else f"l{first}"


def _logits(model: Model, k: int, outputs: list[int]) -> list[list[str]]:
    """Write scale s + bias of scores s within reach, by map k; nothing without a map."""
    if not model.answers.maps:
        return []
    one = model.answers.maps[k]
    scores = [f"o{output}" for output in outputs]
    if len(scores) == 1:
        scores = [f"-0.5e0 * {scores[0]}", f"0.5e0 * {scores[0]}"]
    names = [f"s{j}" for j in range(len(scores))]
    levels = [["bad", *(f"{text} AS {name}" for text, name in zip(scores, names, strict=True))]]
    found = names
    if math.isfinite(one.reach):
        ends = (f"{name}({', '.join(names)})" for name in ("GREATEST", "LEAST"))
        levels.append(
            ["*", *(f"{end} AS {name}" for end, name in zip(ends, ("top", "least"), strict=True))]
        )
        reach, found = number(one.reach), []
        for name in names:
            below = f"(top - {name})"
            limit = f"{reach} * (1e0 + {ORDER!r} * (1e0 - {reach} / {below}))"
            moved = f"CASE WHEN {below} > {reach} THEN {limit} ELSE {below} END"
            near = f"{number(0.5 * one.reach)} - {moved}"
            found.append(f"(CASE WHEN top - least > {reach} THEN {near} ELSE {name} END)")
    scale = number(one.scale)
    logits = [
        f"{scale} * {score} + {number(shift)}"
        for score, shift in zip(found, one.bias.tolist(), strict=True)
    ]
    return [*levels, ["bad", *(f"{text} AS l{j}" for j, text in enumerate(logits))]]


def _share(k: int, n: int) -> str:
    """Write one of the softmax of n logits: the reciprocal of the sum of all divided by it."""
    ratios = [
        "1e0" if j == k else f"EXP(GREATEST(LEAST(l{j} - l{k}, {_MOST}), -{_MOST}))"
        for j in range(n)
    ]
    return f"1e0 / ({' + '.join(ratios)})"
