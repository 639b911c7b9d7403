"""Messages of errors and warnings keep their parts: what a caller can set, and ways out."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import pickle
import re
import string
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import pytest

import gegenbauer
from gegenbauer import (
    Checkpoint,
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    TensorBasis,
)
from gegenbauer._messages import Message, Setting, Ways, of_core
from gegenbauer.batches import TableBatches
from gegenbauer.errors import (
    BeyondRangeError,
    Rows,
    StreamError,
    TooLargeError,
    message_of,
    parameters_of,
)

PACKAGE = Path(gegenbauer.__file__).parent


def of_options(*names: str):
    """Return how a command writes settings that has options of these names alone."""
    return lambda setting: f"--{setting.name}" if setting.name in names else None


class TestMessage:
    def test_is_its_text(self):
        message = Message("`a` must be {}, got {!r} of {:.2f}", 1, "x", 0.126)
        assert message == "`a` must be 1, got 'x' of 0.13"
        assert isinstance(message, str)
        assert str(ValueError(message)) == message
        assert message.parts[0] == Setting("a")

    @pytest.mark.parametrize(
        ("names", "expected"),
        [
            ("abcd", "no: lower --a, --b or --c, raise --d by --a, or go"),
            ("ab", "no: lower --a or --b, raise d by --a, or go"),
            ("c", "no: lower --c, or go"),
            ("d", "no: raise --d by a, or go"),
            ("", "no: go"),
        ],
    )
    def test_ways_that_are_there(self, names, expected):
        ways = [Ways("lower", "`a`", "`b`", "`c`"), "raise `d` by `a`", "go"]
        message = Message("no", ways=ways)
        assert message == "no: lower `a`, `b` or `c`, raise `d` by `a`, or go"
        assert message.in_words(of_options(*names)) == expected

    @pytest.mark.parametrize(
        ("last", "expected"), [(" or ", "use a, b or c"), (", or ", "use a, b, or c")]
    )
    def test_of_several_ways_the_last_has_a_joint_of_its_own(self, last, expected):
        assert str(Ways("use", "a", "b", "c", last=last)) == expected
        assert str(Ways("use", "a", last=last)) == "use a"
        assert str(Ways("use", last=last)) == ""

    def test_a_sentence_of_ways_begins_with_a_capital(self):
        message = Message("it is far", ways=["use `a`", "wait"], joint=". ", end=".")
        assert message == "it is far. Use `a`, or wait."
        assert message.in_words(of_options()) == "it is far. Wait."

    def test_a_way_may_have_ways(self):
        way = Message("raise `a`", ways="by `b()`", joint=", ")
        message = Message("no", ways=[way, "go"])
        assert message == "no: raise `a`, by `b()`, or go"
        assert message.in_words(of_options("a")) == "no: raise --a, or go"
        assert message.in_words(of_options("b()")) == "no: go"

    def test_a_message_in_another_keeps_its_parts(self):
        inner = Message("`a` is {}", 3, ways=["lower `b`", "go"])
        outer = Message("row {}: {}", 7, inner)
        assert outer == "row 7: `a` is 3: lower `b`, or go"
        assert outer.parameters == ("a",)
        assert outer.in_words(of_options("a")) == "row 7: --a is 3: go"
        assert Message("{}", inner.report, ways="stop") == "`a` is 3: stop"

    def test_rows_are_parts(self):
        inner = Message("`a` is bad, first in {}", Rows("", 3, 3), ways="go")
        outer = Message("it is {} of {}: {}", 2, Rows("", 0, 5), inner)
        assert outer == "it is 2 of rows 0 to 5: `a` is bad, first in row 3: go"
        moved = outer.with_rows(lambda rows: rows.counted_from(1))
        assert moved == "it is 2 of rows 1 to 6: `a` is bad, first in row 4: go"
        assert moved.parameters == ("a",)
        (again, *_) = copies_of(moved)
        assert again.with_rows(lambda rows: rows.counted_from(1)).endswith("row 5: go")
        assert moved.with_rows(lambda _: "here") == "it is 2 of here: `a` is bad, first in here: go"

    def test_a_list_of_messages(self):
        parts = [Message("`a` is {}", 1), Message("{}", Rows("", 2, 2))]
        assert Message.listed(parts) == "`a` is 1, row 2"
        assert Message.listed(parts).parameters == ("a",)
        assert Message.listed([]) == ""

    def test_values_of_settings(self):
        message = Message("`a={!r}` and `b=None`", "x=`y`")
        assert message.parts == (Setting("a", "'x=`y`'"), " and ", Setting("b", "None"))
        assert message.in_words(of_options()) == "a='x=`y`' and b=None"

    @hypothesis.given(st.text())
    @hypothesis.example("`c`")
    @hypothesis.example("{} or `c`: lower `d`")
    def test_what_is_shown_is_no_setting(self, text):
        message = Message("{} and `a` of {!r}", text, [text], ways=Message("give `b={!r}`", text))
        assert message == f"{text} and `a` of {[text]!r}: give `b={text!r}`"
        assert message.parameters == ("a",)
        assert message.in_words(of_options("a")) == f"{text} and --a of {[text]!r}"

    def test_parameters(self):
        ways = [Ways("lower", "`b`", "`a`"), "choose it by `c()`", Message("set `d={}`", 1)]
        assert Message("it is `x`, not `y=1` or `x`", ways=ways).parameters == ("x", "y")
        assert Message("it is not", ways=ways).parameters == ("b", "a", "d")
        assert Message("it is not").parameters == ()

    def test_of_the_core(self):
        found = of_core(
            "{1} `a` is 2", [("lower", ["`b`", "`c`", ""]), ("go", ["", ""]), ("", ["u", "`v`"])]
        )
        assert found == "{1} `a` is 2: lower `b` or `c`, go, or u or `v`"
        assert found.in_words(of_options("c")) == "{1} a is 2: lower --c, go, or u"

    def test_a_backtick_without_another_is_kept(self):
        assert of_core("a ` b", []) == "a ` b"


def copies_of(thing):
    return [pickle.loads(pickle.dumps(thing)), copy.copy(thing), copy.deepcopy(thing)]


@pytest.mark.parametrize(
    "error",
    [
        ValueError(Message("`a` is {}", 1, ways=[Ways("lower", "`b`"), "go"], joint=". ", end=".")),
        TooLargeError(Message("it is much", ways="lower `a`")),
        BeyondRangeError("some are", Ways.of([Message("give `a={}`", 1), "go"]), 3),
        BeyondRangeError("some are", "scale {} down"),
        StreamError(Message("`a` is {}", 1), Rows("t.csv", 3, 4)),
        StreamError("no", "batch 3"),
    ],
)
def test_errors_survive_copies_with_their_parts(error):
    for again in copies_of(error):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert parameters_of(again) == parameters_of(error)
        for words in (of_options(), of_options("a"), of_options("b")):
            assert message_of(again).in_words(words) == message_of(error).in_words(words)


def test_texts_of_errors_with_places():
    far = BeyondRangeError("some are", Ways.of(["scale them", "set `a`"]), 3)
    assert str(far) == "some are, first in row 3: scale them, or set `a`"
    assert far.advice == "scale them, or set `a`"
    assert far.message("data row {}", start=1) == "some are, first in data row 4: " + far.advice
    assert str(StreamError("no", Rows("t.csv", 3, 3))) == "row 3 of t.csv (counted from 0): no"


def test_rows_of_files_in_other_words():
    reason = Message("it is bad, first in {}", Rows("t.csv", 7, 7))
    error = StreamError(reason, Rows("t.csv", 5, 9))
    assert str(error) == "rows 5 to 9 of t.csv (counted from 0): it is bad, first in row 7 of t.csv"
    assert error.message(lambda rows: rows.counted_from(1)) == (
        "rows 6 to 10 of t.csv: it is bad, first in row 8 of t.csv"
    )
    plain = StreamError("no", "batch 3")
    assert plain.message(lambda rows: rows.counted_from(1)) == "batch 3: no"


def mechanism_of(node: ast.AST) -> str:
    """Return the name of the call that makes a message or ways, or ""."""
    if not isinstance(node, ast.Call):
        return ""
    name = ast.unparse(node.func)
    return name if name in ("Message", "Ways", "Ways.of") else ""


def texts_of(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of such a call that are templates, or ways."""
    given = call.args[:1] if mechanism_of(call) == "Message" else call.args
    return [*given, *(word.value for word in call.keywords)]


def literals_in(node: ast.expr) -> list[ast.Constant]:
    """Return the texts of an expression that are written there, in lists and conditions too."""
    if isinstance(node, ast.Constant):
        return [node]
    inner: list[ast.expr] = []
    if isinstance(node, ast.List):
        inner = node.elts
    elif isinstance(node, ast.Starred):
        inner = [node.value]
    elif isinstance(node, ast.IfExp):
        inner = [node.body, node.orelse]
    return [literal for part in inner for literal in literals_in(part)]


def names_of_parameters() -> str:
    """Return a pattern of the parameters of the main classes whose names are no words."""
    kinds = (
        GegenbauerClassifier, GegenbauerClassifierCV, GegenbauerFeatures, GegenbauerRegressor,
        GegenbauerRegressorCV, TensorBasis, TableBatches, Checkpoint,
    )  # fmt: skip
    names = {name for kind in kinds for name in inspect.signature(kind).parameters}
    found = {name for name in names if "_" in name} | {"lam", "alphas", "cv"}
    return "|".join(sorted(found - {"sample_weight"}))  # which is data


# What names settings, or sizes
MARKED = r"`[^`]*`|shape \([^)]*\)"

# Outside of code, and of an equation of a quantity
BARE = re.compile(rf"(?<![\w.'(])({names_of_parameters()})(?![\w(]| =)")

SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "_messages.py")


@functools.cache
def nodes_of(path: Path) -> list[ast.AST]:
    return [*ast.walk(ast.parse(path.read_text("utf-8")))]


class TestSources:
    """Nobody falls back to texts."""

    def test_settings_stand_in_messages(self):
        outside = []
        for path in SOURCES:
            nodes = nodes_of(path)
            docstrings = {
                id(node.value) for node in nodes
                if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            }  # fmt: skip
            within = {
                id(literal)
                for node in nodes if mechanism_of(node)
                for text in texts_of(node) for literal in literals_in(text)
            }  # fmt: skip
            outside += [
                f"{path}:{node.lineno}: {node.value!r}" for node in nodes
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
                and "`" in node.value and id(node) not in docstrings | within
            ]  # fmt: skip
        assert outside == []

    def test_no_text_of_an_error_decides(self):
        """What an error is about are its type and its parts; texts are only shown.

        An error of scikit-learn's check of parameters has no other record of the name.
        """
        read = []
        for path in SOURCES:
            caught = {node.name for node in nodes_of(path)
                      if isinstance(node, ast.ExceptHandler) and node.name}  # fmt: skip
            texts = {f"str({name})" for name in caught}
            read += [
                f"{path}:{node.lineno}" for node in nodes_of(path)
                if texts and (isinstance(node, ast.Compare) or (
                    isinstance(node, ast.Call)
                    and ast.unparse(node.func).partition(".")[0] == "re"))
                and any(text in ast.unparse(node) for text in texts)
            ]  # fmt: skip
        assert read == []

    def test_parameters_of_messages_are_settings(self):
        """Of errors that are raised, but for those of files, whose entries have these names."""
        bare = {}
        for path in SOURCES:
            if path.parent.name in ("persistence", "cli", "commands") or path.stem == "reference":
                continue
            raised = [node for node in nodes_of(path)
                      if isinstance(node, ast.Raise) or mechanism_of(node)]  # fmt: skip
            texts = [node for one in raised for node in ast.walk(one)
                     if isinstance(node, ast.Constant) and isinstance(node.value, str)]  # fmt: skip
            for node in texts:
                if " " in node.value and BARE.search(re.sub(MARKED, "", node.value)):
                    bare[f"{path}:{node.lineno}"] = node.value
        assert bare == {}

    def test_templates_are_literals_with_a_field_for_each_value(self):
        for path in SOURCES:
            for node in nodes_of(path):
                if mechanism_of(node) != "Message":
                    continue
                (template,) = literals_in(node.args[0])
                fields = [field for _, field, _, _ in string.Formatter().parse(template.value)]
                named = [field for field in fields if field is not None]
                assert named == [""] * (len(node.args) - 1), (path, node.lineno)
