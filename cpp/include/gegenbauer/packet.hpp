#pragma once
/// The one place that touches Eigen's packet operations: a SIMD register of doubles for whatever instruction set this
/// translation unit is compiled for, and the shape of the register tile that suits it.

#include <Eigen/Core>
#include <cstdlib>
#include <memory>
#include <new>

namespace gegenbauer {

using Packet = Eigen::internal::packet_traits<double>::type;
using PacketSquare = Eigen::internal::PacketBlock<Packet, Eigen::internal::packet_traits<double>::size>;

/// Doubles a register.
inline constexpr int kPacket = Eigen::internal::packet_traits<double>::size;

/// Register tile: kVectors registers of rows by kColumns columns, chosen so that the accumulators, one column of the
/// left side and one broadcast fill the register file (32 registers with AVX-512, else 16).
#if defined(EIGEN_VECTORIZE_AVX512)
inline constexpr int kVectors = 3;
inline constexpr int kColumns = 8;
#elif defined(EIGEN_VECTORIZE_AVX)
inline constexpr int kVectors = 3;
inline constexpr int kColumns = 4;
#else
inline constexpr int kVectors = 2;
inline constexpr int kColumns = 4;
#endif

/// Rows of a packed panel.
inline constexpr int kPanel = kVectors * kPacket;
static_assert(kPanel % kColumns == 0, "a panel serves as the left and as the right side of a product");

namespace packet {
inline Packet zero() { return Eigen::internal::pset1<Packet>(0.0); }
inline Packet broadcast(double value) { return Eigen::internal::pset1<Packet>(value); }
inline Packet load(const double* p) { return Eigen::internal::pload<Packet>(p); }
inline Packet load_unaligned(const double* p) { return Eigen::internal::ploadu<Packet>(p); }
inline void store(double* p, const Packet& v) { Eigen::internal::pstore(p, v); }
inline void store_unaligned(double* p, const Packet& v) { Eigen::internal::pstoreu(p, v); }
inline Packet add(const Packet& a, const Packet& b) { return Eigen::internal::padd(a, b); }
inline Packet sub(const Packet& a, const Packet& b) { return Eigen::internal::psub(a, b); }
inline Packet mul(const Packet& a, const Packet& b) { return Eigen::internal::pmul(a, b); }
inline Packet fma(const Packet& a, const Packet& b, const Packet& c) { return Eigen::internal::pmadd(a, b, c); }
inline void transpose(PacketSquare& square) { Eigen::internal::ptranspose(square); }
}  // namespace packet

inline constexpr std::size_t kAlignment = 64;

struct AlignedFree {
  void operator()(double* p) const { std::free(p); }
};

/// Cache-line aligned, uninitialised storage for doubles.
using AlignedBuffer = std::unique_ptr<double[], AlignedFree>;

inline AlignedBuffer make_aligned(std::size_t count) {
  const std::size_t bytes = (count * sizeof(double) + kAlignment) / kAlignment * kAlignment;
  auto* p = static_cast<double*>(std::aligned_alloc(kAlignment, bytes));
  if (p == nullptr) throw std::bad_alloc();
  return AlignedBuffer(p);
}

}  // namespace gegenbauer
