/// Random numbers: one seed per run, split by the names of the components that draw, so that a new component never
/// shifts another's draws.
#pragma once

#include <cstdint>
#include <string_view>

namespace berth {

/// A small generator (SplitMix64, Steele, Lea and Flood 2014). Regular value; equal state gives equal draws on every
/// platform.
class Rng {
 public:
  using result_type = std::uint64_t;

  explicit constexpr Rng(std::uint64_t seed) : state_(seed) {}

  /// An independent stream for a component, or for one object of it (`index`); does not draw from this one.
  [[nodiscard]] Rng split(std::string_view name, std::uint64_t index = 0) const;

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return UINT64_MAX; }
  constexpr result_type operator()() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix(state_);
  }

  /// Uniform in [0, bound), without bias (Lemire 2019). Requires: bound > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  /// Uniform in [0, 1), 53 bits.
  [[nodiscard]] double unit() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }
  /// A draw from the Poisson distribution. Requires: 0 <= mean <= 1e9. 0 for a mean of 0.
  [[nodiscard]] std::int64_t poisson(double mean);

 private:
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace berth
