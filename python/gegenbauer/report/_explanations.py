"""What a report explains: shares of inputs, effects, interactions, predictions, the equation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing

from gegenbauer.inspection._polynomial_text import polynomial_text
from gegenbauer.inspection.shapley import shapley_values
from gegenbauer.inspection.sobol import sobol_indices
from gegenbauer.plotting._axes import name_of_output
from gegenbauer.plotting.contributions import ContributionDisplay
from gegenbauer.plotting.dependence import DependenceDisplay
from gegenbauer.plotting.inputs import InputDisplay
from gegenbauer.plotting.interactions import InteractionDisplay
from gegenbauer.report._page import draw, draw_each
from gegenbauer.ridge.expansions import TermExpansion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.inspection.indices import SobolIndices
    from gegenbauer.report._page import Page

__all__ = ["Explanations"]

# Inputs with bars, with plots of their effects, and pairs with plots
_BARS, _EFFECTS, _PAIRS = 20, 6, 3

# Inputs with bars in the sum of a prediction
_CONTRIBUTIONS = 8

# Outputs that are looked at one by one
_OUTPUTS = 3

# Share of the variance from which on an interaction is shown
_LEAST_SHARE = 0.001

# Terms of an equation that is short, and samples that explained ones are chosen from
_SHORT, _CHOICE = 30, 2000


class Explanations:
    """The sections of a report on why a model predicts what it predicts.

    Parameters
    ----------
    model : estimator
        A fitted regressor or classifier.
    X : {array-like, table, sparse matrix}
        Samples.
    predictions : ndarray
        Those of the model.
    targets : ndarray or None
        What they should be.
    """

    def __init__(
        self, model: Any, X: Any, predictions: NDArray[Any], targets: NDArray[Any] | None
    ) -> None:
        self._model, self._X = model, X
        self._predictions, self._targets = predictions, targets
        names = getattr(model, "feature_names_in_", None)
        n = model.n_features_in_
        self._names = [f"x{t}" for t in range(n)] if names is None else [*map(str, names)]
        self._n_outputs: int = model.expansion_.n_outputs

    def add_to(self, page: Page) -> None:
        """Add the sections to a page."""
        indices = self._indices()
        variance = indices.variance.sum()
        if not variance > 0:
            page.heading("Inputs")
            page.paragraph("The model is constant: it depends on no input.")
            return
        total = indices.variance @ indices.total / variance
        order: Places = np.argsort(-total, kind="stable")
        self._add_inputs(page, indices, order)
        self._add_effects(page, order[:_EFFECTS].tolist())
        if len(self._names) > 1:
            self._add_interactions(page, indices)
        self._add_predictions(page)
        self._add_equation(page)

    def _indices(self) -> SobolIndices:
        """Find the shares, of the marginals of the fit or, where it has none, of these samples."""
        self._inputs: dict[str, Any] = {"distribution": "empirical"}
        try:
            return sobol_indices(self._model, **self._inputs)
        except ValueError:  # of a file of an older version
            self._inputs = {"background": self._X}
            return sobol_indices(self._model, **self._inputs)

    # ---- inputs ----------------------------------------------------------------------

    def _add_inputs(self, page: Page, indices: SobolIndices, order: Places) -> None:
        whose = "these samples" if "background" in self._inputs else "the samples of the fit"
        page.heading("Inputs")
        page.paragraph(
            "Shares of the inputs in the variance of the model: of each alone (first order), and "
            "with all of its interactions (total). They take the inputs as independent, each "
            f"distributed as in {whose}.",
            note=True,
        )
        unit = indices.variance / indices.variance.sum()
        shown = order[:_BARS]
        values = {
            "first order": (unit @ indices.first_order)[shown],
            "total": (unit @ indices.total)[shown],
        }
        names = [self._names[t] for t in shown.tolist()]
        height = 1.5 + 0.3 * len(names)

        def plot(ax: Any) -> None:
            InputDisplay(names, values, xlabel="share of the variance").plot(ax=ax)
            # above the bars, which may be as wide as the axes
            ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
            ax.locator_params(axis="x", nbins=6)

        page.plot(draw(plot, "shares of the inputs in the variance", width=5.2, height=height))
        if order.size > shown.size:
            page.paragraph(
                f"and {order.size - shown.size} more inputs of smaller shares", note=True
            )
        page.folded("The numbers", indices._repr_html_())

    # ---- effects ---------------------------------------------------------------------

    def _outputs(self, page: Page) -> list[tuple[int, str]]:
        """Return which outputs are looked at, with their names; a page notes the others."""
        found = list(range(min(self._n_outputs, _OUTPUTS)))
        if self._n_outputs > _OUTPUTS:
            page.paragraph(f"of the first {_OUTPUTS} of {self._n_outputs} outputs", note=True)
        return [(k, self._name_of(k)) for k in found]

    def _name_of(self, output: int) -> str:
        if not is_classifier(self._model):
            return f"Output {output}"
        labels = self._model._answers
        one = self._n_outputs == 1 and len(labels) == 2
        return f"Output for {labels[1 if one else output]}"

    def _add_effects(self, page: Page, inputs: list[int]) -> None:
        page.heading("Main effects")
        page.paragraph(
            "The mean of the model given one input, exact over all others."
            + (
                " The outputs of a classifier are those before calibration: the larger, the "
                "likelier the class."
                if is_classifier(self._model)
                else ""
            ),
            note=True,
        )
        for output, name in self._outputs(page):
            if self._n_outputs > 1:
                page.heading(name, level=3)
            self._add_dependence(page, inputs, output)

    def _add_dependence(self, page: Page, features: list[Any], output: int) -> None:
        captions = [self._caption(one) for one in features]

        def plot(axes: list[Any]) -> None:
            DependenceDisplay.from_estimator(
                self._model, features, output=output, ax=axes, **self._inputs
            )

        drawn = draw_each(plot, [f"mean output by {caption}" for caption in captions])
        page.plots(zip(captions, drawn, strict=True))

    def _caption(self, one: Any) -> str:
        several = one if isinstance(one, tuple) else (one,)
        return " and ".join(self._names[t] for t in several)

    # ---- interactions ----------------------------------------------------------------

    def _add_interactions(self, page: Page, indices: SobolIndices) -> None:
        page.heading("Interactions")
        assert indices.second_order is not None
        unit = indices.variance / indices.variance.sum()
        second: Doubles = np.tensordot(unit, indices.second_order, axes=1)
        pairs = np.argwhere(np.tril(second >= _LEAST_SHARE, -1))
        if not len(pairs):
            page.paragraph(
                f"No pair of inputs adds more than {_LEAST_SHARE:.1%} of the variance beyond what "
                "each of both does by itself."
            )
            return
        page.paragraph(
            "What pairs of inputs add to the variance, beyond what each of both does by itself.",
            note=True,
        )
        strongest = np.argsort(-second[pairs[:, 0], pairs[:, 1]], kind="stable")
        # inputs that take part in an interaction, those of the strongest first
        taking = [*dict.fromkeys(pairs[strongest].ravel().tolist())][:_BARS]
        names = [self._names[t] for t in taking]
        size = 3.0 + 0.24 * len(names)

        def plot(ax: Any) -> None:
            InteractionDisplay(names, second[np.ix_(taking, taking)]).plot(ax=ax)

        if len(pairs) > 1:
            label = "shares of pairs of inputs in the variance"
            page.plot(draw(plot, label, width=size + 1.4, height=size))
        else:
            share = float(second[pairs[0, 0], pairs[0, 1]])
            page.paragraph(f"There is one: {names[1]} and {names[0]} add {share:.1%}.")
        chosen = [(int(b), int(a)) for a, b in pairs[strongest[:_PAIRS]]]
        for output, name in self._outputs(page):
            if self._n_outputs > 1:
                page.heading(name, level=3)
            self._add_dependence(page, chosen, output)

    # ---- predictions -----------------------------------------------------------------

    def _add_predictions(self, page: Page) -> None:
        page.heading("Explained predictions")
        page.paragraph(
            "Five samples, from the smallest output to the largest. The bars are what each input "
            "adds, on average over all orders in which inputs may become known (Shapley values): "
            "together they lead from the mean of the model to its output.",
            note=True,
        )
        places, outputs = self._chosen()
        found = shapley_values(self._model, _safe_indexing(self._X, places), **self._inputs)
        n_bars = min(len(self._names), _CONTRIBUTIONS + 1)

        def plot(axes: list[Any]) -> None:
            for k, (ax, output) in enumerate(zip(axes, outputs, strict=True)):
                ContributionDisplay.from_shapley(
                    found, sample=k, output=output, n_inputs=_CONTRIBUTIONS, ax=ax,
                    xlabel=name_of_output(self._model, output),
                )  # fmt: skip
                ax.locator_params(axis="x", nbins=4)

        captions = [self._sample(place) for place in places.tolist()]
        drawn = draw_each(plot, captions, width=4.8, height=1.3 + 0.28 * n_bars)
        page.plots(zip(captions, drawn, strict=True))

    def _chosen(self) -> tuple[Places, list[int]]:
        """Return five samples from the smallest value to the largest, and their outputs."""
        n = len(self._predictions)
        some = np.arange(0, n, -(-n // _CHOICE))
        values = self._predictions
        if is_classifier(self._model):
            values = np.asarray(self._model.decision_function(_safe_indexing(self._X, some)))
        else:
            values = values[some]
        outputs = np.zeros(len(some), dtype=np.intp)
        if values.ndim == 2 and is_classifier(self._model):
            outputs, values = values.argmax(axis=1), values.max(axis=1)
        elif values.ndim == 2:
            values = values[:, 0]
        order = np.argsort(values, kind="stable")
        at = order[np.unique(np.linspace(0, len(some) - 1, 5).round().astype(np.intp))]
        return some[at], outputs[at].tolist()

    def _sample(self, place: int) -> str:
        text = f"Sample {place + 1}: predicted {_shown(self._predictions[place])}"
        if self._targets is None:
            return text
        return f"{text}, actual {_shown(self._targets[place])}"

    # ---- equation --------------------------------------------------------------------

    def _add_equation(self, page: Page) -> None:
        function = self._model.expansion_
        short = isinstance(function, TermExpansion) and function.basis.n_terms <= _SHORT
        if not short or self._n_outputs > _OUTPUTS:
            return
        page.heading("Equation")
        for output in range(self._n_outputs):
            if self._n_outputs > 1:
                page.heading(self._name_of(output), level=3)
            page.text(polynomial_text(self._model, output=output, max_terms=_SHORT))


def _shown(value: Any) -> str:
    """Write a prediction or a target."""
    if np.ndim(value) == 1:
        return f"({', '.join(map(_shown, value[:_OUTPUTS]))}{', ...' * (len(value) > _OUTPUTS)})"
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
