"""``gegenbauer info``: what is in a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from gegenbauer.cli.commands.predict import load_model
from gegenbauer.cli.messages import listed, printable
from gegenbauer.cli.output import (
    Line,
    Steps,
    print_heading,
    print_pairs,
    print_paragraphs,
    print_table,
)
from gegenbauer.cli.report import (
    alternatives_lines,
    parameters_line,
    solution_line,
    task_of,
    terms_line,
)
from gegenbauer.cli.results import in_json
from gegenbauer.ridge.expansions import TermExpansion

if TYPE_CHECKING:
    from pathlib import Path

    from gegenbauer.ridge.expansions import Expansion

__all__ = ["run"]

# Levels of a category that are listed
_MOST_LEVELS = 4


def run(path: Path, *, limit: int) -> None:
    """Describe a model.

    Parameters
    ----------
    path : Path
        The model file.
    limit : int
        Number of inputs, classes and terms to list at most.

    Raises
    ------
    UserError
        The file is not there, or is no model file or a damaged one.
    """
    with Steps(total=1) as steps:
        steps.begin("reading")
        model = load_model(path, steps.warn)
    function = None if task_of(model) == "features" else model.expansion_
    has_weights = isinstance(function, TermExpansion)
    print_pairs(
        [
            Line(
                "file",
                f"{path}, {_size(path)}, written by gegenbauer {_version(path)}",
                {
                    "file": str(path),
                    "bytes": path.stat().st_size,
                    "written_by": _version(path),
                },
            ),
            Line(
                "task",
                f"{task_of(model)} ({type(model).__name__})",
                {"task": task_of(model), "estimator": type(model).__name__},
            ),
            *_outputs(model, function, limit),
            Line("inputs", str(model.n_features_in_), {}),
            terms_line(model),
            parameters_line(model),
            *alternatives_lines(model),
            *([solution_line(model)] if function is not None else []),
        ]
    )
    _print_inputs(model, limit)
    if has_weights:
        _print_largest_terms(model, limit)
    n_left = max(model.n_features_in_, model.n_terms_ if has_weights else 0) - limit
    if n_left > 0 and not in_json():
        print_paragraphs("--limit N shows more of them")


def _size(path: Path) -> str:
    n_bytes = path.stat().st_size
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.1f} kB"


def _version(path: Path) -> str:
    """Return the version of the library that wrote a file which `load` has found to be whole."""
    from gegenbauer.persistence import library_version

    return printable(library_version(path))


def _outputs(model: Any, function: Expansion | None, limit: int) -> list[Line]:
    if is_classifier(model):
        answers = model._answers.tolist()
        name = "labels" if model.multilabel_ else "classes"
        return [Line(name, f"{len(answers)}: {listed(answers, limit)}", {name: answers})]
    if function is not None and function.n_outputs > 1:
        return [Line("outputs", str(function.n_outputs), {"outputs": function.n_outputs})]
    return []


def _names(model: Any) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"x{t}" for t in range(model.n_features_in_)]
    return [printable(str(name)) for name in names]


def _print_inputs(model: Any, limit: int) -> None:
    names, scaling = _names(model), model.scaling_
    print_heading(_title("Inputs", limit, len(names)))
    categories: list[Any] = model.categories_
    rows = []
    values = []
    for t, name in enumerate(names):
        numbers = categories[t] is None
        values.append(
            {
                "input": name,
                "from": scaling.lower[t] if numbers else None,
                "to": scaling.upper[t] if numbers else None,
                "levels": categories[t],
                "constant": bool(numbers and scaling.is_constant[t]),
            }
        )
        if t >= limit:
            continue
        if categories[t] is not None:
            rows.append(
                (name, f"{len(categories[t])} levels", listed(_shown(categories[t]), _MOST_LEVELS))
            )
            continue
        constant = "constant: not used" if scaling.is_constant[t] else f"{scaling.upper[t]:.6g}"
        rows.append((name, f"{scaling.lower[t]:.6g}", constant))
    print_table(("input", "from", "to"), rows, {"inputs": values})


def _shown(levels: list[Any]) -> list[Any]:
    return ["(missing)" if level is None else level for level in levels]


def _print_largest_terms(model: Any, limit: int) -> None:
    """List the terms by the size of their weights; of several outputs, the largest weight."""
    weights = model.term_coef_.reshape(model.n_terms_, -1)
    outputs = np.abs(weights).argmax(axis=1)
    largest = weights[np.arange(len(weights)), outputs]
    order = np.argsort(-np.abs(largest), kind="stable")[:limit]
    terms = model.basis_.term_names(_names(model), terms=order)
    labels = model._answers if is_classifier(model) else range(weights.shape[1])
    print_heading(_title("Terms of largest weight", limit, model.n_terms_))
    rows = [
        (name, f"{largest[term]:.6g}", printable(str(labels[outputs[term]])))
        for term, name in zip(order, terms, strict=True)
    ]
    values = [
        {"term": name, "weight": largest[term], "output": label}
        for term, (name, _, label) in zip(order, rows, strict=True)
    ]
    found = {"largest_terms": values}
    if weights.shape[1] == 1:
        print_table(("term", "weight"), [row[:2] for row in rows], found)
    else:
        print_table(("term", "weight", "of output"), rows, found)


def _title(what: str, limit: int, total: int) -> str:
    return what if total <= limit else f"{what} ({limit} of {total})"
