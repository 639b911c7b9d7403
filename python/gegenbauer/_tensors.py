"""Tensors and arrays of other libraries, by what they offer: none of these need be installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message

if TYPE_CHECKING:
    from gegenbauer._messages import Setting

__all__ = ["on_cpu"]


def on_cpu(value: Any, name: str | Setting) -> Any:
    """Return a tensor or an array of another library as an array of NumPy; all else as it is.

    Known are the tensors of PyTorch, the arrays of CuPy, and those of all libraries of the Python
    array API standard, on whatever device they are. What lies in the memory of the CPU is not
    copied where its library allows that.

    Parameters
    ----------
    value : object
        Anything.
    name : str
        For messages.

    Returns
    -------
    object
        An ndarray for a tensor or an array of such a library, else the value itself.

    Raises
    ------
    TypeError
        A tensor requires gradients, which do not pass through this library; or an array is on a
        device from which NumPy cannot take it.

    Examples
    --------
    >>> from gegenbauer._tensors import on_cpu
    >>> class OnDevice:  # as CuPy's arrays are
    ...     device, __cuda_array_interface__ = "cuda:0", {}
    ...     def get(self):
    ...         return np.array([1.0, 2.0])
    >>> on_cpu(OnDevice(), "X"), on_cpu([1.0], "X")
    (array([1., 2.]), [1.0])
    """
    kind = type(value)  # tables may have columns of these names
    if isinstance(value, np.ndarray):
        return value
    if hasattr(kind, "requires_grad") and hasattr(kind, "numpy"):
        if value.requires_grad:
            raise TypeError(
                Message(
                    "{} must not require gradients, got a {} that does: they do not pass through "
                    "this library; pass {}.detach()",
                    name,
                    kind.__name__,
                    name,
                )
            )
        return value.numpy(force=True)  # from any device
    if hasattr(kind, "__cuda_array_interface__") and hasattr(kind, "get"):
        return value.get() if hasattr(kind, "device") else value  # else a column of a table
    return _of_array_api(value, name) if hasattr(kind, "__array_namespace__") else value


def _of_array_api(value: Any, name: str | Setting) -> Any:
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:  # most libraries refuse other devices
        why = str(error).partition("\n")[0]
    try:
        return np.from_dlpack(value, device="cpu")  # from NumPy 2.1 on
    except (AttributeError, TypeError, ValueError, RuntimeError, BufferError):
        raise TypeError(
            f"{name} must be an array in the memory of the CPU, or one that comes there by itself, "
            f"got a {type(value).__name__}: {why}"
        ) from None
