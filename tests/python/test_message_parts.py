"""Messages of errors and warnings keep their parts: what a caller can set, and ways out."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
import re
import string
import warnings
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

import gegenbauer
from gegenbauer import (
    Checkpoint,
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    InputScaling,
    Spectrum,
    TensorBasis,
    load,
    save,
    solve_ridge,
)
from gegenbauer._memory import require_memory
from gegenbauer._messages import Message, Setting, Ways, of_core
from gegenbauer._validation import check_integer
from gegenbauer.basis import Levels, PowerDecay, count_terms
from gegenbauer.batches import ArrayBatches, TableBatches
from gegenbauer.errors import (
    BeyondRangeError,
    OutOfRangeWarning,
    PenalizedConstantWarning,
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


X, y = np.linspace(-1, 1, 40).reshape(20, 2), np.linspace(0, 1, 20)


GAPS = np.where(np.arange(40).reshape(20, 2) == 7, np.nan, X)


def learned(**parameters):
    return GegenbauerRegressor(**{"n_terms": 3, **parameters}).partial_fit(X, y)


def changed(**parameters):
    return learned().set_params(**parameters)


def learn(model, inputs=X, **how):
    return model.fit_stream([(inputs, y)], **how)


def no_score(*_):
    return np.nan


def too_far():
    return TensorBasis(2, degree=30).evaluate(
        np.full((1, 2), 1e300), scaling=InputScaling([0, 0], [1, 1], clip=False)
    )


def beyond_the_range():
    return GegenbauerRegressor(n_terms=3, out_of_range="error").fit(X, y).predict([[5.0, 0.0]])


def table(tmp_path, text: str, **parameters):
    (tmp_path / "t.csv").write_text(text)
    return list(TableBatches(tmp_path / "t.csv", "y", **parameters).start())


class TestParameters:
    @pytest.mark.parametrize(
        ("call", "expected"),
        [
            (lambda: check_integer(0, "n_jobs", minimum=1), ("n_jobs",)),
            (lambda: TensorBasis(2, degree=-1), ("degree",)),
            (lambda: TensorBasis(2, degree=1, spectrum=(-1.0, 2.0)), ("spectrum",)),
            (lambda: TensorBasis(50, degree=50), ("degree",)),
            (lambda: require_memory(1e30, "it", Ways("lower", "`a`")), ("a",)),
            (too_far, ("scaling", "lam", "degree")),
            (lambda: GegenbauerRegressor(n_terms=3, lam="x").fit(X, y), ("lam",)),
            (lambda: GegenbauerRegressor(n_terms=None).fit(X, y), ("n_terms", "degree")),
            (lambda: GegenbauerRegressorCV(alphas=[-1.0]).fit(X, y), ("alphas",)),
            (
                lambda: GegenbauerClassifier(n_terms=3, class_weight={"u": 1.0}).fit(X, y > 0.5),
                ("class_weight",),
            ),
            (beyond_the_range, ("out_of_range",)),
            # of the compiled core
            (lambda: TensorBasis(2, n_terms=10**9, max_interaction=1),
             ("n_terms", "max_interaction")),
            (lambda: TensorBasis(2, n_terms=3, index_set="tensor", degree=[1]), ("degree",)),
            (lambda: TensorBasis(3, degree=40, lam=1e40), ("lam", "degree")),
            (lambda: solve_ridge(TensorBasis(2, n_terms=3), X, y, alpha=0.0, solver="cholesky"),
             ("solver", "alpha")),
            (lambda: solve_ridge(TensorBasis(2, n_terms=9), 0 * X, y, alpha=1e-300,
                                 engine="primal", solver="cholesky"), ("alpha", "solver")),
            (lambda: TensorBasis(1, n_terms=10**6), ("n_terms",)),
            # of parameters that changed, or differ
            (lambda: changed(lam=0.5).partial_fit(X, y), ("lam",)),
            (lambda: changed(n_terms=4).partial_fit(X, y), ("n_terms",)),
            (lambda: learned() + learned(n_terms=4), ("n_terms",)),
            (lambda: GegenbauerRegressor(gamma=1.0), ("alpha",)),
            (lambda: GegenbauerRegressor().set_params(gamma=1.0), ("alpha",)),
            (lambda: TensorBasis(2, n_terms=3, spectrum=([1, 2], 2.0)), ("spectrum",)),
            (lambda: Spectrum([PowerDecay([1, 2], 2.0), PowerDecay([1, 2, 3], 2.0)]),
             ("spectrum",)),
            # of the automatic estimators
            (lambda: GegenbauerRegressorCV(cv=GroupKFold(4)).fit(X, y), ("cv",)),
            (lambda: GegenbauerRegressorCV(cv=100).fit(X, y), ("cv",)),
            (lambda: GegenbauerClassifierCV(cv=100).fit(X, y > 0.5), ("cv",)),
            (lambda: GegenbauerRegressorCV(scoring=no_score).fit(X, y), ("scoring",)),
            (lambda: GegenbauerRegressorCV(scoring="max_error").fit(X, y, np.ones(20)),
             ("scoring",)),
            (lambda: GegenbauerRegressorCV(lam=0.5).fit(X, y), ("lam", "spectrum")),
            (lambda: GegenbauerClassifierCV(n_spectra=5, n_terms=9).fit(X, y > 0.5),
             ("n_spectra", "n_terms")),
            (lambda: GegenbauerRegressorCV(spectrum=None).fit(GAPS, y), ("spectrum",)),
            (lambda: GegenbauerRegressor(n_terms=3, missing="error").fit(GAPS, y), ("missing",)),
            # of streams
            (lambda: learn(GegenbauerRegressorCV(out_of_range="extrapolate"), landmarks=True),
             ("landmarks", "out_of_range")),
            (lambda: learn(GegenbauerRegressorCV(n_terms=3), landmarks=True),
             ("landmarks", "n_terms")),
            (lambda: learn(GegenbauerRegressorCV(max_seconds=1.0)), ("max_seconds",)),
            (lambda: learn(GegenbauerRegressorCV(spectrum=None), GAPS), ("spectrum",)),
            (lambda: learn(GegenbauerRegressor(n_terms=3), callback=3), ("callback",)),
            (lambda: learned().choose_alpha([]), ("alphas",)),
            (lambda: save(learned(), 3), ("path",)),
            (lambda: load(3), ("path",)),
            (lambda: Checkpoint(b"run"), ("path",)),
            # of data
            (lambda: GegenbauerRegressor(n_terms=3).fit(X, y[1:]), ()),
        ],
    )  # fmt: skip
    def test_of_errors(self, call, expected):
        with pytest.raises((ValueError, TypeError)) as caught:
            call()
        assert parameters_of(caught.value) == expected

    def test_of_tables(self, tmp_path):
        for text, parameters, expected in [
            ("a,y\n1,2\n", {"ignore": ["b"]}, ("ignore",)),
            ("a;y\n1;2\n", {}, ("separator",)),
            ("a,y\n1,2\n", {"inputs": ["a", "a"]}, ("inputs",)),
            ("a,y\n1,2\n", {"sample_weight": "y"}, ("target", "sample_weight")),
            ("a,y\nx,2\n1,2\n1,2\n", {}, ("mixed", "ignore")),
        ]:
            with pytest.raises(StreamError) as caught:
                table(tmp_path, text, **parameters)
            assert parameters_of(caught.value) == expected

    @pytest.mark.parametrize("change", ["X", "y", "w"])
    def test_rows_of_batches(self, change):
        """They count as the source of the batches does, whatever is wrong with them."""
        inputs, targets, weights = X.copy(), y.copy(), np.ones(20)
        {"X": inputs[:, 0], "y": targets, "w": weights}[change][13] = -np.inf
        if change == "w":
            weights[13] = -1.0
        model = GegenbauerRegressor(n_terms=3)
        arrays = ArrayBatches(inputs, targets, weights, batch_size=10)
        with pytest.raises(StreamError, match=r"rows 10 to 19 .*\brow 13\b"):
            model.fit_stream(arrays)
        halves = [(inputs[k : k + 10], targets[k : k + 10], weights[k : k + 10]) for k in (0, 10)]
        with pytest.raises(StreamError, match=r"batch 1 \(rows 10 to 19\): .*\brow 3 of these\b"):
            model.fit_stream(halves)

    def test_a_box_that_is_given_is_named(self):
        given = {"n_terms": 3, "bounds": [(-1.0, 0.0)] * 2}
        with pytest.raises(ValueError, match="lie outside of `bounds`: column 0") as caught:
            GegenbauerRegressor(**given, out_of_range="error").fit(X, y)
        assert parameters_of(caught.value) == ("bounds",)
        assert [*message_of(caught.value).ways.parameters()] == ["out_of_range"]
        halves = [(X[:5], y[:5]), (X[5:], y[5:])]
        with pytest.raises(StreamError, match=r"in row 5 of these.*Set `out_of_range`"):
            GegenbauerRegressor(**given, out_of_range="error").fit_stream(halves)
        for model in (GegenbauerRegressor(**given), GegenbauerRegressorCV(**given)):
            model.fit(X[:10], y[:10])
            with pytest.warns(OutOfRangeWarning, match="lie outside of `bounds`") as found:
                model.predict(X)
            assert parameters_of(found[0].message) == ("bounds",)
        few = given | {"n_terms": None, "degree": 30}
        far = GegenbauerRegressor(**few, out_of_range="extrapolate").fit(X[:10], y[:10])
        with pytest.raises(BeyondRangeError, match="too far outside of `bounds`, set"):
            far.predict([[1e200, 1e200]])

    def test_of_warnings(self):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            GegenbauerRegressor(n_terms=3, alpha=1.0).fit(X, 1e3 + y)
        (one,) = [each.message for each in found if each.category is PenalizedConstantWarning]
        assert parameters_of(one) == ("penalize_constant",)
        assert [*message_of(one).ways.parameters()] == ["penalize_constant"]

    def test_classes_that_no_batch_had(self):
        """As in memory, a weight of a class that there is not is refused before anything else."""
        weights = {"u": 2.0}
        for model in (GegenbauerClassifier(n_terms=3, class_weight=weights),
                      GegenbauerClassifierCV(class_weight=weights)):  # fmt: skip
            for call in (lambda one=model: one.fit(X, y > 0.5),
                         lambda one=model: one.fit_stream([(X, y > 0.5)])):  # fmt: skip
                with pytest.raises(ValueError, match="has the keys \\['u'\\]") as caught:
                    call()
                assert parameters_of(caught.value) == ("class_weight",)
        partly = GegenbauerClassifier(n_terms=3, class_weight={True: 2.0})
        assert partly.fit_stream([(X, y > 0.5)]).n_samples_seen_ == 20

    def test_advice_that_will_work(self):
        """Of 10^9 terms it is not to use all of them."""
        with pytest.warns(UserWarning, match=r"has 5\.\d\de\+25 terms .* Lower `degree`") as found:
            GegenbauerRegressor(n_terms=3, degree=9).fit(np.ones((4, 3000)), np.arange(4.0))
        assert [*message_of(found[0].message).ways.parameters()] == ["degree", "degree"]
        with pytest.warns(UserWarning, match="Pass `n_terms=None` to use them all, or `degree=N"):
            GegenbauerRegressor(n_terms=3, degree=9).fit(X, y)
        with pytest.raises(TooLargeError, match=r"or use fewer inputs$") as caught:
            GegenbauerRegressor(n_terms=None, degree=9).fit(np.ones((4, 3000)), np.arange(4.0))
        message = message_of(caught.value)
        assert [*message.ways.parameters()] == [
            "degree", "max_interaction", "n_terms", "n_features",
        ]  # fmt: skip
        assert message.in_words(of_options("n_features")).endswith(": use --n_features")

    @pytest.mark.parametrize("lam", [1e40, 1e300])
    @pytest.mark.parametrize("spectrum", [None, (0.5, 1.0)])
    def test_the_largest_lam(self, lam, spectrum):
        """What the message allows works, and ten times as much does not."""
        with pytest.raises(ValueError, match="range of float64") as caught:
            TensorBasis(3, degree=40, lam=lam, spectrum=spectrum)
        allowed = float(re.search(r"`lam` \(to (\S+) or less\)", str(caught.value))[1])
        assert TensorBasis(3, degree=40, lam=allowed, spectrum=spectrum).lam == allowed
        with pytest.raises(ValueError, match="range of float64"):
            TensorBasis(3, degree=40, lam=10 * allowed, spectrum=spectrum)

    @pytest.mark.parametrize(("n_inputs", "most"), [(1, 100_001), (2, 200_001)])
    def test_the_largest_number_of_terms(self, n_inputs, most):
        single = {"max_interaction": 1} if n_inputs > 1 else {}
        with pytest.raises(ValueError, match=f"must be at most {most}, the terms of degrees up to"):
            TensorBasis(n_inputs, n_terms=most + 1, **single)
        assert count_terms(n_inputs, n_terms=most, **single) == most
        with pytest.raises(ValueError, match=f"must be at most {most}"):
            count_terms(n_inputs, n_terms=most + 1, **single)
        levels = [Levels([0.5, 0.5])] * n_inputs  # of which there are no more
        assert count_terms(n_inputs, n_terms=10**6, levels=levels) == 2**n_inputs

    def test_text_in_files(self, tmp_path):
        (tmp_path / "t.csv").write_text("a,t,y\n" + "".join(f"{k},u{k},{k}\n" for k in range(9)))
        with pytest.raises(StreamError, match="take text for categories by `mixed=True`"):
            TableBatches(tmp_path / "t.csv", "y")
        model = GegenbauerRegressor(n_terms=3)
        assert model.fit_stream(TableBatches(tmp_path / "t.csv", "y", mixed=True))
        table = TableBatches(tmp_path / "t.csv", "t", inputs=["a", "y"])
        with pytest.raises(
            StreamError, match="the target, holds text, such as 'u0', and regression"
        ):
            model.fit_stream(table)
        assert GegenbauerClassifier(n_terms=3).fit_stream(table).classes_.size == 9

    def test_checkpoints_of_other_models(self, tmp_path):
        learn(GegenbauerRegressor(n_terms=3), checkpoint=Checkpoint(tmp_path / "run"))
        with pytest.raises(
            ValueError, match=r"of a GegenbauerRegressor, not of a .*: give another"
        ):
            GegenbauerClassifier(n_terms=3).fit_stream(
                [(X, y > 0.5)], checkpoint=Checkpoint(tmp_path / "run")
            )
        with pytest.raises(
            ValueError, match=r"`n_terms=3`, and this one has `n_terms=4`"
        ) as caught:
            learn(GegenbauerRegressor(n_terms=4), checkpoint=Checkpoint(tmp_path / "run"))
        settings = [*message_of(caught.value).settings()]
        assert settings == [Setting("n_terms", "3"), Setting("n_terms", "4")]

    def test_of_none(self):
        assert parameters_of(ValueError()) == ()
        assert parameters_of(ValueError("`a` is bad")) == ()
        assert parameters_of(KeyError("a")) == ()


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


class TestSources:
    """Nobody falls back to texts."""

    @pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
    def test_settings_stand_in_messages(self, path):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        docstrings = {
            id(node.value) for node in nodes
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }  # fmt: skip
        within = {
            id(literal)
            for node in nodes if mechanism_of(node)
            for text in texts_of(node) for literal in literals_in(text)
        }  # fmt: skip
        outside = [
            f"{path.name}:{node.lineno}: {node.value!r}" for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            and "`" in node.value and id(node) not in docstrings | within
        ]  # fmt: skip
        assert outside == []

    @pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
    def test_parameters_of_messages_are_settings(self, path):
        """Of errors that are raised, but for those of files, whose entries have these names."""
        if path.parent.name in ("persistence", "cli", "commands") or path.stem == "reference":
            return
        raised = [node for node in ast.walk(ast.parse(path.read_text("utf-8")))
                  if isinstance(node, ast.Raise) or mechanism_of(node)]  # fmt: skip
        texts = [node for one in raised for node in ast.walk(one)
                 if isinstance(node, ast.Constant) and isinstance(node.value, str)]  # fmt: skip
        plain = {node.lineno: re.sub(MARKED, "", node.value) for node in texts if " " in node.value}
        bare = {line: text for line, text in plain.items() if BARE.search(text)}
        assert bare == {}

    @pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
    def test_templates_are_literals_with_a_field_for_each_value(self, path):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if mechanism_of(node) != "Message":
                continue
            (template,) = literals_in(node.args[0])
            fields = [field for _, field, _, _ in string.Formatter().parse(template.value)]
            named = [field for field in fields if field is not None]
            assert named == [""] * (len(node.args) - 1), (path.name, node.lineno)
