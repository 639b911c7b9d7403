#pragma once
/// Features block by block: evaluated into packed panels by some threads while others multiply the block before.

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

#include "gegenbauer/cost_units.hpp"
#include "gegenbauer/design.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/parallel.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/tiles.hpp"

namespace gegenbauer::feature_blocks {

inline constexpr Index kSubBlock = 64;  // samples a univariate table: the unit of work of the evaluation

// One thread's space for the evaluation of `block` samples at once. The recurrence runs in double; `table` is what the
// terms are made of: the values of the recurrence, rounded once if T is float.
template <class T>
struct Scratch {
  AlignedBuffer x, exact;
  AlignedArray<T> table, terms;
};

template <class T>
std::vector<Scratch<T>> make_scratch(const Design& design, int n, Index block, Index n_terms) {
  std::vector<Scratch<T>> scratch;
  const Index n_entries = std::max<Index>(1, design.basis.n_factors()) * block;
  for (int i = 0; i < n; ++i)
    scratch.push_back({make_aligned(size_of(design.basis.n_inputs() * block)),
                       make_aligned(std::is_same_v<T, double> ? 0 : size_of(n_entries)),
                       make_aligned<T>(size_of(n_entries)), make_aligned<T>(size_of(n_terms))});
  return scratch;
}

// Univariate values of the samples first .. first + count, and of zeros up to `block`.
template <class T>
void tabulate(const Design& design, Index first, Index count, Index block, const Scratch<T>& scratch) {
  design.samples.load(first, count, block, scratch.x.get(), block);
  if constexpr (std::is_same_v<T, double>) {
    design.basis.tabulate(scratch.x.get(), block, block, scratch.table.get());
  } else {
    design.basis.tabulate(scratch.x.get(), block, block, scratch.exact.get());
    std::transform(scratch.exact.get(), scratch.exact.get() + design.basis.n_factors() * block, scratch.table.get(),
                   [](double value) { return static_cast<T>(value); });
  }
}

inline void validate(const Design& design) {
  require(design.samples.cols() == design.basis.n_inputs(), "X has ", design.samples.cols(),
          " columns but the basis has ", design.basis.n_inputs(), " inputs");
  require(design.targets.rows == design.samples.rows() || design.targets.cols == 0, "Y has ", design.targets.rows,
          " rows but X has ", design.samples.rows());
}

// panel[s * kPanelOf<T> + r] = target k0 + r at sample first + s, for `count` samples and `n` targets, along whichever
// of the two lies closer together.
template <class T>
void copy_targets(const StridedView<const double>& targets, Index first, Index count, Index k0, Index n, T* panel) {
  constexpr Index step = kPanelOf<T>;
  if (std::abs(targets.row_stride) < std::abs(targets.col_stride)) {
    for (Index r = 0; r < n; ++r) {
      const double* column = &targets(first, k0 + r);
      for (Index s = 0; s < count; ++s) panel[s * step + r] = static_cast<T>(column[s * targets.row_stride]);
    }
  } else if (targets.col_stride == 1 && n == step) {
    constexpr Index line = kAlignment / sizeof(double);
    constexpr Index ahead = 16;  // a row of many targets is a page of its own, which no hardware foresees
    for (Index s = 0; s < count; ++s) {
      const double* row = &targets(first + s, k0);
      if (s + ahead < count)
        for (Index r = 0; r < step; r += line) packet::prefetch(row + ahead * targets.row_stride + r);
      for (Index r = 0; r < step; ++r) panel[s * step + r] = static_cast<T>(row[r]);
    }
  } else {
    for (Index s = 0; s < count; ++s)
      for (Index r = 0; r < n; ++r) panel[s * step + r] = static_cast<T>(targets(first + s, k0 + r));
  }
}

// Both sides of a product for one block of the depth.
template <class T>
struct Sides {
  PanelsOf<T> left;
  std::optional<PanelsOf<T>> other;  // none: the left side again
  [[nodiscard]] const PanelsOf<T>& right() const { return other ? *other : left; }
};

// Goes through [0, n) in blocks: fill(begin, end, item, member, side) makes a part of the block [begin, end), of which
// there are n_fills(end - begin), and use(begin, depth, item, member, side) one of n_uses parts of what is made of it.
// While one block is used the next is filled into the other side (0 or 1), so the threads meet once a block. The small
// items come last: the first n_long parts of the use take longer than one of the fill.
template <class Fills, class Fill, class Use>
void in_blocks(Index n, Index block, Index n_uses, Index n_long, int n_threads, const Control& control,
               const Fills& n_fills, const Fill& fill, const Use& use) {
  Team::run(control, n_threads, [&](Team& team, int me) {
    Index depth = 0;  // of the block that is ready
    for (Index begin = 0; depth > 0 || begin < n; begin += block) {
      const Index ready = begin / block % 2;
      const Index end = std::min(n, begin + block);
      const Index to_use = depth > 0 ? n_uses : 0;
      const Index to_fill = begin < n ? n_fills(end - begin) : 0;
      const Index before = std::min(n_long, to_use);
      team.for_each(me, to_use + to_fill, [&](Index i, int member) {
        if (i >= before && i < before + to_fill) {
          fill(begin, end, i - before, member, 1 - ready);
        } else {
          use(begin - block, depth, i < before ? i : i - to_fill, member, ready);
        }
      });
      depth = std::max<Index>(0, end - begin);
    }
  });
}

// target += the sum over the depth [0, n) of left right', in blocks; fill(begin, end, item, member, sides).
template <class T, class Items, class Fill>
void accumulate(const Sides<T> (&sides)[2], Index n, Index block, const std::vector<Tile>& tiles,
                const ProductTarget& target, int n_threads, const Control& control, const Items& n_items,
                const Fill& fill) {
  // tiles come by falling size
  const auto n_panels = static_cast<double>(sides[0].right().n_panels());
  const double of_fill = units::kPackedTerm * n_panels / static_cast<double>(n_items(block));
  const Index n_long = std::count_if(tiles.begin(), tiles.end(), [&](const Tile& tile) {
    const Index pairs = (tile.row_end - tile.row_begin) * (tile.col_end - tile.col_begin);
    return static_cast<double>(pairs * kPanelOf<T>) > of_fill;
  });
  in_blocks(
      n, block, static_cast<Index>(tiles.size()), n_long, n_threads, control, n_items,
      [&](Index begin, Index end, Index item, int member, Index side) { fill(begin, end, item, member, sides[side]); },
      [&](Index, Index depth, Index i, int, Index side) {
        accumulate_tile(sides[side].left, sides[side].right(), tiles[size_of(i)], depth, 1.0, target);
      });
}

// Length of a block whose panels of `n_rows` entries of T a step of the depth take about 4 MB, at least 512.
template <class T>
Index block_length(Index n_rows, Index total) {
  const Index fitting = Index{4'000'000} / static_cast<Index>(sizeof(T)) / std::max<Index>(1, n_rows);
  return std::min(std::clamp<Index>(fitting / kDepth * kDepth, 512, 4096), round_up(total, kSubBlock));
}

}  // namespace gegenbauer::feature_blocks
