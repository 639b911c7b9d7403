"""Converters for skl2onnx, so that pipelines with estimators of this library convert."""

from __future__ import annotations

from typing import Any

import numpy as np

from gegenbauer.estimators.classifier import GegenbauerClassifier
from gegenbauer.estimators.classifier_cv import GegenbauerClassifierCV
from gegenbauer.estimators.regressor import GegenbauerRegressor
from gegenbauer.estimators.regressor_cv import GegenbauerRegressorCV
from gegenbauer.export.description import describe, require_no_errors
from gegenbauer.export.onnx_graph import OPSET, Graph, import_onnx
from gegenbauer.export.onnx_model import WITHOUT_ERRORS, add_answers, answer_types

__all__ = ["register_skl2onnx"]

_ESTIMATORS = (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
)


def register_skl2onnx() -> None:
    """Let skl2onnx convert the classifiers and regressors of this library, in pipelines, too.

    Call it once; ``skl2onnx.convert_sklearn(pipeline, initial_types=...)`` and ``to_onnx`` of
    skl2onnx work then. The outputs are those of `to_onnx`: ``prediction``, or ``label``,
    ``decision`` and, where there are some, ``probabilities``. Real numbers are float64 where the
    input of the step is (``DoubleTensorType``), else float32, in which sums of kernels lose most
    digits.

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
        skl2onnx.update_registered_converter(
            kind, _alias(kind), _set_types, _convert, parser=_parse
        )


def _alias(kind: type[Any]) -> str:
    return f"Gegenbauer{kind.__name__}"


def _parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> Any:  # noqa: ARG001
    """Declare the step, and a variable for each of its answers, whose type is set later."""
    from skl2onnx.common.data_types import FloatTensorType

    operator = scope.declare_local_operator(_alias(type(model)), model)
    operator.inputs = inputs
    for one in answer_types(describe(model)):
        operator.outputs.append(scope.declare_local_variable(one.name, FloatTensorType()))
    return operator.outputs


def _real(operator: Any) -> np.dtype[Any]:
    """Return the type of real numbers of a step."""
    from skl2onnx.common.data_types import DoubleTensorType

    double = any(isinstance(one.type, DoubleTensorType) for one in operator.inputs)
    return np.dtype(np.float64 if double else np.float32)


def _set_types(operator: Any) -> None:
    """Set types and shapes of the answers."""
    from skl2onnx.common import data_types as types

    kinds = {
        "O": types.StringTensorType,
        "b": types.BooleanTensorType,
        "i": types.Int64TensorType,
    }
    n_samples = operator.inputs[0].get_first_dimension()
    for variable, one in zip(
        operator.outputs, answer_types(describe(operator.raw_operator)), strict=True
    ):
        kind = one.dtype(_real(operator))
        reals = types.DoubleTensorType if kind == np.float64 else types.FloatTensorType
        variable.set_type(kinds.get(kind.kind, reals)([n_samples, *one.width]))


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes and constants of the step."""
    onnx = import_onnx("register_skl2onnx")
    model = describe(operator.raw_operator)
    require_no_errors(model, WITHOUT_ERRORS)
    graph = Graph(_real(operator), scope.get_unique_variable_name("gegenbauer"))
    columns = [graph.cast(one.full_name) for one in operator.inputs]
    answers = add_answers(model, graph, graph.concat(columns))
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
    for variable, given in zip(operator.outputs, answers.values(), strict=True):
        add("Identity", [given], [variable.full_name])
