#pragma once
/// The one place that touches Eigen's packet operations: a SIMD register of doubles or floats for whatever instruction
/// set this translation unit is compiled for, and the shape of the register tile that suits it.

#include <Eigen/Core>

#include "gegenbauer/aligned.hpp"

// The bindings are compiled once for all ISA variants, so that what they include must be the same in all of them.
#ifndef GEGENBAUER_ISA_NAME
#error "packet.hpp is for the core and its tests: what it declares depends on the ISA variant"
#endif

namespace gegenbauer {

/// A register of T (double or float), as many of them as it has lanes, and the number of lanes.
template <class T>
using PacketOf = typename Eigen::internal::packet_traits<T>::type;
template <class T>
inline constexpr int kPacketOf = Eigen::internal::packet_traits<T>::size;
template <class T>
using PacketSquareOf = Eigen::internal::PacketBlock<PacketOf<T>, kPacketOf<T>>;

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
template <class T>
inline constexpr int kPanelOf = kVectors * kPacketOf<T>;

// Without a type, doubles are meant.
using Packet = PacketOf<double>;
using PacketSquare = PacketSquareOf<double>;
inline constexpr int kPacket = kPacketOf<double>;
inline constexpr int kPanel = kPanelOf<double>;
static_assert(kPanel % kColumns == 0, "a panel serves as the left and as the right side of a product");

namespace packet {
template <class T = double>
PacketOf<T> zero() {
  return Eigen::internal::pset1<PacketOf<T>>(T(0));
}
template <class T>
PacketOf<T> broadcast(T value) {
  return Eigen::internal::pset1<PacketOf<T>>(value);
}
template <class T>
PacketOf<T> load(const T* p) {
  return Eigen::internal::pload<PacketOf<T>>(p);
}
template <class T>
PacketOf<T> load_unaligned(const T* p) {
  return Eigen::internal::ploadu<PacketOf<T>>(p);
}
template <class T>
void store(T* p, const PacketOf<T>& v) {
  Eigen::internal::pstore(p, v);
}
template <class T>
void store_unaligned(T* p, const PacketOf<T>& v) {
  Eigen::internal::pstoreu(p, v);
}
template <class Register>
Register add(const Register& a, const Register& b) {
  return Eigen::internal::padd(a, b);
}
template <class Register>
Register sub(const Register& a, const Register& b) {
  return Eigen::internal::psub(a, b);
}
template <class Register>
Register mul(const Register& a, const Register& b) {
  return Eigen::internal::pmul(a, b);
}
template <class Register>
Register fma(const Register& a, const Register& b, const Register& c) {
  return Eigen::internal::pmadd(a, b, c);
}
template <class Register>
Register div(const Register& a, const Register& b) {
  return Eigen::internal::pdiv(a, b);
}
template <class Register>
Register abs(const Register& a) {
  return Eigen::internal::pabs(a);
}
/// 1 in lanes that are equal, else 0; NaN equals nothing.
template <class Register>
Register one_where_equal(const Register& a, const Register& b) {
  return Eigen::internal::pand(Eigen::internal::pcmp_eq(a, b), Eigen::internal::pset1<Register>(1));
}
/// a, with 0 in place of NaN.
template <class Register>
Register zero_where_nan(const Register& a) {
  return Eigen::internal::pand(a, Eigen::internal::pcmp_eq(a, a));
}
/// Sum of the lanes.
template <class Register>
auto sum(const Register& a) {
  return Eigen::internal::predux(a);
}
template <class Register, int n>
void transpose(Eigen::internal::PacketBlock<Register, n>& square) {
  Eigen::internal::ptranspose(square);
}
/// Prefetches the cache line of p, which will be needed soon.
template <class T>
void prefetch(const T* p) {
  Eigen::internal::prefetch(p);
}
}  // namespace packet

}  // namespace gegenbauer
