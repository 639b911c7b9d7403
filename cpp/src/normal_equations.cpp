#include "gegenbauer/normal_equations.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "gegenbauer/depth_first.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/tiles.hpp"

namespace gegenbauer {

namespace {

// Targets from which on their panels are made by the thread that needs them, one group at a time, instead of being held
// for a block of samples: another evaluation of the terms costs less.
constexpr Index kManyTargets = 96;

// Targets from which on residuals are made and used at once; below, depth-first predictions cost less than panels.
constexpr Index kJoinedTargets = 20;

constexpr Index kSubBlock = 64;  // samples a univariate table: the unit of work of the evaluation

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

void validate(const Design& design) {
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

// Both sides of a product for one block of the depth.
template <class T>
struct Sides {
  PanelsOf<T> left;
  std::optional<PanelsOf<T>> other;  // none: the left side again
  [[nodiscard]] const PanelsOf<T>& right() const { return other ? *other : left; }
};

// Goes through [0, n) in blocks: fill(begin, end, item, member, side) makes a part of the block [begin, end), of which
// there are n_fills(end - begin), and use(begin, depth, item, member, side) one of n_uses parts of what is made of it.
// While one block is used the next is filled into the other side (0 or 1), so the threads meet once a block, and the
// small items come last.
template <class Fills, class Fill, class Use>
void in_blocks(Index n, Index block, Index n_uses, int n_threads, const Control& control, const Fills& n_fills,
               const Fill& fill, const Use& use) {
  Team::run(control, n_threads, [&](Team& team, int me) {
    Index depth = 0;  // of the block that is ready
    for (Index begin = 0; depth > 0 || begin < n; begin += block) {
      const Index ready = begin / block % 2;
      const Index end = std::min(n, begin + block);
      const Index to_use = depth > 0 ? n_uses : 0;
      team.for_each(me, to_use + (begin < n ? n_fills(end - begin) : 0), [&](Index i, int member) {
        if (i < to_use) {
          use(begin - block, depth, i, member, ready);
        } else {
          fill(begin, end, i - to_use, member, 1 - ready);
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
  in_blocks(
      n, block, static_cast<Index>(tiles.size()), n_threads, control, n_items,
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
  std::vector<Tile> tiles = triangle_tiles(0, sides[0].left.n_panels());
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

namespace {

// Targets up to which a term is used as it is evaluated, once for every target; beyond, packed products pay.
constexpr Index kFewTargets = 8;
constexpr int kWide = 4;  // packets of samples at once
constexpr Index kSub = Index{kWide} * kPacket;

// sums[position * K + k] += sum over kSub samples of a term times target k, a packet of partial sums each
template <int n_targets>
void add_products(const DepthFirst& terms, const double* table, double* slots, const double* targets, double* sums) {
  Packet target[n_targets][kWide];
  for (int k = 0; k < n_targets; ++k)
    for (int w = 0; w < kWide; ++w) target[k][w] = packet::load(targets + k * kSub + w * kPacket);
  terms.visit<kWide>(table, slots, [&](Index position, const Packet(&value)[kWide]) {
    for (int k = 0; k < n_targets; ++k) {
      double* sum = sums + (position * n_targets + k) * kPacket;
      Packet total = packet::load(sum);
      for (int w = 0; w < kWide; ++w) total = packet::fma(value[w], target[k][w], total);
      packet::store(sum, total);
    }
  });
}

using AddProducts = void (*)(const DepthFirst&, const double*, double*, const double*, double*);
constexpr AddProducts kAddProducts[kFewTargets] = {add_products<1>, add_products<2>, add_products<3>, add_products<4>,
                                                   add_products<5>, add_products<6>, add_products<7>, add_products<8>};

// Items are runs of samples of a fixed length, and their sums are added in order: the threads do not change a bit.
void accumulate_cross_of_few(const Design& design, MatrixRef cross, double work, const Control& control) {
  constexpr Index run = 2048;
  const TensorBasis& basis = design.basis;
  const auto& terms = basis.plan<DepthFirst>();
  const Index n_samples = design.samples.rows();
  const Index n_targets = design.targets.cols;
  const Index size = basis.n_terms() * n_targets;
  const Index n_runs = divide_up(n_samples, run);
  const Index wave = std::clamp<Index>(8'000'000 / size, 1, std::min<Index>(16, n_runs));
  struct Space {
    AlignedBuffer x, table, targets, slots, sums;
  };
  std::vector<Space> spaces;
  for (int i = 0; i < std::min<Index>(wave, control.threads_for(work)); ++i)
    spaces.push_back({make_aligned(size_of(basis.n_inputs() * kSub)),
                      make_aligned(size_of(std::max<Index>(1, basis.n_factors()) * kSub)),
                      make_aligned(size_of(n_targets * kSub)), make_aligned(size_of(terms.n_slots() * kSub)),
                      make_aligned(size_of(size * kPacket))});
  const AlignedBuffer partial = make_aligned(size_of(wave * size));
  for (Index begin = 0; begin < n_runs; begin += wave) {
    const Index count = std::min(wave, n_runs - begin);
    parallel_for(control, count, work / static_cast<double>(n_runs) * static_cast<double>(count),
                 [&](Index item, int member) {
                   const auto& [x, table, targets, slots, sums] = spaces[size_of(member)];
                   std::fill_n(sums.get(), size * kPacket, 0.0);
                   const Index stop = std::min(n_samples, (begin + item + 1) * run);
                   for (Index first = (begin + item) * run; first < stop; first += kSub) {
                     const Index rows = std::min(kSub, stop - first);
                     design.samples.load(first, rows, kSub, x.get(), kSub);
                     basis.tabulate(x.get(), kSub, kSub, table.get());
                     for (Index k = 0; k < n_targets; ++k)
                       for (Index s = 0; s < kSub; ++s)
                         targets[size_of(k * kSub + s)] =
                             s >= rows ? 0.0
                                       : design.targets(first + s, k) *
                                             (design.row_scale == nullptr ? 1.0 : design.row_scale[first + s]);
                     kAddProducts[n_targets - 1](terms, table.get(), slots.get(), targets.get(), sums.get());
                   }
                   for (Index i = 0; i < size; ++i) {
                     double total = 0.0;
                     for (Index j = 0; j < kPacket; ++j) total += sums[size_of(i * kPacket + j)];
                     partial[size_of(item * size + i)] = total;
                   }
                 });
    for (Index item = 0; item < count; ++item)
      for (Index i = 0; i < basis.n_terms(); ++i)
        for (Index k = 0; k < n_targets; ++k)
          cross(k, terms.order()[size_of(i)]) += partial[size_of(item * size + i * n_targets + k)];
  }
}

// --- Many targets ---

// Panels of targets that a thread holds: more use each term more often, fewer divide more evenly between threads.
constexpr Index kGroupPanels = 2;

// A block of samples: whole panels, and not much more than a whole number of kDepth.
constexpr Index kManyBlock = 2 * kDepth / kPanel * kPanel;

// Terms of a block of samples in the two orders that products need.
struct BothWays {
  PackedPanels by_terms;                  // panel row = term, depth = sample
  std::optional<PackedPanels> by_sample;  // panel row = sample, depth = term, the last first
};

// One thread's space: `targets` becomes what weights leave of a group of targets.
struct ManyScratch {
  Scratch<double> evaluation;
  PackedPanels targets;
};

// Writes panel p of the samples [begin, end) both ways.
void pack_both_ways(const Design& design, Index begin, Index end, Index p, const Scratch<double>& scratch,
                    const BothWays& to) {
  const Index n_terms = design.basis.n_terms();
  const Index first = begin + p * kPanel;
  const Index count = std::min<Index>(kPanel, end - first);
  double* values = to.by_sample ? to.by_sample->panel(p) : scratch.terms.get();
  tabulate(design, first, count, kPanel, scratch);
  design.basis.evaluate_range<double>(scratch.table.get(), kPanel, 0, n_terms, values);
  if (design.row_scale != nullptr || count < kPanel) {
    alignas(kAlignment) double scale[kPanel];
    for (Index i = 0; i < kPanel; ++i)
      scale[i] = i >= count ? 0.0 : design.row_scale == nullptr ? 1.0 : design.row_scale[first + i];
    for (Index l = 0; l < n_terms; ++l)
      for (Index i = 0; i < kPanel; ++i) values[l * kPanel + i] *= scale[i];
  }
  for (Index l = 0; l < to.by_terms.n_panels() * kPanel; l += kPacket) {
    double* out = to.by_terms.panel(l / kPanel) + p * kPanel * kPanel + l % kPanel;
    for (Index g = 0; g < kPanel; g += kPacket) {
      PacketSquare square;
      for (Index i = 0; i < kPacket; ++i)
        square.packet[i] = l + i < n_terms ? packet::load(values + (n_terms - 1 - l - i) * kPanel + g) : packet::zero();
      packet::transpose(square);
      for (Index i = 0; i < kPacket; ++i) packet::store(out + (g + i) * kPanel, square.packet[i]);
    }
  }
}

// Columns j .. j + kColumns of a panel of targets -= a b' over the depth, the first n_vectors registers of its rows.
template <int n_vectors>
void subtract_columns(const double* a, const double* b, Index depth, double* panel, Index j) {
  const RegisterTileOf<n_vectors> tile = multiply_panels<n_vectors>(a, b, depth);
#pragma GCC unroll 8
  for (int c = 0; c < kColumns; ++c)
#pragma GCC unroll 3
    for (int v = 0; v < n_vectors; ++v) {
      double* out = panel + (j + c) * kPanel + v * kPacket;
      packet::store(out, packet::sub(packet::load(out), tile.acc[c][v]));
    }
}

// Panels [first, last) of targets, which `panels` holds from its own first on, -= W'G' for n_samples samples.
void subtract_outputs(const PackedPanels& weights, Index first, Index last, Index n_targets, Index n_terms,
                      Index n_samples, const PackedPanels& by_sample, const PackedPanels& panels) {
  for (Index begin = 0; begin < n_terms; begin += kDepth) {
    const Index depth = std::min(kDepth, n_terms - begin);
    for (Index j = 0; j < n_samples; j += kColumns) {
      const double* b = by_sample.panel(j / kPanel) + begin * kPanel + j % kPanel;
      for (Index p = first; p < last; ++p) {
        const double* a = weights.panel(p) + begin * kPanel;
        double* panel = panels.panel(p - first);
        const Index rows = n_targets - p * kPanel;
        if (rows > 2 * kPacket) {
          subtract_columns<kVectors>(a, b, depth, panel, j);
        } else if (rows > kPacket) {
          subtract_columns<2>(a, b, depth, panel, j);
        } else {
          subtract_columns<1>(a, b, depth, panel, j);
        }
      }
    }
  }
}

// Weights as the left side of W'G', the terms in the order of BothWays::by_sample.
PackedPanels pack_weights(const ConstMatrixRef& weights, const Control& control) {
  const Index n_terms = weights.rows();
  PackedPanels packed(weights.cols(), n_terms);
  parallel_for(control, packed.n_panels(), static_cast<double>(weights.size()), [&](Index p, int) {
    double* panel = packed.panel(p);
    const Index n = std::min<Index>(kPanel, weights.cols() - p * kPanel);
    if (n < kPanel) std::fill_n(panel, n_terms * kPanel, 0.0);
    for (Index r = 0; r < n; ++r) {
      const double* column = &weights.coeffRef(0, p * kPanel + r);
      for (Index l = 0; l < n_terms; ++l) panel[(n_terms - 1 - l) * kPanel + r] = column[l];
    }
  });
  return packed;
}

// cross += (Y - G W)'G, or Y'G without weights; the norm of Y - G W. An item is a group of targets, whose rows of the
// result it owns, for one block of samples: what is left of its targets is made and used while it is in the cache.
double accumulate_many(const Design& design, const PackedPanels* weights, MatrixRef cross, const Control& control) {
  const Index n_samples = design.samples.rows();
  const Index n_terms = design.basis.n_terms();
  const Index n_targets = design.targets.cols;
  const Index n_panels = panels_of(n_targets);
  const Index block = std::min(kManyBlock, round_up(n_samples, kPanel));
  const double work = static_cast<double>(n_samples) * static_cast<double>(n_terms) * static_cast<double>(n_targets) *
                      (weights == nullptr ? 1.0 : 2.0);
  const int n_threads = control.threads_for(work);
  std::vector<ManyScratch> scratch;
  for (Scratch<double>& evaluation :
       make_scratch<double>(design, n_threads, kPanel, weights == nullptr ? n_terms * kPanel : 0))
    scratch.push_back({std::move(evaluation), PackedPanels(kGroupPanels * kPanel, block)});
  const auto make = [&] {
    return BothWays{PackedPanels(n_terms, block),
                    weights == nullptr ? std::nullopt : std::optional<PackedPanels>(std::in_place, block, n_terms)};
  };
  const BothWays sides[2] = {make(), make()};
  std::vector<double> norms(weights == nullptr ? 0 : size_of(n_panels), 0.0);
  in_blocks(
      n_samples, block, divide_up(n_panels, kGroupPanels), n_threads, control,
      [](Index count) { return panels_of(count); },
      [&](Index begin, Index end, Index p, int member, Index side) {
        pack_both_ways(design, begin, end, p, scratch[size_of(member)].evaluation, sides[side]);
      },
      [&](Index begin, Index depth, Index group, int member, Index side) {
        const PackedPanels& panels = scratch[size_of(member)].targets;
        const Index first = group * kGroupPanels;
        const Index last = std::min(n_panels, first + kGroupPanels);
        for (Index p = first; p < last; ++p) {
          double* panel = panels.panel(p - first);
          const Index n = std::min<Index>(kPanel, n_targets - p * kPanel);
          if (n < kPanel) std::fill_n(panel, depth * kPanel, 0.0);
          copy_targets(design.targets, begin, depth, p * kPanel, n, panel);
          std::fill(panel + depth * kPanel, panel + round_up(depth, kColumns) * kPanel, 0.0);
        }
        if (weights != nullptr) {
          subtract_outputs(*weights, first, last, n_targets, n_terms, depth, *sides[side].by_sample, panels);
          for (Index p = first; p < last; ++p) {
            const Eigen::Map<const Vector> rest(panels.panel(p - first), depth * kPanel);
            norms[size_of(p)] = std::hypot(norms[size_of(p)], rest.stableNorm());
          }
        }
        const PackedPanels& terms = sides[side].by_terms;
        accumulate_tile(
            panels, terms, {0, last - first, 0, terms.n_panels()}, depth, 1.0,
            {cross.data() + first * kPanel, cross.outerStride(), n_targets - first * kPanel, n_terms, false});
      });
  double norm = 0.0;
  for (const double part : norms) norm = std::hypot(norm, part);
  return norm;
}

}  // namespace

void accumulate_cross(const Design& design, MatrixRef cross, const Control& control) {
  validate(design);
  const Index n_terms = design.basis.n_terms();
  const Index n_targets = design.targets.cols;
  require(cross.rows() == n_targets && cross.cols() == n_terms, "cross must have shape (", n_targets, ", ", n_terms,
          ")");
  const double work =
      static_cast<double>(design.samples.rows()) * static_cast<double>(n_terms) * static_cast<double>(n_targets + 1);
  if (n_targets == 0) return;
  if (n_targets <= kFewTargets) {
    accumulate_cross_of_few(design, cross, work, control);
    return;
  }
  if (n_targets >= kManyTargets) {
    accumulate_many(design, nullptr, cross, control);
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
  return accumulate_many(design, &packed, cross, control);
}

namespace {

template <class T>
void accumulate_kernel_in(const Design& design, Index first_term, MatrixRef kernel, const Control& control) {
  constexpr Index panel = kPanelOf<T>;
  const TensorBasis& basis = design.basis;
  const Index n_samples = design.samples.rows();
  const Index n_terms = basis.n_terms() - first_term;
  const Index block = block_length<T>(n_samples, n_terms);
  const Sides<T> sides[2] = {{{n_samples, block}, {}}, {{n_samples, block}, {}}};
  const Index n_panels = sides[0].left.n_panels();
  const double work =
      0.5 * static_cast<double>(n_samples) * static_cast<double>(n_samples) * static_cast<double>(n_terms);
  const int n_threads = control.threads_for(work);
  const std::vector<Scratch<T>> scratch = make_scratch<T>(design, n_threads, panel, 0);
  accumulate(
      sides, n_terms, block, triangle_tiles(0, n_panels),
      {kernel.data(), kernel.outerStride(), n_samples, n_samples, true}, n_threads, control,
      [&](Index) { return n_panels; },
      [&](Index begin, Index end, Index p, int member, const Sides<T>& to) {
        const Index first = p * panel;
        const Index count = std::min(panel, n_samples - first);
        T* out = to.left.panel(p);
        tabulate(design, first, count, panel, scratch[size_of(member)]);
        basis.evaluate_range<T>(scratch[size_of(member)].table.get(), panel, first_term + begin, first_term + end, out);
        if (design.row_scale == nullptr && count == panel) return;
        alignas(kAlignment) T scale[panel];
        for (Index i = 0; i < panel; ++i)
          scale[i] = i >= count                    ? T(0)
                     : design.row_scale == nullptr ? T(1)
                                                   : static_cast<T>(design.row_scale[first + i]);
        for (Index l = 0; l < end - begin; ++l)
          for (Index i = 0; i < panel; ++i) out[l * panel + i] *= scale[i];
      });
}

}  // namespace

void accumulate_kernel(const Design& design, Index first_term, MatrixRef kernel, const Control& control,
                       Precision precision) {
  const TensorBasis& basis = design.basis;
  const Index n_samples = design.samples.rows();
  require(design.samples.cols() == basis.n_inputs(), "X has ", design.samples.cols(), " columns but the basis has ",
          basis.n_inputs(), " inputs");
  require(kernel.rows() == n_samples && kernel.cols() == n_samples, "kernel must have shape (", n_samples, ", ",
          n_samples, ")");
  if (precision == Precision::float64 || !basis.fits_float32()) {
    accumulate_kernel_in<double>(design, first_term, kernel, control);
  } else {
    accumulate_kernel_in<float>(design, first_term, kernel, control);
  }
}

}  // namespace gegenbauer
