#include "gegenbauer/tiles.hpp"

namespace gegenbauer {

std::vector<Tile> triangle_tiles(Index first, Index last) {
  std::vector<Tile> tiles;
  for (Index col = first; col < last; col += kTilePanels) {
    for (Index row = col; row < last; row += kTilePanels)
      tiles.push_back({row, std::min(last, row + kTilePanels), col, std::min(last, col + kTilePanels)});
  }
  return tiles;
}

std::vector<Tile> rectangle_tiles(Index n_rows, Index n_cols) {
  std::vector<Tile> tiles;
  for (Index col = 0; col < n_cols; col += kTilePanels) {
    for (Index row = 0; row < n_rows; row += kTilePanels)
      tiles.push_back({row, std::min(n_rows, row + kTilePanels), col, std::min(n_cols, col + kTilePanels)});
  }
  return tiles;
}

namespace {

// target(i0.., j0..) += sign * tile, whole or cut at the border of the target
EIGEN_ALWAYS_INLINE void add_register_tile(const RegisterTile& tile, double sign, const ProductTarget& target, Index i0,
                                           Index j0) {
  if (i0 + kPanel <= target.rows && j0 + kColumns <= target.cols) {
    const Packet factor = packet::broadcast(sign);
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j)
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) {
        double* out = target.data + i0 + v * kPacket + (j0 + j) * target.stride;
        packet::store_unaligned(out, packet::fma(factor, tile.acc[j][v], packet::load_unaligned(out)));
      }
    return;
  }
  alignas(kAlignment) double values[kPanel];
  for (int j = 0; j < kColumns && j0 + j < target.cols; ++j) {
    for (int v = 0; v < kVectors; ++v) packet::store(values + v * kPacket, tile.acc[j][v]);
    for (Index i = 0; i < kPanel && i0 + i < target.rows; ++i)
      target.data[i0 + i + (j0 + j) * target.stride] += sign * values[i];
  }
}

}  // namespace

void accumulate_tile(const PackedPanels& left, const PackedPanels& right, const Tile& tile, Index depth, double sign,
                     const ProductTarget& target) {
  for (Index begin = 0; begin < depth; begin += kDepth) {
    const Index part = std::min(kDepth, depth - begin);
    for (Index q = tile.col_begin; q < tile.col_end; ++q) {
      for (Index group = 0; group < kPanel; group += kColumns) {
        const Index j0 = q * kPanel + group;
        if (j0 >= target.cols) break;
        const double* b = right.panel(q) + begin * kPanel + group;
        for (Index p = target.lower_only ? std::max(tile.row_begin, q) : tile.row_begin; p < tile.row_end; ++p)
          add_register_tile(multiply_panels(left.panel(p) + begin * kPanel, b, part), sign, target, p * kPanel, j0);
      }
    }
  }
}

void pack_panel(const double* matrix, Index stride, Index row, Index n_rows, Index depth, double* panel) {
  const Index count = std::min<Index>(kPanel, n_rows - row);
  for (Index k = 0; k < depth; ++k) {
    const double* column = matrix + row + k * stride;
    double* out = panel + k * kPanel;
    for (Index r = 0; r < count; ++r) out[r] = column[r];
    for (Index r = count; r < kPanel; ++r) out[r] = 0.0;
  }
}

}  // namespace gegenbauer
