#include "gegenbauer/spectrum_gradient.hpp"

#include <algorithm>
#include <vector>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/tiles.hpp"

namespace gegenbauer {

namespace {

constexpr Index kPair = Index{kPanel} * kPanel;

// Each component as kernels of one input with q = 1, whose evaluate() is k_tj; and the tables of all samples for it.
struct Part {
  std::vector<SpectrumKernel> kernels;  // one for all inputs, or one an input where they have levels
  AlignedBuffer tables;                 // table of panel p and input t at (p * m + t) * table_size * kPanel

  Part(SpectrumComponent component, const SpectrumKernel& whole, Index n_panels) {
    component.weights.assign(1, 1.0);
    const auto add = [&](std::vector<Levels> levels) {
      kernels.emplace_back(Spectrum(1, {component}, std::move(levels)), whole.lam(), whole.max_degree());
    };
    if (whole.levels().empty()) add({});
    for (const Levels& levels : whole.levels()) add({levels});
    tables = make_aligned(size_of(n_panels * whole.n_inputs() * size()));
  }

  [[nodiscard]] const SpectrumKernel& kernel(Index t) const { return kernels[kernels.size() == 1 ? 0 : size_of(t)]; }
  [[nodiscard]] Index size() const { return kernels.front().table_size() * kPanel; }
  [[nodiscard]] double* table(Index panel, Index t, Index n_inputs) const {
    return tables.get() + (panel * n_inputs + t) * size();
  }
};

// All components, with their tables of these samples.
std::vector<Part> parts_of(const SpectrumKernel& kernel, const Samples& samples, const Control& control) {
  const Index n = samples.rows();
  const Index m = kernel.n_inputs();
  const Index n_panels = panels_of(n);
  std::vector<Part> parts;
  for (const SpectrumComponent& component : kernel.spectrum().components())
    parts.emplace_back(component, kernel, n_panels);
  const AlignedBuffer x = make_aligned(size_of(m * kPanel));
  for (Index p = 0; p < n_panels; ++p) {
    control.check();
    samples.load(p * kPanel, std::min<Index>(kPanel, n - p * kPanel), kPanel, x.get(), kPanel);
    // parts have one input each
    for (Index t = 0; t < m; ++t) require_inside(x.get() + t * kPanel, t, p * kPanel, !kernel.levels().empty());
    for (const Part& part : parts)
      for (Index t = 0; t < m; ++t) part.kernel(t).tabulate(x.get() + t * kPanel, p * kPanel, part.table(p, t, m));
  }
  return parts;
}

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
  const auto n_parts = static_cast<Index>(spectrum.components().size());
  require(samples.cols() == m, "X has ", samples.cols(), " columns but the kernel has ", m, " inputs");
  require(weights.rows() == n && weights.cols() == n, "weights must have shape (", n, ", ", n, ")");
  require(gradient.rows() == m && gradient.cols() == n_parts, "gradient must have shape (", m, ", ", n_parts, ")");
  const Index n_panels = panels_of(n);
  const std::vector<Part> parts = parts_of(kernel, samples, control);
  const double cost =
      static_cast<double>(n) * static_cast<double>(n) * (kernel.pair_cost() + 6.0 * static_cast<double>(m));
  std::vector<Space> spaces;
  for (int i = 0; i < control.threads_for(cost); ++i) spaces.emplace_back(m, n_parts);

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
          part.kernel(t).evaluate(part.table(p, t, m), part.table(q, t, m), kPanel, k, nullptr);
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

namespace {

// sum over j of q_j k_j for a packet of pairs
EIGEN_ALWAYS_INLINE Packet weighted(const double* k, const double* q, Index n_parts, Index stride) {
  Packet sum = packet::zero();
  for (Index j = 0; j < n_parts; ++j) sum = packet::fma(packet::broadcast(q[j]), packet::load(k + j * stride), sum);
  return sum;
}

constexpr Index kLanes = 2 * kPacket;  // pairs of a block

}  // namespace

const double* SpectrumParts::block(Index b) const { return values_.get() + b * n_inputs_ * n_parts_ * kLanes; }

SpectrumParts::SpectrumParts(const SpectrumKernel& kernel, const Samples& samples, const Control& control)
    : n_inputs_(kernel.n_inputs()),
      n_parts_(static_cast<Index>(kernel.spectrum().components().size())),
      n_pairs_(samples.rows() * (samples.rows() + 1) / 2),
      n_blocks_(divide_up(n_pairs_, kLanes)),
      values_(make_aligned(size_of(n_blocks_ * n_inputs_ * n_parts_ * kLanes))) {
  const Index n = samples.rows();
  require(samples.cols() == n_inputs_, "X has ", samples.cols(), " columns but the kernel has ", n_inputs_, " inputs");
  const Index size = n_inputs_ * n_parts_ * kLanes;
  std::fill_n(values_.get() + (n_blocks_ - 1) * size, size, 0.0);  // what is beyond the last pair
  const std::vector<Part> parts = parts_of(kernel, samples, control);
  const double cost = static_cast<double>(n) * static_cast<double>(n) * kernel.pair_cost();
  const Index n_panels = panels_of(n);
  parallel_for(control, n_panels, cost, [&](Index item, int) {
    const Index p = n_panels - 1 - item;  // the longest first
    alignas(kAlignment) double k[kPair];
    for (Index q = 0; q <= p; ++q) {
      for (Index t = 0; t < n_inputs_; ++t) {
        for (Index j = 0; j < n_parts_; ++j) {
          const Part& part = parts[size_of(j)];
          part.kernel(t).evaluate(part.table(p, t, n_inputs_), part.table(q, t, n_inputs_), kPanel, k, nullptr);
          double* out = values_.get() + (t * n_parts_ + j) * kLanes;
          for (Index a = p * kPanel; a < std::min<Index>(n, (p + 1) * kPanel); ++a) {
            for (Index b = q * kPanel; b <= std::min<Index>(a, (q + 1) * kPanel - 1); ++b) {
              const Index pair = a * (a + 1) / 2 + b;
              out[pair / kLanes * size + pair % kLanes] = k[(b - q * kPanel) * kPanel + a - p * kPanel];
            }
          }
        }
      }
    }
  });
}

void SpectrumParts::evaluate(const double* q, double* values, const Control& control) const {
  const double cost = static_cast<double>(n_pairs_) * static_cast<double>(n_inputs_ * (n_parts_ + 2));
  parallel_for(control, n_blocks_, cost, [&](Index b, int) {
    const double* k = block(b);
    Packet product[2] = {packet::zero(), packet::zero()};  // less one
    for (Index t = 0; t < n_inputs_; ++t, k += n_parts_ * kLanes) {
      for (int v = 0; v < 2; ++v) {
        const Packet f = weighted(k + v * kPacket, q + t * n_parts_, n_parts_, kLanes);
        product[v] = packet::fma(product[v], f, packet::add(product[v], f));
      }
    }
    alignas(kAlignment) double found[kLanes];
    for (int v = 0; v < 2; ++v) packet::store(found + v * kPacket, product[v]);
    std::copy_n(found, std::min<Index>(kLanes, n_pairs_ - b * kLanes), values + b * kLanes);
  });
}

void SpectrumParts::log_gradient(const double* q, const double* weights, MatrixRef gradient,
                                 const Control& control) const {
  require(gradient.rows() == n_inputs_ && gradient.cols() == n_parts_, "gradient must have shape (", n_inputs_, ", ",
          n_parts_, ")");
  constexpr Index most_groups = 64;  // whose sums are added in their order, whoever made them
  const Index n_groups = std::min(n_blocks_, most_groups);
  const Index n_sums = n_inputs_ * n_parts_;
  const double cost = static_cast<double>(n_pairs_) * static_cast<double>(n_inputs_ * (3 * n_parts_ + 3));
  struct Buffers {
    AlignedBuffer prefixes, sums;
  };
  std::vector<Buffers> spaces;
  for (int i = 0; i < control.threads_for(cost); ++i)
    spaces.push_back({make_aligned(size_of((n_inputs_ + 1) * kLanes)), make_aligned(size_of(n_sums * kPacket))});
  Matrix sums(n_sums, n_groups);
  const Packet one = packet::broadcast(1.0);
  parallel_for(control, n_groups, cost, [&](Index group, int member) {
    const auto& [prefixes, lanes] = spaces[size_of(member)];
    std::fill_n(lanes.get(), n_sums * kPacket, 0.0);
    const Index last = (group + 1) * n_blocks_ / n_groups;
    for (Index b = group * n_blocks_ / n_groups; b < last; ++b) {
      const double* k = block(b);
      std::fill_n(prefixes.get(), kLanes, 1.0);
      for (Index t = 0; t + 1 < n_inputs_; ++t) {
        for (int v = 0; v < 2; ++v) {
          const double* part = k + t * n_parts_ * kLanes + v * kPacket;
          double* before = prefixes.get() + t * kLanes + v * kPacket;
          const Packet f = packet::add(one, weighted(part, q + t * n_parts_, n_parts_, kLanes));
          packet::store(before + kLanes, packet::mul(packet::load(before), f));
        }
      }
      alignas(kAlignment) double own[kLanes] = {};  // M times the factors after t
      std::copy_n(weights + b * kLanes, std::min<Index>(kLanes, n_pairs_ - b * kLanes), own);
      Packet suffix[2] = {packet::load(own), packet::load(own + kPacket)};
      for (Index t = n_inputs_ - 1; t >= 0; --t) {
        const double* part = k + t * n_parts_ * kLanes;
        const double* before = prefixes.get() + t * kLanes;
        const Packet others[2] = {packet::mul(suffix[0], packet::load(before)),
                                  packet::mul(suffix[1], packet::load(before + kPacket))};
        for (Index j = 0; j < n_parts_; ++j) {
          double* sum = lanes.get() + (t * n_parts_ + j) * kPacket;
          const Packet first = packet::fma(others[0], packet::load(part + j * kLanes), packet::load(sum));
          packet::store(sum, packet::fma(others[1], packet::load(part + j * kLanes + kPacket), first));
        }
        for (int v = 0; v < 2; ++v) {
          const Packet f = packet::add(one, weighted(part + v * kPacket, q + t * n_parts_, n_parts_, kLanes));
          suffix[v] = packet::mul(suffix[v], f);
        }
      }
    }
    for (Index i = 0; i < n_sums; ++i) {
      double sum = 0.0;
      for (Index lane = 0; lane < kPacket; ++lane) sum += lanes[size_of(i * kPacket + lane)];
      sums(i, group) = sum;
    }
  });
  for (Index t = 0; t < n_inputs_; ++t) {
    for (Index j = 0; j < n_parts_; ++j) {
      double total = 0.0;
      for (Index g = 0; g < n_groups; ++g) total += sums(t * n_parts_ + j, g);
      gradient(t, j) = q[t * n_parts_ + j] * total;
    }
  }
}

}  // namespace gegenbauer
