#pragma once
/// Threads for one call: they start when a computation starts and have left it when it returns, so that nothing runs
/// after import and a process may fork at any time. Work is handed out item by item, and every item writes its own part
/// of the output: the number of threads never changes a bit of the result.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "gegenbauer/aligned.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/loop_trace.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

/// How a computation is to be run: with how many threads, and whom to poll for a stop.
class Control {
 public:
  using Poll = std::function<bool()>;  ///< true: stop now

  explicit Control(int n_threads = 1, Poll poll = {}) : n_threads_(n_threads), poll_(std::move(poll)) {
    require(n_threads >= 1, "n_threads must be at least 1, got ", n_threads);
  }

  [[nodiscard]] int n_threads() const { return n_threads_; }

  /// Threads that are worth starting for this many multiply-adds: starting and ending one costs about 50 us, in which a
  /// core does more than a million of them, and small computations do not divide evenly.
  [[nodiscard]] int threads_for(double multiply_adds) const {
    const double worth = multiply_adds / 4e6;
    return worth < 2.0 ? 1 : static_cast<int>(std::min<double>(n_threads_, worth));
  }

  /// Throws Interrupted when the poll requests a stop. Only the thread that made the call may use it; cheap enough for
  /// any loop.
  void check() const {
    if (!poll_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_poll_ < std::chrono::milliseconds(25)) return;
    last_poll_ = now;
    if (poll_()) throw Interrupted();
  }

 private:
  int n_threads_;
  Poll poll_;
  mutable std::chrono::steady_clock::time_point last_poll_ = std::chrono::steady_clock::now();
};

/// The threads of one computation. Every member runs the same body, and nobody goes on behind a for_each before its
/// items are done. Only items are waited for, never a member that the system does not run: it passes over the rounds
/// that it was late for, and is left behind if there is no other round.
class Team {
 public:
  using Body = std::function<void(Team&, int)>;

  /// Runs body(team, member) on at most `size` threads, the calling one being member 0; rethrows the first exception of
  /// any item. Outside of items a body may use what it has captured to find sizes, no more: members that are late do
  /// so while others are rounds ahead, and the one that is left behind unwinds its own variables when the call is over.
  static void run(const Control& control, int size, const Body& body,
                  loop_trace::Where where = loop_trace::Where::current());
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  /// Shares the items 0..count-1 between the members and returns when all are done. item(i, member) is called once for
  /// each i, by any member, in any order. To be called by every member alike.
  template <class Item>
  void for_each(int member, Index count, Item&& item) {
    const std::uint32_t round = seats_[size_of(member)].round++;
    Index done = 0;
    for (Index i = take(round, count); i < count; i = take(round, count)) {
      ++done;
      if (failed_.load(std::memory_order_relaxed)) continue;
      try {
        if (member == 0) control_.check();
        [[maybe_unused]] const loop_trace::Item timed;
        item(i, member);
      } catch (...) {
        fail(std::current_exception());
      }
    }
    meet(member, round, done, count);
  }

 private:
  struct Stopped {};  // unwinds a member after another one failed, or one that was left behind

  // What a member may be doing. Who works is waited for, the others can be left behind.
  enum class State : std::uint8_t { coming, working, between_rounds, left_behind };
  struct alignas(kAlignment) Seat {
    std::uint32_t round = 0;  // that the member comes to next
    std::atomic<State> state{State::coming};
  };

  class Thread;

  Team(const Control& control, int size);
  static void start_others(const std::shared_ptr<Team>& team, int member, const Body& body);
  static void send_away(Thread& thread);
  static void work(Team& team, int member, const Body& body);
  void fail(std::exception_ptr error);
  // the next item of a round, or its count when there is none, or the round is over
  [[nodiscard]] Index take(std::uint32_t round, Index count);
  void meet(int member, std::uint32_t round, Index done, Index count);
  void begin_round(std::uint32_t round);
  [[nodiscard]] bool begin_work(int member);
  [[nodiscard]] bool leave_behind(int member, std::chrono::steady_clock::time_point deadline);

  const Control& control_;
  std::vector<Seat> seats_;
  std::vector<std::unique_ptr<Thread>> threads_;  // of each member but the first, by the member that starts it
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
  // A round and its next item in one number: what a member takes is of the round that it has come to.
  alignas(kAlignment) std::atomic<std::uint64_t> ticket_{0};
  alignas(kAlignment) std::atomic<Index> done_{0};  // items of the round, as members report them
  std::atomic<std::uint32_t> round_{0};
};

/// item(i, member) for i in 0..count-1, shared between the threads that the work (in multiply-adds) is worth;
/// member < control.n_threads() is the thread whose scratch space to use.
template <class Item>
void parallel_for(const Control& control, Index count, double multiply_adds, const Item& item,
                  loop_trace::Where where = loop_trace::Where::current()) {
  if (count <= 0) return;
  // a team of one as well: the compiler is to see the item once
  const int size = static_cast<int>(std::min<Index>(control.threads_for(multiply_adds), count));
  Team::run(control, size, [&](Team& team, int member) { team.for_each(member, count, item); }, where);
}

/// A matrix of zeros. The first touch of its memory can take seconds a gigabyte, so threads share it and interrupts
/// come in between.
[[nodiscard]] Matrix zeros(Index rows, Index cols, const Control& control);

}  // namespace gegenbauer
