#pragma once
/// What an x86-64 processor can run and its operating system saves, from the instructions cpuid and xgetbv, in the same
/// way for every compiler: built-ins for it differ in their names and in what they know. Used by the module _cpu and by
/// CMake for the C++ tests; includes nothing of ours.

#if defined(__x86_64__) || defined(_M_X64)
#define GEGENBAUER_X86_64 1

#include <array>
#include <cstdint>
#include <initializer_list>
#ifdef _MSC_VER
#include <immintrin.h>
#include <intrin.h>
#else
#include <cpuid.h>
#endif

namespace gegenbauer::cpu {

struct Registers {
  std::uint32_t a, b, c, d;
};

/// The answer of cpuid, zeros for a leaf that the processor does not have.
inline Registers cpuid(std::uint32_t leaf) {
#ifdef _MSC_VER
  std::array<int, 4> r{};
  __cpuid(r.data(), static_cast<int>(leaf & 0x80000000U));
  if (static_cast<std::uint32_t>(r[0]) < leaf) return {};
  __cpuidex(r.data(), static_cast<int>(leaf), 0);
  return {static_cast<std::uint32_t>(r[0]), static_cast<std::uint32_t>(r[1]), static_cast<std::uint32_t>(r[2]),
          static_cast<std::uint32_t>(r[3])};
#else
  Registers r{};
  __get_cpuid_count(leaf, 0, &r.a, &r.b, &r.c, &r.d);
  return r;
#endif
}

/// The kinds of registers that the operating system saves on a context switch; needs the feature OSXSAVE.
inline std::uint64_t saved_registers() {
#ifdef _MSC_VER
  return _xgetbv(0);
#else
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32U) | low;
#endif
}

/// The widest level of the psABI that can be used here, 1 to 4.
inline int level() {
  const auto has = [](std::uint32_t word, std::initializer_list<unsigned> bits) {
    for (const unsigned bit : bits)
      if ((word >> bit & 1U) == 0) return false;
    return true;
  };
  const Registers basic = cpuid(1);
  const Registers extended = cpuid(7);
  const Registers amd = cpuid(0x80000001U);
  // SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF
  if (!has(basic.c, {0, 9, 13, 19, 20, 23}) || !has(amd.c, {0})) return 1;
  // FMA, MOVBE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT
  if (!has(basic.c, {12, 22, 27, 28, 29}) || !has(extended.b, {3, 5, 8}) || !has(amd.c, {5})) return 2;
  const auto saved = static_cast<std::uint32_t>(saved_registers());
  if (!has(saved, {1, 2})) return 2;  // XMM, YMM
  // AVX512F, AVX512DQ, AVX512CD, AVX512BW, AVX512VL
  if (!has(extended.b, {16, 17, 28, 30, 31})) return 3;
#ifndef __APPLE__  // macOS saves masks and ZMM from their first use on, and only then reports it
  if (!has(saved, {5, 6, 7})) return 3;
#endif
  return 4;
}

}  // namespace gegenbauer::cpu

#endif
