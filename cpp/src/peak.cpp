#include "gegenbauer/peak.hpp"

#include <algorithm>
#include <chrono>

#include "gegenbauer/packet.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/unroll.hpp"

namespace gegenbauer {

const char* isa_name() { return GEGENBAUER_ISA_NAME; }

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Best rate of many short bursts: what the machine can do when nobody else disturbs it.
template <class Burst>
double best_rate(double seconds, const Control& control, const Burst& burst) {
  double best = 0.0;
  const auto start = Clock::now();
  while (since(start) < seconds) {
    control.check();
    const auto begin = Clock::now();
    const double amount = burst();
    best = std::max(best, amount / since(begin));
  }
  return best;
}

}  // namespace

double measure_flops(double seconds, const Control& control) {
  constexpr Index repeats = 200'000;
  std::vector<double> sink(size_of(control.n_threads()));
  return best_rate(seconds, control, [&] {
    parallel_for(control, control.n_threads(), 1e9, [&](Index, int member) {
      Packet acc[kColumns][kVectors];
      for (auto& column : acc)
        for (auto& value : column) value = packet::broadcast(1e-3);
      const Packet a = packet::broadcast(0.999);
      const Packet b = packet::broadcast(1e-9);
      for (Index i = 0; i < repeats; ++i) {
        GEGENBAUER_UNROLL(8)
        for (int j = 0; j < kColumns; ++j) {
          GEGENBAUER_UNROLL(3)
          for (int v = 0; v < kVectors; ++v) acc[j][v] = packet::fma(acc[j][v], a, b);
        }
      }
      Packet total = packet::zero();
      for (auto& column : acc)
        for (auto& value : column) total = packet::fma(value, b, total);
      alignas(kAlignment) double values[kPacket];
      packet::store(values, total);
      sink[size_of(member)] = values[0];
    });
    return 2.0 * kPacket * kColumns * kVectors * static_cast<double>(repeats) * control.n_threads();
  });
}

double measure_read_bandwidth(double seconds, Index bytes, const Control& control) {
  const Index count = std::max<Index>(1, bytes / Index{sizeof(double)} / (64 * control.n_threads())) * 64;
  const AlignedBuffer buffer = make_aligned(size_of(count * control.n_threads()));
  std::fill_n(buffer.get(), count * control.n_threads(), 1.0);
  std::vector<double> sink(size_of(control.n_threads()));
  return best_rate(seconds, control, [&] {
    parallel_for(control, control.n_threads(), 1e9, [&](Index part, int member) {
      const double* p = buffer.get() + part * count;
      Packet sum[4] = {packet::zero(), packet::zero(), packet::zero(), packet::zero()};
      const Packet one = packet::broadcast(1.0);
      for (Index i = 0; i < count; i += 4 * kPacket)
        for (int v = 0; v < 4; ++v) sum[v] = packet::fma(packet::load(p + i + v * kPacket), one, sum[v]);
      alignas(kAlignment) double values[kPacket];
      packet::store(values, packet::fma(sum[0], sum[1], packet::mul(sum[2], sum[3])));
      sink[size_of(member)] = values[0];
    });
    return 8.0 * static_cast<double>(count) * control.n_threads();
  });
}

}  // namespace gegenbauer
