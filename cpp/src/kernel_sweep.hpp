#pragma once
/// How kernels go over pairs of samples: blocks of samples whose tables are held together, panels against panels, tile
/// by tile and shared between threads.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "gegenbauer/error.hpp"
#include "gegenbauer/kernel.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/tiles.hpp"

namespace gegenbauer::kernel_sweep {

// Samples whose tables are held together: as many as a few megabytes of tables allow.
inline constexpr Index kBlockRows = 2048;
inline constexpr Index kBlockDoubles = 4'000'000;

// Multiply-adds, at most, of a block against another and of an item of work within it: interrupts come between items.
inline constexpr double kBlockWork = 2e10;
inline constexpr double kItemWork = 5e8;

// The largest whole number of panels, between one and `most`, whose square costs no more than `work`.
inline Index panels_for(const ProductKernel& kernel, double work, Index most) {
  const double rows = std::sqrt(work / kernel.pair_cost());
  return std::clamp<Index>(static_cast<Index>(std::min(rows, 1e9)) / kPanel, 1, most);
}

inline Index block_rows(const ProductKernel& kernel, Index n_samples) {
  const Index by_memory = std::clamp<Index>(kBlockDoubles / std::max<Index>(1, kernel.table_size()), 1, kBlockRows);
  return std::min({panels_of(by_memory), panels_for(kernel, kBlockWork, kBlockRows), panels_of(n_samples)}) * kPanel;
}

// One panel of K against another: entry (i, j) of rows [row, row + n_rows) and columns [col, col + n_cols) of the whole
// is values[j * kPanel + i]. They are the panels p and q of their block.
struct PanelPair {
  Index p, q, row, n_rows, col, n_cols;
  const double* values;
};

using Panel = std::array<double, std::size_t{kPanel} * kPanel>;

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

inline constexpr auto kNoFinish = [](Team&, int, const std::vector<Tile>&, Index, Index) {};

// The panels of a block, or of its lower triangle, in squares.
inline std::vector<Tile> square_tiles(const ProductKernel& kernel, Index n_rows, Index n_cols, bool diagonal) {
  const Index side = panels_for(kernel, kItemWork, kTilePanels);
  std::vector<Tile> tiles;
  for (Index col = 0; col < n_cols; col += side) {
    for (Index row = diagonal ? col : 0; row < n_rows; row += side)
      tiles.push_back({row, std::min(n_rows, row + side), col, std::min(n_cols, col + side)});
  }
  return tiles;
}

}  // namespace gegenbauer::kernel_sweep
