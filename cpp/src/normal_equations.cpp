#include "gegenbauer/normal_equations.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "gegenbauer/depth_first.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/tiles.hpp"

namespace gegenbauer {

namespace {

constexpr Index kSubBlock = 64;  // samples a univariate table: the unit of work of the evaluation

std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

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

// Writes the samples first .. first + kSubBlock of [G, Y] into the panels at depth `depth`: panel row = term or target,
// depth = sample. Samples beyond the last are zeros.
template <class T>
void pack_samples(const Design& design, Index first, Index depth, const Scratch<T>& scratch,
                  const PanelsOf<T>& panels) {
  constexpr Index lanes = kPacketOf<T>;
  constexpr Index panel = kPanelOf<T>;
  const TensorBasis& basis = design.basis;
  const Index n_terms = basis.n_terms();
  const Index n_targets = design.targets.cols;
  const Index count = std::min(kSubBlock, design.samples.rows() - first);
  const Index n_rows = panels.n_panels() * panel;
  tabulate(design, first, count, kSubBlock, scratch);
  T* rows = scratch.terms.get();
  for (Index group = 0; group < kSubBlock; group += lanes) {
    basis.evaluate_packet<T>(scratch.table.get() + group, kSubBlock, rows);
    std::fill(rows + n_terms * lanes, rows + n_rows * lanes, T(0));
    alignas(kAlignment) T scale[lanes];
    for (Index i = 0; i < lanes; ++i) {
      const Index s = group + i;
      scale[i] = s >= count ? T(0) : design.row_scale == nullptr ? T(1) : static_cast<T>(design.row_scale[first + s]);
      for (Index k = 0; k < n_targets && s < count; ++k)
        rows[(n_terms + k) * lanes + i] = static_cast<T>(design.targets(first + s, k));
    }
    const PacketOf<T> factor = packet::load(scale);
    const bool scaled = design.row_scale != nullptr || group + lanes > count;
    for (Index l = 0; l < n_rows; l += lanes) {
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
}

// Writes the targets of the same samples alone.
void pack_targets(const StridedView<const double>& targets, Index first, Index depth, const PackedPanels& panels) {
  for (Index p = 0; p < panels.n_panels(); ++p) {
    for (Index s = 0; s < kSubBlock; ++s) {
      for (Index r = 0; r < kPanel; ++r) {
        const Index k = p * kPanel + r;
        panels.panel(p)[(depth + s) * kPanel + r] =
            first + s < targets.rows && k < targets.cols ? targets(first + s, k) : 0.0;
      }
    }
  }
}

// Both sides of a product for one block of the depth.
template <class T>
struct Sides {
  PanelsOf<T> left;
  std::optional<PanelsOf<T>> other;  // none: the left side again
  [[nodiscard]] const PanelsOf<T>& right() const { return other ? *other : left; }
};

// target += the sum over the depth [0, n) of left right', in blocks. fill(begin, end, item, member, sides) writes a
// part of the block [begin, end), of which there are n_items(end - begin). While one block is multiplied the next is
// filled into the other of two pairs of sides, so the threads meet once a block, and the small items come last.
template <class T, class Items, class Fill>
void accumulate(const Sides<T> (&sides)[2], Index n, Index block, const std::vector<Tile>& tiles,
                const ProductTarget& target, int n_threads, const Control& control, const Items& n_items,
                const Fill& fill) {
  const auto n_tiles = static_cast<Index>(tiles.size());
  Team::run(control, n_threads, [&](Team& team, int me) {
    Index depth = 0;  // of the block that is ready
    for (Index begin = 0; depth > 0 || begin < n; begin += block) {
      const Sides<T>& ready = sides[begin / block % 2];
      const Sides<T>& next = sides[(begin / block + 1) % 2];
      const Index end = std::min(n, begin + block);
      const Index to_multiply = depth > 0 ? n_tiles : 0;
      team.for_each(me, to_multiply + (begin < n ? n_items(end - begin) : 0), [&](Index i, int member) {
        if (i < to_multiply) {
          accumulate_tile(ready.left, ready.right(), tiles[size_of(i)], depth, 1.0, target);
        } else {
          fill(begin, end, i - to_multiply, member, next);
        }
      });
      depth = std::max<Index>(0, end - begin);
    }
  });
}

// Length of a block whose panels of `n_rows` entries of T a step of the depth take about 4 MB, at least 512.
template <class T>
Index block_length(Index n_rows, Index total) {
  const Index fitting = Index{4'000'000} / static_cast<Index>(sizeof(T)) / std::max<Index>(1, n_rows);
  return std::min(std::clamp<Index>(fitting / kDepth * kDepth, 512, 4096),
                  (total + kSubBlock - 1) / kSubBlock * kSubBlock);
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
      [](Index count) { return (count + kSubBlock - 1) / kSubBlock; },
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
                       pack_targets(design.targets, first, depth, to.left);
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
  if (precision == Precision::float64 || !design.basis.fits_float32()) {
    accumulate_gram_in<double>(design, gram, control);
    return;
  }
  accumulate_gram_in<float>({design.basis, design.samples, design.row_scale, {}}, gram.topLeftCorner(n_terms, n_terms),
                            control);
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
  const Index n_runs = (n_samples + run - 1) / run;
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
  const Index n_samples = design.samples.rows();
  const Index block = block_length<double>(n_terms, n_samples);
  const auto make = [&] { return Sides<double>{{n_targets, block}, PackedPanels(n_terms, block)}; };
  const Sides<double> sides[2] = {make(), make()};
  const Design terms_only{design.basis, design.samples, design.row_scale, {}};
  accumulate_samples(design, sides, block, rectangle_tiles(sides[0].left.n_panels(), sides[0].right().n_panels()),
                     {cross.data(), cross.outerStride(), n_targets, n_terms, false}, work, control,
                     [&](Index first, Index depth, const Scratch<double>& scratch, const Sides<double>& to) {
                       pack_samples(terms_only, first, depth, scratch, to.right());
                       pack_targets(design.targets, first, depth, to.left);
                     });
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
