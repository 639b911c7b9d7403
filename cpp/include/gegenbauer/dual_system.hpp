#pragma once
/// The linear system of the dual: (gamma I + K) a + u b = Y, u'a = 0 for one unpenalised direction u (the constant
/// term) with its weight b, or (gamma I + K) a = Y without one. The unknowns are one matrix [a; b]. Knows no basis.

#include "gegenbauer/cholesky.hpp"

namespace gegenbauer {

/// Solves with the Cholesky factor of gamma I + K, which must live as long. Cost 2 n^2 flops a column, and as much once
/// for a border u (an empty vector: none).
class DualSystem {
 public:
  DualSystem(const ConstMatrixRef& factor, Vector border, const Control& control);

  /// [Y; right side of u'a] := [a; b].
  void solve(Matrix& right) const;

 private:
  ConstMatrixRef factor_;
  const Control& control_;
  Vector border_;
  Matrix inverse_border_;  // (gamma I + K)^-1 u
};

}  // namespace gegenbauer
