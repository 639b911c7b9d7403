#pragma once
/// What the files of BandForm share: rows of a band and blocks of reflectors, and products of them.

#include <algorithm>

#include "gegenbauer/band_form.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/tiles.hpp"
#include "gegenbauer/unroll.hpp"

namespace gegenbauer::band {

inline constexpr Index kWidth = BandForm::kWidth;
inline constexpr Index kRow = kWidth + 1;  // entries of a row of the band
static_assert(kWidth % kColumns == 0 && kWidth % kPacket == 0);

// Blocks of reflectors that are joined for Q, and reflectors of a group of them.
inline constexpr Index kJoined = 4;
inline constexpr Index kGroup = kJoined * kWidth;

using Row = Eigen::Array<double, kWidth, 1>;
using Square = Eigen::Array<double, kWidth, kWidth>;  // column t: a row of the transposed
using RowMap = Eigen::Map<Row, Eigen::Aligned64>;
using ConstRowMap = Eigen::Map<const Row, Eigen::Aligned64>;

inline AlignedBuffer zeroed(Index count) {
  AlignedBuffer buffer = make_aligned(size_of(count));
  std::fill_n(buffer.get(), count, 0.0);
  return buffer;
}

// Joined blocks of reflectors: Q' of them is I - V T' V', where column 8 b + t of V is reflector t of block b.
struct Group {
  Index rows;       // not zero in V
  AlignedBuffer v;  // row-major, kGroup numbers a row
  AlignedBuffer t;  // T, column-major
};

// sum over rows of l r' for two blocks of reflectors; column q holds row q of it
inline Square product_of_blocks(const double* left, const double* right, Index rows) {
  Square sum = Square::Zero();
  for (Index c = 0; c < rows; ++c) {
    const ConstRowMap row(right + c * kGroup);
    GEGENBAUER_UNROLL(8)
    for (Index q = 0; q < kWidth; ++q) sum.col(q) += left[c * kGroup + q] * row;
  }
  return sum;
}

// Columns j .. j + kColumns of a packed panel += or -= tile.
template <bool subtract>
EIGEN_ALWAYS_INLINE void update_panel(const RegisterTile& tile, double* panel, Index j) {
  GEGENBAUER_UNROLL(8)
  for (int c = 0; c < kColumns; ++c) {
    GEGENBAUER_UNROLL(3)
    for (int l = 0; l < kVectors; ++l) {
      double* at = panel + (j + c) * kPanel + l * kPacket;
      const Packet old = packet::load(at);
      packet::store(at, subtract ? packet::sub(old, tile.acc[c][l]) : packet::add(old, tile.acc[c][l]));
    }
  }
}

}  // namespace gegenbauer::band
