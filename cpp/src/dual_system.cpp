#include "gegenbauer/dual_system.hpp"

#include <utility>

namespace gegenbauer {

DualSystem::DualSystem(const ConstMatrixRef& factor, Vector border, const Control& control)
    : factor_(factor), control_(control), border_(std::move(border)), inverse_border_(border_) {
  if (border_.size() > 0) solve_factored(factor_, inverse_border_, control_);
}

void DualSystem::solve(Matrix& right) const {
  const Index n = factor_.rows();
  solve_factored(factor_, right.topRows(n), control_);
  if (border_.size() == 0) return;
  const Matrix shift =
      (border_.transpose() * right.topRows(n) - right.bottomRows(1)) / border_.dot(inverse_border_.col(0));
  right.topRows(n) -= inverse_border_ * shift;
  right.bottomRows(1) = shift;
}

}  // namespace gegenbauer
