#include "gegenbauer/normal_equations.hpp"

#include <algorithm>
#include <vector>

#include "cross_of_few.hpp"
#include "cross_of_many.hpp"
#include "feature_blocks.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/term_grid.hpp"
#include "gegenbauer/tiles.hpp"

namespace gegenbauer {

using namespace feature_blocks;

namespace {

// Targets from which on their panels are made by the thread that needs them, one group at a time, instead of being held
// for a block of samples: another evaluation of the terms costs less.
constexpr Index kManyTargets = 96;

// Targets from which on residuals are made and used at once; below, depth-first predictions cost less than panels.
constexpr Index kJoinedTargets = 20;

// Writes the targets of the samples first .. first + kSubBlock into the panels at depth `depth`, from the panel row
// `row` on. Other panel rows from `zeros_from` on, and samples beyond the last, become zeros.
template <class T>
void pack_targets(const StridedView<const double>& targets, Index first, Index depth, Index row, Index zeros_from,
                  const PanelsOf<T>& panels) {
  constexpr Index step = kPanelOf<T>;
  const Index count = std::min(kSubBlock, targets.rows - first);
  for (Index p = row / step; p < panels.n_panels(); ++p) {
    T* out = panels.panel(p) + depth * step;
    const Index begin = std::max(row, p * step);
    const Index n = std::min((p + 1) * step, row + targets.cols) - begin;
    if (n < step || count < kSubBlock) {
      const Index kept = std::clamp<Index>(zeros_from - p * step, 0, step);
      for (Index s = 0; s < kSubBlock; ++s) std::fill(out + s * step + kept, out + (s + 1) * step, T(0));
    }
    if (n > 0) copy_targets(targets, first, count, begin - row, n, out + (begin - p * step));
  }
}

// Writes the samples first .. first + kSubBlock of [G, Y] into the panels at depth `depth`: panel row = term or target,
// depth = sample. Samples beyond the last are zeros.
template <class T>
void pack_samples(const Design& design, Index first, Index depth, const Scratch<T>& scratch,
                  const PanelsOf<T>& panels) {
  constexpr Index lanes = kPacketOf<T>;
  constexpr Index panel = kPanelOf<T>;
  const TensorBasis& basis = design.basis;
  const Index n_terms = basis.n_terms();
  const Index count = std::min(kSubBlock, design.samples.rows() - first);
  const Index n_packed = round_up(n_terms, lanes);  // rows that are written by squares
  tabulate(design, first, count, kSubBlock, scratch);
  T* rows = scratch.terms.get();
  for (Index group = 0; group < kSubBlock; group += lanes) {
    basis.evaluate_packet<T>(scratch.table.get() + group, kSubBlock, rows);
    std::fill(rows + n_terms * lanes, rows + n_packed * lanes, T(0));
    alignas(kAlignment) T scale[lanes];
    for (Index i = 0; i < lanes; ++i) {
      const Index s = group + i;
      scale[i] = s >= count ? T(0) : design.row_scale == nullptr ? T(1) : static_cast<T>(design.row_scale[first + s]);
    }
    const PacketOf<T> factor = packet::load(scale);
    const bool scaled = design.row_scale != nullptr || group + lanes > count;
    for (Index l = 0; l < n_packed; l += lanes) {
      PacketSquareOf<T> square;
      for (int i = 0; i < lanes; ++i) {
        square.packet[i] = packet::load(rows + (l + i) * lanes);
        if (scaled && l + i < n_terms) square.packet[i] = packet::mul(square.packet[i], factor);
      }
      packet::transpose(square);
      T* out = panels.panel(l / panel) + (depth + group) * panel + l % panel;
      for (int i = 0; i < lanes; ++i) packet::prefetch(out + (lanes + i) * panel);  // for the next group
      for (int i = 0; i < lanes; ++i) packet::store(out + i * panel, square.packet[i]);
    }
  }
  pack_targets(design.targets, first, depth, n_terms, n_packed, panels);
}

// The sums over the samples: pack(first sample, depth, scratch, sides) writes kSubBlock of them.
template <class T, class Pack>
void accumulate_samples(const Design& design, const Sides<T> (&sides)[2], Index block, const std::vector<Tile>& tiles,
                        const ProductTarget& target, double work, const Control& control, const Pack& pack) {
  const int n_threads = control.threads_for(work);
  const Index n_rows = sides[0].right().n_panels() * kPanelOf<T>;
  const std::vector<Scratch<T>> scratch = make_scratch<T>(design, n_threads, kSubBlock, n_rows * kPacketOf<T>);
  accumulate(
      sides, design.samples.rows(), block, tiles, target, n_threads, control,
      [](Index count) { return divide_up(count, kSubBlock); },
      [&](Index begin, Index, Index item, int member, const Sides<T>& to) {
        pack(begin + item * kSubBlock, item * kSubBlock, scratch[size_of(member)], to);
      });
}

template <class T>
void accumulate_gram_in(const Design& design, MatrixRef gram, const Control& control) {
  const Index n_samples = design.samples.rows();
  const Index n = gram.rows();
  const Index n_cols = gram.cols();
  const Index block = block_length<T>(n, n_samples);
  const Sides<T> sides[2] = {{{n, block}, {}}, {{n, block}, {}}};
  const double work =
      0.5 * static_cast<double>(n_samples) * static_cast<double>(n_cols) * static_cast<double>(2 * n - n_cols);
  const Index n_panels = sides[0].left.n_panels();
  std::vector<Tile> tiles = triangle_tiles(0, n_panels, tile_side(n_panels, control.threads_for(work)));
  std::erase_if(tiles, [&](const Tile& tile) { return tile.col_begin * kPanelOf<T> >= n_cols; });
  accumulate_samples(design, sides, block, tiles, {gram.data(), gram.outerStride(), n, n_cols, true}, work, control,
                     [&](Index first, Index depth, const Scratch<T>& scratch, const Sides<T>& to) {
                       pack_samples(design, first, depth, scratch, to.left);
                     });
}

// gram += lower triangle of Y'Y
void accumulate_targets(const Design& design, MatrixRef gram, const Control& control) {
  const Index n_samples = design.samples.rows();
  const Index n = design.targets.cols;
  const Index block = block_length<double>(n, n_samples);
  const Sides<double> sides[2] = {{{n, block}, {}}, {{n, block}, {}}};
  const double work = 0.5 * static_cast<double>(n_samples) * static_cast<double>(n) * static_cast<double>(n);
  accumulate_samples(design, sides, block, triangle_tiles(0, sides[0].left.n_panels()),
                     {gram.data(), gram.outerStride(), n, n, true}, work, control,
                     [&](Index first, Index depth, const Scratch<double>&, const Sides<double>& to) {
                       pack_targets(design.targets, first, depth, 0, 0, to.left);
                     });
}

}  // namespace

void accumulate_gram(const Design& design, MatrixRef gram, const Control& control, Precision precision) {
  validate(design);
  const Index n_terms = design.basis.n_terms();
  const Index n_targets = design.targets.cols;
  const Index n = n_terms + n_targets;
  require(gram.rows() == n && (gram.cols() == n || gram.cols() == n_terms), "gram must have shape (", n, ", ", n,
          ") or (", n, ", ", n_terms, ")");
  const Design terms_only{design.basis, design.samples, design.row_scale, {}};
  if (precision == Precision::float64 || !design.basis.fits_float32()) {
    if (gram.cols() == n || n_targets < kManyTargets) {
      accumulate_gram_in<double>(design, gram, control);
      return;
    }
    accumulate_gram_in<double>(terms_only, gram.topLeftCorner(n_terms, n_terms), control);
    accumulate_cross(design, gram.bottomLeftCorner(n_targets, n_terms), control);
    return;
  }
  accumulate_gram_in<float>(terms_only, gram.topLeftCorner(n_terms, n_terms), control);
  accumulate_cross(design, gram.bottomLeftCorner(n_targets, n_terms), control);
  if (gram.cols() == n) accumulate_targets(design, gram.bottomRightCorner(n_targets, n_targets), control);
}

void accumulate_cross(const Design& design, MatrixRef cross, const Control& control) {
  validate(design);
  const Index n_terms = design.basis.n_terms();
  const Index n_targets = design.targets.cols;
  require(cross.rows() == n_targets && cross.cols() == n_terms, "cross must have shape (", n_targets, ", ", n_terms,
          ")");
  const double work =
      static_cast<double>(design.samples.rows()) * static_cast<double>(n_terms) * static_cast<double>(n_targets + 1);
  if (n_targets == 0 || accumulate_cross_on_grid(design, cross, control)) return;
  if (n_targets <= kFewTargets) {
    accumulate_cross_of_few(design, cross, work, control);
    return;
  }
  if (n_targets >= kManyTargets) {
    accumulate_cross_of_many(design, nullptr, cross, control);
    return;
  }
  const Index n_samples = design.samples.rows();
  const Index block = block_length<double>(n_terms, n_samples);
  const auto make = [&] { return Sides<double>{{n_targets, block}, PackedPanels(n_terms, block)}; };
  const Sides<double> sides[2] = {make(), make()};
  const Design terms_only{design.basis, design.samples, design.row_scale, {}};
  accumulate_samples(design, sides, block, rectangle_tiles(sides[0].left.n_panels(), sides[0].right().n_panels()),
                     {cross.data(), cross.outerStride(), n_targets, n_terms, false}, work, control,
                     [&](Index first, Index depth, const Scratch<double>& scratch, const Sides<double>& to) {
                       pack_samples(terms_only, first, depth, scratch, to.right());
                       pack_targets(design.targets, first, depth, 0, 0, to.left);
                     });
}

bool joins_residuals(Index n_targets) { return n_targets >= kJoinedTargets; }

double accumulate_residual_cross(const Design& design, const ConstMatrixRef& weights, MatrixRef cross,
                                 const Control& control) {
  validate(design);
  const Index n_terms = design.basis.n_terms();
  const Index n_targets = design.targets.cols;
  require(weights.rows() == n_terms && weights.cols() == n_targets, "weights must have shape (", n_terms, ", ",
          n_targets, ")");
  require(cross.rows() == n_targets && cross.cols() == n_terms, "cross must have shape (", n_targets, ", ", n_terms,
          ")");
  if (n_targets == 0) return 0.0;
  const PackedPanels packed = pack_weights(weights, control);
  return accumulate_cross_of_many(design, &packed, cross, control);
}

}  // namespace gegenbauer
