#include "gegenbauer/spectrum_gradient.hpp"

#include <algorithm>
#include <vector>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/tiles.hpp"

namespace gegenbauer {

namespace {

constexpr Index kPair = Index{kPanel} * kPanel;

// Each component as a kernel of one input with q = 1, whose evaluate() is k_tj; and the tables of all samples for it.
struct Part {
  SpectrumKernel kernel;
  AlignedBuffer tables;  // table of panel p and input t at (p * m + t) * table_size * kPanel

  Part(SpectrumComponent component, const SpectrumKernel& whole, Index n_panels)
      : kernel({1, {unit(std::move(component))}}, whole.lam(), whole.max_degree()),
        tables(make_aligned(size_of(n_panels * whole.n_inputs() * size()))) {}

  static SpectrumComponent unit(SpectrumComponent component) {
    component.weights.assign(1, 1.0);
    return component;
  }
  [[nodiscard]] Index size() const { return kernel.table_size() * kPanel; }
  [[nodiscard]] double* table(Index panel, Index t, Index n_inputs) const {
    return tables.get() + (panel * n_inputs + t) * size();
  }
};

// One thread's space for a pair of panels: all k_tj, all f_t and their products from the left; and its sums.
struct Space {
  AlignedBuffer parts, factors, prefixes, weights, sums;

  Space(Index n_inputs, Index n_parts)
      : parts(make_aligned(size_of(n_inputs * n_parts * kPair))),
        factors(make_aligned(size_of(n_inputs * kPair))),
        prefixes(make_aligned(size_of(n_inputs * kPair))),
        weights(make_aligned(size_of(kPair))),
        sums(make_aligned(size_of(n_inputs * n_parts * kPacket))) {}
};

// weights[j * kPanel + i]: M at both places of a pair of samples, each pair once; zero beyond the last sample.
void gather_weights(const ConstMatrixRef& m, Index row, Index col, double* weights) {
  const Index n = m.rows();
  for (Index j = 0; j < kPanel; ++j) {
    for (Index i = 0; i < kPanel; ++i) {
      const Index a = row + i;
      const Index b = col + j;
      weights[j * kPanel + i] = a >= n || a < b ? 0.0 : a == b ? m(a, b) : 2 * m(a, b);
    }
  }
}

}  // namespace

void spectrum_log_gradient(const SpectrumKernel& kernel, const Samples& samples, const ConstMatrixRef& weights,
                           MatrixRef gradient, const Control& control) {
  const Index n = samples.rows();
  const Index m = kernel.n_inputs();
  const Spectrum& spectrum = kernel.spectrum();
  const std::vector<SpectrumComponent>& components = spectrum.components();
  const auto n_parts = static_cast<Index>(components.size());
  require(samples.cols() == m, "X has ", samples.cols(), " columns but the kernel has ", m, " inputs");
  require(weights.rows() == n && weights.cols() == n, "weights must have shape (", n, ", ", n, ")");
  require(gradient.rows() == m && gradient.cols() == n_parts, "gradient must have shape (", m, ", ", n_parts, ")");
  const Index n_panels = panels_of(n);
  std::vector<Part> parts;
  for (const SpectrumComponent& component : components) parts.emplace_back(component, kernel, n_panels);
  const double cost =
      static_cast<double>(n) * static_cast<double>(n) * (kernel.pair_cost() + 6.0 * static_cast<double>(m));
  std::vector<Space> spaces;
  for (int i = 0; i < control.threads_for(cost); ++i) spaces.emplace_back(m, n_parts);

  const AlignedBuffer x = make_aligned(size_of(m * kPanel));
  for (Index p = 0; p < n_panels; ++p) {
    control.check();
    samples.load(p * kPanel, std::min<Index>(kPanel, n - p * kPanel), kPanel, x.get(), kPanel);
    for (Index t = 0; t < m; ++t) require_inside(x.get() + t * kPanel, t, p * kPanel);  // parts have one input each
    for (const Part& part : parts)
      for (Index t = 0; t < m; ++t) part.kernel.tabulate(x.get() + t * kPanel, p * kPanel, part.table(p, t, m));
  }

  // the sums of each row of panels by themselves, added in their order
  Matrix sums(m * n_parts, n_panels);
  parallel_for(control, n_panels, cost, [&](Index item, int member) {
    const Index p = n_panels - 1 - item;  // the longest first
    const Space& space = spaces[size_of(member)];
    std::fill_n(space.sums.get(), m * n_parts * kPacket, 0.0);
    for (Index q = 0; q <= p; ++q) {
      gather_weights(weights, p * kPanel, q * kPanel, space.weights.get());
      for (Index t = 0; t < m; ++t) {
        double* factor = space.factors.get() + t * kPair;
        std::fill_n(factor, kPair, 1.0);
        for (Index j = 0; j < n_parts; ++j) {
          const Part& part = parts[size_of(j)];
          double* k = space.parts.get() + (t * n_parts + j) * kPair;
          part.kernel.evaluate(part.table(p, t, m), part.table(q, t, m), kPanel, k, nullptr);
          const Packet weight = packet::broadcast(spectrum.interaction(j, t));
          for (Index i = 0; i < kPair; i += kPacket)
            packet::store(factor + i, packet::fma(weight, packet::load(k + i), packet::load(factor + i)));
        }
        const double* before = t == 0 ? nullptr : space.prefixes.get() + (t - 1) * kPair;
        double* prefix = space.prefixes.get() + t * kPair;
        for (Index i = 0; i < kPair; i += kPacket) {
          const Packet f = packet::load(factor + i);
          packet::store(prefix + i, before == nullptr ? f : packet::mul(packet::load(before + i), f));
        }
      }
      double* suffix = space.weights.get();  // M times the factors after t
      for (Index t = m - 1; t >= 0; --t) {
        const double* factor = space.factors.get() + t * kPair;
        const double* before = t == 0 ? nullptr : space.prefixes.get() + (t - 1) * kPair;
        for (Index j = 0; j < n_parts; ++j) {
          const double* k = space.parts.get() + (t * n_parts + j) * kPair;
          double* sum = space.sums.get() + (t * n_parts + j) * kPacket;
          Packet total = packet::load(sum);
          for (Index i = 0; i < kPair; i += kPacket) {
            const Packet rest = packet::load(suffix + i);
            const Packet others = before == nullptr ? rest : packet::mul(rest, packet::load(before + i));
            total = packet::fma(others, packet::load(k + i), total);
          }
          packet::store(sum, total);
        }
        for (Index i = 0; i < kPair; i += kPacket)
          packet::store(suffix + i, packet::mul(packet::load(suffix + i), packet::load(factor + i)));
      }
    }
    for (Index i = 0; i < m * n_parts; ++i) {
      double sum = 0.0;
      for (Index lane = 0; lane < kPacket; ++lane) sum += space.sums[size_of(i * kPacket + lane)];
      sums(i, p) = sum;
    }
  });
  for (Index t = 0; t < m; ++t) {
    for (Index j = 0; j < n_parts; ++j) {
      double total = 0.0;
      for (Index p = 0; p < n_panels; ++p) total += sums(t * n_parts + j, p);
      gradient(t, j) = spectrum.interaction(j, t) * total;
    }
  }
}

}  // namespace gegenbauer
