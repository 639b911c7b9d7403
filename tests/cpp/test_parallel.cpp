// Items are done once each, exceptions and interruptions reach the caller, nothing keeps running.
#ifdef __linux__
#include <pthread.h>
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

// Long items, for which the others fall asleep, and short ones, for which they do not, with more members than
// processors: everybody comes to every round.
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
    team.for_each(me, 3, [](Index, int) {});
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
  test_long_and_short_rounds();
  test_exceptions();
  test_failure_in_any_round();
  test_interruption();
  test_stacks_are_large_enough();
  test_zeros();
  CHECK_THROWS(Control(0), std::invalid_argument, "n_threads");
  return check::report("parallel");
}
