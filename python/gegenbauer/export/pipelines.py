"""Converters for skl2onnx, so that pipelines with estimators of this library convert.

The converters of skl2onnx for estimators that hold others expect of each step what those of
scikit-learn give there: of a classifier labels, (n,), and a table of one column a class; of a
regressor a table of one column an output. A step of this library has these and no others, wherever
it stands, with the options by which its surroundings request scores in place of probabilities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message
from gegenbauer.estimators.classifier import GegenbauerClassifier
from gegenbauer.estimators.classifier_cv import GegenbauerClassifierCV
from gegenbauer.estimators.regressor import GegenbauerRegressor
from gegenbauer.estimators.regressor_cv import GegenbauerRegressorCV
from gegenbauer.estimators.transformer import GegenbauerFeatures
from gegenbauer.export.description import Category, describe, require_no_errors
from gegenbauer.export.onnx_graph import OPSET, Graph, import_onnx
from gegenbauer.export.onnx_model import WITHOUT_ERRORS, AnswerType, add_answers, label_type
from gegenbauer.export.precision import require_digits
from gegenbauer.export.surroundings import (
    estimators_around,
    one_column,
    require_faithful,
    wants_scores,
)

if TYPE_CHECKING:
    from gegenbauer.export.description import Model

__all__ = ["register_skl2onnx"]

_ESTIMATORS = (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
)

# Of classifiers. skl2onnx sets the first one in every pipeline; here nothing becomes a dictionary
_OPTIONS = {"zipmap": [True, False], "raw_scores": [True, False]}


def register_skl2onnx() -> None:
    """Let skl2onnx convert the classifiers and regressors of this library, in pipelines, too.

    Call it once; ``skl2onnx.convert_sklearn(pipeline, initial_types=...)`` and ``to_onnx`` of
    skl2onnx work then. The outputs are those of its other estimators, as arrays whatever the option
    ``zipmap`` is: of a regressor ``prediction``, (n_samples, n_outputs); of a classifier ``label``,
    (n_samples,), and ``probabilities``, (n_samples, n_classes). Where the model has none, or the
    option ``raw_scores`` is true, there is ``decision`` instead, (n_samples, n_classes): the
    numbers of ``decision_function``, of two classes the negative and the number itself. Of a
    multilabel y both have one column a label. Labels that are truth values are 0 and 1.

    Real numbers are float64 where the input of the step is (``DoubleTensorType``), else float32, in
    which sums of kernels lose most digits. Steps are converted in pipelines and in the estimators
    of the page "Export", and refused elsewhere, where a converter of skl2onnx would give other
    numbers than the estimator.

    Raises
    ------
    ImportError
        skl2onnx is not installed (extra ``onnx``).

    See Also
    --------
    to_onnx : One estimator alone.

    Examples
    --------
    >>> from gegenbauer.export import register_skl2onnx
    >>> register_skl2onnx()  # doctest: +SKIP
    """
    try:
        import skl2onnx
    except ImportError:
        raise ImportError(
            "register_skl2onnx needs skl2onnx: run pip install 'gegenbauer[onnx]'"
        ) from None
    for kind in _ESTIMATORS:
        classifies = kind in (GegenbauerClassifier, GegenbauerClassifierCV)
        skl2onnx.update_registered_converter(
            kind, _alias(kind), _set_types, _convert, parser=_parse,
            options=_OPTIONS if classifies else None,
        )  # fmt: skip
    skl2onnx.update_registered_converter(
        GegenbauerFeatures, _alias(GegenbauerFeatures), _set_types, _convert, parser=_refuse
    )


def _alias(kind: type[Any]) -> str:
    return f"Gegenbauer{kind.__name__}"


def _refuse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> Any:  # noqa: ARG001
    """Refuse features, of which skl2onnx would report that nobody has a converter."""
    raise TypeError(
        Message(
            "GegenbauerFeatures are not converted, but models of their terms are: put "
            "GegenbauerRegressor or GegenbauerClassifier in the place of the features and of what "
            "follows them, with the same parameters"
        )
    )


def _parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> Any:  # noqa: ARG001
    """Declare the step, and a variable for each of its answers, whose type is set later."""
    from skl2onnx.common.data_types import FloatTensorType

    operator = scope.declare_local_operator(_alias(type(model)), model)
    operator.inputs = inputs
    scores = wants_scores(scope.get_options, model, estimators_around(scope, model))
    for one in _answer_types(describe(model), scores=scores):
        operator.outputs.append(scope.declare_local_variable(one.name, FloatTensorType()))
    return operator.outputs


def _answer_types(model: Model, *, scores: bool) -> list[AnswerType]:
    """Return the types of what a step gives, in that order."""
    answers, n = model.answers, model.n_outputs
    if not answers.is_classifier:
        return [AnswerType("prediction", (n,))]
    kind = label_type(model)
    if kind.kind == "b":
        kind = np.dtype(np.int64)
    n_columns, width = (n, (n,)) if answers.classes is None else (len(answers.classes), ())
    name = "probabilities" if answers.maps and not scores else "decision"
    return [AnswerType("label", width, kind), AnswerType(name, (n_columns,))]


def _real(operator: Any) -> np.dtype[Any]:
    """Return the type of real numbers of a step."""
    from skl2onnx.common.data_types import DoubleTensorType

    double = any(isinstance(one.type, DoubleTensorType) for one in operator.inputs)
    return np.dtype(np.float64 if double else np.float32)


def _set_types(operator: Any) -> None:
    """Set types and shapes of the answers."""
    from skl2onnx.common import data_types as types

    kinds = {"O": types.StringTensorType, "i": types.Int64TensorType}
    n_samples = operator.inputs[0].get_first_dimension()
    scope, model = operator.scope_inst, operator.raw_operator
    scores = wants_scores(scope.get_options, model, estimators_around(scope, model))
    found = _answer_types(describe(model), scores=scores)
    for variable, one in zip(operator.outputs, found, strict=True):
        kind = one.dtype(_real(operator))
        reals = types.DoubleTensorType if kind == np.float64 else types.FloatTensorType
        variable.set_type(kinds.get(kind.kind, reals)([n_samples, *one.width]))


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes and constants of the step."""
    onnx = import_onnx("register_skl2onnx")
    estimator = operator.raw_operator
    model = describe(estimator)
    require_no_errors(model, WITHOUT_ERRORS)
    _require_numbers(operator, model)
    require_digits(model, _real(operator))
    around = estimators_around(scope, estimator)
    # some converters set an option in the one alone
    scores = any(wants_scores(each.get_options, estimator, around) for each in (scope, container))
    texts = model.answers.classes is not None and label_type(model).kind == "O"
    require_faithful(estimator, around, scores=scores, texts=texts)
    graph = Graph(
        _real(operator), lambda name: str(scope.get_unique_variable_name(f"gegenbauer_{name}"))
    )
    columns = [graph.cast(one.full_name) for one in operator.inputs]
    answers = add_answers(model, graph, graph.concat(columns))
    given = _given(model, graph, answers, scores=scores, pairs=not one_column(estimator, around))
    graph.keep_only(given)
    for tensor in graph.constants:
        content: Any = tensor
        if tensor.data_type == onnx.TensorProto.STRING:
            content = [text.decode() for text in tensor.string_data]
        container.add_initializer(tensor.name, tensor.data_type, list(tensor.dims), content)

    def add(kind: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        name = scope.get_unique_operator_name(f"Gegenbauer{kind}")
        container.add_node(kind, inputs, outputs, op_version=OPSET, name=name, **attributes)

    for node in graph.nodes:
        attributes = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
        add(node.op_type, list(node.input), list(node.output), **attributes)
    for variable, own in zip(operator.outputs, given, strict=True):
        add("Identity", [own], [variable.full_name])


def _require_numbers(operator: Any, model: Model) -> None:
    """Refuse text, of which onnxruntime would make numbers when it runs."""
    from skl2onnx.common.data_types import StringTensorType

    texts = [one.raw_name for one in operator.inputs if isinstance(one.type, StringTensorType)]
    if texts:
        has = any(isinstance(one, Category) for one in model.inputs)
        raise TypeError(
            Message(
                "inputs of a {} must be numbers, and {} is text: {}",
                model.estimator,
                ", ".join(map(repr, texts)),
                "a category arrives as its code, the place of its value in categories_"
                if has
                else "put an encoder before it",
            )
        )


def _given(
    model: Model, g: Graph, answers: dict[str, str], *, scores: bool, pairs: bool
) -> list[str]:
    """Return the names of what a step gives, in the order of `_answer_types`.

    ``pairs``: decisions between two classes become two columns.
    """
    flat = model.answers.flat
    if not model.answers.is_classifier:
        found = answers["prediction"]
        return [g.as_table(found) if flat else found]
    label = answers["label"]
    if label_type(model).kind == "b":
        label = g.cast(label, 7)  # int64
    if "probabilities" in answers and not scores:
        return [label, answers["probabilities"]]
    decision = answers["decision"]
    if flat:
        decision = g.as_table(decision)
        if pairs:
            decision = g.concat([g.mul(decision, -1.0), decision])
    return [label, decision]
