#pragma once
/// Products with G by halves of the inputs. A term is a function P_a of the left inputs times a function Q_b of the
/// right ones, so with few inputs
///     (G W)(x) = sum_a P_a(x) sum_b Q_b(x) W_ab,   (G'R)_ab = sum_s P_a(x_s) r_s Q_b(x_s)
/// are matrix products of two small tables: 2 L flops a sample and output at the speed of such a product, while one
/// term after another costs a multiplication, loads and a store each.

#include "gegenbauer/design.hpp"
#include "gegenbauer/halves.hpp"
#include "gegenbauer/parallel.hpp"
#include "gegenbauer/staircase.hpp"
#include "gegenbauer/tensor_basis.hpp"

namespace gegenbauer {

/// Samples from which on making the tables' plan is worth its while.
inline constexpr Index kManySamples = 512;

/// Kept with a basis as basis.plan<HalfTables>().
class HalfTables {
 public:
  explicit HalfTables(const TensorBasis& basis);
  HalfTables(const HalfTables&) = delete;
  HalfTables& operator=(const HalfTables&) = delete;

  /// Whether these products are expected to cost less than those term by term.
  [[nodiscard]] bool pay(Index n_outputs) const;

  /// Pairs of left parts and of right parts: what a plan for their products has to hold.
  [[nodiscard]] double n_pairs() const {
    const auto left = static_cast<double>(left_.n_terms());
    const auto right = static_cast<double>(right_.n_terms());
    return left * left + right * right;
  }

  /// out = G weights; shapes as for predict().
  void predict(const Samples& samples, StridedView<const double> weights, StridedView<double> out,
               const Control& control) const;

  /// cross += Y'G; shapes as for accumulate_cross().
  void accumulate_cross(const Design& design, MatrixRef cross, const Control& control) const;

 private:
  // Left functions in groups of kColumns, by falling number of right functions that they meet.
  struct Group {
    std::int32_t function[kColumns];
    std::int32_t depth;  // right functions
    Index start;         // of the packed weights, in units of kColumns
  };

  explicit HalfTables(const TensorBasis& basis, const Halves& halves);

  TensorBasis left_;
  TensorBasis right_;
  Index right_input_;
  Index n_terms_;
  std::vector<std::int32_t> need_;     // right functions that each left function meets, as a prefix
  std::vector<std::int32_t> left_of_;  // of each term
  std::vector<std::int32_t> right_of_;
  std::vector<Group> groups_;
  std::vector<Index> place_;  // of each term among the packed weights
  Index packed_size_ = 0;
};

}  // namespace gegenbauer
