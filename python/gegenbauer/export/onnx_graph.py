"""A graph of ONNX under construction: nodes and constants by names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["OPSET", "Graph", "import_onnx"]

# Of the operators, all of which onnxruntime has in float64; the arc sine it lacks
OPSET = 17


def import_onnx(who: str) -> Any:
    """Return the package onnx, or name what is to be installed."""
    try:
        import onnx
    except ImportError:
        raise ImportError(f"{who} needs onnx: run pip install 'gegenbauer[onnx]'") from None
    return onnx


class Graph:
    """Nodes and constants. Methods add a node and return the name of what it gives.

    Parameters
    ----------
    dtype : numpy dtype
        float64 or float32, that of all real numbers.
    unique : callable, optional
        From a name to one like it that nothing in the surroundings has; by default they are empty.
    """

    def __init__(self, dtype: np.dtype[Any], unique: Callable[[str], str] = str) -> None:
        self._onnx = import_onnx("this")
        self.dtype, self._unique, self._n_names = dtype, unique, 0
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._known: dict[tuple[Any, ...], str] = {}

    @property
    def real(self) -> int:
        """The type of real numbers, as ONNX counts types."""
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(self.dtype))

    def _name(self) -> str:
        self._n_names += 1
        return self._unique(f"g{self._n_names}")

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of one output."""
        name = self._name()
        self.nodes.append(self._onnx.helper.make_node(operator, inputs, [name], name, **attributes))
        return name

    def constant(self, values: Any, dtype: np.dtype[Any] | None = None) -> str:
        """Add a constant; real numbers get a type, by default that of the graph.

        Raises
        ------
        ValueError
            A number is beyond the range of the type.
        """
        array = np.asarray(values)
        if array.dtype.kind == "f":
            kind = self.dtype if dtype is None else dtype
            with np.errstate(over="ignore", under="ignore"):
                given, array = array, array.astype(kind)
            beyond = np.isinf(array) & np.isfinite(given)
            if beyond.any():
                raise ValueError(
                    Message(
                        "`model` holds the number {:.3g}, which {} does not: export it in float64",
                        given[beyond].flat[0],
                        kind,
                    )
                )
        key = (array.dtype.str, array.shape, array.tobytes())
        if array.dtype.kind == "O" or array.size > 100:
            return self._add_constant(array)
        if key not in self._known:
            self._known[key] = self._add_constant(array)
        return self._known[key]

    def _add_constant(self, array: np.ndarray) -> str:
        name = self._name()
        if array.dtype.kind in "OU":
            texts = [str(text).encode() for text in array.ravel().tolist()]
            kind = self._onnx.TensorProto.STRING
            tensor = self._onnx.helper.make_tensor(name, kind, array.shape, texts)
        else:
            tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self.constants.append(tensor)
        return name

    def keep_only(self, results: Iterable[str]) -> None:
        """Leave out what does not lead to some results."""
        needed, kept = set(results), []
        for node in reversed(self.nodes):
            if needed.intersection(node.output):
                kept.append(node)
                needed.update(node.input)
        self.nodes = kept[::-1]
        self.constants = [tensor for tensor in self.constants if tensor.name in needed]

    # ---- arithmetic, whose operands are names or numbers ---------------------------------------

    def _operand(self, value: Any) -> str:
        return value if isinstance(value, str) else self.constant(np.asarray(value, np.float64))

    def add(self, one: Any, *others: Any) -> str:
        """Add."""
        for other in others:
            one = self.node("Add", self._operand(one), self._operand(other))
        return self._operand(one)

    def sub(self, one: Any, other: Any) -> str:
        """Subtract."""
        return self.node("Sub", self._operand(one), self._operand(other))

    def mul(self, one: Any, *others: Any) -> str:
        """Multiply."""
        for other in others:
            one = self.node("Mul", self._operand(one), self._operand(other))
        return self._operand(one)

    def div(self, one: Any, other: Any) -> str:
        """Divide."""
        return self.node("Div", self._operand(one), self._operand(other))

    def where(self, condition: str, one: Any, other: Any) -> str:
        """Choose."""
        return self.node("Where", condition, self._operand(one), self._operand(other))

    def cast(self, value: str, kind: int | None = None) -> str:
        """Turn into another type, by default that of real numbers."""
        return self.node("Cast", value, to=self.real if kind is None else kind)

    def take(self, table: str, places: Any, axis: int) -> str:
        """Take entries along an axis."""
        at = places if isinstance(places, str) else self.constant(np.asarray(places, np.int64))
        return self.node("Gather", table, at, axis=axis)

    def column(self, table: str, t: int) -> str:
        """Take a column of a table as a table, (n, 1)."""
        return self.take(table, [t], 1)

    def greatest(self, table: str) -> str:
        """Return the greatest entry of each row, (n, 1)."""
        # not ReduceMax, whose axes became an input in opset 18: this holds in all from 13 on
        name, places, one = self._name(), self._name(), self.constant(np.array([1], np.int64))
        self.nodes.append(
            self._onnx.helper.make_node("TopK", [table, one], [name, places], name, axis=1)
        )
        return name

    def total(self, table: str) -> str:
        """Return the sum of each row, (n, 1)."""
        axis = self.constant(np.array([1], np.int64))
        return self.node("ReduceSum", table, axis, keepdims=1)

    def concat(self, tables: list[str], axis: int = 1) -> str:
        """Put tables side by side."""
        return tables[0] if len(tables) == 1 else self.node("Concat", *tables, axis=axis)

    def as_table(self, numbers: str) -> str:
        """Make a table of one column of one number a sample."""
        return self.node("Unsqueeze", numbers, self.constant(np.array([1], np.int64)))

    def arcsin(self, z: str) -> str:
        """Return the arc sine of numbers from -1 to 1.

        onnxruntime has it in float32 alone. In float64 that is a first value t of half the angle
        from the end, whose sine s and cosine c are known: what is left has the sine
        ``s cos(t) - c sin(t)``, which is so small that three terms of its series are exact.
        """
        if self.dtype == np.float32:
            return self.node("Asin", z)
        s = self.node("Sqrt", self.mul(self.sub(1.0, z), 0.5))
        c = self.node("Sqrt", self.mul(self.add(z, 1.0), 0.5))
        single = self._onnx.TensorProto.FLOAT
        t = self.cast(self.node("Asin", self.cast(s, single)))
        cosine = self.node("Sin", self.sub(np.pi / 2.0, t))  # Cos came to float64 late
        d = self.sub(self.mul(s, cosine), self.mul(c, self.node("Sin", t)))
        square = self.mul(d, d)
        series = self.add(self.mul(self.add(self.mul(square, 3.0 / 40.0), 1.0 / 6.0), square), 1.0)
        return self.sub(np.pi / 2.0, self.mul(self.add(t, self.mul(d, series)), 2.0))
