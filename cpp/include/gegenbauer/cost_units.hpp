#pragma once
/// What work is worth, in multiply-adds at the peak of the processor: the constants of all cost models, fitted to
/// measured times.

namespace gegenbauer::units {

inline constexpr double kStaircase = 1.1;    ///< a multiply-add of a staircase, border counted apart
inline constexpr double kPackedTerm = 11.0;  ///< a term at a sample: evaluated, transposed and packed
inline constexpr double kTableEntry = 6.0;   ///< a univariate value, or a term that is left where it is evaluated
inline constexpr double kTermPass = 1.1;     ///< a term at a sample, evaluated or used once, where all come by
inline constexpr double kAngle = 450.0;      ///< an input of a sample on a grid: its place and its weights
inline constexpr double kSpreadNode = 7.0;   ///< a node that a factor is added to
inline constexpr double kReadNode = 3.5;     ///< a node that a function is read from
inline constexpr double kWaveProduct = 2.0;  ///< a multiply-add from nodes to waves
inline constexpr double kPassedNode = 2.0;   ///< a node that is cleared and added to others
inline constexpr double kAssembled = 32.0;   ///< an entry of G'G that is put together from moments
inline constexpr double kMovedEntry = 8.0;   ///< a number that is moved within memory
inline constexpr double kNewEntry = 16.0;    ///< a number that is written to memory of the system for the first time

}  // namespace gegenbauer::units
