#pragma once
/// How the kernel of all terms changes with its spectrum, for those who learn the spectrum: with
/// K = prod over t of f_t, f_t = 1 + sum_j q_tj k_tj, the derivative by log q_tj is q_tj k_tj prod over u != t of f_u.

#include "gegenbauer/spectrum_kernel.hpp"

namespace gegenbauer {

/// gradient(t, j) = sum over a, b of M_ab dK(x_a, x_b) / dlog q_tj for a symmetric M (S, S), given by its lower
/// triangle: (n_inputs, number of components), column-major. Products leave f_t out by prefixes and suffixes, so that
/// factors of zero do no harm. Cost about twice that of the kernel, with its components evaluated one by one.
void spectrum_log_gradient(const SpectrumKernel& kernel, const Samples& samples, const ConstMatrixRef& weights,
                           MatrixRef gradient, const Control& control);

}  // namespace gegenbauer
