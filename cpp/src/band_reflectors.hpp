#pragma once
/// Q' from the reflectors, row by row of it: the reflectors from the last to the first, each longer than the one
/// before.

#include <vector>

#include "band_blocks.hpp"

namespace gegenbauer::band {

/// T of the group, the inverse of the upper triangle of V'V with half of its diagonal.
void join(Group& group);

/// Rows first .. first + kPanel of Q', those of `size` rows that there are, into a panel of `columns` columns.
void form_rows(const std::vector<Group>& groups, Index first, Index size, Index columns, double* panel);

/// That panel as columns p * kPanel .. of the rows of Q.
void transpose_into(const double* panel, Index p, const PackedPanels& rows);

}  // namespace gegenbauer::band
