"""Names of the first version that have changed: errors name the new one, old files are read."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from gegenbauer._messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "NEW_ATTRIBUTES",
    "NEW_FUNCTIONS",
    "NEW_NAMES",
    "FormerNames",
    "former_names_of",
    "missing_name",
    "refuse_old_names",
]

# Parameters of estimators, and of functions
NEW_NAMES = {
    "batch_rows": "batch_size",
    "every_rows": "every_samples",
    "feature_range": "bounds",
    "gamma": "alpha",
    "gammas": "alphas",
    "kernel_rows": "kernel_samples",
    "order": "term_order",
    "search_rows": "search_samples",
}

# Attributes and methods of estimators; those of parameters have their names and an underscore
NEW_ATTRIBUTES = {
    **{f"{old}_": f"{new}_" for old, new in NEW_NAMES.items()},
    "choose_gamma": "choose_alpha",
    "gamma_results_": "alpha_results_",
    "n_search_rows_": "n_search_samples_",
}

# Arguments of the searches alone: scikit-learn's scores are better when higher
_OF_SEARCHES = {"score": "loss", "splits": "cv"}

# Attributes of their results, whose scores were better when lower
_OF_RESULTS = {"score": "loss", "scores": "losses"}

# Functions and classes that the package itself had
NEW_FUNCTIONS = {
    "LeaveOneOut": "LeaveOneOutPredictions",
    "eval_gegenbauer": "gegenbauer_vander",
    "search_gamma": "search_alpha",
}

_ATTRIBUTES = {**NEW_NAMES, **NEW_ATTRIBUTES, **_OF_RESULTS}

Function = TypeVar("Function", bound="Callable[..., Any]")


def refuse_old_names(function: Function) -> Function:
    """Make a function refuse an argument by its old name, with an error that names the new one."""
    known = inspect.signature(function).parameters
    names = {**NEW_NAMES, **_OF_SEARCHES}
    changed = {old: new for old, new in names.items() if new in known and old not in known}

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for name in kwargs.keys() & changed.keys():
            whose = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
            raise TypeError(
                Message(
                    "{}() has no argument {!r} any more: it is called `{}`",
                    whose, name, changed[name],
                )
            )  # fmt: skip
        return function(*args, **kwargs)

    return checked  # type: ignore[return-value]


def missing_name(module: str, name: str, hint: str) -> AttributeError | ImportError:
    """Return the error of the ``__getattr__`` of a package, which raises it.

    Of ``from package import name`` an ImportError, since Python makes one without the hint of an
    AttributeError; everybody else, such as `hasattr`, needs the latter.
    """
    importing = sys._getframe(2).f_code.co_name == "_handle_fromlist"
    if importing and hint:
        return ImportError(f"cannot import name {name!r} from {module!r}{hint}", name=module)
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint}")


def former_names_of(module: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package some of whose functions have new names."""

    def look_up(name: str) -> Any:
        new = NEW_FUNCTIONS.get(name)
        hint = f": it is called {new}" if new in sys.modules[module].__all__ else ""
        raise missing_name(module, name, hint)

    return look_up


class FormerNames:
    """Base of classes with renamed attributes: the error for an old name gives the new one.

    So it does where the object, or its class, has that one.
    """

    if not TYPE_CHECKING:  # a type checker is to go on finding names that are not there

        def __getattr__(self, name: str) -> Any:
            own = getattr(type(self), name, None)
            if isinstance(own, property):  # which has refused, and explains why
                return own.__get__(self)
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}{self._hint(name)}",
                name=name, obj=self,
            )  # fmt: skip

    def _hint(self, name: str) -> str:
        """Return what the error for an attribute that is not there adds."""
        new = _ATTRIBUTES.get(name)
        if new is None:
            return ""
        declared = map(inspect.get_annotations, type(self).__mro__)  # if it is not fitted yet
        found = any(hasattr(one, new) for one in (self, type(self)))
        return f"; it is called {new}" if found or any(new in names for names in declared) else ""
