// Gram matrices from moments against those from features.
#include "check.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/moments.hpp"
#include "gegenbauer/normal_equations.hpp"

using namespace gegenbauer;

namespace {

struct Case {
  Index n_samples, n_inputs, n_terms, n_targets;
  IndexSet kind;
  double lam;
  Normalization normalization;
  double low;
};

const Case kCases[] = {
    {1, 1, 1, 0, IndexSet::total_degree, 0.05, Normalization::raw, 0},
    {500, 1, 60, 2, IndexSet::total_degree, 0.05, Normalization::raw, -1},
    {700, 2, 105, 1, IndexSet::total_degree, 0.05, Normalization::raw, 0},
    {300, 3, 100, 3, IndexSet::total_degree, 0.5, Normalization::raw, -1},
    {300, 4, 90, 1, IndexSet::total_degree, 2.0, Normalization::orthonormal, -1},
    {300, 5, 140, 1, IndexSet::hyperbolic_cross, 0.05, Normalization::orthonormal, -1},
    {200, 3, 60, 2, IndexSet::tensor, 0.0, Normalization::raw, 0},
    {200, 4, 120, 1, IndexSet::largest_weight, 0.0, Normalization::orthonormal, -1},
    {150, 7, 200, 1, IndexSet::total_degree, 5.0, Normalization::raw, 0},
    {9000, 2, 30, 1, IndexSet::total_degree, -0.2, Normalization::raw, -1},
};

IndexSetSpec spec_of(const Case& c) {
  IndexSetSpec spec;
  spec.n_inputs = c.n_inputs;
  spec.n_terms = c.n_terms;
  spec.kind = c.kind;
  spec.spectrum = Spectrum(c.n_inputs, {{SpectrumComponent::Kind::power, 1.0, {0.2}}});
  return spec;
}

void test_gram() {
  for (const Case& c : kCases) {
    const TensorBasis basis(spec_of(c), c.lam, c.normalization);
    const Matrix x = check::uniform(c.n_samples, c.n_inputs, c.low, 1);
    const Matrix y = check::uniform(c.n_samples, c.n_targets, -1, 1, 2);
    const Matrix scale = check::uniform(c.n_samples, 1, 0, 2, 3);
    const Samples samples(check::view(x));
    const Index n = basis.n_terms() + c.n_targets;
    const MomentPlan& plan = basis.plan<MomentPlan>();
    for (const bool scaled : {false, true}) {
      const Design design{basis, samples, scaled ? scale.data() : nullptr, check::view(y)};
      Matrix expected = Matrix::Zero(n, n);
      accumulate_gram(design, expected, Control(1));
      std::vector<double> moments(static_cast<std::size_t>(plan.size(c.n_targets)), 0.0);
      plan.accumulate(design, moments.data(), Control(1));
      Matrix gram = Matrix::Zero(n, n);
      plan.assemble(moments.data(), gram, Control(1));
      double worst = 0;
      for (Index b = 0; b < n; ++b)
        for (Index a = b; a < n; ++a)
          worst = std::max(worst,
                           std::abs(gram(a, b) - expected(a, b)) / std::sqrt(expected(a, a) * expected(b, b) + 1e-300));
      CHECK(worst <= 1e-12);
      if (worst > 1e-12) std::cerr << "m " << c.n_inputs << " L " << c.n_terms << " worst " << worst << "\n";
      std::vector<double> threaded(moments.size(), 0.0);
      plan.accumulate(design, threaded.data(), Control(3));
      CHECK(threaded == moments);
      Matrix again = Matrix::Zero(n, n);
      plan.assemble(threaded.data(), again, Control(3));
      CHECK((again.array() == gram.array()).all());
    }
  }
}

// g(x)'M g(x) by its coefficients against the same from the features
void test_forms() {
  for (const Case& c : kCases) {
    const TensorBasis basis(spec_of(c), c.lam, c.normalization);
    const Matrix x = check::uniform(c.n_samples, c.n_inputs, c.low, 1);
    const Samples samples(check::view(x));
    const MomentPlan& plan = basis.plan<MomentPlan>();
    const Index n = basis.n_terms();
    Matrix g(c.n_samples, n);
    evaluate_terms(basis, samples, view(g), Control(1));
    constexpr Index n_forms = 3;
    Matrix expected(c.n_samples, n_forms);
    Matrix bound(c.n_samples, n_forms);
    Matrix coefficients(plan.size(0), n_forms);
    for (Index f = 0; f < n_forms; ++f) {
      const Matrix half = check::uniform(n, n, -1, 1, 10U + static_cast<unsigned>(f));
      Matrix form = half + half.transpose();
      expected.col(f) = ((g * form).array() * g.array()).rowwise().sum();
      bound.col(f) = ((g.cwiseAbs() * form.cwiseAbs()).array() * g.cwiseAbs().array()).rowwise().sum();
      Matrix again = form;
      plan.form_coefficients(form, &coefficients(0, f), Control(1));
      std::vector<double> threaded(static_cast<std::size_t>(plan.size(0)), 0.0);
      plan.form_coefficients(again, threaded.data(), Control(3));
      CHECK(std::equal(threaded.begin(), threaded.end(), &coefficients(0, f)));
    }
    Matrix values(c.n_samples, n_forms);
    plan.evaluate_forms(samples, coefficients.data(), view(values), Control(1));
    // a coefficient is a sum over all pairs of terms, so rounding is relative to the largest value on the domain
    const double worst =
        ((values - expected).cwiseAbs().colwise().maxCoeff().array() / bound.colwise().maxCoeff().array()).maxCoeff();
    CHECK(worst <= 1e-12);
    if (worst > 1e-12) std::cerr << "forms: m " << c.n_inputs << " L " << n << " worst " << worst << "\n";
    Matrix threaded(c.n_samples, n_forms);
    plan.evaluate_forms(samples, coefficients.data(), view(threaded), Control(3));
    CHECK((threaded.array() == values.array()).all());
  }
}

// the statistic of mapped samples from that of the samples
void test_substitution() {
  for (const Case& c : kCases) {
    const TensorBasis basis(spec_of(c), c.lam, c.normalization);
    const MomentPlan& plan = basis.plan<MomentPlan>();
    const Matrix x = check::uniform(c.n_samples, c.n_inputs, -1, 1);
    const Matrix y = check::uniform(c.n_samples, c.n_targets, -1, 1, 2);
    std::vector<Substitution> maps;
    Matrix mapped = x;
    for (Index t = 0; t < c.n_inputs; ++t) {
      const double scale = t % 3 == 2 ? 0.0 : t % 3 == 1 ? 0.4 : 0.85;
      const double shift = (t % 2 == 0 ? 0.9 : -0.9) * (1.0 - scale);  // stays within [-1, 1]
      maps.push_back(t == 4 ? Substitution{} : Substitution{scale, shift});
      mapped.col(t) = maps.back().scale * x.col(t).array() + maps.back().shift;
    }
    const auto statistic = [&](const Matrix& rows) {
      const Samples samples(check::view(rows));
      std::vector<double> sums(static_cast<std::size_t>(plan.size(c.n_targets)), 0.0);
      plan.accumulate({basis, samples, nullptr, check::view(y)}, sums.data(), Control(1));
      return sums;
    };
    const std::vector<double> expected = statistic(mapped);
    std::vector<double> got = statistic(x);
    plan.substitute(got.data(), c.n_targets, maps);
    double worst = 0.0;
    for (std::size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(got[i] - expected[i]));
    CHECK(worst <= 1e-13 * static_cast<double>(c.n_samples));
    if (worst > 1e-13 * static_cast<double>(c.n_samples)) std::cerr << "m " << c.n_inputs << " worst " << worst << "\n";
    CHECK_THROWS(plan.substitute(got.data(), c.n_targets, std::vector<Substitution>(maps.size() + 1)),
                 std::invalid_argument, "one map for each input");
  }
}

// the statistic of raised targets from that of the targets
void test_targets() {
  for (const Case& c : kCases) {
    const TensorBasis basis(spec_of(c), c.lam, c.normalization);
    const MomentPlan& plan = basis.plan<MomentPlan>();
    const Matrix x = check::uniform(c.n_samples, c.n_inputs, -1, 1);
    const Matrix y = check::uniform(c.n_samples, c.n_targets, -1, 1, 2);
    std::vector<double> shifts;
    Matrix raised = y;
    for (Index k = 0; k < c.n_targets; ++k) {
      shifts.push_back(0.75 - static_cast<double>(k));
      raised.col(k).array() += shifts.back();
    }
    const Samples samples(check::view(x));
    const auto statistic = [&](const Matrix& targets) {
      std::vector<double> sums(static_cast<std::size_t>(plan.size(c.n_targets)), 0.0);
      plan.accumulate({basis, samples, nullptr, check::view(targets)}, sums.data(), Control(1));
      return sums;
    };
    const std::vector<double> expected = statistic(raised);
    std::vector<double> got = statistic(y);
    plan.shift_targets(got.data(), shifts);
    double worst = 0.0;
    for (std::size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(got[i] - expected[i]));
    CHECK(worst <= 1e-13 * static_cast<double>(c.n_samples));
  }
}

// The sums of many samples at once, from a grid, are those of few at a time, from the staircase.
void test_grid() {
  const Case cases[] = {
      {20'000, 1, 90, 2, IndexSet::total_degree, 0.5, Normalization::raw, -1},
      {20'000, 2, 861, 1, IndexSet::total_degree, 0.5, Normalization::raw, 0},
      {20'000, 2, 1600, 1, IndexSet::tensor, 0.0, Normalization::orthonormal, -1},
      {20'000, 3, 6859, 1, IndexSet::tensor, 0.0, Normalization::orthonormal, -1},
  };
  constexpr Index few = 10;
  for (const Case& c : cases) {
    const TensorBasis basis(spec_of(c), c.lam, c.normalization);
    const MomentPlan& plan = basis.plan<MomentPlan>();
    const auto k = static_cast<double>(c.n_targets);
    CHECK(plan.sums_cost(20'000, k) / 20'000 < 0.9 * plan.sums_cost(few, k) / few);
    const Matrix x = check::uniform(c.n_samples, c.n_inputs, c.low, 1);
    const Matrix y = check::uniform(c.n_samples, c.n_targets, -1, 1, 2);
    const Matrix scale = check::uniform(c.n_samples, 1, 0, 2, 3);
    const auto add = [&](const Matrix& inputs, Index first, Index count, std::vector<double>& sums, int n_threads) {
      const Samples samples = Samples(check::view(inputs)).slice(first, count);
      StridedView<const double> targets = check::view(y);
      targets.data += first;
      targets.rows = count;
      plan.accumulate({basis, samples, scale.data() + first, targets}, sums.data(), Control(n_threads));
    };
    const auto size = static_cast<std::size_t>(plan.size(c.n_targets));
    std::vector<double> whole(size, 0.0), threaded(size, 0.0), parts(size, 0.0);
    add(x, 0, c.n_samples, whole, 1);
    add(x, 0, c.n_samples, threaded, 3);
    CHECK(whole == threaded);
    for (Index first = 0; first < c.n_samples; first += few) add(x, first, few, parts, 1);
    double worst = 0.0;
    for (std::size_t i = 0; i < size; ++i) worst = std::max(worst, std::abs(whole[i] - parts[i]));
    CHECK(worst <= 1e-14 * static_cast<double>(c.n_samples));
    if (c.n_inputs > 2) continue;
    // one sample outside: all sums come from the staircase, whose polynomials grow there
    Matrix outside = x;
    outside(77, c.n_inputs - 1) = 1.0 + 1e-6;
    std::vector<double> with_it(size, 0.0), in_parts(size, 0.0);
    add(outside, 0, c.n_samples, with_it, 2);
    for (Index first = 0; first < c.n_samples; first += few) add(outside, first, few, in_parts, 1);
    worst = 0.0;
    for (std::size_t i = 0; i < size; ++i) worst = std::max(worst, std::abs(with_it[i] - in_parts[i]));
    CHECK(worst <= 1e-14 * static_cast<double>(c.n_samples));
  }
}

}  // namespace

int main() {
  test_gram();
  test_grid();
  test_substitution();
  test_targets();
  test_forms();
  return check::report("moments");
}
