#pragma once
/// Storage that registers of any width are loaded from: the same in all ISA variants.

#include <cstddef>
#include <memory>
#include <new>

namespace gegenbauer {

inline constexpr std::size_t kAlignment = 64;

struct AlignedFree {
  void operator()(void* p) const { ::operator delete(p, std::align_val_t{kAlignment}); }
};

/// Cache-line aligned, uninitialised storage.
template <class T>
using AlignedArray = std::unique_ptr<T[], AlignedFree>;
using AlignedBuffer = AlignedArray<double>;

template <class T = double>
AlignedArray<T> make_aligned(std::size_t count) {
  const std::size_t bytes = (count * sizeof(T) + kAlignment) / kAlignment * kAlignment;
  return AlignedArray<T>(static_cast<T*>(::operator new(bytes, std::align_val_t{kAlignment})));
}

}  // namespace gegenbauer
