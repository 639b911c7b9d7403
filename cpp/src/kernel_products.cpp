#include <algorithm>
#include <vector>

#include "kernel_sweep.hpp"

namespace gegenbauer {

using namespace kernel_sweep;

namespace {

// Strips of a few panels that own all columns, so that sums along a row stay in one hand.
std::vector<Tile> row_tiles(const ProductKernel& kernel, Index n_rows, Index n_cols, bool /*diagonal*/) {
  const double one = kernel.pair_cost() * static_cast<double>(n_cols * kPanel * kPanel);
  const Index strip = kItemWork < 4 * one ? 1 : 4;
  std::vector<Tile> tiles;
  for (Index row = 0; row < n_rows; row += strip) tiles.push_back({row, std::min(n_rows, row + strip), 0, n_cols});
  return tiles;
}

// sums[k * kPanel + i] += sum over j of values(i, j) c[j * n + k]
void add_products(const double* values, Index n_columns, const double* c, Index n, double* sums) {
  for (Index k = 0; k < n; ++k) {
    Packet total[kVectors];
    for (int v = 0; v < kVectors; ++v) total[v] = packet::load(sums + k * kPanel + v * kPacket);
    for (Index j = 0; j < n_columns; ++j) {
      const Packet factor = packet::broadcast(c[j * n + k]);
      for (int v = 0; v < kVectors; ++v)
        total[v] = packet::fma(packet::load(values + j * kPanel + v * kPacket), factor, total[v]);
    }
    for (int v = 0; v < kVectors; ++v) packet::store(sums + k * kPanel + v * kPacket, total[v]);
  }
}

// sums[j * n + k] += sum over i of values(i, j) c[k * kPanel + i]; c holds zeros beyond the last row
void add_transposed_products(const double* values, Index n_columns, const double* c, Index n, double* sums) {
  for (Index j = 0; j < n_columns; ++j) {
    for (Index k = 0; k < n; ++k) {
      Packet total = packet::zero();
      for (int v = 0; v < kVectors; ++v)
        total = packet::fma(packet::load(values + j * kPanel + v * kPacket), packet::load(c + k * kPanel + v * kPacket),
                            total);
      alignas(kAlignment) double parts[kPacket];
      packet::store(parts, total);
      double sum = 0.0;
      for (const double part : parts) sum += part;
      sums[j * n + k] += sum;
    }
  }
}

// Coefficients by samples (c[s * n + k]) and by panels (c[(p * n + k) * kPanel + i], zeros beyond the last sample).
struct Coefficients {
  Index n;
  AlignedBuffer by_sample, by_panel;

  explicit Coefficients(const StridedView<const double>& view)
      : n(view.cols),
        by_sample(make_aligned(size_of(view.rows * view.cols))),
        by_panel(make_aligned(size_of(panels_of(view.rows) * kPanel * view.cols))) {
    std::fill_n(by_panel.get(), panels_of(view.rows) * kPanel * n, 0.0);
    for (Index s = 0; s < view.rows; ++s) {
      for (Index k = 0; k < n; ++k) {
        by_sample[size_of(s * n + k)] = view(s, k);
        by_panel[size_of((s / kPanel * n + k) * kPanel + s % kPanel)] = view(s, k);
      }
    }
  }
};

void require_shape(const StridedView<const double>& coefficients, Index n_coefficients, const StridedView<double>& out,
                   Index n_rows) {
  require(coefficients.rows == n_coefficients, "coefficients must have ", n_coefficients, " rows (one a sample), got ",
          coefficients.rows);
  require(out.rows == n_rows && out.cols == coefficients.cols, "out must have shape (", n_rows, ", ", coefficients.cols,
          "), got (", out.rows, ", ", out.cols, ")");
}

void set_zero(const StridedView<double>& out) {
  for (Index k = 0; k < out.cols; ++k)
    for (Index s = 0; s < out.rows; ++s) out(s, k) = 0.0;
}

}  // namespace

void apply_kernel(const ProductKernel& kernel, const Samples& x, const Samples& z, ConstantTerm constant,
                  StridedView<const double> coefficients, StridedView<double> out, const Control& control) {
  require_shape(coefficients, z.rows(), out, x.rows());
  const Coefficients c(coefficients);
  std::vector<AlignedBuffer> sums;
  for (int i = 0; i < control.n_threads(); ++i) sums.push_back(make_aligned(size_of(kPanel * c.n)));
  set_zero(out);
  sweep(
      kernel, x, z, false, constant, static_cast<double>(c.n), control, row_tiles,
      [&](const PanelPair& pair, Index, const Tile&, int member) {
        double* sum = sums[size_of(member)].get();
        std::fill_n(sum, kPanel * c.n, 0.0);
        add_products(pair.values, pair.n_cols, c.by_sample.get() + pair.col * c.n, c.n, sum);
        for (Index k = 0; k < c.n; ++k)
          for (Index i = 0; i < pair.n_rows; ++i) out(pair.row + i, k) += sum[k * kPanel + i];
      },
      kNoFinish);
}

void apply_symmetric(const ProductKernel& kernel, const Samples& samples, ConstantTerm constant,
                     StridedView<const double> coefficients, StridedView<double> out, const Control& control) {
  constexpr Index few = 8;  // outputs up to which the pairs are what costs
  if (coefficients.cols > few) {
    apply_kernel(kernel, samples, samples, constant, coefficients, out, control);
    return;
  }
  require_shape(coefficients, samples.rows(), out, samples.rows());
  const Coefficients c(coefficients);
  set_zero(out);
  // Each tile of a block has its own sums for its rows (panel by panel) and for its columns; they are added in the
  // order of the tiles.
  const Index side = panels_for(kernel, kItemWork, kTilePanels) * kPanel;
  const Index per_tile = 2 * side * c.n;
  const Index tiles_a_side = divide_up(block_rows(kernel, samples.rows()), side);
  const Index all = tiles_a_side * tiles_a_side * per_tile;
  const AlignedBuffer partial = make_aligned(size_of(all));
  std::fill_n(partial.get(), all, 0.0);
  sweep(
      kernel, samples, samples, true, constant, 2.0 * static_cast<double>(c.n), control, square_tiles,
      [&](const PanelPair& pair, Index i, const Tile& tile, int) {
        double* rows = partial.get() + i * per_tile;
        double* cols = rows + side * c.n;
        add_products(pair.values, pair.n_cols, c.by_sample.get() + pair.col * c.n, c.n,
                     rows + (pair.p - tile.row_begin) * kPanel * c.n);
        if (pair.row != pair.col)
          add_transposed_products(pair.values, pair.n_cols, c.by_panel.get() + pair.row * c.n, c.n,
                                  cols + (pair.q - tile.col_begin) * kPanel * c.n);
      },
      [&](Team& team, int me, const std::vector<Tile>& tiles, Index row, Index col) {
        team.for_each(me, 1, [&](Index, int) {
          for (std::size_t t = 0; t < tiles.size(); ++t) {
            const double* rows = partial.get() + static_cast<Index>(t) * per_tile;
            const double* cols = rows + side * c.n;
            const Index first_row = row + tiles[t].row_begin * kPanel;
            const Index first_col = col + tiles[t].col_begin * kPanel;
            const Index n_rows = std::min(samples.rows(), row + tiles[t].row_end * kPanel) - first_row;
            const Index n_cols = std::min(samples.rows(), col + tiles[t].col_end * kPanel) - first_col;
            for (Index k = 0; k < c.n; ++k) {
              for (Index i = 0; i < n_rows; ++i)
                out(first_row + i, k) += rows[(i / kPanel * c.n + k) * kPanel + i % kPanel];
              for (Index j = 0; j < n_cols; ++j) out(first_col + j, k) += cols[j * c.n + k];
            }
          }
          std::fill_n(partial.get(), static_cast<Index>(tiles.size()) * per_tile, 0.0);
        });
      });
}

}  // namespace gegenbauer
