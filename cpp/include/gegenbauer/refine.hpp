#pragma once
/// Iterative refinement of the solution of M X = B by a factor of (nearly) M. Knows no basis: the residual comes from
/// the caller, who computes it from the data rather than from M. The solution itself is the first correction of zero.

#include <algorithm>
#include <cmath>

#include "gegenbauer/types.hpp"

namespace gegenbauer {

struct RefinementReport {
  int n_steps = 0;               ///< corrections applied after the first solve
  double last_correction = 0.0;  ///< norm of the last one relative to the solution: an estimate of the error before it
  double remaining = 0.0;        ///< estimate of the error after it
};

/// Repeats `add(solve(residual()))`: once for the solution and at most max_steps times more. Each correction is smaller
/// than the one before by about the same rate, so what is left after one is about the rate times its size: stops once
/// that is below `enough` relative to the first, and before a correction that is no smaller than its predecessor.
template <class Residual, class Solve, class Add>
RefinementReport refine(const Residual& residual, const Solve& solve, const Add& add, int max_steps, double enough) {
  RefinementReport report;
  double first = 0.0;
  double previous = 1.0;  // size of the last correction relative to the first
  for (int step = 0; step <= max_steps; ++step) {
    Matrix correction = residual();
    solve(correction);
    const double size = correction.stableNorm();
    if (step == 0) {
      first = std::max(size, 1e-300);
    } else {
      const double relative = size / first;
      if (!std::isfinite(relative) || relative >= previous) {
        report.remaining = step > 1 ? report.last_correction : relative;
        break;
      }
      report.last_correction = relative;
      report.n_steps = step;
    }
    add(correction);
    if (step == 0) continue;
    report.remaining = report.last_correction / previous * report.last_correction;
    if (report.remaining <= enough) break;
    previous = report.last_correction;
  }
  return report;
}

}  // namespace gegenbauer
