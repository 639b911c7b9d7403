"""Every alpha from one factorisation: exact leave-one-out, GCV and marginal likelihood, on arrays.

A ridge fit with samples scaled by the square roots of their weights shrinks the targets along the
eigenvectors u_j of G G' by ``lambda_j / (lambda_j + alpha)``. With them at hand, any alpha costs a
product of matrices instead of a factorisation: residuals are ``e = sum_j u_j s_j (u_j'y)`` with
``s_j = alpha / (lambda_j + alpha)``, and one minus the leverage of sample i is
``d_i = sum_j u_ij^2 s_j``; both are sums of what is left, without a difference that could cancel.
The leave-one-out residual of sample i is ``e_i / d_i``.

`_factorisations` holds the ways to these sums; not all of them need eigenvectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._memory import require_memory
from gegenbauer._messages import Message, Ways
from gegenbauer._renamed import refuse_old_names
from gegenbauer._validation import (
    as_alphas,
    as_matrix,
    as_weights,
    check_choice,
    check_flag,
    check_number,
    check_threads,
)
from gegenbauer.basis.kernels import SpectrumKernel, TotalDegreeKernel
from gegenbauer.basis.levels import as_samples
from gegenbauer.basis.scaling import check_scaling
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.ridge.landmarks import Landmarks
from gegenbauer.selection._factorisations import METHODS, factorise
from gegenbauer.selection._features import EPS, RESOLVED, check_tolerance
from gegenbauer.selection._leave_one_out import LeaveOneOutPredictions, check_share
from gegenbauer.selection._ridge_problem import RidgeProblem

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling

__all__ = ["RidgePath"]


class RidgePath:
    r"""One factorisation of a ridge problem, for every alpha.

    The problem is that of `solve_ridge` and `solve_kernel`: minimise
    :math:`|D (f(X) - Y)|^2 + \alpha |f|^2`.

    Parameters
    ----------
    model : TensorBasis, TotalDegreeKernel or SpectrumKernel
        The terms.
    X : array_like, shape (n_samples, n_features)
        float64 or float32 in any layout is read in place.
    Y : array_like, shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    sample_weight : array_like, shape (n_samples,), optional
        Non-negative; D is the diagonal matrix of their square roots. An integer weight equals
        repeated samples but for leave-one-out, which leaves all of them out; a weight of zero is a
        sample that takes no part and whose leave-one-out prediction is that of the fit.
    scaling : InputScaling, optional
        Maps X to the domain of the polynomials.
    penalize_constant : bool
        Whether the constant term is penalised as well, as in the paper.
    method : {"auto", "svd", "dual", "primal"}
        What is factorised. ``"svd"``: the matrix of features itself, most accurate, for small
        problems (of a basis, not of a kernel). ``"dual"``: G G' of size n_samples, taken to a band;
        its eigenvalues are found when they are first needed. ``"primal"``:
        G'G of size n_terms, with a pass over the samples for each query; holds blocks of samples
        only. For many samples of few inputs G'G comes from Chebyshev moments, and results at the
        samples from polynomials that cost less than the features.
        ``"auto"`` takes the first while it costs less than 4e8 multiply-adds, then the smaller one.
    tolerance : float
        Estimated rounding, relative to the targets, of answers by ``"primal"``. The first query
        for an alpha beyond it factorises the features themselves, block by block, which costs more
        and knows the square roots of the eigenvalues; all answers come from these then. Infinity
        keeps to the sums.
    n_threads : int, optional
        By default `gegenbauer.default_threads()`; the linear algebra of NumPy has threads
        of its own.

    Attributes
    ----------
    model : TensorBasis, TotalDegreeKernel or SpectrumKernel
        As given.
    method : str
        Of the above.
    eigenvalues : ndarray
        Of G G' (samples scaled, and without the mean where the constant is free) that are not zero
        by the shape of G, from the largest on; by ``"svd"`` nor by inputs that occur more than
        once.
    n_samples, n_outputs : int
        Samples (also those of weight zero) and targets.
    targets : ndarray, shape (n_samples, n_outputs)
        Y.
    sample_weight : ndarray, shape (n_samples,), or None
        As given.

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.
    TooLargeError
        When the matrices cannot fit into memory.

    See Also
    --------
    solve_ridge : The fit itself, for one penalty.
    solve_kernel : A fit of all terms there are, by a kernel.
    PathDisplay : The error for each penalty.
    LeverageDisplay : Leverages beside residuals.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import RidgePath, TensorBasis
    >>> X = np.linspace(0, 1, 20)[:, np.newaxis]
    >>> path = RidgePath(TensorBasis(1, degree=8, lam=0.5), X, np.exp(X))
    >>> alphas = 10.0 ** np.arange(-12, 1)
    >>> errors = path.leave_one_out(alphas).predictions - np.exp(X)
    >>> float(alphas[(errors**2).mean(axis=(1, 2)).argmin()])
    1e-12
    """

    def __init__(
        self,
        model: TensorBasis | Landmarks | TotalDegreeKernel | SpectrumKernel,
        X: npt.ArrayLike,
        Y: npt.ArrayLike,
        *,
        sample_weight: npt.ArrayLike | None = None,
        scaling: InputScaling | None = None,
        penalize_constant: bool = True,
        method: str = "auto",
        tolerance: float = RESOLVED,
        n_threads: int | None = None,
    ) -> None:
        if not isinstance(model, (TensorBasis, Landmarks, TotalDegreeKernel, SpectrumKernel)):
            raise TypeError(
                Message(
                    "`model` must be a TensorBasis, TotalDegreeKernel or SpectrumKernel, got {}",
                    type(model).__name__,
                )
            )
        self.model = model
        check_scaling(scaling, model.n_features, "model")
        free = not check_flag(penalize_constant, "penalize_constant")
        threads = check_threads(n_threads)
        self.tolerance = check_tolerance(tolerance)
        data = as_samples(X, "X", model)
        targets = as_matrix(
            Y, "Y", n_rows=data.shape[0], keep_float32=False, one_dimensional=True
        )  # fmt: skip
        weights = as_weights(sample_weight, data.shape[0])
        self.n_samples, self.n_outputs = targets.shape
        self._X = data
        self.targets = targets
        self.sample_weight = weights
        used = slice(None) if weights is None or weights.all() else weights > 0
        self._used = used
        self._problem = RidgeProblem(
            model, data[used], targets[used], None if weights is None else np.sqrt(weights[used]),
            scaling=scaling, free=free, n_threads=threads,
        )  # fmt: skip
        if free and self._problem.n_samples < 2:
            raise ValueError(
                "a free constant needs at least two samples of positive weight, got one"
            )
        self._factorisation = factorise(
            self._problem, check_choice(method, "method", ("auto", *METHODS))
        )

    @property
    def method(self) -> str:
        """The factorisation that was chosen."""
        return self._factorisation.method

    @property
    def eigenvalues(self) -> Doubles:
        """Those of its factorisation, the most accurate that any query has needed so far."""
        return self._factorisation.eigenvalues

    def _check_alphas(self, alphas: npt.ArrayLike) -> Doubles:
        values = as_alphas(alphas)
        if values.min() < 0:
            raise ValueError(Message("`alphas` must not be negative, got {}", values.min()))
        self._resolve(values)
        if values.min() == 0:
            rank, size = self._factorisation.rank(), self.eigenvalues.size
            if rank < size:
                raise ValueError(
                    Message(
                        "alpha = 0 has a leave-one-out solution only where the terms have full "
                        "rank at these samples, and here {} of {} are left",
                        rank,
                        size,
                        ways="use positive `alphas`",
                    )
                )
        return values

    def _resolve(self, alphas: Doubles) -> None:
        """Go on with a factorisation that resolves these penalties, too."""
        self._factorisation = self._factorisation.resolving(alphas, self.tolerance)

    @refuse_old_names
    def rounding(self, alphas: npt.ArrayLike) -> Doubles:
        """Estimate rounding errors of predictions, relative to the targets.

        Parameters
        ----------
        alphas : array_like, shape (n_alphas,)
            Penalties, as for `leave_one_out`.

        Returns
        -------
        ndarray, shape (n_alphas,)
            At most 1.
        """
        values = self._check_alphas(alphas)
        return self._factorisation.rounding(values)

    @refuse_old_names
    def leave_one_out(
        self, alphas: npt.ArrayLike, *, left_out_share: npt.ArrayLike | None = None
    ) -> LeaveOneOutPredictions:
        r"""Return the leave-one-out predictions.

        A sample is left out with all of its weight, or with a given share of it, and alone: samples
        that equal it stay. With the residual :math:`e_i` and leverage :math:`h_i` of the fit to
        all samples, the residual at sample i of the fit without its share :math:`s_i` is
        :math:`e_i / (1 - s_i h_i)`.

        Parameters
        ----------
        alphas : array_like, shape (n_alphas,)
            Penalties, >= 0; 0 where the terms have full rank at the samples (by ``"svd"`` at
            distinct inputs).
        left_out_share : array_like, shape (n_samples,), optional
            Share of the weight of each sample that goes out with it, above 0 up to 1: all of it
            by default. A sample of weight 5 that stands for five samples, of which one is to be
            left out, has 1/5.

        Returns
        -------
        LeaveOneOutPredictions
            Arrays of n_alphas times n_samples times n_outputs are made: query few alphas at once
            if that is too much.

        Raises
        ------
        ValueError
            For negative alphas, or 0 where the rank is deficient.

        Examples
        --------
        >>> import numpy as np
        >>> from gegenbauer import RidgePath, TensorBasis
        >>> basis = TensorBasis(1, degree=0)  # the mean, when it is free
        >>> path = RidgePath(basis, [[0.0], [1.0], [2.0]], [1.0, 2.0, 6.0], penalize_constant=False)
        >>> path.leave_one_out([1.0]).predictions[0, :, 0]
        array([4. , 3.5, 1.5])
        """
        values, problem = self._check_alphas(alphas), self._problem
        share = check_share(left_out_share, self.n_samples)
        share = None if share is None else share[self._used]
        shape = (values.size, self.n_samples, self.n_outputs)
        require_memory(
            8.0 * values.size * self.n_samples * (2 * self.n_outputs + 1),
            f"leave-one-out predictions of shape {shape}",
            Ways("query fewer", "`alphas` at once"),
        )
        predictions = np.empty(shape)
        leverages = np.zeros(shape[:2])
        # squared norms over the samples: of what is left, and of its two kinds of rounding
        left, own, shared, size = np.zeros((4, values.size))
        used = np.arange(self.n_samples)[self._used]
        for part in self._factorisation.left_out(values, share):
            rows, residuals, complements = part.samples, part.residuals, part.complements
            rounding, scale = part.rounding, problem.scale[rows]
            at = rows if used.size == self.n_samples else used[rows]
            size += (residuals**2).sum(axis=(1, 2))
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                residuals /= complements[:, :, np.newaxis]
                each = np.linalg.norm(residuals, axis=2)
                unit = complements * scale
                off = (rounding.residuals + each * rounding.complements) / unit
                own += (off**2).sum(axis=1)
                shared += ((rounding.by_residuals / unit) ** 2).sum(axis=1)
                if problem.weighted:
                    residuals /= scale[:, np.newaxis]
                left += (residuals**2).sum(axis=(1, 2))
            np.subtract(problem.Y[rows], residuals, out=residuals)
            predictions[:, at] = residuals
            leverages[:, at] = part.leverages
        if used.size < self.n_samples:
            unused = np.setdiff1d(np.arange(self.n_samples), used)
            predictions[:, unused] = self.predict(self._X[unused], values)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            off = np.sqrt(own) + np.sqrt(size * shared) + np.linalg.norm(problem.Y)
            error = np.nan_to_num(4.0 * EPS * (off / np.sqrt(left)), nan=EPS)
        if not problem.scaled_Y.any():  # nor is there anything to round
            error[left == 0] = EPS
        return LeaveOneOutPredictions(values, predictions, leverages, np.minimum(error, 1.0))

    @refuse_old_names
    def posterior(self, alpha: float) -> tuple[Doubles, Doubles, float]:
        """Return what leverages of new samples are made of, for ``method="primal"`` or ``"svd"``.

        Parameters
        ----------
        alpha : float
            Penalty, > 0.

        Returns
        -------
        root : ndarray, shape (n_terms, n_terms)
            P with ``P P' = (alpha I + G'G)^-1``; without the constant where that is free.
        mean_features : ndarray, shape (n_terms - 1,)
            To be taken from the features of a new sample where the constant is free, else empty.
        free : float
            Leverage of a free constant by itself, else 0.

        The leverage of a sample of weight one is the squared length of its features times P, and
        `free`.
        """
        alpha = check_number(alpha, "alpha", minimum=0, open_below=True)
        self._resolve(np.array([alpha]))
        return self._factorisation.posterior(alpha)

    @refuse_old_names
    def weights(self, alphas: npt.ArrayLike) -> Doubles:
        """Return the weights of the terms, where the model has finitely many.

        Parameters
        ----------
        alphas : array_like, shape (n_alphas,)
            Penalties, as for `leave_one_out`.

        Returns
        -------
        ndarray, shape (n_alphas, n_terms, n_outputs)
            For one alpha, `solve_ridge` is more accurate: it refines.

        Raises
        ------
        ValueError
            For a kernel, whose terms are not enumerated.
        """
        if isinstance(self.model, (TotalDegreeKernel, SpectrumKernel)):
            raise ValueError(
                "weights need a model of finitely many terms, such as a TensorBasis; got "
                f"{type(self.model).__name__}, of which solve_kernel gives dual coefficients"
            )
        values = self._check_alphas(alphas)
        return self._problem.by_alpha(self._factorisation.weights(values))

    @refuse_old_names
    def effective_dof(self, alphas: npt.ArrayLike) -> Doubles:
        """Count the effective degrees of freedom: the sum of the leverages.

        Parameters
        ----------
        alphas : array_like, shape (n_alphas,)
            Penalties, as for `leave_one_out`.

        Returns
        -------
        ndarray, shape (n_alphas,)
        """
        values = self._check_alphas(alphas)
        return self._factorisation.effective_dof(values)

    @refuse_old_names
    def gcv(self, alphas: npt.ArrayLike) -> Doubles:
        r"""Evaluate the generalised cross-validation score :math:`n |e|^2 / (n - \sum h_i)^2`.

        It is leave-one-out with every leverage replaced by their mean.

        Parameters
        ----------
        alphas : array_like, shape (n_alphas,)
            Penalties, as for `leave_one_out`.

        Returns
        -------
        ndarray, shape (n_alphas, n_outputs)
            The smaller the better. n is the number of samples of positive weight, e their residuals
            times the square roots of their weights.
        """
        values = self._check_alphas(alphas)
        if values.min() == 0 and not self._factorisation.leaves_residuals:
            raise ValueError(
                Message(
                    "alpha = 0 leaves no residual with as many terms as samples",
                    ways="use positive `alphas`",
                )
            )
        self._problem.require_squares()
        squared, _ = self._factorisation.quadratic_forms(values)
        left = self._factorisation.residual_dof(values)
        return np.asarray(self._problem.n_samples * squared / left[:, np.newaxis] ** 2)

    @refuse_old_names
    def log_marginal_likelihood(self, alphas: npt.ArrayLike) -> Doubles:
        r"""Evaluate the likelihood of each target under the prior that the penalty stands for.

        Weights are independent normal with variance :math:`\sigma^2 / \alpha`, the noise of sample
        i has variance :math:`\sigma^2 / w_i`, and :math:`\sigma^2` takes its likeliest value. With
        a free constant it is the likelihood of the contrasts without it.

        Parameters
        ----------
        alphas : array_like, shape (n_alphas,)
            Penalties, > 0.

        Returns
        -------
        ndarray, shape (n_alphas, n_outputs)
            Natural logarithms; the larger the better.

        Raises
        ------
        ValueError
            For alphas that are not positive.
        """
        values = self._check_alphas(alphas)
        if values.min() <= 0:
            raise ValueError(Message("`alphas` must be positive for a likelihood, got 0"))
        self._problem.require_squares()
        n = self._problem.n_contrasts
        _, quadratic = self._factorisation.quadratic_forms(values)
        log_det = self._factorisation.log_determinant(values)
        with np.errstate(divide="ignore"):
            fit = n * (np.log(2 * np.pi * quadratic / n) + 1)
        jacobian = 2 * np.log(self._problem.scale).sum()
        return np.asarray(-0.5 * (fit + log_det[:, np.newaxis] - jacobian))

    @refuse_old_names
    def predict(self, X: npt.ArrayLike, alphas: npt.ArrayLike) -> Doubles:
        """Predict at other samples by the fits to all samples, for every alpha.

        Parameters
        ----------
        X : array_like, shape (n, n_features)
            Inputs.
        alphas : array_like, shape (n_alphas,)
            Penalties, as for `leave_one_out`.

        Returns
        -------
        ndarray, shape (n_alphas, n, n_outputs)
            For one alpha, `solve_ridge` and `solve_kernel` are more accurate: they refine.
        """
        values = self._check_alphas(alphas)
        data = as_samples(X, "X", self.model)
        return self._factorisation.predict(data, values)
