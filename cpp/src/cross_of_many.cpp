#include "cross_of_many.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "feature_blocks.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/unroll.hpp"

namespace gegenbauer {

using namespace feature_blocks;

namespace {

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
  GEGENBAUER_UNROLL(8)
  for (int c = 0; c < kColumns; ++c) {
    GEGENBAUER_UNROLL(3)
    for (int v = 0; v < n_vectors; ++v) {
      double* out = panel + (j + c) * kPanel + v * kPacket;
      packet::store(out, packet::sub(packet::load(out), tile.acc[c][v]));
    }
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

}  // namespace

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

double accumulate_cross_of_many(const Design& design, const PackedPanels* weights, MatrixRef cross,
                                const Control& control) {
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
      n_samples, block, divide_up(n_panels, kGroupPanels), divide_up(n_panels, kGroupPanels), n_threads, control,
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

}  // namespace gegenbauer
