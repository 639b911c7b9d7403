// Order, counts, parents and refusals of the index sets.
#include <algorithm>
#include <set>
#include <string>

#include "check.hpp"
#include "gegenbauer/multi_index.hpp"

using namespace gegenbauer;

namespace {

std::vector<std::vector<Index>> all(const MultiIndexSet& set) {
  std::vector<std::vector<Index>> out;
  for (Index l = 0; l < set.size(); ++l) {
    std::vector<Index> k(static_cast<std::size_t>(set.n_inputs()), 0);
    if (l > 0) {
      CHECK(set.parent(l) >= 0 && set.parent(l) < l);
      k = out[static_cast<std::size_t>(set.parent(l))];
      CHECK(k[static_cast<std::size_t>(set.input(l))] == 0);
      k[static_cast<std::size_t>(set.input(l))] = set.degree(l);
    }
    out.push_back(k);
  }
  return out;
}

std::string text(const MultiIndexSet& set) {
  std::string out;
  for (const auto& k : all(set)) {
    for (const Index d : k) out += std::to_string(d);
    out += ' ';
  }
  return out;
}

IndexSetSpec spec(Index m, std::optional<Index> n_terms, std::optional<Index> degree = std::nullopt) {
  IndexSetSpec s;
  s.n_inputs = m;
  s.n_terms = n_terms;
  s.degree = degree;
  return s;
}

Spectrum power(Index n_inputs, std::vector<double> q, double s = 1.0) {
  return {n_inputs, {{SpectrumComponent::Kind::power, s, std::move(q)}}};
}

void test_orders() {
  CHECK(text(MultiIndexSet(spec(2, 10))) == "00 10 01 20 11 02 30 21 12 03 ");
  IndexSetSpec s = spec(3, 10);
  CHECK(text(MultiIndexSet(s)) == "000 100 010 001 200 110 101 020 011 002 ");
  s.order = TermOrder::grlex_ascending;
  CHECK(text(MultiIndexSet(s)) == "000 001 010 100 002 011 020 101 110 200 ");
  s.order = TermOrder::grevlex;
  CHECK(text(MultiIndexSet(s)) == "000 100 010 001 200 110 020 101 011 002 ");
}

void test_sets_are_complete_and_unique() {
  for (const auto kind : {IndexSet::total_degree, IndexSet::tensor, IndexSet::hyperbolic_cross}) {
    for (const Index most : {Index{1}, Index{2}, Index{4}}) {
      for (const auto order : {TermOrder::grlex, TermOrder::grlex_ascending, TermOrder::grevlex}) {
        IndexSetSpec s = spec(4, std::nullopt, 4);
        s.kind = kind;
        s.max_inputs = most;
        s.order = order;
        const MultiIndexSet set(s);
        const auto terms = all(set);
        const std::set<std::vector<Index>> unique(terms.begin(), terms.end());
        CHECK(unique.size() == terms.size());
        std::size_t expected = 0;
        for (Index code = 0; code < 625; ++code) {
          Index total = 0;
          Index product = 1;
          Index used = 0;
          Index rest = code;
          for (int t = 0; t < 4; ++t) {
            const Index k = rest % 5;
            rest /= 5;
            total += k;
            product *= k + 1;
            used += k > 0 ? 1 : 0;
          }
          const bool inside = kind == IndexSet::total_degree       ? total <= 4
                              : kind == IndexSet::hyperbolic_cross ? product <= 5
                                                                   : true;
          expected += inside && used <= most ? 1 : 0;
        }
        CHECK(terms.size() == expected);
        CHECK(count_terms(s).exact == expected);
      }
    }
  }
}

void test_largest_weight_ties_are_ties() {
  // q = 1/4, s = 1: (2, 0) and (1, 1) both have the weight 1/16 and must come in grlex order
  IndexSetSpec s = spec(2, 6);
  s.kind = IndexSet::largest_weight;
  s.spectrum = power(2, {0.25});
  CHECK(text(MultiIndexSet(s)) == "00 10 01 20 11 02 ");
  // of little weight for interactions: one input after the other
  s.n_terms = 7;
  s.spectrum = power(2, {1e-4});
  CHECK(text(MultiIndexSet(s)) == "00 10 01 20 02 30 03 ");
}

// All multi-indices of a box in the order of their weights; ties by total degree, then grlex.
void test_largest_weight_of_each_input() {
  constexpr Index box = 24;
  const auto geometric = SpectrumComponent::Kind::geometric;
  const auto by_power = SpectrumComponent::Kind::power;
  const Spectrum spectra[] = {
      power(3, {0.1, 0.5, 0.25}),
      power(3, {0.25, 2.0, 0.25}, 0.5),
      power(3, {0.3, 0.0, 0.4}),
      {3, {{by_power, 2.0, {0.5, 0.01, 0.0}}, {geometric, 0.3, {0.0, 0.2, 0.4}}}},
      {3, {{SpectrumComponent::Kind::gegenbauer, 0.3, {1.0, 4.0, 0.5}}}},
  };
  for (const Spectrum& spectrum : spectra) {
    for (const bool capped : {false, true}) {
      IndexSetSpec s = spec(3, 40);
      s.kind = IndexSet::largest_weight;
      s.spectrum = spectrum;
      if (capped) s.degrees = {2, 3, box - 1};
      struct Term {
        double weight;
        std::vector<Index> k;
      };
      std::vector<Term> expected;
      std::vector<std::vector<double>> v;
      for (Index t = 0; t < 3; ++t) v.push_back(spectrum.squared_weights(t, box));
      double beyond = 0;  // the largest weight of any term outside of the box
      for (const std::vector<double>& w : v) beyond = std::max(beyond, capped ? 0.0 : w.back() * (1 + 1e-7));
      for (Index code = 0; code < box * box * box; ++code) {
        const std::vector<Index> k{code / (box * box), code / box % box, code % box};
        double weight = 1;
        bool inside = true;
        for (std::size_t t = 0; t < 3; ++t) {
          weight *= std::min(1.0, v[t][static_cast<std::size_t>(k[t])]);
          inside = inside && (!capped || k[t] <= s.degrees[t]);
        }
        if (inside && weight > beyond) expected.push_back({weight, k});
      }
      std::sort(expected.begin(), expected.end(), [](const Term& a, const Term& b) {
        if (std::abs(a.weight / b.weight - 1) > 1e-8) return a.weight > b.weight;
        const Index x = a.k[0] + a.k[1] + a.k[2];
        const Index y = b.k[0] + b.k[1] + b.k[2];
        return x != y ? x < y : a.k > b.k;
      });
      const auto got = all(MultiIndexSet(s));
      CHECK(got.size() == count_terms(s).exact);
      if (capped) CHECK(got.size() == std::min<std::size_t>(40, expected.size()));
      CHECK(expected.size() > 15);
      for (std::size_t l = 0; l < std::min(got.size(), expected.size()); ++l) CHECK(got[l] == expected[l].k);
    }
  }
  IndexSetSpec none = spec(3, 5);
  none.kind = IndexSet::largest_weight;
  none.spectrum = power(3, {0.0});
  CHECK(text(MultiIndexSet(none)) == "000 ");
}

// The weights of raw polynomials of lam > 1 grow with their degree, which counts in no choice.
void test_largest_weight_that_grows() {
  IndexSetSpec s = spec(2, 8);
  s.kind = IndexSet::largest_weight;
  s.spectrum = Spectrum(2, {{SpectrumComponent::Kind::gegenbauer, 2.0, {0.1, 0.2}}});
  CHECK(text(MultiIndexSet(s)) == "00 01 02 03 04 05 06 07 ");
  s.n_terms = 6;
  s.spectrum = Spectrum(2, {{SpectrumComponent::Kind::gegenbauer, 2.0, {9.0}}});
  CHECK(text(MultiIndexSet(s)) == "00 10 01 20 11 02 ");
}

void test_large() {
  CHECK(count_terms(spec(33, std::nullopt, 3)).exact == 7140);
  CHECK(!count_terms(spec(200, std::nullopt, 40)).is_exact());
  CHECK_NEAR(count_terms(spec(200, std::nullopt, 40)).approximate / 6.32172e45, 1.0, 1e-5);
  IndexSetSpec few = spec(33, std::nullopt, 1000);
  few.max_inputs = 7;
  CHECK(!count_terms(few).is_exact());
  CHECK_NEAR(count_terms(few).approximate / 8.31493389547862812894201e23, 1.0, 1e-12);
  IndexSetSpec box = spec(10'000'000, std::nullopt, 3);
  box.kind = IndexSet::tensor;
  CHECK(!count_terms(box).is_exact());
  box.max_inputs = 1;
  CHECK(count_terms(box).exact == 30'000'001);
  CHECK_THROWS(MultiIndexSet(few), std::invalid_argument, "terms");
  CHECK_THROWS(MultiIndexSet(spec(60, std::nullopt, 20)), std::invalid_argument, "terms");
  const MultiIndexSet set(spec(50, 100'000));
  CHECK(set.size() == 100'000);
}

void test_refusals() {
  CHECK_THROWS(MultiIndexSet(spec(0, 3)), std::invalid_argument, "n_features");
  CHECK_THROWS(MultiIndexSet(spec(2, std::nullopt)), std::invalid_argument, "n_terms");
  CHECK_THROWS(MultiIndexSet(spec(2, 0)), std::invalid_argument, "n_terms");
  IndexSetSpec s = spec(2, std::nullopt);
  s.degrees = {1, 2};
  CHECK_THROWS(MultiIndexSet(s), std::invalid_argument, "tensor");
  IndexSetSpec weighted = spec(2, 5);
  weighted.kind = IndexSet::largest_weight;
  CHECK_THROWS(MultiIndexSet(weighted), std::invalid_argument, "needs a `spectrum`");
  weighted.spectrum = power(3, {1.0});
  CHECK_THROWS(MultiIndexSet(weighted), std::invalid_argument, "3 inputs, not 2");
}

}  // namespace

int main() {
  test_orders();
  test_sets_are_complete_and_unique();
  test_largest_weight_ties_are_ties();
  test_largest_weight_of_each_input();
  test_largest_weight_that_grows();
  test_large();
  test_refusals();
  return check::report("multi_index");
}
