"""A fitted model as a model of ONNX."""

from __future__ import annotations

import json
from importlib import metadata
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._validation import shown
from gegenbauer.export.description import Category, describe, require_no_errors
from gegenbauer.export.onnx_functions import outputs_of
from gegenbauer.export.onnx_graph import OPSET, Graph, import_onnx
from gegenbauer.export.precision import require_digits
from gegenbauer.export.text import require_few_numbers, rounding_line, title
from gegenbauer.selection.calibration import ORDER

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer.export.description import Model

__all__ = ["WITHOUT_ERRORS", "AnswerType", "add_answers", "answer_types", "label_type", "to_onnx"]

# Files of ONNX hold at most 2 GB
_MOST_NUMBERS = 50_000_000

_IR_VERSION = 8  # the first one with these operators

WITHOUT_ERRORS = "ONNX, whose operators have no errors"


def to_onnx(model: Any, *, dtype: npt.DTypeLike = np.float64) -> Any:
    """Write a fitted model as a model of ONNX, of plain operators.

    Parameters
    ----------
    model : fitted estimator of this library
        A regressor or classifier.
    dtype : float64 or float32
        Type of the input, the tables and the arithmetic. In float32 sums of kernels, whose
        coefficients are large, lose most of their digits or all.

    Returns
    -------
    onnx.ModelProto
        With the input ``X``, (n_samples, n_features), and the outputs ``prediction`` of a
        regressor; ``label``, ``decision`` and, if the model has probabilities, ``probabilities`` of
        a classifier. They have the shapes that `predict`, `decision_function` and `predict_proba`
        return. Labels are int64, bool, float64 or strings. A category arrives as its code, the
        place of its value in ``"categories"`` of the metadata property ``inputs``, a text of JSON
        with one entry an input; its last value null is what is missing, and any other code is a
        level that is not known. A number that is missing is NaN.

        There are no errors and warnings: ``out_of_range="warn"`` clips, and of samples that the
        model refuses, as it does infinities, and NaN where nothing may be missing, all real outputs
        are NaN, and the label means nothing.

    Raises
    ------
    ImportError
        onnx is not installed (extra ``onnx``).
    TypeError
        The model is no regressor or classifier of this library; ``dtype`` is another one.
    sklearn.exceptions.NotFittedError
        It is not fitted.
    ValueError
        ``out_of_range="error"``, which no operator can follow; labels beyond int64; tables of more
        than 50 million numbers; inputs or coefficients that float32 does not hold, or of which it
        leaves no digit of the outputs.

    Warns
    -----
    RoundingWarning
        Rounding changes outputs by more than 1e-9 of the largest, or 1e-3 in float32.

    See Also
    --------
    register_skl2onnx : The same for pipelines.
    to_c, to_numpy_source, to_sql : Other targets.

    Notes
    -----
    A finite set of terms takes 8 bytes for each sample and term while it runs, kernels some 50 for
    each sample and centre: give many samples in batches.

    Examples
    --------
    >>> from gegenbauer import GegenbauerRegressor
    >>> from gegenbauer.export import to_onnx
    >>> model = GegenbauerRegressor(n_terms=2).fit([[0.0], [1.0]], [1.0, 2.0])
    >>> [output.name for output in to_onnx(model).graph.output]  # doctest: +SKIP
    ['prediction']
    """
    onnx = import_onnx("to_onnx")
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise TypeError(
            Message("`dtype` must be float64 or float32, got {}", shown(dtype))
        ) from None
    if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise TypeError(Message("`dtype` must be float64 or float32, got {}", kind))
    found = describe(model)
    require_no_errors(found, WITHOUT_ERRORS)
    require_few_numbers(found, _MOST_NUMBERS, "a model of ONNX")
    about = f"{title(found)}. {rounding_line(require_digits(found, kind))}"
    graph = Graph(kind)
    answers = add_answers(found, graph, "X")
    graph.nodes += [
        onnx.helper.make_node("Identity", [given], [name]) for name, given in answers.items()
    ]
    outputs = [
        onnx.helper.make_tensor_value_info(
            one.name,
            onnx.helper.np_dtype_to_tensor_dtype(one.dtype(kind)),
            ["n_samples", *one.width],
        )
        for one in answer_types(found)
    ]
    body = onnx.helper.make_graph(
        graph.nodes,
        found.estimator,
        [onnx.helper.make_tensor_value_info("X", graph.real, ["n_samples", len(found.inputs)])],
        outputs,
        graph.constants,
        doc_string=about,
    )
    made = onnx.helper.make_model(
        body, ir_version=_IR_VERSION, opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        producer_name="gegenbauer", producer_version=metadata.version("gegenbauer"),
        doc_string=about,
    )  # fmt: skip
    onnx.helper.set_model_props(made, {"inputs": json.dumps([_about(one) for one in found.inputs])})
    onnx.checker.check_model(made)
    return made


def _about(one: Any) -> dict[str, Any]:
    if not isinstance(one, Category):
        return {"name": one.name}
    return {"name": one.name, "categories": [*one.values, *[None] * one.has_missing]}


class AnswerType(NamedTuple):
    """The type of an answer.

    Attributes
    ----------
    name : str
        What it is.
    width : tuple of int
        Its shape behind the number of samples.
    label : numpy dtype or None
        Of labels, theirs; None for real numbers.
    """

    name: str
    width: tuple[int, ...]
    label: np.dtype[Any] | None = None

    def dtype(self, real: np.dtype[Any]) -> np.dtype[Any]:
        """Return its type, where real numbers are of a given one."""
        return real if self.label is None else self.label


def answer_types(model: Model) -> list[AnswerType]:
    """Return the types of what `add_answers` adds, in that order."""
    answers, n = model.answers, model.n_outputs
    width = () if answers.flat else (n,)
    if not answers.is_classifier:
        return [AnswerType("prediction", width)]
    found = [
        AnswerType("label", (n,) if answers.classes is None else (), label_type(model)),
        AnswerType("decision", width),
    ]
    if answers.maps:
        n_shares = n if answers.classes is None else len(answers.classes)
        found.append(AnswerType("probabilities", (n_shares,)))
    return found


def label_type(model: Model) -> np.dtype[Any]:
    """Return the type that labels have in ONNX."""
    kind: np.dtype[Any] = _labels(model).dtype
    return kind


def _labels(model: Model) -> Any:
    """Return labels of a type that ONNX has; 0 and 1 of a multilabel y."""
    classes = model.answers.classes
    if classes is None:
        return np.array([0, 1], dtype=np.int64)
    if classes.dtype.kind in "OUT":
        return np.array([str(label) for label in classes.tolist()], dtype=object)
    if classes.dtype.kind in "iu":
        if max(abs(int(label)) for label in classes.tolist()) >= 2**63:
            raise ValueError(
                Message("`model` has labels beyond int64, which ONNX has no place for")
            )
        return classes.astype(np.int64)
    return classes if classes.dtype.kind == "b" else classes.astype(np.float64)


def add_answers(model: Model, graph: Graph, x: str) -> dict[str, str]:
    """Add what a model answers at x; return the names of the answers by what they are."""
    answers, g = model.answers, graph
    outputs = outputs_of(model, g, x)
    if not answers.is_classifier:
        outputs = _flat(g, outputs) if answers.flat else outputs
        g.keep_only([outputs])
        return {"prediction": outputs}
    found = {}
    if answers.maps:
        decision, probabilities = _calibrated(model, g, outputs)
        found["probabilities"] = probabilities
    else:
        decision = outputs
    found["decision"] = _flat(g, decision) if answers.flat else decision
    if answers.flat or answers.classes is None:
        code = g.node("Cast", g.node("Greater", found["decision"], g.constant(0.0)), to=7)
    else:
        code = g.node("ArgMax", decision, axis=1, keepdims=0)
    if answers.classes is not None:
        labels = _labels(model)
        code = g.node("Gather", g.constant(labels, labels.dtype), code, axis=0)
    found["label"] = code
    g.keep_only(found.values())
    return {one.name: found[one.name] for one in answer_types(model)}


def _flat(g: Graph, table: str) -> str:
    return g.node("Squeeze", table, g.constant(np.array([1], np.int64)))


def _calibrated(model: Model, g: Graph, outputs: str) -> tuple[str, str]:
    """Add decisions and probabilities: softmax(scale s + bias) of scores s within reach."""
    answers = model.answers
    pairs = answers.names is not None or model.n_outputs == 1
    decisions, probabilities = [], []
    for k, one in enumerate(answers.maps):
        scores = outputs
        if pairs:
            own = g.column(outputs, k)
            scores = g.concat([g.mul(own, -0.5), g.mul(own, 0.5)])
        if np.isfinite(one.reach):
            scores = _within_reach(g, scores, float(one.reach))
        bias, scale = one.bias[np.newaxis], float(one.scale)
        logits = g.add(g.mul(scores, scale), bias)
        decisions.append(g.sub(g.column(logits, 1), g.column(logits, 0)) if pairs else logits)
        below = g.add(g.mul(g.sub(scores, g.greatest(scores)), scale), bias)
        shares = g.node("Exp", g.sub(below, g.greatest(below)))
        shares = g.div(shares, g.total(shares))
        probabilities.append(shares if answers.names is None else g.column(shares, 1))
    return g.concat(decisions), g.concat(probabilities)


def _within_reach(g: Graph, scores: str, reach: float) -> str:
    below = g.sub(g.greatest(scores), scores)
    far = g.node("Greater", below, g.constant(reach))
    some = g.node("Greater", g.greatest(g.cast(far)), g.constant(0.5))
    share = g.div(reach, g.where(far, below, 1.0))
    limit = g.mul(g.add(g.mul(g.sub(1.0, share), ORDER), 1.0), reach)
    return g.where(some, g.sub(0.5 * reach, g.where(far, limit, below)), scores)
