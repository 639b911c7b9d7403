"""Messages mark the parameters that a caller can set; the command line writes them as options."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError

import gegenbauer
from gegenbauer import GegenbauerClassifierCV, GegenbauerRegressor, GegenbauerRegressorCV
from gegenbauer._messages import Message, Ways
from gegenbauer.batches import TableBatches
from gegenbauer.cli import main
from gegenbauer.cli.app import fit, info, predict, tune
from gegenbauer.cli.messages import UserError, refusals
from gegenbauer.cli.parameters import _declared, in_options, naming_options_of
from gegenbauer.errors import message_of

PACKAGE = Path(gegenbauer.__file__).parent

CORE = PACKAGE.parents[1] / "cpp"

MARKED = re.compile(r"`(\w+|\{.*?\})(?:=[^`]*)?`")

COMMANDS = {command.__name__: command for command in (fit, tune, predict, info)}

# Parameters of the estimators and batches, those of `GegenbauerRegressorCV` where tune sets them
SETTINGS = [
    (name, parameter)
    for name, command in COMMANDS.items()
    for parameter in _declared(command)
    if parameter in GegenbauerRegressor().get_params()
    or parameter in inspect.signature(TableBatches).parameters
    or parameter == "coverage"
]

# What the commands alone have, with a value that is wrong
OWN = {
    "out": "nowhere/file.csv",
    "plot": "plot.txt",
    "validation_fraction": "2",
    "seed": "-1",
    "checkpoint": "nowhere/c.st",
    "limit": "0",
    "max_seconds": "0",
    "n_spectra": "3",
    "intervals": "3",
    "config": "nowhere.toml",
}


def messages_of(path: Path) -> list[str]:
    """Return the strings of a module but its docstrings, with names in braces for what is shown."""
    tree = ast.parse(path.read_text("utf-8"))
    passed = {
        id(node.value) for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }  # fmt: skip
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            passed |= {id(part) for part in node.values}
            found.append(
                "".join(
                    part.value if isinstance(part, ast.Constant) else "{}" for part in node.values
                )
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += [node.value] if id(node) not in passed else []
    return found


def parameters_of(path: Path) -> set[str]:
    """Return the names of the arguments of all functions, and of the fields of all classes."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    fields = [
        part.target.id for node in nodes if isinstance(node, ast.ClassDef) for part in node.body
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    ]  # fmt: skip
    return {node.arg for node in nodes if isinstance(node, ast.arg)} | {*fields}


class TestMarks:
    @pytest.fixture
    def known(self):
        return set().union(*(parameters_of(path) for path in PACKAGE.rglob("*.py")))

    def test_of_the_package_are_parameters(self, known):
        marked = set()
        for path in PACKAGE.rglob("*.py"):
            for message in messages_of(path):
                assert message.count("`") % 2 == 0 or message == "`", (path.name, message)
                marked |= {found[1] for found in MARKED.finditer(message)}
        assert marked - known <= {"{}"}  # a name that the caller of a check gives
        assert {"n_terms", "bounds", "alphas", "separator", "ignore"} <= marked

    def test_of_the_core_are_parameters(self, known):
        if not CORE.is_dir():
            pytest.skip("the package is installed without its source")
        marked = set()
        for path in [*CORE.rglob("src/*.cpp"), *CORE.rglob("src/*.hpp"),
                     *CORE.rglob("gegenbauer/*.hpp")]:  # fmt: skip
            for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', path.read_text("utf-8")):
                assert literal.count("`") % 2 == 0, (path.name, literal)
                marked |= {found[1] for found in MARKED.finditer(literal)}
        assert marked <= known
        assert {"n_terms", "degree", "lam", "alpha", "max_interaction"} <= marked


class TestOptions:
    @pytest.mark.parametrize(("name", "parameter"), SETTINGS)
    def test_a_wrong_value_is_that_of_an_option(self, name, parameter, tmp_path):
        option = _declared(COMMANDS[name])[parameter].name
        X, y = np.linspace(0, 1, 30).reshape(15, 2), np.arange(15.0)
        (tmp_path / "t.csv").write_text("a,y\n1,007\n2,7\n1,7\n")

        def call_with_a_wrong_value():
            if parameter == "coverage":
                GegenbauerRegressorCV(n_terms=3, spectrum=None).fit(X, y).predict_interval(X, 2.0)
            elif parameter == "as_labels":
                source = TableBatches(tmp_path / "t.csv", "y")
                source._set_target(np.dtype(np.int64))
                list(source.start())
            elif parameter in inspect.signature(TableBatches).parameters:
                TableBatches(tmp_path / "t.csv", **{"target": "y", parameter: wrong(parameter)})
            else:
                kind = GegenbauerClassifierCV if name == "tune" else GegenbauerRegressor
                kind(**{parameter: wrong(parameter)}).fit(X, y > 5)

        with (
            naming_options_of(COMMANDS[name]),
            pytest.raises(UserError) as caught,
            refusals(pytest.fail),
        ):
            call_with_a_wrong_value()
        message = str(caught.value)
        assert option in message
        assert not re.search(rf"(?<![-\w.]){parameter}\b", message)
        assert "`" not in message

    @pytest.mark.parametrize("name", COMMANDS)
    def test_every_option_is_tried(self, name, capsys, tmp_path, monkeypatch):
        """With those of the command alone, of which wrong values are refused before any work."""
        monkeypatch.chdir(tmp_path)
        Path("t.csv").write_text("a,y\n1,2\n")
        required = {"fit": ["t.csv", "--target=y", "--stream"], "tune": ["t.csv", "--target=y"],
                    "predict": ["m.st", "t.csv"], "info": ["m.st"]}[name]  # fmt: skip
        for parameter, option in _declared(COMMANDS[name]).items():
            if (
                (name, parameter) in SETTINGS
                or parameter in ("n_features", "y")
                or "(" in parameter
            ):
                continue
            if parameter in ("stream", "landmarks", "probabilities", "as_json"):  # without a value
                continue
            assert main([name, *required, option.name, OWN[parameter]]) == 2
            assert option.name in capsys.readouterr().err


def wrong(parameter: str) -> object:
    """Return what no parameter takes."""
    return {"ignore": "a", "separator": "::", "target": 3}.get(parameter, object())


def refused_by_scikit_learn(name: str, wanted: str) -> Message:
    text = f"The {name!r} parameter of GegenbauerRegressor must be {wanted}"
    return message_of(InvalidParameterError(text))


@pytest.mark.parametrize(
    ("command", "message", "expected"),
    [
        ("fit", Message("too large", ways=Ways("lower", "`n_terms`", "`degree`")),
         "too large: lower --n-terms or --degree"),
        ("fit", Message("one", ways=Ways("pass", "`n_terms=None`", "`degree=None`", last=", or "),
                        joint=". ", end="."),
         "one. Pass --n-terms all, or no --degree."),
        ("fit", Message("`degree={!r}` has {} terms", (3, 2), 12), "--degree 3,2 has 12 terms"),
        ("fit", Message("use `penalize_constant=False`"), "use --free-constant"),
        ("fit", Message("give `separator={!r}`", "\t"), "give --separator tab"),
        ("fit", Message("give `separator={!r}`", ";"), "give --separator ';'"),
        ("fit", Message("or `as_labels=False`"), "or --task regression"),
        ("fit", Message("use fewer inputs (`n_features`)"), "use fewer inputs (--ignore)"),
        ("predict", Message("`coverage` must be"), "--interval must be"),
        ("fit", Message("the mean of `y` is {}", 3), "the mean of --target is 3"),
        # ways out to which no option leads are not there
        ("tune", Message("it is infinite", ways="fit with a larger `alpha`"), "it is infinite"),
        ("tune", Message("it is infinite", ways="fit with a larger `alpha`", joint=". ", end="."),
         "it is infinite."),
        ("fit", Message("far", ways=["clip it", "pass `bounds`", "scale it"]),
         "far: clip it, or scale it"),
        ("fit", Message("far", ways=["clip it", "pass `bounds`", "scale it", "go"]),
         "far: clip it, scale it, or go"),
        ("fit", Message("many", ways=Ways("use", "fewer samples", "another `engine`",
                                          last=", or ")),
         "many: use fewer samples"),
        ("fit", Message("many", ways=Ways("lower", "`lam`", "`degree`", "`engine`")),
         "many: lower --lam or --degree"),
        ("tune", Message("many", ways=[Ways("lower", "`degree`", "`n_terms`", "`max_interaction`"),
                                       "use fewer inputs"]),
         "many: lower --n-terms, or use fewer inputs"),
        ("tune", Message("many", ways=[Ways("lower", "`degree`", "`lam`"), "end it"],
                         end="; got 3"),
         "many: end it; got 3"),
        ("tune", Message("far", ways=["use `penalize_constant=False`", "subtract the mean"],
                         joint=". ", end="."),
         "far. Subtract the mean."),
        ("fit", Message("it is 0", ways=Ways("use", "`solver='auto'` or 'orthogonal'",
                                             "a positive `alpha`", last=", or ")),
         "it is 0: use a positive --alpha"),
        ("tune", Message("many", ways=["raise `alpha` (now 0, or `lam`)", "wait"]), "many: wait"),
        ("tune", Message("many", ways=Ways("", "wait", Ways("use", "a lower `degree`",
                         "a larger `n_terms`", "fewer rows"), last=", ")),
         "many: wait, use a larger --n-terms or fewer rows"),
        # of what is reported, they have their names
        ("fit", Message("`engine='dual'` needs all samples", ways="give another `engine`"),
         "engine='dual' needs all samples"),
        ("tune", Message("neither `degree` nor `n_terms` is given", ways="give one of them"),
         "neither degree nor --n-terms is given: give one of them"),
        # calls, too
        ("fit", Message("it is singular", ways=[Message("raise `alpha`", ways="by `refit()`",
                        joint=", "), "choose it by `choose_alpha()`"]),
         "it is singular: raise --alpha, or choose it by --alpha auto"),
        ("fit", Message("it is rough", ways=Ways("use", "fewer terms", "`fit()` to refine it",
                        last=", or ")),
         "it is rough: use fewer terms, or no --stream to refine it"),
        ("fit", Message("give `spectrum=(q, s)`, or so"), "give --spectrum Q,S, or so"),
        ("fit", Message("none", ways="give `spectrum=Spectrum.paper(lam)`"), "none"),
        # what is shown stays what it is
        ("fit", Message("it is 3, or {!r} is bad", "`x`"), "it is 3, or '`x`' is bad"),
        ("fit", Message("column {!r} is bad, or `lam` it", "a`b"),
         "column 'a`b' is bad, or --lam it"),
        ("fit", Message("column {!r} holds text, or `alpha`", "`x`"),
         "column '`x`' holds text, or --alpha"),
        ("tune", Message("column {!r} is bad", "a: `lam`, or (", ways="wait"),
         "column 'a: `lam`, or (' is bad: wait"),
        ("tune", Message("Sobol' indices", ways=Ways("", Message("'{}'", "it's"), "`lam`", "5")),
         "Sobol' indices: 'it's' or 5"),
        # of scikit-learn's checks
        ("fit", refused_by_scikit_learn("lam", "a float"), "--lam must be a float"),
        ("fit", refused_by_scikit_learn("engine", "a str"),
         "The 'engine' parameter of GegenbauerRegressor must be a str"),
    ],
)  # fmt: skip
def test_one_rule(command, message, expected):
    with naming_options_of(COMMANDS[command]):
        assert in_options(message) == expected


def test_options_of_the_command_that_made_a_model():
    other = Ways("fit with", "`alpha`", "`n_terms=5`")
    message = Message("it is infinite", ways=Ways("", "clip it by `out_of_range`", other))
    with naming_options_of(predict), naming_options_of(tune, also=True):
        assert in_options(message) == (
            "it is infinite: clip it by --out-of-range or fit with --n-terms 5 of gegenbauer tune"
        )
    with naming_options_of(predict):
        assert in_options(message) == "it is infinite: clip it by --out-of-range"


@hypothesis.given(st.text())
@hypothesis.example("a: `lam`, or `b` (")
@hypothesis.example("`alpha=1`; lower `n_terms`, or x")
@hypothesis.example("it's, or `alpha`=")
@hypothesis.example("\\'`\"`\0(; ")
def test_names_of_columns_stay_what_they_are(name):
    message = Message(
        "column {!r} holds text (as {!r})", name, name, joint="; ", end=".",
        ways=["make it numbers", Message("`ignore={!r}`", [name])],
    )  # fmt: skip
    with naming_options_of(tune):
        text = in_options(message)
    assert text == (
        f"column {name!r} holds text (as {name!r}); make it numbers, or --ignore "
        f"{shlex.quote(name)}."
    )
