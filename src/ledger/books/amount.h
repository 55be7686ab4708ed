/// Amounts of money and of time, exactly.
#pragma once

#include <cstdint>

#include "base/core/int128.h"

namespace berth::ledger {

/// A grain is a micro-dollar / 3,600,000,000: the cost of a GPU at one micro-dollar per hour for one microsecond.
/// Prices up to 10^15, a century and a hundred billion GPUs stay within 127 bits.
using Grains = Int128;
/// Microseconds of a whole GPU: a slice of half its weight has half of them.
using GpuMicros = Int128;
/// Micro-dollars; sums of years at the highest price need more than 64 bits.
using MicroUsd = Int128;

inline constexpr std::int64_t kGrainsPerMicroUsd = 3'600'000'000;

/// An amount of GPU time, and its cost.
struct Amount {
  GpuMicros gpu_us = 0;
  Grains grains = 0;

  Amount& operator+=(const Amount& other) {
    gpu_us += other.gpu_us;
    grains += other.grains;
    return *this;
  }
  Amount& operator-=(const Amount& other) {
    gpu_us -= other.gpu_us;
    grains -= other.grains;
    return *this;
  }
  friend Amount operator-(Amount a, const Amount& b) { return a -= b; }
  friend bool operator==(const Amount&, const Amount&) = default;
};

/// floor(a / b). Requires: b > 0.
[[nodiscard]] constexpr Int128 floor_divide(Int128 a, Int128 b) {
  const Int128 quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

}  // namespace berth::ledger
