"""Fail where the docstring of a public name breaks a rule of numpydoc that the project holds.

Public are the names in ``__all__`` of the package and of its packages, and the public methods and
properties that their classes define, but for those that scikit-learn makes (`set_fit_request`). The
rules that do not hold everywhere are below, with the reason; all others of ``numpydoc.validate``
do.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from typing import TYPE_CHECKING

from numpydoc.validate import validate

import gegenbauer

if TYPE_CHECKING:
    from collections.abc import Iterator

NOT_HELD = {
    "GL01": "the summary begins in the line of the quotes, as pydocstyle's numpy convention allows",
    "ES01": "one line is enough where the name and the parameters explain the rest",
    "EX01": "methods are shown in the example of their class",
    "PR01": "fields of small classes and arguments of their methods are in the text of the class",
    "PR03": "what all functions of a package take alike is described in one entry",
    "PR04": "entries of several parameters refer to where these are described, with their types",
    "PR07": "for the matrices of the paper's equations the shape is the description",
    "PR08": "some descriptions begin with float64",
    "RT01": "the summary of a short method is what it returns, and its annotation the type",
    "RT03": "so is the name of a class, or a shape",
}

# Not held of methods and properties, which have the neighbours of their class, and of exceptions,
# whose neighbours are their module
NOT_HELD_OF_PARTS = {"SA01"}


def public_names() -> Iterator[tuple[str, bool]]:
    """Yield the dotted names of all that is public, and whether it is a part of something."""
    seen = set()
    packages = [gegenbauer.__name__]
    packages += [
        f"gegenbauer.{module.name}"
        for module in pkgutil.iter_modules(gegenbauer.__path__)
        if not module.name.startswith("_")
    ]
    for package in packages:
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if not callable(value) or id(value) in seen:
                continue
            seen.add(id(value))
            yield f"{package}.{name}", inspect.isclass(value) and issubclass(value, BaseException)
            if inspect.isclass(value):
                for attribute, member in vars(value).items():
                    documented = inspect.isroutine(member) or isinstance(member, property)
                    routed = attribute.startswith("set_") and attribute.endswith("_request")
                    if documented and not routed and not attribute.startswith("_"):
                        yield f"{package}.{name}.{attribute}", True


def main() -> int:
    """Print what is found; return 1 if that is anything."""
    names = list(public_names())
    found = [
        f"{name}: {code} {text}"
        for name, is_part in names
        for code, text in validate(name)["errors"]
        if code not in NOT_HELD and not (is_part and code in NOT_HELD_OF_PARTS)
    ]
    print("\n".join(found) or f"the docstrings of {len(names)} public names hold the rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
