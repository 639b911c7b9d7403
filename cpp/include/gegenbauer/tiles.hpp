#pragma once
/// The one place that multiplies matrices. Both sides of a product are packed into panels of kPanel rows, contiguous
/// along the depth, so that one packed panel serves as left side (loaded by registers) and as right side (broadcast
/// entry by entry). Products are shared between threads tile by tile; a tile of the output has one owner, so the order
/// of its sums does not depend on the number of threads.

#include <algorithm>
#include <vector>

#include "gegenbauer/packet.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

/// Depth that one call of the microkernel covers: panel * depth stays in the first-level cache.
inline constexpr Index kDepth = 256;

/// Side of a tile in panels: two packed sides of tile * kDepth doubles stay in the second-level cache.
inline constexpr Index kTilePanels = std::max(1, 192 / kPanel);

/// A matrix of `rows` rows, packed: panel p holds the rows p * kPanel .. ; entry (row r of the panel, depth k) lies at
/// panel(p)[k * kPanel + r]. Rows beyond the last are the writer's to fill with zeros.
class PackedPanels {
 public:
  PackedPanels(Index rows, Index depth)
      : n_panels_((rows + kPanel - 1) / kPanel),
        stride_(depth * kPanel),
        data_(make_aligned(static_cast<std::size_t>(n_panels_ * stride_))) {}

  [[nodiscard]] Index n_panels() const { return n_panels_; }
  [[nodiscard]] double* panel(Index p) const { return data_.get() + p * stride_; }

 private:
  Index n_panels_;
  Index stride_;
  AlignedBuffer data_;
};

/// Register tile: acc[j] = n_vectors packets of rows of a times column j of b, summed over the depth.
template <int n_vectors>
struct RegisterTileOf {
  Packet acc[kColumns][n_vectors];
};
using RegisterTile = RegisterTileOf<kVectors>;

/// acc = sum over k < depth of a[k * kPanel + (0..n_vectors packets)] * b[k * depth_stride + (0..kColumns) *
/// column_stride]. a is aligned; b may point at any column group of a panel, or at columns that lie one after another.
template <int n_vectors = kVectors, Index depth_stride = kPanel, Index column_stride = 1>
EIGEN_ALWAYS_INLINE RegisterTileOf<n_vectors> multiply_panels(const double* a, const double* b, Index depth) {
  RegisterTileOf<n_vectors> tile;
#pragma GCC unroll 8
  for (int j = 0; j < kColumns; ++j)
#pragma GCC unroll 3
    for (int v = 0; v < n_vectors; ++v) tile.acc[j][v] = packet::zero();
#pragma GCC unroll 2
  for (Index k = 0; k < depth; ++k) {
    Packet left[n_vectors];
#pragma GCC unroll 3
    for (int v = 0; v < n_vectors; ++v) left[v] = packet::load(a + k * kPanel + v * kPacket);
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
      const Packet right = packet::broadcast(b[k * depth_stride + j * column_stride]);
#pragma GCC unroll 3
      for (int v = 0; v < n_vectors; ++v) tile.acc[j][v] = packet::fma(left[v], right, tile.acc[j][v]);
    }
  }
  return tile;
}

/// Panels [row_begin, row_end) of the left side against [col_begin, col_end) of the right side.
struct Tile {
  Index row_begin, row_end, col_begin, col_end;
};

/// Tiles that cover the lower triangle of the panels [first, last).
[[nodiscard]] std::vector<Tile> triangle_tiles(Index first, Index last);

/// Tiles that cover the rectangle of n_rows by n_cols panels.
[[nodiscard]] std::vector<Tile> rectangle_tiles(Index n_rows, Index n_cols);

/// Output of a product: column-major, entry (i, j) at data[i + j * stride]; rows and columns beyond the shape are not
/// written. With lower_only the register tiles wholly above the diagonal are skipped (the strict upper part of the
/// others receives values that nobody reads).
struct ProductTarget {
  double* data;
  Index stride;
  Index rows;
  Index cols;
  bool lower_only;
};

/// target += sign * left * right' over one tile and the depth [0, depth).
void accumulate_tile(const PackedPanels& left, const PackedPanels& right, const Tile& tile, Index depth, double sign,
                     const ProductTarget& target);

/// Packs the rows [row, row + kPanel) (zeros beyond n_rows) and `depth` columns of a column-major matrix into one
/// panel.
void pack_panel(const double* matrix, Index stride, Index row, Index n_rows, Index depth, double* panel);

}  // namespace gegenbauer
