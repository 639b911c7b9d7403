// G W and Y'G against the features themselves, for all kinds of index sets and numbers of outputs.
#include "check.hpp"
#include "gegenbauer/depth_first.hpp"
#include "gegenbauer/normal_equations.hpp"
#include "gegenbauer/predict.hpp"
#include "gegenbauer/tiles.hpp"

using namespace gegenbauer;

namespace {

void test_order(const TensorBasis& basis) {
  const auto& terms = basis.plan<DepthFirst>();
  std::vector<Index> place(static_cast<std::size_t>(basis.n_terms()), -1);
  for (std::size_t i = 0; i < terms.order().size(); ++i)
    place[static_cast<std::size_t>(terms.order()[i])] = static_cast<Index>(i);
  CHECK(static_cast<Index>(terms.order().size()) == basis.n_terms() && terms.order().front() == 0);
  for (Index l = 1; l < basis.n_terms(); ++l)
    CHECK(place[static_cast<std::size_t>(basis.parents()[l])] < place[static_cast<std::size_t>(l)]);
  CHECK(terms.n_slots() <= basis.n_inputs() + 1);
}

void test_products(const Design& design, const Matrix& weights) {
  const Index n_samples = design.samples.rows();
  const Index n_targets = design.targets.cols;
  Matrix features(n_samples, design.basis.n_terms());
  evaluate_terms(design.basis, design.samples, check::view(features), Control(1));
  const auto predicted = [&](int n_threads) {
    Matrix out(n_samples, n_targets);
    predict(design.basis, design.samples, check::view(weights), check::view(out), Control(n_threads));
    return out;
  };
  const Matrix out = predicted(1);
  const Matrix size = features.cwiseAbs() * weights.cwiseAbs();
  CHECK(((out - features * weights).array().abs() <= 1e-14 * size.array()).all());
  CHECK(predicted(3) == out);
  const auto crossed = [&](int n_threads) {
    Matrix cross = Matrix::Ones(n_targets, design.basis.n_terms());
    accumulate_cross(design, cross, Control(n_threads));
    return cross;
  };
  for (Index s = 0; s < n_samples && design.row_scale != nullptr; ++s) features.row(s) *= design.row_scale[s];
  Matrix targets(n_samples, n_targets);
  for (Index k = 0; k < n_targets; ++k)
    for (Index s = 0; s < n_samples; ++s) targets(s, k) = design.targets(s, k);
  const Matrix cross = crossed(1);
  const Matrix expected = Matrix::Ones(n_targets, features.cols()) + targets.transpose() * features;
  const Matrix scale = (targets.cwiseAbs().transpose() * features.cwiseAbs()).array() + 1.0;
  CHECK(((cross - expected).array().abs() <= 1e-14 * scale.array()).all());
  CHECK(crossed(3) == cross);
  double norm = -1.0;
  const auto left = [&](int n_threads) {
    Matrix product = Matrix::Ones(n_targets, design.basis.n_terms());
    norm = accumulate_residual_cross(design, weights, product, Control(n_threads));
    return product;
  };
  const Matrix residuals = targets - features * weights;
  const Matrix largest = targets.cwiseAbs() + features.cwiseAbs() * weights.cwiseAbs();
  const Matrix product = left(1);
  const double norm_of_one = norm;
  const Matrix error = product - Matrix::Ones(n_targets, features.cols()) - residuals.transpose() * features;
  const Matrix bound = (largest.transpose() * features.cwiseAbs()).array() + 1.0;
  CHECK((error.array().abs() <= 1e-14 * bound.array()).all());
  CHECK(std::abs(norm - residuals.norm()) <= 1e-14 * largest.norm());
  CHECK(left(3) == product && norm == norm_of_one);
}

// The targets lie sample by sample, as NumPy has them, beside others, or backwards
void test_layouts(const TensorBasis& basis, const Samples& samples, const double* scale, const Matrix& y,
                  const Matrix& weights) {
  const Index n_targets = y.cols();
  const Matrix across = y.transpose();
  test_products({basis, samples, scale, {across.data(), y.rows(), n_targets, n_targets, 1}}, weights);
  Matrix wide = Matrix::Constant(2 * n_targets + 1, y.rows(), 1e9);
  for (Index k = 0; k < n_targets; ++k) wide.row(2 * k) = y.col(k).transpose();
  test_products({basis, samples, scale, {wide.data(), y.rows(), n_targets, wide.rows(), 2}}, weights);
  const Matrix backwards = y.rowwise().reverse();
  const double* last = backwards.data() + (n_targets - 1) * y.rows();
  test_products({basis, samples, scale, {last, y.rows(), n_targets, 1, -y.rows()}}, weights);
}

// Many targets, and terms beyond the depth of one product. [G, Y]'G is that of the parts.
void test_many_targets() {
  IndexSetSpec spec;
  spec.n_inputs = 2;
  for (const Index n_terms : {5, 300}) {
    spec.n_terms = n_terms;
    const TensorBasis basis(spec, 0.05, Normalization::raw);
    for (const Index n_samples : {1, 37, 1100}) {
      const Matrix x = check::uniform(n_samples, 2, -1, 1, 1);
      const Matrix scale = check::uniform(n_samples, 1, 0, 2, 3);
      const Samples samples(check::view(x));
      for (const Index n_targets : {1, 8, 9, 19, 20, 24, 95, 96, 101, 200}) {
        const Matrix y = check::uniform(n_samples, n_targets, -1, 1, 2);
        const Matrix weights = check::uniform(n_terms, n_targets, -1, 1, 4);
        test_layouts(basis, samples, nullptr, y, weights);
        test_layouts(basis, samples, scale.data(), y, weights);
        Matrix both(n_samples, n_terms + n_targets);
        evaluate_terms(basis, samples, StridedView<double>{both.data(), n_samples, n_terms, 1, n_samples}, Control(1));
        both.leftCols(n_terms) = (scale.col(0).asDiagonal() * both.leftCols(n_terms)).eval();
        both.rightCols(n_targets) = y;
        const Matrix expected = both.transpose() * both;
        const Matrix size = both.cwiseAbs().transpose() * both.cwiseAbs();
        for (const Index n_cols : {n_terms, n_terms + n_targets}) {
          const auto gram = [&](int n_threads) {
            Matrix sum = Matrix::Zero(n_terms + n_targets, n_cols);
            accumulate_gram({basis, samples, scale.data(), check::view(y)}, sum, Control(n_threads));
            for (Index j = 0; j < n_cols; ++j) sum.col(j).head(j).setZero();
            return sum;
          };
          const Matrix sum = gram(1);
          bool right = true;
          for (Index j = 0; j < n_cols; ++j)
            for (Index i = j; i < sum.rows(); ++i)
              right = right && std::abs(sum(i, j) - expected(i, j)) <= 1e-14 * size(i, j);
          CHECK(right);
          CHECK(gram(3) == sum);
        }
      }
    }
  }
}

// Tiles are smaller where threads are many, which changes no bit.
void test_many_threads() {
  for (const Index n_panels : {1, 8, 39, 200}) {
    for (const int n_threads : {1, 2, 16, 64}) {
      const Index side = tile_side(n_panels, n_threads);
      CHECK(side >= 1 && side <= kTilePanels);
      const auto n_tiles = static_cast<Index>(triangle_tiles(0, n_panels, side).size());
      CHECK(side == 1 || n_tiles >= 4 * n_threads);
      CHECK(side == kTilePanels ||
            static_cast<double>(side + 1) > static_cast<double>(n_panels) / std::sqrt(8.0 * n_threads));
    }
  }
  IndexSetSpec spec;
  spec.n_inputs = 3;
  spec.n_terms = 300;
  spec.kind = IndexSet::total_degree;
  const TensorBasis basis(spec, 0.5, Normalization::orthonormal);
  const Matrix x = check::uniform(3000, 3, -1, 1, 1);
  const Matrix y = check::uniform(3000, 2, -1, 1, 2);
  const Matrix few = x.topRows(700);
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    const auto gram = [&](int n_threads) {
      Matrix sum = Matrix::Zero(302, 302);
      accumulate_gram({basis, Samples(check::view(x)), nullptr, check::view(y)}, sum, Control(n_threads), precision);
      return Matrix(sum.triangularView<Eigen::Lower>());
    };
    const auto kernel = [&](int n_threads) {
      Matrix sum = Matrix::Zero(700, 700);
      accumulate_kernel({basis, Samples(check::view(few)), nullptr, {}}, 0, sum, Control(n_threads), precision);
      return Matrix(sum.triangularView<Eigen::Lower>());
    };
    const Matrix sum = gram(1);
    const Matrix products = kernel(1);
    for (const int n_threads : {2, 9, 40}) {
      CHECK(gram(n_threads) == sum);
      CHECK(kernel(n_threads) == products);
    }
  }
}

}  // namespace

int main() {
  test_many_threads();
  for (const IndexSet kind :
       {IndexSet::total_degree, IndexSet::tensor, IndexSet::hyperbolic_cross, IndexSet::largest_weight}) {
    for (const Index n_inputs : {1, 2, 5}) {
      for (const Index n_terms : {1, 2, 60}) {
        IndexSetSpec spec;
        spec.n_inputs = n_inputs;
        spec.n_terms = n_terms;
        spec.kind = kind;
        std::vector<double> q;
        for (Index t = 0; t < n_inputs; ++t) q.push_back(0.2 / static_cast<double>(3 * t % 5 + 1));
        spec.spectrum = Spectrum(n_inputs, {{SpectrumComponent::Kind::power, 1.0, q}});
        const TensorBasis basis(spec, 0.05, Normalization::raw);
        test_order(basis);
        for (const Index n_samples : {1, 37, 5000}) {
          const Matrix x = check::uniform(n_samples, n_inputs, -1, 1, 1);
          const Matrix scale = check::uniform(n_samples, 1, 0, 2, 3);
          const Samples samples(check::view(x));
          for (const Index n_targets : {0, 1, 3, 4, 7, 9}) {
            const Matrix y = check::uniform(n_samples, n_targets, -1, 1, 2);
            const Matrix weights = check::uniform(basis.n_terms(), n_targets, -1, 1, 4);
            test_products({basis, samples, nullptr, check::view(y)}, weights);
            test_products({basis, samples, scale.data(), check::view(y)}, weights);
          }
        }
      }
    }
  }
  test_many_targets();
  return check::report("products");
}
