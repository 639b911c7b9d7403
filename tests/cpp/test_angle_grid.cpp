// Sums over the nodes around a sample, against loops over all of them.
#include <cmath>
#include <numbers>

#include "check.hpp"
#include "gegenbauer/angle_grid.hpp"
#include "gegenbauer/error.hpp"

using namespace gegenbauer;

namespace {

// The place of x among the nodes, as the header has it: the node below it, and v.
std::pair<Index, double> place(double x, Index steps) {
  const double angle = std::acos(x) / std::numbers::pi * static_cast<double>(steps);
  const Index below = std::min(steps - 1, static_cast<Index>(angle));
  return {below, 2.0 * (angle - static_cast<double>(below)) - 1.0};
}

double weight(const Matrix& window, Index tap, double v) {
  double sum = 0.0;
  for (Index k = window.rows(); k-- > 0;) sum = sum * v + window(k, tap);
  return sum;
}

void test_sums() {
  const std::vector<std::vector<Index>> grids = {{14}, {31}, {14, 20}, {15, 14, 16}};
  for (const std::vector<Index>& steps : grids) {
    const auto m = static_cast<Index>(steps.size());
    Index n_nodes = 1;
    for (const Index n : steps) n_nodes *= n + 1 + 2 * kAngleMargin;
    const Matrix values = check::uniform(n_nodes, 21, -1, 1, 2);
    const Matrix window = check::uniform(4, kAngleTaps, -1, 1, 3);
    Matrix x = check::uniform(40, m, -1, 1, 4);
    const Matrix& inputs = x;
    for (Index t = 0; t < m; ++t) {
      x(0, t) = -1.0;
      x(1, t) = 1.0;
      x(2, t) = 0.0;
    }
    const AngleGrid grid(steps, check::view(values), check::view(window));
    CHECK(grid.n_functions() == 21);
    Matrix found(x.rows(), 21);
    grid.evaluate(Samples(check::view(inputs)), check::view(found), Control(1));
    Index n_around = 1;
    for (Index t = 0; t < m; ++t) n_around *= kAngleTaps;
    for (Index s = 0; s < x.rows(); ++s) {
      Vector sum = Vector::Zero(21);
      for (Index i = 0; i < n_around; ++i) {  // the taps are the digits of i, the last input lowest
        Index node = 0, stride = 1, rest = i;
        double product = 1.0;
        for (Index t = m; t-- > 0; rest /= kAngleTaps) {
          const auto [below, v] = place(x(s, t), steps[static_cast<std::size_t>(t)]);
          node += (below + rest % kAngleTaps) * stride;
          product *= weight(window, rest % kAngleTaps, v);
          stride *= steps[static_cast<std::size_t>(t)] + 1 + 2 * kAngleMargin;
        }
        sum += product * values.row(node).transpose();
      }
      CHECK((found.row(s).transpose() - sum).cwiseAbs().maxCoeff() <= 1e-10 * std::max(1.0, sum.cwiseAbs().maxCoeff()));
    }
    x.row(0).setConstant(-1.0 - 1e-12);
    x.row(1).setConstant(1.0 + 1e-12);
    Matrix same(x.rows(), 21);
    grid.evaluate(Samples(check::view(inputs)), check::view(same), Control(1));
    CHECK((same - found).isZero(0.0));
  }
}

void test_threads() {
  const Matrix values = check::uniform(30 * 40, 5, -1, 1, 2);
  const Matrix window = check::uniform(3, kAngleTaps, -1, 1, 3);
  const AngleGrid grid({29 - 2 * kAngleMargin, 39 - 2 * kAngleMargin}, check::view(values), check::view(window));
  const Matrix x = check::uniform(70'000, 2, -1, 1, 4);
  Matrix one(x.rows(), 5), three(x.rows(), 5);
  grid.evaluate(Samples(check::view(x)), check::view(one), Control(1));
  grid.evaluate(Samples(check::view(x)), check::view(three), Control(3));
  CHECK((one - three).isZero(0.0));
}

void test_refusals() {
  const Matrix values = check::uniform(5 + 2 * kAngleMargin, 2, 0, 1);
  const Matrix window = check::uniform(2, kAngleTaps, 0, 1);
  const AngleGrid grid({4}, check::view(values), check::view(window));
  Matrix out(3, 2);
  CHECK_THROWS(grid.evaluate(Samples(check::view(check::uniform(3, 2, 0, 1))), check::view(out), Control(1)),
               std::invalid_argument, "X must have 1 columns");
  CHECK_THROWS(grid.evaluate(Samples(check::view(check::uniform(4, 1, 0, 1))), check::view(out), Control(1)),
               std::invalid_argument, "values must have shape (4, 2)");
  CHECK_THROWS(AngleGrid({5}, check::view(values), check::view(window)), std::invalid_argument, "one a node");
  CHECK_THROWS(AngleGrid({0}, check::view(values), check::view(window)), std::invalid_argument, "steps");
  const Matrix narrow = check::uniform(2, 3, 0, 1);
  CHECK_THROWS(AngleGrid({4}, check::view(values), check::view(narrow)), std::invalid_argument, "columns");
}

}  // namespace

int main() {
  test_sums();
  test_threads();
  test_refusals();
  return check::report("angle_grid");
}
