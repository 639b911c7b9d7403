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

#ifdef _WIN32
using Thread = std::thread;  // Windows gives every thread 1 MiB
#else
// std::thread takes whatever stack the system gives: 128 KiB with musl, 512 KiB with macOS. Here it is at least 1 MiB.
class Thread {
 public:
  // throws std::system_error when the system refuses the thread
  explicit Thread(std::function<void()> body) : body_(std::move(body)) {
    pthread_attr_t attributes;
    std::size_t stack = 0;
    pthread_attr_init(&attributes);
    if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < kLeastStack)
      pthread_attr_setstacksize(&attributes, kLeastStack);
    const int error = pthread_create(&handle_, &attributes, &Thread::run, this);
    pthread_attr_destroy(&attributes);
    if (error != 0) throw std::system_error(error, std::generic_category());
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  ~Thread() = default;
  void join() { pthread_join(handle_, nullptr); }
  [[nodiscard]] pthread_t native_handle() const { return handle_; }

 private:
  static constexpr std::size_t kLeastStack = std::size_t{1} << 20U;
  static void* run(void* self) {
    static_cast<Thread*>(self)->body_();
    return nullptr;
  }
  std::function<void()> body_;
  pthread_t handle_{};
};
#endif

// Moves a new thread to another processor than that of its maker, who goes on computing there: the system often puts it
// into that queue, where it would wait for milliseconds. It stays free to run on any processor of its maker's.
void send_away([[maybe_unused]] Thread& thread) {
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

}  // namespace

void Team::fail(std::exception_ptr error) {
  const std::scoped_lock lock(mutex_);
  if (!error_) error_ = std::move(error);
  failed_.store(true);
}

void Team::meet() {
  const unsigned round = round_.load();  // stays as it is until this member has arrived
  if (arrived_.fetch_add(1) + 1 < size_) {
    wait_while(round_, round);
  } else {
    // All others wait. Whether to stop is decided here, for all alike: a member that looked at failed_ itself might see
    // the failure of the next round and leave the others waiting.
    arrived_.store(0);
    next_.store(0);
    stop_ = failed_.load();
    round_.store(round + 1);
    round_.notify_all();
  }
  if (stop_) throw Stopped{};
}

void Team::run(const Control& control, int size, const std::function<void(Team&, int)>& body) {
  Team team(control);
  const auto member_body = [&](int member) {
    try {
      body(team, member);
    } catch (const Stopped&) {
      // another member failed and its exception is kept
    } catch (...) {
      // outside of an item nobody may throw alone: the others would wait at the barrier for ever
      std::terminate();
    }
  };
  // The members wait at the gate until it is known how many threads the system gave.
  std::atomic<unsigned> gate{0};
  std::vector<std::unique_ptr<Thread>> threads;  // nothing moves a thread
  for (int member = 1; member < size; ++member) {
    try {
      threads.push_back(std::make_unique<Thread>([&, member] {
        wait_while(gate, 0);
        member_body(member);
      }));
      send_away(*threads.back());
    } catch (const std::exception&) {
      break;  // no thread, or no memory for one
    }
  }
  team.size_ = static_cast<int>(threads.size()) + 1;
  gate.store(1);
  gate.notify_all();
  member_body(0);
  for (const std::unique_ptr<Thread>& thread : threads) thread->join();
  if (team.error_) std::rethrow_exception(team.error_);
}

Matrix zeros(Index rows, Index cols, const Control& control) {
  constexpr Index chunk = 1'000'000;  // doubles
  Matrix matrix(rows, cols);
  const Index n_chunks = divide_up(matrix.size(), chunk);
  parallel_for(control, n_chunks, static_cast<double>(matrix.size()), [&](Index i, int) {
    std::fill_n(matrix.data() + i * chunk, std::min(chunk, matrix.size() - i * chunk), 0.0);
  });
  return matrix;
}

}  // namespace gegenbauer
