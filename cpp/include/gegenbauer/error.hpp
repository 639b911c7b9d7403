#pragma once
/// The errors of the core. Everything else that can go wrong is a bug.

#include <array>
#include <cstddef>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gegenbauer {

/// A way out of an error: what to do, or a verb and the things of which any will do. All texts are literals.
struct Way {
  std::string_view action;
  std::array<std::string_view, 3> things = {};  // empty where there are fewer

  [[nodiscard]] std::string text() const {
    std::string text(action);
    for (std::size_t i = 0; i < things.size() && !things[i].empty(); ++i) {
      const bool last = i + 1 == things.size() || things[i + 1].empty();
      if (!text.empty()) text += i == 0 ? " " : last ? " or " : ", ";
      text += things[i];
    }
    return text;
  }
};

/// Ways out of an error, of which any will do; of an empty one there is none.
using Advice = std::array<Way, 2>;

/// What an error is made of: what is wrong, and ways out. What a caller of the Python package can set stands in
/// backticks. That package writes the text, and leaves out the ways that its own callers do not have.
struct Message {
  std::string report;
  std::vector<Way> ways = {};  // NOLINT(readability-redundant-member-init): GCC misses it otherwise

  [[nodiscard]] Message with(const Advice& advice) && {
    for (const Way& way : advice)
      if (!way.text().empty()) ways.push_back(way);
    return std::move(*this);
  }

  [[nodiscard]] std::string text() const {
    std::string text = report;
    for (std::size_t i = 0; i < ways.size(); ++i) text += (i == 0 ? ": " : ", or ") + ways[i].text();
    return text;
  }
};

/// An error of a kind of the standard library that knows what it is made of.
template <class Standard>
struct Explained : Standard {
  explicit Explained(Message parts) : Standard(parts.text()), message(std::move(parts)) {}
  Message message;
};

/// An argument that no work can be done with.
struct InvalidArgument : Explained<std::invalid_argument> {
  using Explained::Explained;
};

/// A matrix that should have been positive definite is not, to working precision.
struct NotPositiveDefinite : Explained<std::runtime_error> {
  using Explained::Explained;
};

/// Work that turned out to need more memory than the caller allows; nothing was returned.
struct TooLarge : Explained<std::runtime_error> {
  using Explained::Explained;
};

/// The caller's poll requested a stop; nothing was returned and the outputs are to be thrown away.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

/// Throws TooLarge, with the numbers, when a way that was not foreseen needs more than the caller allows.
inline void require_memory(double needed, double allowed, const char* why) {
  if (needed <= allowed) return;
  std::ostringstream report;
  report.precision(3);
  report << why << ", and an orthogonal factorisation needs " << needed / 1e9 << " GB of memory, but only "
         << allowed / 1e9 << " GB can be had";
  throw TooLarge(Message{report.str()}.with({Way{"choose", {"a larger `alpha`", "fewer terms", "fewer rows"}}}));
}

/// Throws InvalidArgument with the concatenated parts, of which an Advice is the last, unless the condition holds.
template <class... Parts>
inline void require(bool condition, const Parts&... parts) {
  if (condition) [[likely]]
    return;
  std::ostringstream report;
  report.precision(std::numeric_limits<double>::digits10);  // 1.000002 is not 1
  Advice advice;
  const auto add = [&](const auto& part) {
    if constexpr (std::is_same_v<decltype(part), const Advice&>)
      advice = part;
    else
      report << part;
  };
  (add(parts), ...);
  throw InvalidArgument(Message{report.str()}.with(advice));
}

}  // namespace gegenbauer
