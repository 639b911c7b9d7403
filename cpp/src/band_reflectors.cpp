#include "band_reflectors.hpp"

#include <algorithm>

#include "triangular_tiles.hpp"

namespace gegenbauer::band {

void join(Group& group) {
  using Triangle = Eigen::Matrix<double, kGroup, kGroup>;
  Triangle inverse = Triangle::Zero();
  for (Index i = 0; i < kGroup; i += kWidth)
    for (Index j = i; j < kGroup; j += kWidth)
      inverse.block<kWidth, kWidth>(i, j) =
          product_of_blocks(group.v.get() + i, group.v.get() + j, group.rows).matrix().transpose();
  for (Index j = 0; j < kGroup; ++j) inverse(j, j) = inverse(j, j) > 0 ? 0.5 * inverse(j, j) : 1.0;
  group.t = make_aligned(kGroup * kGroup);
  Eigen::Map<Triangle> t(group.t.get());
  t.setIdentity();
  inverse.triangularView<Eigen::Upper>().solveInPlace(t);
}

void form_rows(const std::vector<Group>& groups, Index first, Index size, Index columns, double* panel) {
  alignas(kAlignment) double product[kGroup * kPanel];
  alignas(kAlignment) double times_t[kGroup * kPanel];
  constexpr Index chunk = 4 * kPanel;  // columns of the panel that stay in the first-level cache
  std::fill_n(panel, columns * kPanel, 0.0);
  for (Index r = 0; r < kPanel && first + r < size; ++r) panel[(first + r) * kPanel + r] = 1.0;
  Index filled = first + kPanel;  // columns that are not zero
  for (Index g = static_cast<Index>(groups.size()) - 1; g >= 0; --g) {
    const Group& group = groups[size_of(g)];
    if (group.rows <= first) continue;
    const Index end = round_up(group.rows, kPanel);
    std::fill_n(product, kGroup * kPanel, 0.0);
    const Index depth = std::min(end, filled);
    for (Index k = 0; k < depth; k += chunk) {
      for (Index j = 0; j < kGroup; j += kColumns) {
        const RegisterTile tile = multiply_panels<kVectors, kGroup, 1>(
            panel + k * kPanel, group.v.get() + k * kGroup + j, std::min(chunk, depth - k));
        update_panel<false>(tile, product, j);
      }
    }
    for (Index j = 0; j < kGroup; j += kColumns)
      store_tile(multiply_panels<kVectors, kGroup, 1>(product, group.t.get() + j, kGroup), times_t, j);
    for (Index j = 0; j < end; j += kColumns) {
      const RegisterTile tile = multiply_panels<kVectors, 1, kGroup>(times_t, group.v.get() + j * kGroup, kGroup);
      update_panel<true>(tile, panel, j);
    }
    filled = std::max(filled, end);
  }
}

void transpose_into(const double* panel, Index p, const PackedPanels& rows) {
  for (Index q = 0; q < rows.n_panels(); ++q) {
    const double* in = panel + q * kPanel * kPanel;
    double* out = rows.panel(q) + p * kPanel * kPanel;
    for (Index i = 0; i < kPanel; i += kPacket)
      for (Index j = 0; j < kPanel; j += kPacket) {
        PacketSquare square;
        for (Index k = 0; k < kPacket; ++k) square.packet[k] = packet::load(in + (i + k) * kPanel + j);
        packet::transpose(square);
        for (Index k = 0; k < kPacket; ++k) packet::store(out + (j + k) * kPanel + i, square.packet[k]);
      }
  }
}

}  // namespace gegenbauer::band
