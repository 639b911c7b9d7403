#include "cross_of_few.hpp"

#include <algorithm>
#include <vector>

#include "gegenbauer/depth_first.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

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

}  // namespace

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

}  // namespace gegenbauer
