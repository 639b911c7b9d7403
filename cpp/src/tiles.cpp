#include "gegenbauer/tiles.hpp"

#include <cmath>
#include <type_traits>

#include "gegenbauer/sizes.hpp"
#include "gegenbauer/unroll.hpp"

namespace gegenbauer {

template <class T>
PanelsOf<T>::PanelsOf(Index rows, Index depth)
    : n_panels_(divide_up(rows, kPanelOf<T>)),
      stride_(depth * kPanelOf<T>),
      data_(make_aligned<T>(size_of(n_panels_ * stride_))) {}

template class PanelsOf<double>;
template class PanelsOf<float>;

std::vector<Tile> triangle_tiles(Index first, Index last, Index side) {
  std::vector<Tile> tiles;
  for (Index col = first; col < last; col += side) {
    for (Index row = col; row < last; row += side)
      tiles.push_back({row, std::min(last, row + side), col, std::min(last, col + side)});
  }
  const auto work = [](const Tile& t) {
    const Index n = t.col_end - t.col_begin;
    return t.row_begin == t.col_begin ? n * (n + 1) / 2 : n * (t.row_end - t.row_begin);
  };
  std::stable_sort(tiles.begin(), tiles.end(), [&](const Tile& a, const Tile& b) { return work(a) > work(b); });
  return tiles;
}

Index tile_side(Index n_panels, int n_threads) {
  // some n^2 / (2 side^2) tiles, of which each thread is to have four at least
  const double side = static_cast<double>(n_panels) / std::sqrt(8.0 * n_threads);
  return std::clamp<Index>(static_cast<Index>(side), 1, kTilePanels);
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

// target(i0.., j0..) += sign * a * b', whole or cut at the border of the target
template <int vectors, class T>
EIGEN_ALWAYS_INLINE void update(const T* a, const T* b, Index depth, double sign, const ProductTarget& target, Index i0,
                                Index j0) {
  constexpr Index n_rows = Index{vectors} * kPacketOf<T>;
  constexpr Index line = kAlignment / sizeof(double);
  double* corner = target.data + i0 + j0 * target.stride;
  const bool whole = i0 + n_rows <= target.rows && j0 + kColumns <= target.cols;
  if (whole) {
    // prefetched now, there when the product is ready
    for (Index j = 0; j < kColumns; ++j) {
      for (Index i = 0; i < n_rows; i += line) packet::prefetch(corner + i + j * target.stride);
      packet::prefetch(corner + n_rows - 1 + j * target.stride);
    }
  }
  if constexpr (std::is_same_v<T, double>) {
    if (whole) {
      const RegisterTileOf<vectors> tile = multiply_panels<vectors>(a, b, depth);
      const Packet factor = packet::broadcast(sign);
      GEGENBAUER_UNROLL(8)
      for (int j = 0; j < kColumns; ++j) {
        GEGENBAUER_UNROLL(3)
        for (int v = 0; v < vectors; ++v) {
          double* out = corner + v * kPacket + j * target.stride;
          packet::store_unaligned(out, packet::fma(factor, tile.acc[j][v], packet::load_unaligned(out)));
        }
      }
      return;
    }
  }
  alignas(kAlignment) T values[kColumns][n_rows];
  multiply_into<vectors>(a, b, depth, &values[0][0]);
  if (whole) {
    for (Index j = 0; j < kColumns; ++j)
      for (Index i = 0; i < n_rows; ++i) corner[i + j * target.stride] += sign * static_cast<double>(values[j][i]);
  } else {
    for (Index j = 0; j < kColumns && j0 + j < target.cols; ++j)
      for (Index i = 0; i < n_rows && i0 + i < target.rows; ++i)
        corner[i + j * target.stride] += sign * static_cast<double>(values[j][i]);
  }
}

}  // namespace

template <class T>
void accumulate_tile(const PanelsOf<T>& left, const PanelsOf<T>& right, const Tile& tile, Index depth, double sign,
                     const ProductTarget& target, Index from) {
  constexpr Index panel = kPanelOf<T>;
  constexpr Index lanes = kPacketOf<T>;
  for (Index begin = from; begin < depth; begin += kDepth) {
    const Index part = std::min(kDepth, depth - begin);
    for (Index q = tile.col_begin; q < tile.col_end; ++q) {
      for (Index group = 0; group < panel; group += kColumns) {
        const Index j0 = q * panel + group;
        if (j0 >= target.cols) break;
        const T* b = right.panel(q) + begin * panel + group;
        for (Index p = target.lower_only ? std::max(tile.row_begin, q) : tile.row_begin; p < tile.row_end; ++p) {
          // the registers that hold rows at or below the diagonal and inside of the target
          const Index first = target.lower_only && p == q ? group / lanes : 0;
          const Index last = std::min<Index>(kVectors, divide_up(target.rows - p * panel, lanes));
          const T* a = left.panel(p) + begin * panel + first * lanes;
          const Index i0 = p * panel + first * lanes;
          if (last - first == kVectors) {
            update<kVectors>(a, b, part, sign, target, i0, j0);
          } else if (last - first == 2) {
            update<2>(a, b, part, sign, target, i0, j0);
          } else if (last - first == 1) {
            update<1>(a, b, part, sign, target, i0, j0);
          }
        }
      }
    }
  }
}

template void accumulate_tile(const PanelsOf<double>&, const PanelsOf<double>&, const Tile&, Index, double,
                              const ProductTarget&, Index);
template void accumulate_tile(const PanelsOf<float>&, const PanelsOf<float>&, const Tile&, Index, double,
                              const ProductTarget&, Index);

void round_panel(const double* panel, Index depth, Index h, float* single) {
  single += h * kPanel;
  for (Index k = 0; k < depth; ++k)
    for (Index r = 0; r < kPanel; ++r) single[k * kPanelOf<float> + r] = static_cast<float>(panel[k * kPanel + r]);
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
