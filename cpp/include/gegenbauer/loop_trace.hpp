#pragma once
/// How the work of a computation is divided: the seconds of every item of every round of a team. A build with
/// GEGENBAUER_TRACE_LOOPS writes them to the file that the variable of that name names, and does all work on the
/// calling thread, so that items do not disturb each other; other builds have no code for it. `python -m
/// bench.critical_path` reads the file.

#ifdef GEGENBAUER_TRACE_LOOPS

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <source_location>
#include <string>
#include <vector>

namespace gegenbauer::loop_trace {

using Clock = std::chrono::steady_clock;

inline constexpr bool kOn = true;

/// Where in the sources a team is started.
using Where = std::source_location;

/// A line for each team: where it is started, how many members it is worth, when it began, in seconds; for each round
/// the seconds of its items and a bar; when it ended, but for what the clock takes for an item; and the seconds that
/// the clock and the line itself have taken.
class File {
 public:
  static File& get() {
    static File file;
    return file;
  }
  void begin(const Where& where, int size) {
    if (out_ == nullptr) return;
    const std::string name = std::filesystem::path(where.file_name()).filename().string();
    std::fprintf(out_, "%s:%u %d", name.c_str(), where.line(), size);
    std::fprintf(out_, " %.9f", seconds(Clock::now() - start_));
  }
  void item(Clock::duration duration) { items_.push_back(seconds(duration)); }
  void end_round() { items_.push_back(kBar); }
  void end() {
    const Clock::time_point end = Clock::now();
    double n_items = 0.0;
    for (const double item : items_) {
      if (item == kBar) {
        if (out_ != nullptr) std::fputs(" |", out_);
      } else {
        n_items += 1.0;
        if (out_ != nullptr) std::fprintf(out_, " %.3e", item);
      }
    }
    items_.clear();
    if (out_ == nullptr) return;
    const double lost = n_items * clock_;
    std::fprintf(out_, " %.9f", seconds(end - start_) - lost);
    std::fprintf(out_, " %.9f\n", seconds(Clock::now() - end) + lost);
  }

 private:
  static constexpr double kBar = -1.0;
  File() {
    if (const char* name = std::getenv("GEGENBAUER_TRACE_LOOPS")) out_ = std::fopen(name, "w");
    if (out_ != nullptr) std::setvbuf(out_, nullptr, _IOLBF, std::size_t{1} << 20U);  // a line at a time
    constexpr int many = 10'000;
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < many; ++i) item(Clock::now() - begin);
    clock_ = 2 * seconds(Clock::now() - begin) / many;
    items_.clear();
  }
  static double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }
  Clock::time_point start_ = Clock::now();
  std::FILE* out_ = nullptr;
  std::vector<double> items_;
  double clock_ = 0.0;  // seconds that two looks at it take
};

/// Measures an item until it goes.
class Item {
 public:
  Item() = default;
  Item(const Item&) = delete;
  Item& operator=(const Item&) = delete;
  ~Item() { File::get().item(Clock::now() - start_); }

 private:
  Clock::time_point start_ = Clock::now();
};

inline void begin(const Where& where, int size) { File::get().begin(where, size); }
inline void end_round() { File::get().end_round(); }
inline void end() { File::get().end(); }

}  // namespace gegenbauer::loop_trace

#else

namespace gegenbauer::loop_trace {

inline constexpr bool kOn = false;
struct Where {
  static constexpr Where current() { return {}; }
};
struct Item {};
inline void begin(const Where& /*where*/, int /*size*/) {}
inline void end_round() {}
inline void end() {}

}  // namespace gegenbauer::loop_trace

#endif
