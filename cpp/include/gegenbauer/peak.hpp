#pragma once
/// The limits of the machine as this ISA variant can reach them: what a benchmark compares with.

#include "gegenbauer/parallel.hpp"

namespace gegenbauer {

/// Name of the ISA variant for which the core was compiled.
[[nodiscard]] const char* isa_name();

/// Multiply-adds on registers, the shape of the microkernel without its memory: flops a second.
[[nodiscard]] double measure_flops(double seconds, const Control& control);

/// Bytes a second read from a buffer of `bytes` bytes, each thread its own part.
[[nodiscard]] double measure_read_bandwidth(double seconds, Index bytes, const Control& control);

}  // namespace gegenbauer
