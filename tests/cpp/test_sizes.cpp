// Sizes at the ends of their range, where the usual sums before a division would overflow.
#include <limits>

#include "check.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/tiles.hpp"

using namespace gegenbauer;

namespace {

constexpr Index kMost = std::numeric_limits<Index>::max();

void test_divide_up() {
  for (Index unit = 1; unit <= 30; ++unit) {
    Index units = 0;  // counted one by one
    for (Index n = 0; n <= 100; ++n) {
      if (n > units * unit) ++units;
      CHECK(divide_up(n, unit) == units);
      CHECK(round_up(n, unit) == units * unit);
    }
  }
  CHECK(divide_up(kMost, 1) == kMost);
  CHECK(divide_up(kMost, 2) == kMost / 2 + 1);
  CHECK(divide_up(kMost, kMost) == 1);
  CHECK(round_up(kMost - 7, 8) == kMost - 7);
}

void test_panels() {
  CHECK(panels_of(0) == 0);
  CHECK(panels_of(1) == 1);
  CHECK(panels_of(kPanel) == 1);
  CHECK(panels_of(kPanel + 1) == 2);
}

void test_size_of() { CHECK(size_of(kMost) == std::numeric_limits<std::size_t>::max() / 2); }

}  // namespace

int main() {
  test_divide_up();
  test_panels();
  test_size_of();
  return check::report("sizes");
}
