"""A file of options: TOML, whose keys are the names of options without their dashes."""

from __future__ import annotations

import tomllib
from pathlib import Path  # noqa: TC003  # typer reads the annotations
from typing import Any

import typer  # noqa: TC002  # likewise

from gegenbauer.batches.columns import did_you_mean
from gegenbauer.cli.files import require_file, shown
from gegenbauer.cli.messages import UserError

__all__ = ["take_options"]


def take_options(context: typer.Context, path: Path | None) -> Path | None:
    """Let the options of a command that are not given be those of a file.

    Keys at the top are options of any command that is run with the file; those of a table with the
    name of a command are of that one alone, and come first.

    Parameters
    ----------
    context : typer.Context
        Of the command.
    path : Path or None
        The file.

    Raises
    ------
    UserError
        It cannot be read, is no TOML, or has a key or a value that is none of the command.
    """
    if path is None or context.resilient_parsing:
        return path
    require_file(path, "file of --config")
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise UserError(f"--config {shown(path)} is not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        raise UserError(
            f"--config {shown(path)} is no TOML: {error}; a line has a name and a value, as in "
            'target = "y"'
        ) from error
    options = _options_of(context.command)
    commands = {name: _options_of(command) for name, command in _commands(context).items()}
    own = str(context.info_name)
    general = {key: value for key, value in found.items() if key not in commands}
    special = found.get(own, {})
    for name in commands.keys() & found.keys():
        if not isinstance(found[name], dict):
            raise UserError(f"--config {shown(path)}: {name} is a command, as in [{name}]")
    given = {}
    for key, value in [*general.items(), *special.items()]:
        option = options.get(key)
        if option is None:
            where = "" if key in general else f" in [{own}]"
            raise UserError(
                f"--config {shown(path)}: {_advice(key + where, key, own, options, commands)}"
            )
        given[option.name] = _value(option, key, value, path)
    context.default_map = {**(context.default_map or {}), **given}
    return path


def _options_of(command: Any) -> dict[str, Any]:
    """Return the options of a command by their names, without the file itself and help."""
    return {
        name.removeprefix("--"): option
        for option in command.params
        for name in option.opts
        if name.startswith("--") and option.name not in ("config", "help")
    }


def _commands(context: typer.Context) -> dict[str, Any]:
    parent: Any = context.find_root().command
    return dict(parent.commands)


def _advice(shown_key: str, key: str, own: str, options: Any, commands: Any) -> str:
    """Explain why a key is no option of the command."""
    others = [name for name, known in commands.items() if key in known]
    if others:
        return (
            f"{shown_key} is an option of gegenbauer {' and '.join(others)}, not of {own}; put it "
            f"below [{others[0]}]"
        )
    near = did_you_mean(key.replace("_", "-"), options)
    return f"{shown_key} is no option of gegenbauer {own}; " + (
        near or f"it has {', '.join(sorted(options))}"
    )


def _value(option: Any, key: str, value: Any, path: Path) -> Any:
    """Return a value as the option reads it."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise UserError(f"--config {shown(path)}: {key} must be true or false, got {value!r}")
        return value
    values = value if isinstance(value, list) else [value]
    if not values or any(isinstance(one, (bool, dict, list)) for one in values):
        wanted = "a text, a number" + (" or a list of these" if option.multiple else "")
        raise UserError(f"--config {shown(path)}: {key} must be {wanted}, got {value!r}")
    if option.multiple:
        return [str(one) for one in values]
    return ",".join(map(str, values))
