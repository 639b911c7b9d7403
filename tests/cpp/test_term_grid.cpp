// G W and G'R from a grid against sums over features that are held.
#include <algorithm>
#include <cmath>
#include <utility>

#include "check.hpp"
#include "gegenbauer/normal_equations.hpp"
#include "gegenbauer/predict.hpp"
#include "gegenbauer/term_grid.hpp"

using namespace gegenbauer;

namespace {

struct Case {
  Index n_samples, n_inputs, n_terms, n_outputs;
  IndexSet kind;
  double lam;
  Normalization normalization;
};

const Case kCases[] = {
    {3000, 1, 200, 1, IndexSet::total_degree, 0.5, Normalization::raw},
    {3000, 1, 300, 3, IndexSet::total_degree, 0.0, Normalization::orthonormal},
    {40'000, 2, 1128, 1, IndexSet::total_degree, 0.5, Normalization::orthonormal},
    {20'000, 2, 1600, 7, IndexSet::tensor, 0.05, Normalization::raw},
    {9000, 2, 1540, 2, IndexSet::total_degree, 1.0, Normalization::orthonormal},
    {4000, 3, 9261, 1, IndexSet::tensor, 0.0, Normalization::orthonormal},
};

TensorBasis basis_of(const Case& c) {
  IndexSetSpec spec;
  spec.n_inputs = c.n_inputs;
  spec.n_terms = c.n_terms;
  spec.kind = c.kind;
  return {spec, c.lam, c.normalization};
}

Matrix features(const TensorBasis& basis, const Samples& samples) {
  Matrix g(samples.rows(), basis.n_terms());
  evaluate_terms(basis, samples, check::view(g), Control(1));
  return g;
}

// The largest values of the terms, at the corner of the domain.
Matrix bounds(const TensorBasis& basis) {
  const Matrix corner = Matrix::Ones(1, basis.n_inputs());
  return features(basis, Samples(check::view(corner))).cwiseAbs();
}

void test_predictions(const Case& c) {
  const TensorBasis basis = basis_of(c);
  const Matrix x = check::uniform(c.n_samples, c.n_inputs, -1, 1);
  const Matrix weights = check::uniform(c.n_terms, c.n_outputs, -1, 1, 2);
  const Samples samples(check::view(x));
  Matrix out = Matrix::Constant(c.n_samples, c.n_outputs, 1e300);
  CHECK(predict_from_grid(basis, samples, check::view(weights), check::view(out), Control(1)));
  // of some samples, since features take memory
  const Index some = std::min<Index>(c.n_samples, 1500);
  const Matrix expected = features(basis, samples.slice(0, some)) * weights;
  const Matrix sizes = bounds(basis) * weights.cwiseAbs();
  for (Index k = 0; k < c.n_outputs; ++k) {
    const double off = (out.col(k).head(some) - expected.col(k)).cwiseAbs().maxCoeff();
    CHECK(off <= 1e-14 * sizes(0, k));
  }
  Matrix same(c.n_samples, c.n_outputs), by_default(c.n_samples, c.n_outputs);
  CHECK(predict_from_grid(basis, samples, check::view(weights), check::view(same), Control(3)));
  CHECK((same - out).isZero(0.0));
  predict(basis, samples, check::view(weights), check::view(by_default), Control(2));
  CHECK((by_default - out).isZero(0.0));
}

void test_sums(const Case& c) {
  const TensorBasis basis = basis_of(c);
  const Matrix x = check::uniform(c.n_samples, c.n_inputs, -1, 1);
  const Matrix r = check::uniform(c.n_samples, c.n_outputs, -1, 1, 2);
  const Matrix scale = check::uniform(c.n_samples, 1, 0, 2, 3);
  const Samples samples(check::view(x));
  for (const bool scaled : {false, true}) {
    const Design design{basis, samples, scaled ? scale.data() : nullptr, check::view(r)};
    Matrix cross = Matrix::Ones(c.n_outputs, c.n_terms);
    const bool done = accumulate_cross_on_grid(design, cross, Control(1));
    CHECK(done == (c.n_inputs < 3));  // whose 4096 nodes are more than these terms are worth
    if (!done) continue;
    Matrix expected = Matrix::Ones(c.n_outputs, c.n_terms);
    for (Index first = 0; first < c.n_samples; first += 1000) {
      const Index n = std::min<Index>(1000, c.n_samples - first);
      Matrix part = r.middleRows(first, n);
      if (scaled) part.array().colwise() *= scale.col(0).segment(first, n).array();
      expected += part.transpose() * features(basis, samples.slice(first, n));
    }
    const Matrix sizes = bounds(basis);
    const double of_targets = r.cwiseAbs().sum();
    for (Index l = 0; l < c.n_terms; ++l)
      CHECK((cross.col(l) - expected.col(l)).cwiseAbs().maxCoeff() <= 1e-15 * of_targets * sizes(0, l));
    Matrix same = Matrix::Ones(c.n_outputs, c.n_terms);
    CHECK(accumulate_cross_on_grid(design, same, Control(3)));
    CHECK((same - cross).isZero(0.0));
    Matrix by_default = Matrix::Ones(c.n_outputs, c.n_terms);
    accumulate_cross(design, by_default, Control(2));
    CHECK((by_default - cross).isZero(0.0));
  }
}

// A sample outside, or a box that lets them go there: features do it, and nothing is written before.
void test_outside() {
  const Case& c = kCases[2];
  const TensorBasis basis = basis_of(c);
  Matrix x = check::uniform(c.n_samples, 2, -1, 1);
  x(39'999, 1) = 1.001;
  const Matrix& inputs = x;
  const Samples samples(check::view(inputs));
  const Matrix weights = check::uniform(c.n_terms, 1, -1, 1, 2);
  const Matrix r = check::uniform(c.n_samples, 1, -1, 1, 3);
  Matrix out(c.n_samples, 1);
  CHECK(!predict_from_grid(basis, samples, check::view(weights), check::view(out), Control(1)));
  predict(basis, samples, check::view(weights), check::view(out), Control(2));
  const Matrix expected = features(basis, samples.slice(39'000, 1000)) * weights;
  const double size = (bounds(basis) * weights.cwiseAbs())(0, 0);
  CHECK((out.bottomRows(1000) - expected).cwiseAbs().maxCoeff() <= 1e-14 * size);
  const Design design{basis, samples, nullptr, check::view(r)};
  Matrix cross = Matrix::Zero(1, c.n_terms);
  CHECK(!accumulate_cross_on_grid(design, cross, Control(1)));
  CHECK(cross.isZero(0.0));
  BoxMap box{{-0.5, -0.5}, {1.0, 1.0}, {2.0, 2.0}, {-1.0, -1.0}, false};
  const Samples free(check::view(inputs), &box);
  CHECK(!predict_from_grid(basis, free, check::view(weights), check::view(out), Control(1)));
  box.clip = true;
  CHECK(predict_from_grid(basis, free, check::view(weights), check::view(out), Control(1)));
  const Matrix clipped = features(basis, free.slice(39'000, 1000)) * weights;
  CHECK((out.bottomRows(1000) - clipped).cwiseAbs().maxCoeff() <= 1e-14 * size);
}

// Where features cost less they are used: few samples, few terms, many inputs.
void test_small() {
  const Case cases[] = {
      {1000, 2, 1128, 1, IndexSet::total_degree, 0.5, Normalization::raw},
      {40'000, 2, 66, 1, IndexSet::total_degree, 0.5, Normalization::raw},
      {5000, 4, 1820, 1, IndexSet::total_degree, 0.5, Normalization::raw},
  };
  for (const Case& c : cases) {
    const TensorBasis basis = basis_of(c);
    const Matrix x = check::uniform(c.n_samples, c.n_inputs, -1, 1);
    const Matrix weights = check::uniform(c.n_terms, 1, -1, 1, 2);
    const Samples samples(check::view(x));
    Matrix out(c.n_samples, 1);
    CHECK(!predict_from_grid(basis, samples, check::view(weights), check::view(out), Control(1)));
    Matrix cross = Matrix::Zero(1, c.n_terms);
    CHECK(!accumulate_cross_on_grid({basis, samples, nullptr, check::view(std::as_const(out))}, cross, Control(1)));
  }
}

// Where a grid would take memory that nobody announced, features are used: many targets, many outputs.
void test_memory() {
  const Index n = 20'000;
  const TensorBasis basis = basis_of({n, 2, 2556, 64, IndexSet::total_degree, 0.5, Normalization::orthonormal});
  const Matrix x = check::uniform(n, 2, -1, 1);
  const Samples samples(check::view(x));
  const Matrix few = check::uniform(n, 64, -1, 1), many = check::uniform(n, 65, -1, 1);
  Matrix cross = Matrix::Zero(64, 2556), by_features = cross, of_many = Matrix::Zero(65, 2556);
  CHECK(accumulate_cross_on_grid({basis, samples, nullptr, check::view(few)}, cross, Control(1)));
  CHECK(!accumulate_cross_on_grid({basis, samples, nullptr, check::view(many)}, of_many, Control(1)));
  for (Index first = 0; first < n; first += 1000) {  // too few for a grid
    StridedView<const double> targets = check::view(few);
    targets.data += first;
    targets.rows = 1000;
    const Samples part = samples.slice(first, 1000);
    accumulate_cross({basis, part, nullptr, targets}, by_features, Control(1));
  }
  CHECK((cross - by_features).cwiseAbs().maxCoeff() <= 1e-15 * n * bounds(basis).maxCoeff());
  const Matrix weights = check::uniform(2556, 700, -1, 1);
  Matrix out(n, 700);
  CHECK(!predict_from_grid(basis, samples, check::view(weights), check::view(out), Control(1)));
}

}  // namespace

int main() {
  for (const Case& c : kCases) {
    test_predictions(c);
    test_sums(c);
  }
  test_outside();
  test_small();
  test_memory();
  return check::report("term_grid");
}
