#include "gegenbauer/predict.hpp"

#include <algorithm>

#include "gegenbauer/error.hpp"
#include "gegenbauer/half_tables.hpp"

namespace gegenbauer {

namespace {

constexpr int kWide = 4;       // packets of samples at once
constexpr Index kOutputs = 4;  // outputs at once: kWide * kOutputs accumulators
constexpr Index kSub = Index{kWide} * kPacket;

// sums[k][w] = sum over l of terms[l] * weights[l * kOutputs + k]. With evaluate, terms[l] is first computed from its
// parent; else it is read back.
template <bool evaluate>
void weighted_sums(const TensorBasis& basis, const double* table, double* terms, const double* weights,
                   Packet (&sums)[kOutputs][kWide]) {
  const std::int32_t* parent = basis.parents();
  const std::int32_t* factor = basis.factors();
  for (Index k = 0; k < kOutputs; ++k)
    for (int w = 0; w < kWide; ++w) sums[k][w] = packet::broadcast(weights[k]);
  if constexpr (evaluate) {
    for (int w = 0; w < kWide; ++w) packet::store(terms + w * kPacket, packet::broadcast(1.0));
  }
  for (Index l = 1; l < basis.n_terms(); ++l) {
    double* value = terms + l * kSub;
    Packet v[kWide];
    if constexpr (evaluate) {
      const double* from = terms + Index{parent[l]} * kSub;
      const double* by = table + Index{factor[l]} * kSub;
      for (int w = 0; w < kWide; ++w) {
        v[w] = packet::mul(packet::load(from + w * kPacket), packet::load(by + w * kPacket));
        packet::store(value + w * kPacket, v[w]);
      }
    } else {
      for (int w = 0; w < kWide; ++w) v[w] = packet::load(value + w * kPacket);
    }
    for (Index k = 0; k < kOutputs; ++k) {
      const Packet weight = packet::broadcast(weights[l * kOutputs + k]);
      for (int w = 0; w < kWide; ++w) sums[k][w] = packet::fma(v[w], weight, sums[k][w]);
    }
  }
}

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
  if (n_samples >= kManySamples && basis.plan<HalfTables>().pay(n_outputs)) {
    basis.plan<HalfTables>().predict(samples, weights, out, control);
    return;
  }
  // weights by groups of kOutputs outputs, padded with zeros
  const Index n_groups = (n_outputs + kOutputs - 1) / kOutputs;
  std::vector<double> grouped(static_cast<std::size_t>(n_groups * n_terms * kOutputs), 0.0);
  for (Index k = 0; k < n_outputs; ++k)
    for (Index l = 0; l < n_terms; ++l)
      grouped[static_cast<std::size_t>((k / kOutputs * n_terms + l) * kOutputs + k % kOutputs)] = weights(l, k);

  struct Scratch {
    AlignedBuffer x, table, terms;
  };
  const double work =
      static_cast<double>(n_samples) * static_cast<double>(n_terms) * static_cast<double>(n_outputs + 1);
  std::vector<Scratch> scratch;
  for (int i = 0; i < control.threads_for(work); ++i)
    scratch.push_back({make_aligned(static_cast<std::size_t>(basis.n_inputs() * kSub)),
                       make_aligned(static_cast<std::size_t>(std::max<Index>(1, basis.n_factors()) * kSub)),
                       make_aligned(static_cast<std::size_t>(n_terms * kSub))});
  const Index chunk = 8 * kSub;  // samples an item
  parallel_for(control, (n_samples + chunk - 1) / chunk, work, [&](Index item, int member) {
    const auto& [x, table, terms] = scratch[static_cast<std::size_t>(member)];
    const Index stop = std::min(n_samples, (item + 1) * chunk);
    for (Index first = item * chunk; first < stop; first += kSub) {
      const Index count = std::min(kSub, stop - first);
      samples.load(first, count, kSub, x.get(), kSub);
      basis.tabulate(x.get(), kSub, kSub, table.get());
      for (Index group = 0; group < n_groups; ++group) {
        const double* w = grouped.data() + group * n_terms * kOutputs;
        Packet sums[kOutputs][kWide];
        if (group == 0) {
          weighted_sums<true>(basis, table.get(), terms.get(), w, sums);
        } else {
          weighted_sums<false>(basis, table.get(), terms.get(), w, sums);
        }
        alignas(kAlignment) double values[kSub];
        for (Index k = 0; k < kOutputs && group * kOutputs + k < n_outputs; ++k) {
          for (int i = 0; i < kWide; ++i) packet::store(values + i * kPacket, sums[k][i]);
          for (Index s = 0; s < count; ++s) out(first + s, group * kOutputs + k) = values[s];
        }
      }
    }
  });
}

}  // namespace gegenbauer
