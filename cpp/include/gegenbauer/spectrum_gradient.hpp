#pragma once
/// How the kernel of all terms changes with its spectrum, for those who learn the spectrum: with
/// K = prod over t of f_t, f_t = 1 + sum_j q_tj k_tj, the derivative by log q_tj is q_tj k_tj prod over u != t of f_u.

#include "gegenbauer/aligned.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/spectrum_kernel.hpp"

namespace gegenbauer {

/// gradient(t, j) = sum over a, b of M_ab dK(x_a, x_b) / dlog q_tj for a symmetric M (S, S), given by its lower
/// triangle: (n_inputs, number of components), column-major. Products leave f_t out by prefixes and suffixes, so that
/// factors of zero do no harm. Cost about twice that of the kernel, with its components evaluated one by one.
void spectrum_log_gradient(const SpectrumKernel& kernel, const Samples& samples, const ConstMatrixRef& weights,
                           MatrixRef gradient, const Control& control);

/// All k_tj of the pairs of some samples, which no q changes: for many spectra of the same components, at a third of
/// the time and 8 bytes for each pair, input and component. Pairs are those of the lower triangle, row by row.
class SpectrumParts {
 public:
  /// The components of `kernel`, whatever their q.
  SpectrumParts(const SpectrumKernel& kernel, const Samples& samples, const Control& control);

  [[nodiscard]] Index n_inputs() const { return n_inputs_; }
  [[nodiscard]] Index n_parts() const { return n_parts_; }
  [[nodiscard]] Index n_pairs() const { return n_pairs_; }

  /// values[pair] = K - 1 for q[t * n_parts + j].
  void evaluate(const double* q, double* values, const Control& control) const;

  /// gradient(t, j) = sum over pairs of weights[pair] dK / dlog q_tj; as `spectrum_log_gradient`, where the weight of a
  /// pair of two samples is M at both of its places.
  void log_gradient(const double* q, const double* weights, MatrixRef gradient, const Control& control) const;

 private:
  [[nodiscard]] const double* block(Index b) const;

  Index n_inputs_, n_parts_, n_pairs_, n_blocks_;
  AlignedBuffer values_;  // of each block of pairs, input and component in turn: two packets of pairs
};

}  // namespace gegenbauer
