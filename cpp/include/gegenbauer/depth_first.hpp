#pragma once
/// The terms of a basis in depth-first order, for computations that use each value once, as it is found.
///
/// A term stays in registers for its children that have none themselves; the others find it in a slot, of which there
/// is one for each number of interacting inputs. So whatever the number of terms, the values that are kept lie in the
/// first-level cache.

#include <cstdint>
#include <vector>

#include "gegenbauer/packet.hpp"
#include "gegenbauer/tensor_basis.hpp"

namespace gegenbauer {

/// Kept with a basis as basis.plan<DepthFirst>(). Cost O(L).
class DepthFirst {
 public:
  explicit DepthFirst(const TensorBasis& basis);

  /// Term at each position of the order; the constant comes first.
  [[nodiscard]] const std::vector<std::int32_t>& order() const { return order_; }

  [[nodiscard]] Index n_slots() const { return n_slots_; }

  /// use(position, value) for every term in order, value being its packets for n_packets packets of samples, from table
  /// columns table[f * n_packets * kPacket + i]. slots: room for n_slots() * n_packets packets, aligned.
  template <int n_packets, class Use>
  EIGEN_ALWAYS_INLINE void visit(const double* table, double* slots, const Use& use) const {
    constexpr Index stride = Index{n_packets} * kPacket;
    const std::int32_t* leaf = leaf_factors_.data();
    Index position = 0;
    for (const Branch& branch : branches_) {
      Packet value[n_packets];
      if (branch.slot == 0) {
        for (int w = 0; w < n_packets; ++w) value[w] = packet::broadcast(1.0);
      } else {
        const double* parent = slots + (branch.slot - 1) * stride;
        const double* by = table + branch.factor * stride;
        for (int w = 0; w < n_packets; ++w)
          value[w] = packet::mul(packet::load(parent + w * kPacket), packet::load(by + w * kPacket));
      }
      for (int w = 0; w < n_packets; ++w) packet::store(slots + branch.slot * stride + w * kPacket, value[w]);
      use(position++, value);
      for (const std::int32_t* end = leaf + branch.n_leaves; leaf < end; ++leaf) {
        const double* by = table + *leaf * stride;
        Packet product[n_packets];
        for (int w = 0; w < n_packets; ++w) product[w] = packet::mul(value[w], packet::load(by + w * kPacket));
        use(position++, product);
      }
    }
  }

 private:
  // A term with children: its leaves follow it in the order, then its other children.
  struct Branch {
    Index slot;    // number of interacting inputs
    Index factor;  // table row
    Index n_leaves;
  };

  std::vector<std::int32_t> order_;
  std::vector<Branch> branches_;
  std::vector<std::int32_t> leaf_factors_;
  Index n_slots_ = 1;
};

}  // namespace gegenbauer
