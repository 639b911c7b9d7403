#pragma once
/// Where packed matrices lie. How many rows a panel has is the ISA variant's affair (see packet.hpp).

#include "gegenbauer/aligned.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

/// A matrix of `rows` rows, packed: panel p holds the rows p * kPanelOf<T> .. ; entry (row r of the panel, depth k)
/// lies at panel(p)[k * kPanelOf<T> + r]. Rows beyond the last are the writer's to fill with zeros.
template <class T>
class PanelsOf {
 public:
  PanelsOf(Index rows, Index depth);

  [[nodiscard]] Index n_panels() const { return n_panels_; }
  [[nodiscard]] T* panel(Index p) const { return data_.get() + p * stride_; }

 private:
  Index n_panels_;
  Index stride_;
  AlignedArray<T> data_;
};

using PackedPanels = PanelsOf<double>;

}  // namespace gegenbauer
