#include "gegenbauer/extended_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"

// Compiled without contraction of a * b + c (see CMakeLists.txt), which would undo the compensation.

namespace gegenbauer {

namespace {

constexpr int kLanes = 8;  // samples at once, in loops that compilers vectorise

// Unevaluated sums high + low, |low| <= ulp(high) / 2.
struct Pair {
  double high[kLanes];
  double low[kLanes];
};

Pair broadcast(double value) {
  Pair result{};
  std::fill_n(result.high, kLanes, value);
  return result;
}

Pair sum(const Pair& a, const Pair& b) {
  Pair result;
  for (int i = 0; i < kLanes; ++i) {
    const double s = a.high[i] + b.high[i];
    const double t = s - a.high[i];
    const double e = (a.high[i] - (s - t)) + (b.high[i] - t) + (a.low[i] + b.low[i]);
    result.high[i] = s + e;
    result.low[i] = e - (result.high[i] - s);
  }
  return result;
}

Pair product(const Pair& a, const Pair& b) {
  Pair result;
  for (int i = 0; i < kLanes; ++i) {
    const double p = a.high[i] * b.high[i];
    const double e = std::fma(a.high[i], b.high[i], -p) + (a.high[i] * b.low[i] + a.low[i] * b.high[i]);
    result.high[i] = p + e;
    result.low[i] = e - (result.high[i] - p);
  }
  return result;
}

Pair product(const Pair& a, double b) {
  Pair result;
  for (int i = 0; i < kLanes; ++i) {
    const double p = a.high[i] * b;
    const double e = std::fma(a.high[i], b, -p) + a.low[i] * b;
    result.high[i] = p + e;
    result.low[i] = e - (result.high[i] - p);
  }
  return result;
}

Pair quotient(const Pair& a, double b) {
  Pair result;
  for (int i = 0; i < kLanes; ++i) {
    const double q = a.high[i] / b;
    const double e = (std::fma(-q, b, a.high[i]) + a.low[i]) / b;
    result.high[i] = q + e;
    result.low[i] = e - (result.high[i] - q);
  }
  return result;
}

// warp(u), where each lane has its own piece
Pair warped(const Pair& u, const PiecewiseLinear& warp) {
  Pair start{};
  Pair value{};
  Pair slope{};
  for (int i = 0; i < kLanes; ++i) {
    const std::size_t j = warp.piece(u.high[i]);
    start.high[i] = -warp.starts[j];
    value.high[i] = warp.values[j];
    slope.high[i] = warp.slopes[j];
  }
  return sum(value, product(slope, sum(u, start)));
}

// offset + span warp(clamp01((x / 2 - half_lower) / half_range)), as Samples::load rounds it
Pair mapped(const Pair& x, const BoxMap& map, std::size_t t) {
  if (map.span[t] == 0.0) return broadcast(map.offset[t]);
  Pair share = quotient(sum(product(x, 0.5), broadcast(-map.half_lower[t])), map.half_range[t]);
  for (int i = 0; map.clip && i < kLanes; ++i) {
    const double kept = std::min(1.0, std::max(0.0, share.high[i]));
    if (kept != share.high[i] || kept + share.low[i] > 1.0 || (kept == 1.0 && share.low[i] > 0.0)) share.low[i] = 0.0;
    share.high[i] = kept;
  }
  if (const PiecewiseLinear* warp = map.warp(t)) share = warped(share, *warp);
  return sum(product(share, map.span[t]), broadcast(map.offset[t]));
}

// Space of a thread and what it knows of the design
class Worker {
 public:
  Worker(const Design& design, const Matrix& weights)
      : design_(design),
        raw_(design.samples.unmapped()),
        weights_(weights),
        x_(size_of(design.basis.n_inputs() * kLanes)),
        table_(size_of(design.basis.n_factors())),
        terms_(size_of(design.basis.n_terms())),
        sums_(size_of(weights.size())) {}

  // sums (2, L K) := high and low parts of G'D^2 (Phi - G W) over the samples [first, stop)
  void accumulate(Index first, Index stop, double* sums) {
    std::fill(sums_.begin(), sums_.end(), Pair{});
    for (; first < stop; first += kLanes) add(first, std::min<Index>(kLanes, stop - first));
    for (const Pair& lanes : sums_) {
      Pair total{};
      for (int i = 0; i < kLanes; ++i) total = sum(total, Pair{{lanes.high[i]}, {lanes.low[i]}});
      *sums++ = total.high[0];
      *sums++ = total.low[0];
    }
  }

 private:
  void tabulate(Index first, Index count) {
    const TensorBasis& basis = design_.basis;
    raw_.load(first, count, kLanes, x_.data(), kLanes);
    auto out = table_.begin();
    const InputFunctions& functions = basis.functions();
    for (Index t = 0; t < basis.n_inputs(); ++t) {
      const Recurrence& recurrence = functions.recurrences()[t];
      const Index n_functions = basis.indices().max_degree(t);
      const Index n_contrasts = std::min(n_functions, functions.n_contrasts(t));
      Pair x{};
      std::copy_n(x_.data() + t * kLanes, kLanes, x.high);
      const Pair given = x;
      if (design_.samples.map() != nullptr) x = mapped(x, *design_.samples.map(), size_of(t));
      if (functions.have_levels()) {
        restore_missing(given, x);
        add_contrasts(x, t, n_contrasts, out);
      }
      const Row polynomials = out;
      Pair before{};
      Pair previous = broadcast(1.0);
      for (Index n = 1; n <= n_functions - n_contrasts; ++n) {
        const Pair next = sum(product(product(x, recurrence.slope(n)), previous), product(before, -recurrence.drop(n)));
        before = previous;
        previous = next;
        *out++ = next;
      }
      if (functions.have_levels()) clear_missing(x, polynomials, out);
    }
  }

  using Row = std::vector<Pair>::iterator;

  static void restore_missing(const Pair& given, Pair& x) {
    for (int i = 0; i < kLanes; ++i)
      if (std::isnan(given.high[i])) x.high[i] = given.high[i];
  }

  // The contrasts of input t, which are float64 numbers as they are.
  void add_contrasts(const Pair& x, Index t, Index count, Row& out) const {
    const Row first = out;
    out += count;
    std::fill(first, out, Pair{});
    for (int i = 0; i < kLanes && count > 0; ++i) {
      const double* own = design_.basis.functions().contrasts(t, x.high[i]);
      for (Index n = 0; n < count && own != nullptr; ++n) first[n].high[i] = own[n];
    }
  }

  static void clear_missing(const Pair& x, Row first, Row last) {
    for (int i = 0; i < kLanes; ++i)
      if (std::isnan(x.high[i]))
        for (Row row = first; row != last; ++row) row->high[i] = row->low[i] = 0.0;
  }

  void add(Index first, Index count) {
    const TensorBasis& basis = design_.basis;
    const Index n_terms = basis.n_terms();
    tabulate(first, count);
    terms_[0] = broadcast(1.0);
    for (Index l = 1; l < n_terms; ++l)
      terms_[size_of(l)] = product(terms_[size_of(basis.parents()[l])], table_[size_of(basis.factors()[l])]);
    Pair scale{};
    for (Index i = 0; i < count; ++i) scale.high[i] = design_.row_scale == nullptr ? 1.0 : design_.row_scale[first + i];
    scale = product(scale, scale);
    for (Index k = 0; k < weights_.cols(); ++k) {
      Pair fitted{};
      for (Index l = n_terms; l-- > 0;) fitted = sum(fitted, product(terms_[size_of(l)], -weights_(l, k)));
      Pair target{};
      for (Index i = 0; i < count; ++i) target.high[i] = design_.targets(first + i, k);
      const Pair residual = product(sum(target, fitted), scale);
      Pair* to = sums_.data() + k * n_terms;
      for (Index l = 0; l < n_terms; ++l) to[l] = sum(to[l], product(terms_[size_of(l)], residual));
    }
  }

  const Design& design_;
  Samples raw_;
  const Matrix& weights_;
  std::vector<double> x_;
  std::vector<Pair> table_;
  std::vector<Pair> terms_;
  std::vector<Pair> sums_;
};

}  // namespace

// Items are runs of samples whose length depends on their number alone, and their sums are added in order: threads do
// not change a bit.
Matrix extended_gradient(const Design& design, const Matrix& weights, const Control& control) {
  constexpr Index wave = 16;  // runs whose sums are held at once
  constexpr Index longest = 1024;
  const Index n_samples = design.samples.rows();
  require(weights.rows() == design.basis.n_terms() && weights.cols() == design.targets.cols,
          "weights must have shape (", design.basis.n_terms(), ", ", design.targets.cols, ")");
  const Index run = std::clamp<Index>(divide_up(n_samples, wave), kLanes, longest);
  const double work = 15.0 * static_cast<double>(std::min(n_samples, wave * run)) *
                      static_cast<double>(weights.rows()) * static_cast<double>(weights.cols() + 1);
  std::vector<Worker> workers;
  for (Index i = 0; i < std::min<Index>(wave, control.threads_for(work)); ++i) workers.emplace_back(design, weights);
  Matrix sums(2 * weights.size(), wave);
  std::vector<Pair> total(size_of(weights.size()));
  for (Index begin = 0; begin < n_samples; begin += wave * run) {
    const Index count = std::min(wave, divide_up(n_samples - begin, run));
    parallel_for(control, count, work, [&](Index item, int member) {
      const Index first = begin + item * run;
      workers[size_of(member)].accumulate(first, std::min(n_samples, first + run), sums.col(item).data());
    });
    for (Index item = 0; item < count; ++item) {
      const double* at = sums.col(item).data();
      for (Pair& all : total) {
        all = sum(all, Pair{{at[0]}, {at[1]}});
        at += 2;
      }
    }
  }
  Matrix gradient(weights.rows(), weights.cols());
  for (Index i = 0; i < gradient.size(); ++i) gradient.data()[i] = total[size_of(i)].high[0];
  return gradient;
}

}  // namespace gegenbauer
