#include "gegenbauer/parallel.hpp"

#ifndef _WIN32
#include <pthread.h>
#endif
#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <memory>
#include <system_error>

#include "gegenbauer/cost_units.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

// Falling asleep and being woken costs as much as a small item, so a member looks for a while first. It yields between
// looks: where threads outnumber processors, whoever has work to do gets this one.
constexpr auto kPatience = std::chrono::microseconds(50);

void wait_while(const std::atomic<unsigned>& value, unsigned old) {
  const auto start = std::chrono::steady_clock::now();
  while (value.load() == old) {
    if (std::chrono::steady_clock::now() - start > kPatience) {
      value.wait(old);
      return;
    }
    std::this_thread::yield();
  }
}

}  // namespace

#ifdef _WIN32
class Team::Thread : public std::thread {  // Windows gives every thread 1 MiB
  using std::thread::thread;
};
#else
// std::thread takes whatever stack the system gives: 128 KiB with musl, 512 KiB with macOS. Here it is at least 1 MiB.
// To be joined or detached, as std::thread.
class Team::Thread {
 public:
  // throws std::system_error when the system refuses the thread
  explicit Thread(std::function<void()> body) {
    auto owned = std::make_unique<std::function<void()>>(std::move(body));
    pthread_attr_t attributes;
    std::size_t stack = 0;
    pthread_attr_init(&attributes);
    if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < kLeastStack)
      pthread_attr_setstacksize(&attributes, kLeastStack);
    const int error = pthread_create(&handle_, &attributes, &Thread::run, owned.get());
    pthread_attr_destroy(&attributes);
    if (error != 0) throw std::system_error(error, std::generic_category());
    static_cast<void>(owned.release());  // the thread owns it
  }
  void join() { pthread_join(handle_, nullptr); }
  void detach() { pthread_detach(handle_); }
  [[nodiscard]] pthread_t native_handle() const { return handle_; }

 private:
  static constexpr std::size_t kLeastStack = std::size_t{1} << 20U;
  static void* run(void* body) {
    const std::unique_ptr<std::function<void()>> owned(static_cast<std::function<void()>*>(body));
    (*owned)();
    return nullptr;
  }
  pthread_t handle_{};
};
#endif

// Moves a new thread to another processor than that of its maker, who goes on computing there: the system often puts it
// into that queue, where it would wait for milliseconds. It stays free to run on any processor of its maker's.
void Team::send_away([[maybe_unused]] Thread& thread) {
#ifdef __linux__
  cpu_set_t all;
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE || pthread_getaffinity_np(pthread_self(), sizeof all, &all) != 0) return;
  cpu_set_t others = all;
  CPU_CLR(size_of(here), &others);
  if (CPU_COUNT(&others) == 0) return;
  pthread_setaffinity_np(thread.native_handle(), sizeof others, &others);
  pthread_setaffinity_np(thread.native_handle(), sizeof all, &all);
#endif
}

Team::Team(const Control& control, int size) : control_(control), seats_(size_of(size)), threads_(size_of(size)) {}
Team::~Team() = default;

void Team::fail(std::exception_ptr error) {
  const std::scoped_lock lock(mutex_);
  if (!error_) error_ = std::move(error);
  failed_.store(true);
}

namespace {

constexpr int kStarts = 8;  // threads that a member starts

constexpr unsigned kItemBits = 40;  // of a ticket; the others number the round, and may start again from 0
constexpr std::uint64_t ticket_of(std::uint32_t round) { return std::uint64_t{round} << kItemBits; }

}  // namespace

Index Team::take(std::uint32_t round, Index count) {
  std::uint64_t ticket = ticket_.load();
  while (true) {
    const std::uint64_t item = ticket - ticket_of(round);  // of another round: large
    if (item >= static_cast<std::uint64_t>(count)) return count;
    if (ticket_.compare_exchange_weak(ticket, ticket + 1)) return static_cast<Index>(item);
  }
}

void Team::begin_round(std::uint32_t round) {
  done_.store(0);
  ticket_.store(ticket_of(round));
  round_.store(round);
  round_.notify_all();
}

void Team::meet(int member, std::uint32_t round, Index done, Index count) {
  loop_trace::end_round();
  if (count == 0) {  // no item of it is ever done: the first to come ends it
    std::uint64_t ticket = ticket_of(round);
    if (ticket_.compare_exchange_strong(ticket, ticket_of(round + 1))) begin_round(round + 1);
  } else if (done > 0 && done_.fetch_add(done) + done == count) {
    begin_round(round + 1);
  }
  if (member == 0) {
    wait_while(round_, round);
  } else if (round_.load() == round) {
    std::atomic<State>& state = seats_[size_of(member)].state;
    state.store(State::between_rounds);
    wait_while(round_, round);
    if (!begin_work(member)) throw Stopped{};
  }
  if (failed_.load()) throw Stopped{};  // those who see it later than others are not waited for
}

bool Team::begin_work(int member) {
  std::atomic<State>& state = seats_[size_of(member)].state;
  State old = state.load();  // what nobody else changes but to left_behind
  return old != State::left_behind && state.compare_exchange_strong(old, State::working);
}

// Who waits for the end of a round has been woken by it, and is given until the deadline to go on and leave as usual.
bool Team::leave_behind(int member, std::chrono::steady_clock::time_point deadline) {
  std::atomic<State>& state = seats_[size_of(member)].state;
  while (state.load() == State::between_rounds && std::chrono::steady_clock::now() < deadline) {
  }
  State old = state.load();
  return old != State::working && state.compare_exchange_strong(old, State::left_behind);
}

// Starts the members that this one has to: a tree, so that dozens of threads do not wait for one that starts them all.
void Team::start_others(const std::shared_ptr<Team>& team, int member, const Body& body) {
  const int size = static_cast<int>(team->seats_.size());
  for (int other = member * kStarts + 1; other < std::min(size, member * kStarts + kStarts + 1); ++other) {
    try {
      std::unique_ptr<Thread>& thread = team->threads_[size_of(other)];
      thread = std::make_unique<Thread>([team, other, &body] {
        if (!team->begin_work(other)) return;
        start_others(team, other, body);
        work(*team, other, body);
      });
      send_away(*thread);
    } catch (const std::exception&) {
      return;  // no thread, or no memory for one: the others do its work
    }
  }
}

void Team::work(Team& team, int member, const Body& body) {
  try {
    body(team, member);
  } catch (const Stopped&) {
    // another member failed and its exception is kept, or the work is done
  } catch (...) {
    // outside of an item nobody may throw alone: its part of the work is nobody's
    std::terminate();
  }
}

void Team::run(const Control& control, int size, const Body& body, loop_trace::Where where) {
  loop_trace::begin(where, size);
  if constexpr (loop_trace::kOn) size = 1;
  // members that are left behind still look at their seats
  const std::shared_ptr<Team> team(new Team(control, size));
  start_others(team, 0, body);
  work(*team, 0, body);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (int member = 1; member < size; ++member) {
    // who has started it has been joined, or left behind after that
    const bool is_left = team->leave_behind(member, deadline);
    const std::unique_ptr<Thread>& thread = team->threads_[size_of(member)];
    if (!thread) continue;
    if (is_left) {
      thread->detach();
    } else {
      thread->join();
    }
  }
  loop_trace::end();
  if (team->error_) std::rethrow_exception(std::exchange(team->error_, nullptr));
}

Matrix zeros(Index rows, Index cols, const Control& control) {
  constexpr Index chunk = 100'000;  // doubles
  Matrix matrix(rows, cols);
  const Index n_chunks = divide_up(matrix.size(), chunk);
  parallel_for(control, n_chunks, units::kNewEntry * static_cast<double>(matrix.size()), [&](Index i, int) {
    std::fill_n(matrix.data() + i * chunk, std::min(chunk, matrix.size() - i * chunk), 0.0);
  });
  return matrix;
}

}  // namespace gegenbauer
