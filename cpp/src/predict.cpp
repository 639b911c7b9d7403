#include "gegenbauer/predict.hpp"

#include <algorithm>

#include "gegenbauer/depth_first.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/term_grid.hpp"

namespace gegenbauer {

namespace {

constexpr int kWide = 4;       // packets of samples at once
constexpr Index kOutputs = 4;  // outputs at once: kWide * kOutputs accumulators
constexpr Index kSub = Index{kWide} * kPacket;

// values[k * kSub + i] = sum over the terms of their values times weights[position * n_outputs + k]
template <int n_outputs>
void weighted_sums(const DepthFirst& terms, const double* table, double* slots, const double* weights, double* values) {
  Packet sums[n_outputs][kWide];
  for (int k = 0; k < n_outputs; ++k)
    for (int w = 0; w < kWide; ++w) sums[k][w] = packet::zero();
  terms.visit<kWide>(table, slots, [&](Index position, const Packet(&value)[kWide]) {
    for (int k = 0; k < n_outputs; ++k) {
      const Packet weight = packet::broadcast(weights[position * n_outputs + k]);
      for (int w = 0; w < kWide; ++w) sums[k][w] = packet::fma(value[w], weight, sums[k][w]);
    }
  });
  for (int k = 0; k < n_outputs; ++k)
    for (int w = 0; w < kWide; ++w) packet::store(values + k * kSub + w * kPacket, sums[k][w]);
}

using WeightedSums = void (*)(const DepthFirst&, const double*, double*, const double*, double*);
constexpr WeightedSums kWeightedSums[kOutputs] = {weighted_sums<1>, weighted_sums<2>, weighted_sums<3>,
                                                  weighted_sums<4>};

}  // namespace

void predict(const TensorBasis& basis, const Samples& samples, StridedView<const double> weights,
             StridedView<double> out, const Control& control) {
  const Index n_samples = samples.rows();
  const Index n_terms = basis.n_terms();
  const Index n_outputs = weights.cols;
  require(samples.cols() == basis.n_inputs(), "X has ", samples.cols(), " columns but the basis has ", basis.n_inputs(),
          " inputs");
  require(weights.rows == n_terms, "weights must have ", n_terms, " rows (one a term), got ", weights.rows);
  require(out.rows == n_samples && out.cols == n_outputs, "out must have shape (", n_samples, ", ", n_outputs,
          "), got (", out.rows, ", ", out.cols, ")");
  if (predict_from_grid(basis, samples, weights, out, control)) return;
  const auto& terms = basis.plan<DepthFirst>();
  // weights in the order of the terms, by groups of kOutputs outputs and what is left
  std::vector<double> grouped(size_of(n_outputs * n_terms));
  for (Index first = 0; first < n_outputs; first += kOutputs) {
    const Index group = std::min(kOutputs, n_outputs - first);
    double* to = grouped.data() + first * n_terms;
    for (const std::int32_t l : terms.order())
      for (Index k = 0; k < group; ++k) *to++ = weights(l, first + k);
  }

  struct Scratch {
    AlignedBuffer x, table, slots;
  };
  const double work =
      static_cast<double>(n_samples) * static_cast<double>(n_terms) * static_cast<double>(n_outputs + 1);
  std::vector<Scratch> scratch;
  for (int i = 0; i < control.threads_for(work); ++i)
    scratch.push_back({make_aligned(size_of(basis.n_inputs() * kSub)),
                       make_aligned(size_of(std::max<Index>(1, basis.n_factors()) * kSub)),
                       make_aligned(size_of(terms.n_slots() * kSub))});
  const Index chunk = 8 * kSub;  // samples an item
  parallel_for(control, divide_up(n_samples, chunk), work, [&](Index item, int member) {
    const auto& [x, table, slots] = scratch[size_of(member)];
    const Index stop = std::min(n_samples, (item + 1) * chunk);
    for (Index first = item * chunk; first < stop; first += kSub) {
      const Index count = std::min(kSub, stop - first);
      samples.load(first, count, kSub, x.get(), kSub);
      basis.tabulate(x.get(), kSub, kSub, table.get());
      for (Index k = 0; k < n_outputs; k += kOutputs) {
        const Index group = std::min(kOutputs, n_outputs - k);
        alignas(kAlignment) double values[kOutputs * kSub];
        kWeightedSums[group - 1](terms, table.get(), slots.get(), grouped.data() + k * n_terms, values);
        for (Index j = 0; j < group; ++j)
          for (Index s = 0; s < count; ++s) out(first + s, k + j) = values[j * kSub + s];
      }
    }
  });
}

}  // namespace gegenbauer
