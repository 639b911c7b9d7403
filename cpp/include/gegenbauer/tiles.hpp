#pragma once
/// The one place that multiplies matrices. Both sides of a product are packed into panels of kPanel rows, contiguous
/// along the depth, so that one packed panel serves as left side (loaded by registers) and as right side (broadcast
/// entry by entry). Products are shared between threads tile by tile; a tile of the output has one owner, so the order
/// of its sums does not depend on the number of threads.
///
/// Panels hold double or float. A register tile sums at most kDepth products in its own type; the output is double.

#include <algorithm>
#include <vector>

#include "gegenbauer/packet.hpp"
#include "gegenbauer/panels.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/types.hpp"
#include "gegenbauer/unroll.hpp"

namespace gegenbauer {

/// Depth that one call of the microkernel covers: a column group of the right side stays in the first-level cache.
inline constexpr Index kDepth = 256;

/// How many panels hold so many rows.
[[nodiscard]] constexpr Index panels_of(Index rows) { return divide_up(rows, kPanel); }

/// Side of a tile in panels: two packed sides of tile * kDepth doubles stay in the second-level cache.
inline constexpr Index kTilePanels = std::max(1, 192 / kPanel);

/// Register tile: acc[j] = n_vectors packets of rows of a times column j of b, summed over the depth. Fewer than
/// kVectors serve the borders of the output.
template <int n_vectors, class T = double>
struct RegisterTileOf {
  PacketOf<T> acc[kColumns][n_vectors];
};
using RegisterTile = RegisterTileOf<kVectors>;

/// acc = sum over k < depth of a[k * a_step + (0..n_vectors packets)] * right(k, 0..kColumns), with packets of T;
/// 2 n_vectors packet kColumns depth flops. a and a_step are aligned.
template <int n_vectors, class T, class Right>
EIGEN_ALWAYS_INLINE RegisterTileOf<n_vectors, T> multiply_rows(const T* a, Index a_step, Index depth,
                                                               const Right& right) {
  RegisterTileOf<n_vectors, T> tile;
  GEGENBAUER_UNROLL(8)
  for (int j = 0; j < kColumns; ++j) {
    GEGENBAUER_UNROLL(3)
    for (int v = 0; v < n_vectors; ++v) tile.acc[j][v] = packet::zero<T>();
  }
  GEGENBAUER_UNROLL(2)
  for (Index k = 0; k < depth; ++k) {
    PacketOf<T> left[n_vectors];
    GEGENBAUER_UNROLL(3)
    for (int v = 0; v < n_vectors; ++v) left[v] = packet::load(a + k * a_step + v * kPacketOf<T>);
    GEGENBAUER_UNROLL(8)
    for (int j = 0; j < kColumns; ++j) {
      const PacketOf<T> factor = packet::broadcast(right(k, j));
      GEGENBAUER_UNROLL(3)
      for (int v = 0; v < n_vectors; ++v) tile.acc[j][v] = packet::fma(left[v], factor, tile.acc[j][v]);
    }
  }
  return tile;
}

/// The same with panels: a[k * panel + ..] and b[k * depth_stride + (0..kColumns) * column_stride]. b may point at any
/// column group of a panel (depth_stride = 0 stands for its stride), or at columns that lie one after another.
template <int n_vectors = kVectors, Index depth_stride = 0, Index column_stride = 1, class T>
EIGEN_ALWAYS_INLINE RegisterTileOf<n_vectors, T> multiply_panels(const T* a, const T* b, Index depth) {
  constexpr Index step = depth_stride == 0 ? Index{kPanelOf<T>} : depth_stride;
  return multiply_rows<n_vectors>(a, kPanelOf<T>, depth,
                                  [b](Index k, int j) { return b[k * step + j * column_stride]; });
}

/// values[j][i] = the product, in a function of its own: a register tile of few registers takes them all, and what the
/// caller keeps in one would push accumulators out to memory in the innermost loop.
template <int vectors, class T>
EIGEN_DONT_INLINE void multiply_into(const T* a, const T* b, Index depth, T* values) {
  const RegisterTileOf<vectors, T> tile = multiply_panels<vectors>(a, b, depth);
  GEGENBAUER_UNROLL(8)
  for (int j = 0; j < kColumns; ++j) {
    GEGENBAUER_UNROLL(3)
    for (int v = 0; v < vectors; ++v) packet::store(values + (j * vectors + v) * kPacketOf<T>, tile.acc[j][v]);
  }
}

/// Panels [row_begin, row_end) of the left side against [col_begin, col_end) of the right side.
struct Tile {
  Index row_begin, row_end, col_begin, col_end;
};

/// Tiles that cover the lower triangle of the panels [first, last), the largest first, so that threads that share them
/// end together.
[[nodiscard]] std::vector<Tile> triangle_tiles(Index first, Index last, Index side = kTilePanels);

/// Side of the tiles of a triangle of so many panels that there are enough of them for so many threads.
[[nodiscard]] Index tile_side(Index n_panels, int n_threads);

/// Tiles that cover the rectangle of n_rows by n_cols panels.
[[nodiscard]] std::vector<Tile> rectangle_tiles(Index n_rows, Index n_cols);

/// Output of a product: column-major, entry (i, j) at data[i + j * stride]; rows and columns beyond the shape are not
/// written. With lower_only the registers wholly above the diagonal are skipped (the strict upper part of the others
/// receives values that nobody reads).
struct ProductTarget {
  double* data;
  Index stride;
  Index rows;
  Index cols;
  bool lower_only;
};

/// target += sign * left * right' over one tile and the depth [from, depth).
template <class T>
void accumulate_tile(const PanelsOf<T>& left, const PanelsOf<T>& right, const Tile& tile, Index depth, double sign,
                     const ProductTarget& target, Index from = 0);

/// Rounds `depth` columns of a panel of doubles into their place in a panel of floats, which holds kSinglePanels such
/// panels; half h of them.
inline constexpr Index kSinglePanels = kPanelOf<float> / kPanel;
void round_panel(const double* panel, Index depth, Index h, float* single);

/// Packs the rows [row, row + kPanel) (zeros beyond n_rows) and `depth` columns of a column-major matrix into one
/// panel.
void pack_panel(const double* matrix, Index stride, Index row, Index n_rows, Index depth, double* panel);

}  // namespace gegenbauer
