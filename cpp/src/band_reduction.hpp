#pragma once
/// K to the band B: A := H'A H with H = I - V T V' is A - V W' - W V', W = A V T - V (T'V'A V T) / 2, block by block of
/// reflectors, from the last rows to the first.

#include <vector>

#include "band_blocks.hpp"
#include "gegenbauer/parallel.hpp"
#include "gegenbauer/tiles.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer::band {

class Reduction {
 public:
  Reduction(PackedPanels& a, Index padded, Index size);

  /// Panel p of A := scale times K.
  void pack(const ConstMatrixRef& lower, double scale, Index p);
  /// One reflector that takes v to the last axis, before all others. By every member of the team alike, as run().
  void begin(const Vector& v, std::vector<Group>& groups, Team& team, int me);
  /// Fills the band and appends the groups of reflectors in their order.
  void run(std::vector<Group>& groups, std::vector<double>& band, Team& team, int me);

 private:
  struct Step {
    Index rows;  // that the reflectors act on
    double* v;   // row-major, kGroup numbers a row
    Square t;    // T, by columns
  };

  Step new_step(Index rows, std::vector<Group>& groups);
  void take_rows(Index first, const Step& step, std::vector<double>& band);
  void reflect(Index first, const Step& step, std::vector<double>& band);
  void find_t(Step& step);
  void multiply(const Step& step, Team& team, int me);
  void multiply_part(const Step& step, Index part);
  void finish(const Step& step);

  Index size_;
  Index padded_;
  PackedPanels& a_;        // lower triangle, its diagonal blocks whole
  AlignedBuffer pending_;  // [W V], row-major: the update that a_ has not seen
  AlignedBuffer y_;        // A V, row-major
  AlignedBuffer parts_;    // of it
  bool has_pending_ = false;
  Index n_steps_ = 0;
  Step step_{};
};

}  // namespace gegenbauer::band
