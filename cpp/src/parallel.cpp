#include "gegenbauer/parallel.hpp"

#include <system_error>

namespace gegenbauer {

void Team::fail(std::exception_ptr error) {
  const std::scoped_lock lock(mutex_);
  if (!error_) error_ = std::move(error);
  failed_.store(true);
}

void Team::meet() {
  barrier_->arrive_and_wait();
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
  std::atomic<bool> gate{false};
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(size));
  for (int member = 1; member < size; ++member) {
    try {
      threads.emplace_back([&, member] {
        gate.wait(false);
        member_body(member);
      });
    } catch (const std::system_error&) {
      break;
    }
  }
  team.barrier_ =
      std::make_unique<std::barrier<EndOfRound>>(static_cast<std::ptrdiff_t>(threads.size()) + 1, EndOfRound{&team});
  gate.store(true);
  gate.notify_all();
  member_body(0);
  for (std::thread& thread : threads) thread.join();
  if (team.error_) std::rethrow_exception(team.error_);
}

}  // namespace gegenbauer
