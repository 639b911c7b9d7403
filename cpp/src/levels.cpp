#include "gegenbauer/levels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>

#include "gegenbauer/error.hpp"

namespace gegenbauer {

double Levels::spread() const {
  double sum = 0.0;
  for (const double p : shares) sum += p * (1 - p);
  return std::max(sum, 0.0);
}

Index Levels::level(double x) const {
  if (numeric) return std::isnan(x) ? 1 : 0;
  if (std::isnan(x)) return -1;
  const double last = static_cast<double>(shares.size()) - 1;
  return static_cast<Index>(std::clamp(std::round((x + 1) / 2 * last), 0.0, last));
}

std::vector<Levels> checked_levels(std::vector<Levels> levels, Index n_inputs) {
  require(levels.empty() || static_cast<Index>(levels.size()) == n_inputs, "levels must have one entry an input (",
          n_inputs, "), got ", levels.size());
  for (std::size_t t = 0; t < levels.size(); ++t) {
    auto& [shares, numeric] = levels[t];
    if (shares.empty()) {
      require(numeric, "a category needs levels, but input ", t, " has none");
      continue;
    }
    require(!numeric || shares.size() == 2, "a number has two levels, given and missing, but input ", t, " has ",
            shares.size());
    double total = 0.0;
    for (const double p : shares) {
      require(std::isfinite(p) && p >= 0, "shares of levels must be finite and not negative, got ", p);
      total += p;
    }
    require(total > 0 && std::isfinite(total), "shares of levels must have a positive finite sum, got ", total);
    for (double& p : shares) p /= total;
  }
  return levels;
}

namespace {

// Shares below count as none: their differences and reciprocals would leave the range of float64.
constexpr double kLeastShare = 1e-290;

// Levels of one share.
struct Group {
  double share;
  std::vector<Index> levels;

  [[nodiscard]] double size() const { return static_cast<double>(levels.size()); }
};

std::vector<Group> by_falling_share(const std::vector<double>& shares) {
  std::vector<Index> order(shares.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return shares[size_of(a)] > shares[size_of(b)]; });
  std::vector<Group> groups;
  for (const Index l : order) {
    const double share = shares[size_of(l)] < kLeastShare ? 0.0 : shares[size_of(l)];
    if (groups.empty() || groups.back().share != share) groups.push_back({share, {}});
    groups.back().levels.push_back(l);
  }
  return groups;
}

// The root of sum over groups of n p / (p - s) between two neighbouring shares, as a pole p_o and s - p_o, which is
// known to all digits however near the root is.
struct Root {
  double pole;
  double offset;

  [[nodiscard]] double distance(double share) const { return (share - pole) - offset; }  // p - s
};

Root root_below(const std::vector<Group>& groups, std::size_t g) {
  const double gap = groups[g].share - groups[g + 1].share;
  const auto sum = [&](const Root& s) {
    double total = 0.0;
    for (const Group& group : groups) total += group.size() * group.share / s.distance(group.share);
    return total;
  };
  // rises from -infinity at the lower pole to infinity at the upper one
  const bool low = sum({groups[g + 1].share, gap / 2}) >= 0;
  const auto at = [&](double distance) {
    return low ? Root{groups[g + 1].share, distance} : Root{groups[g].share, -distance};
  };
  // halves the numbers there are rather than the interval
  auto near = std::uint64_t{0};
  auto far = std::bit_cast<std::uint64_t>(gap / 2);
  while (far - near > 1) {
    const std::uint64_t middle = near + (far - near) / 2;
    const bool beyond = (sum(at(std::bit_cast<double>(middle))) >= 0) == low;
    (beyond ? far : near) = middle;
  }
  return at(std::bit_cast<double>(far));
}

}  // namespace

Matrix level_contrasts(const Levels& levels, Index up_to) {
  const std::vector<double>& shares = levels.shares;
  const auto n_levels = static_cast<Index>(shares.size());
  require(up_to >= 0 && up_to <= levels.n_contrasts(), "levels have ", levels.n_contrasts(), " contrasts, not ", up_to);
  Matrix c = Matrix::Zero(n_levels, up_to);
  const double unit = 1 / std::sqrt(levels.spread());
  const std::vector<Group> groups = by_falling_share(shares);
  double n_larger = 0;  // levels up to the group
  Index k = 0;
  for (std::size_t g = 0; g < groups.size() && k < up_to; ++g) {
    const std::vector<Index>& own = groups[g].levels;
    for (std::size_t j = 1; j < own.size() && k < up_to; ++j, ++k) {
      // one level against those before it
      const auto before = static_cast<double>(j);
      const double value = unit / std::sqrt(before * (before + 1));
      for (std::size_t i = 0; i < j; ++i) c(own[i], k) = -value;
      c(own[j], k) = before * value;
    }
    n_larger += groups[g].size();
    if (g + 1 == groups.size() || k == up_to) break;
    const Group& next = groups[g + 1];
    if (next.share > 0) {
      // h_l - p'h is s / (p_l - s) where h_l is p_l / (p_l - s)
      const Root s = root_below(groups, g);
      const double place = s.pole + s.offset;
      double square = 0.0;
      for (const Group& group : groups) {
        const double h = group.share / s.distance(group.share);
        square += group.size() * (h * h);
      }
      for (Index l = 0; l < n_levels; ++l)
        c(l, k) = unit * place / (s.distance(shares[size_of(l)]) * std::sqrt(square));
    } else {
      // levels that samples have against those that none has
      const double value = unit * std::sqrt((n_larger + next.size()) / (n_larger * next.size()));
      for (const Index l : next.levels) c(l, k) = -value;
    }
    ++k;
  }
  return c;
}

std::vector<double> contrast_variances(const Levels& levels, Index up_to) {
  require(up_to >= 0 && up_to <= levels.n_contrasts(), "levels have ", levels.n_contrasts(), " contrasts, not ", up_to);
  const double spread = levels.spread();
  const std::vector<Group> groups = by_falling_share(levels.shares);
  const std::size_t size = size_of(up_to);
  std::vector<double> variances;
  for (std::size_t g = 0; g < groups.size() && variances.size() < size; ++g) {
    const std::size_t n_within = std::min(groups[g].levels.size() - 1, size - variances.size());
    variances.insert(variances.end(), n_within, groups[g].share / spread);
    if (g + 1 == groups.size() || variances.size() == size) break;
    const Root s = groups[g + 1].share > 0 ? root_below(groups, g) : Root{0.0, 0.0};
    variances.push_back((s.pole + s.offset) / spread);
  }
  return variances;
}

}  // namespace gegenbauer
