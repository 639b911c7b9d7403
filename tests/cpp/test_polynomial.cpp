// Values of the recurrence, raw and orthonormal, and its refusals.
#include <numbers>

#include "check.hpp"
#include "gegenbauer/polynomial.hpp"

using namespace gegenbauer;

namespace {

std::vector<double> values(double lam, Index degree, double x, Normalization normalization = Normalization::raw,
                           const std::vector<double>& weights = {}) {
  std::vector<double> out(static_cast<std::size_t>(degree) + 1);
  Recurrence(lam, degree, normalization, weights).evaluate(&x, 1, out.data(), 1);
  return out;
}

void test_values() {
  const std::vector<double> expected{1, 0.03, -0.04055, -0.0276255, 0.00865008375, 0.0213317507025};
  const std::vector<double> got = values(0.05, 5, 0.3);
  for (std::size_t n = 0; n < expected.size(); ++n) CHECK_NEAR(got[n], expected[n], 1e-16);
  const std::vector<double> at_one{1, 5, 15, 35, 70, 126};
  const std::vector<double> high = values(2.5, 5, 1.0);
  for (std::size_t n = 0; n < at_one.size(); ++n) CHECK_NEAR(high[n], at_one[n], 1e-12);
  CHECK_NEAR(values(1.0, 30, 0.3)[30], 1.0480603783204168, 1e-13);
}

void test_limit_at_zero() {
  for (const double x : {-1.0, -0.3, 0.0, 0.7, 1.0}) {
    const std::vector<double> raw = values(0.0, 20, x);
    const std::vector<double> orthonormal = values(0.0, 20, x, Normalization::orthonormal);
    for (std::size_t n = 1; n <= 20; ++n) {
      const double chebyshev = std::cos(static_cast<double>(n) * std::acos(x));
      CHECK_NEAR(raw[n], 2.0 / static_cast<double>(n) * chebyshev, 1e-14);
      CHECK_NEAR(orthonormal[n], std::sqrt(2.0) * chebyshev, 1e-13);
    }
  }
}

// Chebyshev-Gauss quadrature integrates the products exactly for lam = 0; for lam = 1 with weights 1 - x^2.
void test_orthonormal() {
  constexpr Index points = 64;
  for (const double lam : {0.0, 1.0}) {
    for (Index a = 0; a <= 6; ++a) {
      for (Index b = 0; b <= a; ++b) {
        double sum = 0;
        double mass = 0;
        for (Index i = 0; i < points; ++i) {
          const double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) / points);
          const double weight = lam == 0.0 ? 1.0 : 1.0 - x * x;
          const std::vector<double> p = values(lam, 6, x, Normalization::orthonormal);
          sum += weight * p[static_cast<std::size_t>(a)] * p[static_cast<std::size_t>(b)];
          mass += weight;
        }
        CHECK_NEAR(sum / mass, a == b ? 1.0 : 0.0, 1e-13);
      }
    }
  }
}

void test_weights_scale_each_degree() {
  std::vector<double> weights{1.0};
  for (int n = 1; n <= 12; ++n) weights.push_back(n <= 9 ? std::sqrt(0.3) * std::pow(n, -1.5) : 0.0);
  for (const auto normalization : {Normalization::orthonormal, Normalization::raw}) {
    for (const double lam : {0.0, 0.05}) {
      const std::vector<double> plain = values(lam, 12, 0.4, normalization);
      const std::vector<double> weighted = values(lam, 12, 0.4, normalization, weights);
      for (std::size_t n = 1; n <= 12; ++n) CHECK_NEAR(weighted[n], plain[n] * weights[n], 1e-15);
    }
  }
}

// Inputs of equal weights share a recurrence, which goes up to the largest of their degrees.
void test_recurrences_of_inputs() {
  const Spectrum spectrum(4, {{SpectrumComponent::Kind::power, 1.0, {0.5, 0.2, 0.5, 0.0}}});
  const Recurrences all(0.3, {2, 5, 4, 3}, Normalization::orthonormal, spectrum);
  CHECK(&all[0] == &all[2]);
  CHECK(all[0].degree() == 4 && all[1].degree() == 5 && all[3].degree() == 3);
  const double x = 0.7;
  for (const Index t : {0, 1, 3}) {
    std::vector<double> got(static_cast<std::size_t>(all[t].degree()) + 1);
    all[t].evaluate(&x, 1, got.data(), 1);
    const std::vector<double> plain = values(0.3, all[t].degree(), x, Normalization::orthonormal);
    const double q = spectrum.interaction(0, t);
    for (std::size_t n = 1; n < got.size(); ++n)
      CHECK_NEAR(got[n], plain[n] * std::sqrt(q) / static_cast<double>(n), 1e-15);
  }
  CHECK_THROWS(Recurrences(0.3, {1, 2}, Normalization::orthonormal, spectrum), std::invalid_argument,
               "4 inputs, not 2");
}

// p_n(a x + b) as a sum over lower polynomials, also of a constant map and with a weight of zero
void test_substituted() {
  for (const double lam : {-0.3, 0.0, 0.05, 0.5, 3.0}) {
    for (const Normalization normalization :
         {Normalization::raw, Normalization::chebyshev, Normalization::orthonormal}) {
      const Recurrence p(lam, 40, normalization);
      for (const Substitution map : {Substitution{}, {0.5, 0.5}, {0.01, -0.99}, {0.0, 0.3}, {0.7, -0.1}}) {
        const Matrix c = p.substituted(map);
        for (const double x : {-1.0, -0.37, 0.0, 0.6, 1.0}) {
          std::vector<double> at_x(41);
          std::vector<double> at_map(41);
          const double mapped = map.scale * x + map.shift;
          p.evaluate(&x, 1, at_x.data(), 1);
          p.evaluate(&mapped, 1, at_map.data(), 1);
          for (Index n = 0; n <= 40; ++n) {
            double sum = 0.0;
            for (Index j = 0; j <= n; ++j) sum += c(n, j) * at_x[static_cast<std::size_t>(j)];
            CHECK(std::abs(sum - at_map[static_cast<std::size_t>(n)]) <= 2e-12 * p.bound(n));
          }
        }
      }
      CHECK(p.substituted({}).isIdentity(1e-13));
    }
  }
  const Recurrence idle(0.0, 2, Normalization::orthonormal, {1.0, 0.0, 0.0});
  CHECK(idle.substituted({0.5, 0.5}).row(2).isZero(0.0));
}

// The nodes of Chebyshev's rule have the recurrence of Chebyshev's polynomials, and no more of them than nodes.
void test_recurrence_of_a_distribution() {
  constexpr Index n = 9;
  Vector x(n);
  for (Index i = 0; i < n; ++i) x(i) = std::cos((static_cast<double>(i) + 0.5) * std::acos(-1.0) / n);
  const Matrix found = orthonormal_recurrence(x, Vector::Constant(n, 3.0), 20, 1e-13);
  CHECK(found.rows() == n && found.cols() == 2);
  CHECK(found.col(0).isZero(1e-14));
  CHECK(std::abs(found(0, 1) - std::sqrt(0.5)) < 1e-15);
  for (Index k = 1; k < n - 1; ++k) CHECK(std::abs(found(k, 1) - 0.5) < 1e-14);
  CHECK(found(n - 1, 1) < 1e-13);
  CHECK(orthonormal_recurrence(x, Vector::Constant(n, 3.0), 4, 1e-13).isApprox(found.topRows(4), 1e-15));
  CHECK_THROWS(orthonormal_recurrence(x, Vector::Ones(2), 4, 1e-13), std::invalid_argument, "as many weights");
}

void test_refusals() {
  CHECK_THROWS(Recurrence(-0.5, 3, Normalization::raw), std::invalid_argument, "lam");
  CHECK_THROWS(Recurrence(std::nan(""), 3, Normalization::raw), std::invalid_argument, "lam");
  CHECK_THROWS(Recurrence(0.05, -1, Normalization::raw), std::invalid_argument, "degree");
  CHECK_THROWS(Recurrence(1e6, 500, Normalization::raw), std::invalid_argument, "float64");
  CHECK_THROWS(values(0.05, 3, 0.1, Normalization::orthonormal, {1.0, 1.0}), std::invalid_argument, "4 entries, got 2");
}

}  // namespace

int main() {
  test_values();
  test_limit_at_zero();
  test_orthonormal();
  test_weights_scale_each_degree();
  test_recurrences_of_inputs();
  test_substituted();
  test_recurrence_of_a_distribution();
  test_refusals();
  return check::report("polynomial");
}
