// Weights of the degrees, and what is made of them: features and their Gram matrices.
#include "check.hpp"
#include "gegenbauer/moments.hpp"
#include "gegenbauer/normal_equations.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/spectrum.hpp"
#include "gegenbauer/tensor_basis.hpp"

using namespace gegenbauer;

namespace {

using Kind = SpectrumComponent::Kind;

// lam / (n + lam) (2 lam)_n / n!, at lam = 0 divided by lam^2 before
double squared_norm(double lam, int n) {
  double value = lam == 0.0 ? 2.0 / n : 2.0 * lam * lam / (n + lam);
  for (int i = 1; i < n; ++i) value *= (2.0 * lam + i) / i;
  return value / n;
}

void test_weights() {
  const Spectrum mixed(
      3,
      {{Kind::power, 1.5, {0.5, 0.0, 2.0}}, {Kind::geometric, 0.3, {0.2}}, {Kind::gegenbauer, 0.4, {0.0, 0.0, 3.0}}});
  const double q[3][3] = {{0.5, 0.2, 0.0}, {0.0, 0.2, 0.0}, {2.0, 0.2, 3.0}};
  for (Index t = 0; t < 3; ++t) {
    const std::vector<double> squared = mixed.squared_weights(t, 30);
    const std::vector<double> weights = mixed.weights(t, 30);
    const std::vector<double> logs = mixed.log_squared_weights(t, 30);
    CHECK(squared[0] == 1.0 && weights[0] == 1.0 && logs[0] == 0.0);
    for (int n = 1; n <= 30; ++n) {
      const double v = q[t][0] * std::pow(n, -3.0) + q[t][1] * std::pow(0.3, n - 1) + q[t][2] * squared_norm(0.4, n);
      const auto i = size_of(n);
      CHECK_NEAR(squared[i] / v, 1.0, 1e-14);
      CHECK_NEAR(weights[i] / std::sqrt(v), 1.0, 1e-14);
      CHECK_NEAR(logs[i], std::log(v), 1e-13);
    }
    CHECK(mixed.uses(t));
  }
  CHECK(!Spectrum(2, {{Kind::power, 1.0, {1.0, 0.0}}}).uses(1));
  // beyond the range of float64 when squared
  const Spectrum steep(1, {{Kind::geometric, 1e-3, {1.0}}});
  CHECK_NEAR(steep.weights(0, 180)[180] / 1e-268 / std::pow(10.0, -0.5), 1.0, 1e-12);
  CHECK_NEAR(steep.log_squared_weights(0, 180)[180], 179 * std::log(1e-3), 1e-9);
}

// |C_n|^2 makes raw polynomials of orthonormal ones.
void test_raw_polynomials() {
  for (const double lam : {0.0, 0.05, 0.5, 1.0, 3.0}) {
    const Spectrum paper(1, {{Kind::gegenbauer, lam, {1.0}}});
    const Recurrence raw(lam, 40, Normalization::raw);
    const Recurrence weighted(lam, 40, Normalization::orthonormal, paper.weights(0, 40));
    for (const double x : {-0.9, 0.2, 1.0}) {
      std::vector<double> a(41);
      std::vector<double> b(41);
      raw.evaluate(&x, 1, a.data(), 1);
      weighted.evaluate(&x, 1, b.data(), 1);
      for (std::size_t n = 0; n <= 40; ++n) CHECK_NEAR(a[n], b[n], 1e-12 * raw.bound(static_cast<Index>(n)));
    }
  }
}

void test_groups() {
  const Spectrum spectrum(5, {{Kind::power, 1.0, {1, 2, 1, 2, 1}}, {Kind::geometric, 0.5, {1, 1, 1, 1, 3}}});
  CHECK(spectrum.n_groups() == 3);
  const Index groups[] = {0, 1, 0, 1, 2};
  for (Index t = 0; t < 5; ++t) CHECK(spectrum.group(t) == groups[t]);
  CHECK(spectrum.representative(1) == 1 && spectrum.representative(2) == 4);
  CHECK(Spectrum(5, {{Kind::power, 1.0, {2, 2, 2, 2, 2}}, {Kind::power, 2.0, {1}}}).n_groups() == 1);
}

Spectrum of_each_input() {
  return {4, {{Kind::power, 2.0, {1.0, 0.3, 0.0, 0.05}}, {Kind::geometric, 0.3, {0.0, 0.4, 0.0, 0.4}}}};
}

// Weighted features are orthonormal ones times the weights of their terms, and so are their Gram matrices, by either
// way.
void test_features_and_moments() {
  for (const IndexSet kind : {IndexSet::total_degree, IndexSet::hyperbolic_cross, IndexSet::largest_weight}) {
    for (const double lam : {-0.2, 0.0, 0.05, 0.5, 2.0}) {
      IndexSetSpec spec;
      spec.n_inputs = 4;
      spec.n_terms = 90;
      spec.kind = kind;
      spec.spectrum = of_each_input();
      const MultiIndexSet indices(spec);
      const TensorBasis plain(indices, lam, Normalization::orthonormal);
      const TensorBasis weighted(indices, lam, Normalization::orthonormal, of_each_input());
      const Matrix x = check::uniform(300, 4, -1, 1);
      const Samples samples(check::view(x));
      const Index n = weighted.n_terms();
      Matrix expected(300, n);
      Matrix g(300, n);
      evaluate_terms(plain, samples, check::view(expected), Control(1));
      evaluate_terms(weighted, samples, check::view(g), Control(2));
      for (Index l = 0; l < n; ++l) {
        const std::vector<std::int32_t> k = indices.exponents(l);
        double weight = 1;
        for (Index t = 0; t < 4; ++t)
          weight *= std::sqrt(of_each_input().squared_weights(t, k[size_of(t)])[size_of(k[size_of(t)])]);
        CHECK((g.col(l) - weight * expected.col(l)).cwiseAbs().maxCoeff() <=
              1e-13 * weight * expected.col(l).cwiseAbs().maxCoeff());
        if (kind == IndexSet::largest_weight) CHECK(k[2] == 0);
      }
      const Matrix none(300, 0);
      const Design design{weighted, samples, nullptr, check::view(none)};
      Matrix by_features = Matrix::Zero(n, n);
      accumulate_gram(design, by_features, Control(1));
      const auto& plan = weighted.plan<MomentPlan>();
      std::vector<double> moments(size_of(plan.size(0)), 0.0);
      plan.accumulate(design, moments.data(), Control(1));
      Matrix by_moments = Matrix::Zero(n, n);
      plan.assemble(moments.data(), by_moments, Control(1));
      double bounds = 0;
      for (Index b = 0; b < n; ++b) {
        bounds += by_features(b, b);
        for (Index a = b; a < n; ++a) {
          const double size = std::sqrt(by_features(a, a) * by_features(b, b));
          CHECK(std::abs(by_moments(a, b) - by_features(a, b)) <= 1e-12 * size);
          CHECK_NEAR(by_features(a, b), g.col(a).dot(g.col(b)), 1e-12 * size);
        }
      }
      CHECK(300 * plan.squared_bounds() >= bounds);
    }
  }
}

void test_refusals() {
  CHECK_THROWS(Spectrum(2, {}), std::invalid_argument, "at least one component");
  CHECK_THROWS(Spectrum(0, {{Kind::power, 1.0, {1.0}}}), std::invalid_argument, "n_features");
  CHECK_THROWS(Spectrum(2, {{Kind::power, -1.0, {1.0}}}), std::invalid_argument, "`smoothness` (s)");
  CHECK_THROWS(Spectrum(2, {{Kind::geometric, 1.0, {1.0}}}), std::invalid_argument, "`ratio` (r)");
  CHECK_THROWS(Spectrum(2, {{Kind::gegenbauer, -0.5, {1.0}}}), std::invalid_argument, "lam");
  CHECK_THROWS(Spectrum(2, {{Kind::power, 1.0, {1.0, -1.0}}}), std::invalid_argument, "`interaction` (q)");
  CHECK_THROWS(Spectrum(2, {{Kind::power, 1.0, {1.0, std::nan("")}}}), std::invalid_argument, "`interaction` (q)");
  CHECK_THROWS(Spectrum(2, {{Kind::power, 1.0, {1.0, 1.0, 1.0}}}), std::invalid_argument, "one an input (2), got 3");
}

}  // namespace

int main() {
  test_weights();
  test_raw_polynomials();
  test_groups();
  test_features_and_moments();
  test_refusals();
  return check::report("spectrum");
}
