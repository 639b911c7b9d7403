// Items are done once each, exceptions and interruptions reach the caller, nobody waits for a thread that has no item.
#ifdef __linux__
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#endif

#include "check.hpp"
#include "gegenbauer/parallel.hpp"

using namespace gegenbauer;

namespace {

void test_each_item_once() {
  for (const int threads : {1, 2, 3, 7}) {
    const Control control(threads);
    std::vector<std::atomic<int>> counts(1000);
    std::atomic<bool> member_in_range{true};
    Team::run(control, threads, [&](Team& team, int me) {
      for (int round = 0; round < 50; ++round)
        team.for_each(me, 1000, [&](Index i, int member) {
          counts[static_cast<std::size_t>(i)]++;
          if (member < 0 || member >= threads) member_in_range = false;
        });
    });
    CHECK(member_in_range);
    for (const auto& count : counts) CHECK(count == 50);
  }
}

// Every member sees what the others wrote before the meeting point.
void test_rounds_are_separated() {
  const Control control(3);
  std::vector<int> data(64, 0);
  Team::run(control, 3, [&](Team& team, int me) {
    for (int round = 1; round <= 200; ++round) {
      team.for_each(me, 64, [&](Index i, int) { data[static_cast<std::size_t>(i)] = round; });
      team.for_each(me, 64, [&](Index i, int) { CHECK(data[static_cast<std::size_t>((i + 31) % 64)] == round); });
    }
  });
}

// Rounds without items, alone, in a row and between others.
void test_empty_rounds() {
  const Control control(3);
  Index total = 0;
  Team::run(control, 3, [&](Team& team, int me) {
    for (Index round = 0; round < 3000; ++round)
      team.for_each(me, round % 4 == 0 ? 1 : 0, [&](Index, int) { total += round; });
  });
  CHECK(total == 4 * 749 * 750 / 2);
}

// A member that does not come in time, before its first round or between two, passes over what the others did.
void test_late_members() {
  const Control control(3);
  for (const int late : {0, 1, 7}) {  // rounds that the member takes part in before
    std::vector<int> rounds(64, 0);
    std::atomic<bool> go_on{false};
    Team::run(control, 3, [&](Team& team, int me) {
      for (int round = 0; round < 20; ++round) {
        if (me == 2 && round == late) go_on.wait(false);
        team.for_each(me, 64, [&](Index i, int) { CHECK(rounds[static_cast<std::size_t>(i)]++ == round); });
        if (me == 0 && round == 14) {
          go_on = true;
          go_on.notify_all();
        }
      }
    });
    for (const int n : rounds) CHECK(n == 20);
  }
}

#ifdef __linux__
std::atomic<bool> is_held{false};
std::atomic<bool> may_go_on{false};

void hold(int) {
  is_held = true;
  for (int wait = 0; wait < 2000 && !may_go_on; ++wait) usleep(1000);
  is_held = false;
}

// Whom the system does not run is left behind: the call returns while a member is held that waited for a round. It
// gives up its own variables when it goes on.
void test_members_left_behind() {
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = hold;
  CHECK(sigaction(SIGUSR1, &action, &before) == 0);
  int n_left_behind = 0;
  const auto token = std::make_shared<int>(0);
  for (int repeat = 0; repeat < 5; ++repeat) {
    may_go_on = false;
    std::atomic<int> n_taken{0};
    pthread_t other{};
    bool is_sent = false;
    Index total = 0;
    const Control control(2);
    Team::run(control, 2, [&](Team& team, int me) {
      const std::shared_ptr<int> own = token;
      team.for_each(me, 2, [&](Index, int member) {  // an item for each
        if (member == 1) other = pthread_self();
        n_taken++;
        while (n_taken < 2) sched_yield();
      });
      for (int round = 0; round < 50; ++round)
        team.for_each(me, 1, [&](Index, int member) {
          if (member == 0 && !is_sent) {
            is_sent = true;
            usleep(20'000);  // the other one waits by now
            CHECK(pthread_kill(other, SIGUSR1) == 0);
            for (int wait = 0; wait < 1000 && !is_held; ++wait) usleep(1000);
          }
          total++;
        });
    });
    CHECK(total == 50);
    n_left_behind += is_held ? 1 : 0;
    may_go_on = true;
    for (int wait = 0; wait < 5000 && (is_held || token.use_count() > 1); ++wait) usleep(1000);
    CHECK(token.use_count() == 1);
  }
  CHECK(n_left_behind > 0);
  CHECK(sigaction(SIGUSR1, &before, nullptr) == 0);
}
#endif

// Long items, for which the others fall asleep, and short ones, for which they do not, with more members than
// processors.
void test_long_and_short_rounds() {
  const Control control(9);
  Index total = 0;
  Team::run(control, 9, [&](Team& team, int me) {
    for (int round = 0; round < 60; ++round)
      team.for_each(me, 1, [&](Index, int) {
        std::atomic<Index> steps{0};
        const Index n = round % 3 == 0 ? 200'000 : 10;
        while (steps < n) ++steps;
        total += steps;
      });
  });
  CHECK(total == 20 * (200'000 + 10 + 10));
}

void test_exceptions() {
  const Control control(3);
  std::atomic<int> done{0};
  CHECK_THROWS(Team::run(control, 3,
                         [&](Team& team, int me) {
                           team.for_each(me, 100, [&](Index i, int) {
                             if (i == 17) throw std::invalid_argument("item 17");
                             done++;
                           });
                           CHECK(false);  // nobody passes the meeting point
                         }),
               std::invalid_argument, "item 17");
  CHECK(done < 100);
}

// A failure right after a meeting point must not be taken for one before it: many short rounds, failing at some round.
void test_failure_in_any_round() {
  const Control control(3);
  for (int failing = 0; failing < 300; ++failing) {
    CHECK_THROWS(Team::run(control, 3,
                           [&](Team& team, int me) {
                             for (int round = 0; round < 400; ++round)
                               team.for_each(me, 3, [&](Index i, int) {
                                 if (round == failing && i == 0) throw std::invalid_argument("round");
                               });
                           }),
                 std::invalid_argument, "round");
  }
}

void test_interruption() {
  int polls = 0;
  const Control control(2, [&] { return ++polls == 3; });
  std::atomic<Index> done = 0;
  CHECK_THROWS(parallel_for(control, 1'000'000, 1e12,
                            [&](Index, int) {
                              std::this_thread::sleep_for(std::chrono::milliseconds(1));
                              done++;
                            }),
               Interrupted, "interrupted");
  CHECK(done < 1'000'000);
  CHECK(polls == 3);
}

// Leaves a mark in every page of 15/16 of a MiB of the stack, and counts the marks.
EIGEN_DONT_INLINE int use_stack() {
  volatile char room[15 << 16];
  constexpr std::size_t page = 4096;
  int marks = 0;
  for (std::size_t i = 0; i < sizeof room; i += page) room[i] = 1;
  for (std::size_t i = 0; i < sizeof room; i += page) marks += room[i];
  return marks;
}

// Threads have 1 MiB, however little the system would give them: 128 KiB with musl, and here with glibc.
void test_stacks_are_large_enough() {
#ifdef __GLIBC__
  pthread_attr_t before;
  pthread_attr_t small;
  CHECK(pthread_getattr_default_np(&before) == 0 && pthread_attr_init(&small) == 0);
  CHECK(pthread_attr_setstacksize(&small, std::size_t{128} << 10U) == 0 && pthread_setattr_default_np(&small) == 0);
#endif
  std::atomic<int> members{0};
  const Control control(3);
  Team::run(control, 3, [&](Team& team, int me) {
    CHECK(use_stack() == 240);
    members++;
    team.for_each(me, 1, [&](Index, int) {
      while (members < 3) std::this_thread::yield();
    });
  });
  CHECK(members == 3);
#ifdef __GLIBC__
  CHECK(pthread_setattr_default_np(&before) == 0);
  pthread_attr_destroy(&before);
  pthread_attr_destroy(&small);
#endif
}

void test_zeros() {
  const Matrix matrix = zeros(1500, 1401, Control(3));
  CHECK(matrix.rows() == 1500 && matrix.cols() == 1401 && matrix.isZero(0.0));
  CHECK(zeros(0, 3, Control(2)).size() == 0);
  const Control stop(2, [] { return true; });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  CHECK_THROWS(zeros(4000, 4000, stop), Interrupted, "interrupted");
}

}  // namespace

int main() {
  test_each_item_once();
  test_rounds_are_separated();
  test_empty_rounds();
  test_late_members();
#ifdef __linux__
  test_members_left_behind();
#endif
  test_long_and_short_rounds();
  test_exceptions();
  test_failure_in_any_round();
  test_interruption();
  test_stacks_are_large_enough();
  test_zeros();
  CHECK_THROWS(Control(0), std::invalid_argument, "n_threads");
  return check::report("parallel");
}
