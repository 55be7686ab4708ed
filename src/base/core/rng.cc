#include "base/core/rng.h"

#include <random>

#include "base/core/ensure.h"

namespace berth {

Rng Rng::split(std::string_view name, std::uint64_t index) const {
  // FNV-1a over the name, then mixed with state and index: a fixed function of the three.
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return Rng(mix(mix(state_ ^ mix(hash)) + mix(index + 0x9e3779b97f4a7c15ULL)));
}

std::uint64_t Rng::below(std::uint64_t bound) {
  ENSURE(bound > 0);
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>((*this)()) * bound;
  auto low = static_cast<std::uint64_t>(product);
  if (low < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (low < threshold) {
      product = static_cast<Wide>((*this)()) * bound;
      low = static_cast<std::uint64_t>(product);
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::int64_t Rng::poisson(double mean) {
  constexpr double kMeanMax = 1e9;
  ENSURE(mean >= 0 && mean <= kMeanMax);
  if (mean <= 0) return 0;
  return std::poisson_distribution<std::int64_t>(mean)(*this);
}

}  // namespace berth
