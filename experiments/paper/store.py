"""Results by what they are results of, kept as soon as they are there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.recorder import OtherRunError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Key = Mapping[str, Any]

SCHEMA = "gegenbauer-paper"


@dataclass(frozen=True)
class Unit:
    """A piece of work: what it is, and how it is done. Its result is JSON."""

    key: Key
    make: Callable[[], Any]


def _text(key: Key) -> str:
    return json.dumps(key, sort_keys=True)


class Store:
    """Results in a file to which each is added when it is there.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    circumstances : dict or None
        What must be equal for results to stand beside each other; None to take those there are.

    Raises
    ------
    OtherRunError
        When the file holds results of other circumstances, or is another file.
    """

    def __init__(self, path: Path, circumstances: dict[str, Any] | None) -> None:
        self.path = path
        self._found: dict[str, Any] = {}
        wanted = circumstances or {}
        head = json.loads(json.dumps({"schema": SCHEMA, "circumstances": wanted}))
        if not path.exists():
            if circumstances is None:
                raise OtherRunError(f"{path} is not there, so there are no results to read")
            self._append(head)
            return
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        if not lines or not lines[-1].endswith("\n"):  # an interrupt in the middle of a line
            lines = lines[:-1]
            path.write_text("".join(lines), encoding="utf-8")
        if not lines:
            self._append(head)
            return
        try:
            first, *entries = map(json.loads, lines)
            different = [
                name
                for name in head["circumstances"]
                if first["circumstances"][name] != head["circumstances"][name]
            ]
            self._found = {_text(entry["key"]): entry["result"] for entry in entries}
        except (ValueError, KeyError, TypeError) as error:
            raise OtherRunError(
                f"{path} holds no results of python -m experiments.paper"
            ) from error
        if different:
            raise OtherRunError(
                f"{path} holds results of another run (other {', '.join(different)}): remove it or "
                "write elsewhere"
            )

    def _append(self, line: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")

    def __contains__(self, key: Key) -> bool:
        return _text(key) in self._found

    def __getitem__(self, key: Key) -> Any:
        return self._found[_text(key)]

    def do(self, unit: Unit) -> Any:
        """Return the result of a unit, from the file or by doing it."""
        name = _text(unit.key)
        if name not in self._found:
            result = json.loads(json.dumps(unit.make(), allow_nan=False))  # as it will be read
            self._append({"key": unit.key, "result": result})
            self._found[name] = result
        return self._found[name]
