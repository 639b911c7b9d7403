// Values of the recurrence, raw and orthonormal, and its refusals.
#include "check.hpp"
#include "gegenbauer/polynomial.hpp"

using namespace gegenbauer;

namespace {

std::vector<double> values(double lam, Index degree, double x, Normalization normalization = Normalization::raw,
                           std::optional<PowerSpectrum> spectrum = std::nullopt) {
  std::vector<double> out(static_cast<std::size_t>(degree) + 1);
  Recurrence(lam, degree, normalization, spectrum).evaluate(&x, 1, out.data(), 1);
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
          const double x = std::cos(M_PI * (static_cast<double>(i) + 0.5) / points);
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

void test_spectrum_scales_each_degree() {
  const PowerSpectrum spectrum{0.3, 1.5};
  const std::vector<double> plain = values(0.05, 12, 0.4, Normalization::orthonormal);
  const std::vector<double> weighted = values(0.05, 12, 0.4, Normalization::orthonormal, spectrum);
  for (std::size_t n = 1; n <= 12; ++n)
    CHECK_NEAR(weighted[n], plain[n] * std::sqrt(0.3) * std::pow(static_cast<double>(n), -1.5), 1e-15);
}

void test_refusals() {
  CHECK_THROWS(Recurrence(-0.5, 3, Normalization::raw), std::invalid_argument, "lam");
  CHECK_THROWS(Recurrence(std::nan(""), 3, Normalization::raw), std::invalid_argument, "lam");
  CHECK_THROWS(Recurrence(0.05, -1, Normalization::raw), std::invalid_argument, "degree");
  CHECK_THROWS(Recurrence(1e6, 500, Normalization::raw), std::invalid_argument, "float64");
  CHECK_THROWS(values(0.05, 3, 0.1, Normalization::orthonormal, PowerSpectrum{0.0, 1.0}), std::invalid_argument, "q");
}

}  // namespace

int main() {
  test_values();
  test_limit_at_zero();
  test_orthonormal();
  test_spectrum_scales_each_degree();
  test_refusals();
  return check::report("polynomial");
}
