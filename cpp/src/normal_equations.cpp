#include "gegenbauer/normal_equations.hpp"

#include <algorithm>
#include <cmath>

#include "gegenbauer/depth_first.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/tiles.hpp"

namespace gegenbauer {

namespace {

constexpr Index kBlock = 512;    // samples a packed block
constexpr Index kSubBlock = 64;  // samples a univariate table: the unit of work of the evaluation

std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

struct Scratch {
  AlignedBuffer x, table, terms;
};

std::vector<Scratch> make_scratch(const Design& design, int n, Index block, Index n_rows) {
  std::vector<Scratch> scratch;
  for (int i = 0; i < n; ++i)
    scratch.push_back({make_aligned(size_of(design.basis.n_inputs() * block)),
                       make_aligned(size_of(std::max<Index>(1, design.basis.n_factors()) * block)),
                       make_aligned(size_of(n_rows))});
  return scratch;
}

void validate(const Design& design) {
  require(design.samples.cols() == design.basis.n_inputs(), "X has ", design.samples.cols(),
          " columns but the basis has ", design.basis.n_inputs(), " inputs");
  require(design.targets.rows == design.samples.rows() || design.targets.cols == 0, "Y has ", design.targets.rows,
          " rows but X has ", design.samples.rows());
}

// Writes the samples first .. first + kSubBlock of [G, Y] into the panels at depth `depth`: panel row = term or target,
// depth = sample. Samples beyond the last are zeros.
void pack_samples(const Design& design, Index first, Index depth, const Scratch& scratch, const PackedPanels& panels) {
  const TensorBasis& basis = design.basis;
  const Index n_terms = basis.n_terms();
  const Index n_targets = design.targets.cols;
  const Index count = std::min(kSubBlock, design.samples.rows() - first);
  const Index n_rows = panels.n_panels() * kPanel;
  design.samples.load(first, count, kSubBlock, scratch.x.get(), kSubBlock);
  basis.tabulate(scratch.x.get(), kSubBlock, kSubBlock, scratch.table.get());
  double* rows = scratch.terms.get();
  for (Index group = 0; group < kSubBlock; group += kPacket) {
    basis.evaluate_packet(scratch.table.get() + group, kSubBlock, rows);
    std::fill(rows + n_terms * kPacket, rows + n_rows * kPacket, 0.0);
    alignas(kAlignment) double scale[kPacket];
    for (Index i = 0; i < kPacket; ++i) {
      const Index s = group + i;
      scale[i] = s >= count ? 0.0 : design.row_scale == nullptr ? 1.0 : design.row_scale[first + s];
      for (Index k = 0; k < n_targets && s < count; ++k)
        rows[(n_terms + k) * kPacket + i] = design.targets(first + s, k);
    }
    const Packet factor = packet::load(scale);
    const bool scaled = design.row_scale != nullptr || group + kPacket > count;
    for (Index l = 0; l < n_rows; l += kPacket) {
      PacketSquare square;
      for (int i = 0; i < kPacket; ++i) {
        square.packet[i] = packet::load(rows + (l + i) * kPacket);
        if (scaled && l + i < n_terms) square.packet[i] = packet::mul(square.packet[i], factor);
      }
      packet::transpose(square);
      double* out = panels.panel(l / kPanel) + (depth + group) * kPanel + l % kPanel;
      for (int i = 0; i < kPacket; ++i) packet::store(out + i * kPanel, square.packet[i]);
    }
  }
}

// Writes the targets of the same samples alone, as the left side of a product.
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

// The loop over the samples that both sums share: pack(first sample, depth, scratch) a block together, then update the
// tiles of left * right' together.
template <class Pack>
void accumulate(const Design& design, const PackedPanels& left, const PackedPanels& right,
                const std::vector<Tile>& tiles, const ProductTarget& target, double multiply_adds,
                const Control& control, const Pack& pack) {
  const Index n_samples = design.samples.rows();
  const int size = control.threads_for(multiply_adds);
  const std::vector<Scratch> scratch = make_scratch(design, size, kSubBlock, right.n_panels() * kPanel * kPacket);
  Team::run(control, size, [&](Team& team, int me) {
    for (Index start = 0; start < n_samples; start += kBlock) {
      const Index count = std::min(kBlock, n_samples - start);
      const Index n_sub = (count + kSubBlock - 1) / kSubBlock;
      team.for_each(me, n_sub,
                    [&](Index i, int member) { pack(start + i * kSubBlock, i * kSubBlock, scratch[size_of(member)]); });
      team.for_each(me, static_cast<Index>(tiles.size()), [&](Index i, int) {
        accumulate_tile(left, right, tiles[size_of(i)], n_sub * kSubBlock, 1.0, target);
      });
    }
  });
}

}  // namespace

void accumulate_gram(const Design& design, MatrixRef gram, const Control& control) {
  validate(design);
  const Index n = design.basis.n_terms() + design.targets.cols;
  require(gram.rows() == n && gram.cols() == n, "gram must have shape (", n, ", ", n, ")");
  const PackedPanels panels(n, kBlock);
  const double work =
      0.5 * static_cast<double>(design.samples.rows()) * static_cast<double>(n) * static_cast<double>(n);
  accumulate(
      design, panels, panels, triangle_tiles(0, panels.n_panels()), {gram.data(), gram.outerStride(), n, n, true}, work,
      control,
      [&](Index first, Index depth, const Scratch& scratch) { pack_samples(design, first, depth, scratch, panels); });
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
  const PackedPanels left(n_targets, kBlock);
  const PackedPanels right(n_terms, kBlock);
  const Design terms_only{design.basis, design.samples, design.row_scale, {}};
  accumulate(design, left, right, rectangle_tiles(left.n_panels(), right.n_panels()),
             {cross.data(), cross.outerStride(), n_targets, n_terms, false}, work, control,
             [&](Index first, Index depth, const Scratch& scratch) {
               pack_samples(terms_only, first, depth, scratch, right);
               pack_targets(design.targets, first, depth, left);
             });
}

void accumulate_kernel(const Design& design, Index first_term, MatrixRef kernel, const Control& control) {
  const TensorBasis& basis = design.basis;
  const Index n_samples = design.samples.rows();
  require(design.samples.cols() == basis.n_inputs(), "X has ", design.samples.cols(), " columns but the basis has ",
          basis.n_inputs(), " inputs");
  require(kernel.rows() == n_samples && kernel.cols() == n_samples, "kernel must have shape (", n_samples, ", ",
          n_samples, ")");
  const PackedPanels panels(n_samples, kDepth);
  const std::vector<Tile> tiles = triangle_tiles(0, panels.n_panels());
  const ProductTarget target{kernel.data(), kernel.outerStride(), n_samples, n_samples, true};
  const double work =
      0.5 * static_cast<double>(n_samples) * static_cast<double>(n_samples) * static_cast<double>(basis.n_terms());
  const int size = control.threads_for(work);
  const std::vector<Scratch> scratch = make_scratch(design, size, kPanel, kPanel);
  Team::run(control, size, [&](Team& team, int me) {
    for (Index begin = first_term; begin < basis.n_terms(); begin += kDepth) {
      const Index end = std::min(begin + kDepth, basis.n_terms());
      team.for_each(me, panels.n_panels(), [&](Index p, int member) {
        const auto& [x, table, scale] = scratch[size_of(member)];
        const Index first = p * kPanel;
        const Index count = std::min<Index>(kPanel, n_samples - first);
        design.samples.load(first, count, kPanel, x.get(), kPanel);
        basis.tabulate(x.get(), kPanel, kPanel, table.get());
        basis.evaluate_range(table.get(), kPanel, begin, end, panels.panel(p));
        if (design.row_scale == nullptr && count == kPanel) return;
        for (Index i = 0; i < kPanel; ++i)
          scale[size_of(i)] = i >= count ? 0.0 : design.row_scale == nullptr ? 1.0 : design.row_scale[first + i];
        for (Index l = 0; l < end - begin; ++l)
          for (Index i = 0; i < kPanel; ++i) panels.panel(p)[l * kPanel + i] *= scale[size_of(i)];
      });
      team.for_each(me, static_cast<Index>(tiles.size()), [&](Index i, int) {
        accumulate_tile(panels, panels, tiles[size_of(i)], end - begin, 1.0, target);
      });
    }
  });
}

}  // namespace gegenbauer
