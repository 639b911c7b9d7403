#pragma once
/// Triangular systems with one or many right-hand sides. Knows no basis.

#include <initializer_list>

#include "gegenbauer/parallel.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

/// A triangle (n, n) without zeros on its diagonal, or its transpose. The other half of the matrix may hold anything.
struct Triangle {
  const ConstMatrixRef& matrix;
  bool lower;
  bool transposed;
};

/// B := .. T2^-1 T1^-1 B for triangles T1, T2, .. and B (n, K), by one team of threads. Cost n^2 K flops a triangle.
/// From three columns on B is held once more, packed, and the register tile does the work: with the triangles as they
/// are, or, for many columns, with packed blocks of them.
void solve_in_turn(std::initializer_list<Triangle> triangles, MatrixRef right, const Control& control);

/// Squared lengths of the columns of L^-1 for a lower triangle L (n, n), which is found by blocks of columns from their
/// first row on and not kept. Cost n^3 / 3 flops; in float32 products of blocks are rounded, but for corners along the
/// diagonal.
[[nodiscard]] Vector inverse_column_squares(const ConstMatrixRef& lower, const Control& control, Precision precision);

/// inverse := L^-T L^-1 for a lower triangle L (n, n), both triangles of the result; it may be the matrix that holds L.
/// Cost 2 n^3 / 3 flops, and n^2 numbers of memory.
void inverse_of_product(const ConstMatrixRef& lower, MatrixRef inverse, const Control& control);

}  // namespace gegenbauer
