#include "gegenbauer/kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/tiles.hpp"

namespace gegenbauer {

namespace {

// Samples whose tables are held together: as many as a few megabytes of tables allow.
constexpr Index kBlockRows = 2048;
constexpr Index kBlockDoubles = 4'000'000;

// Multiply-adds, at most, of a block against another and of an item of work within it: interrupts come between items.
constexpr double kBlockWork = 2e10;
constexpr double kItemWork = 5e8;

// The largest whole number of panels, between one and `most`, whose square costs no more than `work`.
Index panels_for(const ProductKernel& kernel, double work, Index most) {
  const double rows = std::sqrt(work / kernel.pair_cost());
  return std::clamp<Index>(static_cast<Index>(std::min(rows, 1e9)) / kPanel, 1, most);
}

Index block_rows(const ProductKernel& kernel, Index n_samples) {
  const Index by_memory = std::clamp<Index>(kBlockDoubles / std::max<Index>(1, kernel.table_size()), 1, kBlockRows);
  return std::min({panels_of(by_memory), panels_for(kernel, kBlockWork, kBlockRows), panels_of(n_samples)}) * kPanel;
}

// One panel of K against another: entry (i, j) of rows [row, row + n_rows) and columns [col, col + n_cols) of the whole
// is values[j * kPanel + i]. They are the panels p and q of their block.
struct PanelPair {
  Index p, q, row, n_rows, col, n_cols;
  const double* values;
};

using Panel = std::array<double, size_t{kPanel} * kPanel>;

struct Member {
  AlignedBuffer x, values, scratch;
};

// Goes over K(left, right) - or, if symmetric, the panels of its lower triangle - block by block: tables of both sides,
// then `use(pair, tile, member)` for every pair of panels of every tile, each tile by one member, its pairs in order;
// then `finish(team, me, tiles, block_row, block_col)`.
template <class MakeTiles, class Use, class Finish>
void sweep(const ProductKernel& kernel, const Samples& left, const Samples& right, bool symmetric,
           ConstantTerm constant, double cost, const Control& control, const MakeTiles& make_tiles, const Use& use,
           const Finish& finish) {
  require(left.cols() == kernel.n_inputs(), "X has ", left.cols(), " columns but the kernel has ", kernel.n_inputs(),
          " inputs");
  require(right.cols() == kernel.n_inputs(), "Z has ", right.cols(), " columns but the kernel has ", kernel.n_inputs(),
          " inputs");
  const Index n_left = block_rows(kernel, left.rows());
  const Index n_right = block_rows(kernel, right.rows());
  const PackedPanels left_tables(n_left, kernel.table_size());
  const PackedPanels right_tables(n_right, kernel.table_size());
  const double pairs = static_cast<double>(left.rows()) * static_cast<double>(right.rows()) / (symmetric ? 2 : 1);
  const int size = control.threads_for(pairs * (kernel.pair_cost() + cost));
  std::vector<Member> members;
  for (int i = 0; i < size; ++i)
    members.push_back({make_aligned(size_of(kernel.n_inputs() * kPanel)), make_aligned(std::tuple_size_v<Panel>),
                       make_aligned(size_of(kernel.scratch_size()))});
  const Packet one = packet::broadcast(1.0);
  Team::run(control, size, [&](Team& team, int me) {
    const auto tabulate = [&](const Samples& samples, Index first, Index count, const PackedPanels& tables) {
      team.for_each(me, panels_of(count), [&](Index p, int member) {
        double* x = members[size_of(member)].x.get();
        const Index begin = first + p * kPanel;
        samples.load(begin, std::min<Index>(kPanel, first + count - begin), kPanel, x, kPanel);
        kernel.tabulate(x, begin, tables.panel(p));
      });
    };
    for (Index col = 0; col < right.rows(); col += n_right) {
      const Index n_cols = std::min(n_right, right.rows() - col);
      tabulate(right, col, n_cols, right_tables);
      for (Index row = symmetric ? col : 0; row < left.rows(); row += n_left) {
        const Index n_rows = std::min(n_left, left.rows() - row);
        const bool diagonal = symmetric && row == col;
        if (!diagonal) tabulate(left, row, n_rows, left_tables);
        const PackedPanels& rows = diagonal ? right_tables : left_tables;
        const std::vector<Tile> tiles = make_tiles(kernel, panels_of(n_rows), panels_of(n_cols), diagonal);
        team.for_each(me, static_cast<Index>(tiles.size()), [&](Index i, int member) {
          const Tile& tile = tiles[size_of(i)];
          const Member& mine = members[size_of(member)];
          for (Index q = tile.col_begin; q < tile.col_end; ++q) {
            const Index width = std::min<Index>(kPanel, n_cols - q * kPanel);
            for (Index p = diagonal ? std::max(tile.row_begin, q) : tile.row_begin; p < tile.row_end; ++p) {
              double* values = mine.values.get();
              kernel.evaluate(rows.panel(p), right_tables.panel(q), width, values, mine.scratch.get());
              if (constant == ConstantTerm::included)
                for (Index k = 0; k < width * kPanel; k += kPacket)
                  packet::store(values + k, packet::add(packet::load(values + k), one));
              use(PanelPair{p, q, row + p * kPanel, std::min<Index>(kPanel, n_rows - p * kPanel), col + q * kPanel,
                            width, values},
                  i, tile, member);
            }
          }
        });
        finish(team, me, tiles, row, col);
      }
    }
  });
}

const auto kNoFinish = [](Team&, int, const std::vector<Tile>&, Index, Index) {};

// The panels of a block, or of its lower triangle, in squares.
std::vector<Tile> square_tiles(const ProductKernel& kernel, Index n_rows, Index n_cols, bool diagonal) {
  const Index side = panels_for(kernel, kItemWork, kTilePanels);
  std::vector<Tile> tiles;
  for (Index col = 0; col < n_cols; col += side) {
    for (Index row = diagonal ? col : 0; row < n_rows; row += side)
      tiles.push_back({row, std::min(n_rows, row + side), col, std::min(n_cols, col + side)});
  }
  return tiles;
}

// Strips of a few panels that own all columns, so that sums along a row stay in one hand.
std::vector<Tile> row_tiles(const ProductKernel& kernel, Index n_rows, Index n_cols, bool /*diagonal*/) {
  const double one = kernel.pair_cost() * static_cast<double>(n_cols * kPanel * kPanel);
  const Index strip = kItemWork < 4 * one ? 1 : 4;
  std::vector<Tile> tiles;
  for (Index row = 0; row < n_rows; row += strip) tiles.push_back({row, std::min(n_rows, row + strip), 0, n_cols});
  return tiles;
}

// out(i, j) = values of a pair, in the order in which out lies in memory
void put(const PanelPair& pair, const StridedView<double>& out) {
  if (out.row_stride <= out.col_stride) {
    for (Index j = 0; j < pair.n_cols; ++j)
      for (Index i = 0; i < pair.n_rows; ++i) out(pair.row + i, pair.col + j) = pair.values[j * kPanel + i];
  } else {
    for (Index i = 0; i < pair.n_rows; ++i)
      for (Index j = 0; j < pair.n_cols; ++j) out(pair.row + i, pair.col + j) = pair.values[j * kPanel + i];
  }
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

void accumulate_product_kernel(const ProductKernel& kernel, const Samples& samples, const double* row_scale,
                               ConstantTerm constant, MatrixRef out, const Control& control) {
  const Index n = samples.rows();
  require(out.rows() == n && out.cols() == n, "kernel must have shape (", n, ", ", n, ")");
  sweep(
      kernel, samples, samples, true, constant, 0.0, control, square_tiles,
      [&](const PanelPair& pair, Index, const Tile&, int) {
        for (Index j = 0; j < pair.n_cols; ++j) {
          double* column = out.data() + pair.row + (pair.col + j) * out.outerStride();
          const double* values = pair.values + j * kPanel;
          if (row_scale == nullptr) {
            for (Index i = 0; i < pair.n_rows; ++i) column[i] += values[i];
          } else {
            const double scale = row_scale[pair.col + j];
            for (Index i = 0; i < pair.n_rows; ++i) column[i] += scale * row_scale[pair.row + i] * values[i];
          }
        }
      },
      kNoFinish);
}

void evaluate_symmetric(const ProductKernel& kernel, const Samples& samples, StridedView<double> out,
                        const Control& control) {
  const Index n = samples.rows();
  require(out.rows == n && out.cols == n, "out must have shape (", n, ", ", n, "), got (", out.rows, ", ", out.cols,
          ")");
  const StridedView<double> mirrored{out.data, n, n, out.col_stride, out.row_stride};
  sweep(
      kernel, samples, samples, true, ConstantTerm::included, 0.0, control, square_tiles,
      [&](const PanelPair& pair, Index, const Tile&, int) {
        if (pair.row != pair.col) {
          put(pair, out);
          put(pair, mirrored);
          return;
        }
        for (Index j = 0; j < pair.n_cols; ++j)
          for (Index i = j; i < pair.n_rows; ++i)
            out(pair.row + i, pair.col + j) = out(pair.col + j, pair.row + i) = pair.values[j * kPanel + i];
      },
      kNoFinish);
}

void evaluate_rectangle(const ProductKernel& kernel, const Samples& x, const Samples& z, StridedView<double> out,
                        const Control& control) {
  require(out.rows == x.rows() && out.cols == z.rows(), "out must have shape (", x.rows(), ", ", z.rows(), "), got (",
          out.rows, ", ", out.cols, ")");
  sweep(
      kernel, x, z, false, ConstantTerm::included, 0.0, control, square_tiles,
      [&](const PanelPair& pair, Index, const Tile&, int) { put(pair, out); }, kNoFinish);
}

void evaluate_diagonal(const ProductKernel& kernel, const Samples& samples, double* out, const Control& control) {
  require(samples.cols() == kernel.n_inputs(), "X has ", samples.cols(), " columns but the kernel has ",
          kernel.n_inputs(), " inputs");
  const Index n_panels = panels_of(samples.rows());
  const double cost = static_cast<double>(samples.rows()) * kPanel * kernel.pair_cost();
  struct Space {
    AlignedBuffer x, table, values, scratch;
  };
  std::vector<Space> spaces;
  for (int i = 0; i < control.threads_for(cost); ++i)
    spaces.push_back({make_aligned(size_of(kernel.n_inputs() * kPanel)),
                      make_aligned(size_of(kernel.table_size() * kPanel)), make_aligned(std::tuple_size_v<Panel>),
                      make_aligned(size_of(kernel.scratch_size()))});
  parallel_for(control, n_panels, cost, [&](Index p, int member) {
    const auto& [x, table, values, scratch] = spaces[size_of(member)];
    const Index first = p * kPanel;
    const Index count = std::min<Index>(kPanel, samples.rows() - first);
    samples.load(first, count, kPanel, x.get(), kPanel);
    kernel.tabulate(x.get(), first, table.get());
    kernel.evaluate(table.get(), table.get(), count, values.get(), scratch.get());
    for (Index i = 0; i < count; ++i) out[first + i] = 1.0 + values[size_of(i * kPanel + i)];
  });
}

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

double kernel_table_bytes(const ProductKernel& kernel, Index n_samples) {
  require(n_samples >= 0, "the number of samples must not be negative, got ", n_samples);
  return 16.0 * static_cast<double>(block_rows(kernel, n_samples)) * static_cast<double>(kernel.table_size());
}

}  // namespace gegenbauer
