#pragma once
/// Triangular systems on register tiles: what Cholesky factors and systems with many right-hand sides are made of.

#include "gegenbauer/tiles.hpp"
#include "gegenbauer/types.hpp"
#include "gegenbauer/unroll.hpp"

namespace gegenbauer {

/// Columns j .. j + kColumns of a packed panel, minus the product of its columns [0, depth) with b (one column group of
/// a packed panel).
EIGEN_ALWAYS_INLINE RegisterTile subtract_product(const double* panel, const double* b, Index depth, Index j) {
  RegisterTile tile = multiply_panels(panel, b, depth);
  GEGENBAUER_UNROLL(8)
  for (int c = 0; c < kColumns; ++c) {
    GEGENBAUER_UNROLL(3)
    for (int v = 0; v < kVectors; ++v)
      tile.acc[c][v] = packet::sub(packet::load(panel + (j + c) * kPanel + v * kPacket), tile.acc[c][v]);
  }
  return tile;
}

/// Columns j .. j + kColumns of a packed panel := tile.
EIGEN_ALWAYS_INLINE void store_tile(const RegisterTile& tile, double* panel, Index j) {
  GEGENBAUER_UNROLL(8)
  for (int c = 0; c < kColumns; ++c) {
    GEGENBAUER_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) packet::store(panel + (j + c) * kPanel + v * kPacket, tile.acc[c][v]);
  }
}

/// tile := tile C'^-1 for a lower corner C(i, j) = corner[j * kPanel + i], i and j < kColumns. By products with inverse
/// pivots, which round once more than quotients and take a fraction of their time, or by quotients.
enum class Pivots { inverted, divided };
template <Pivots pivots = Pivots::inverted, int vectors>
EIGEN_ALWAYS_INLINE RegisterTileOf<vectors> solve_corner(RegisterTileOf<vectors> tile, const double* corner) {
  GEGENBAUER_UNROLL(8)
  for (int c = 0; c < kColumns; ++c) {
    GEGENBAUER_UNROLL(8)
    for (int earlier = 0; earlier < c; ++earlier) {
      const Packet factor = packet::broadcast(-corner[earlier * kPanel + c]);
      GEGENBAUER_UNROLL(3)
      for (int v = 0; v < vectors; ++v) tile.acc[c][v] = packet::fma(factor, tile.acc[earlier][v], tile.acc[c][v]);
    }
    const double pivot = corner[c * kPanel + c];
    const Packet factor = packet::broadcast(pivots == Pivots::inverted ? 1.0 / pivot : pivot);
    GEGENBAUER_UNROLL(3)
    for (int v = 0; v < vectors; ++v)
      tile.acc[c][v] =
          pivots == Pivots::inverted ? packet::mul(tile.acc[c][v], factor) : packet::div(tile.acc[c][v], factor);
  }
  return tile;
}

/// Columns j .. j + kColumns of X := X L'^-1, the columns before being solved, for one packed panel X; L (lower) lies
/// in the panels of `lower` from `first` on.
void solve_group(const PackedPanels& lower, Index first, Index j, double* panel);

}  // namespace gegenbauer
