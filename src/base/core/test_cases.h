/// Which cases a test tries, and how many of them: for tests that draw their cases from seeds, without RapidCheck.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <ranges>
#include <string_view>

#include "base/core/rng.h"

namespace berth::testing {

/// Debug builds and sanitizers are about ten times slower.
#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSlowBuild = true;
#elif defined(__has_feature)
inline constexpr bool kIsSlowBuild = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kIsSlowBuild = false;
#endif

/// The number (or size) of the cases that a test tries: `full` in release builds, `slow` in slow ones.
template <class Number>
[[nodiscard]] constexpr Number by_build(Number full, Number slow) {
  return kIsSlowBuild ? slow : full;
}

/// The number of `key=number` in `params`, a list separated by blanks; absent where there is none.
[[nodiscard]] inline std::optional<std::uint64_t> number_in(std::string_view params, std::string_view key) {
  for (const auto word : params | std::views::split(' ')) {
    const std::string_view text(word.begin(), word.end());
    if (!text.starts_with(key) || text.substr(key.size(), 1) != "=") continue;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + key.size() + 1, text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
  }
  return std::nullopt;
}

/// The seeds of `count` cases. `params` has the format of RapidCheck's parameters, such as "seed=7 max_success=20000":
/// another seed gives other cases (seed 1, the default, gives 0, 1, 2 ...), and a larger max_success gives more of
/// them. "from=500 seeds=20" gives 500 to 519.
[[nodiscard]] inline auto case_seeds(std::uint64_t count, std::string_view params) {
  if (const auto from = number_in(params, "from")) {
    return std::views::iota(*from, *from + number_in(params, "seeds").value_or(count));
  }
  const std::uint64_t seed = number_in(params, "seed").value_or(1);
  // 48 bits: far from the seeds of other runs, and adding the count cannot overflow.
  const std::uint64_t first = seed == 1 ? 0 : Rng(seed)() >> 16;
  return std::views::iota(first, first + std::max(count, number_in(params, "max_success").value_or(0)));
}

/// The same with the parameters in the environment, RC_PARAMS: scripts/soak sets them, ctest sets the seed 1.
[[nodiscard]] inline auto case_seeds(std::uint64_t count) {
  const char* params = std::getenv("RC_PARAMS");
  return case_seeds(count, params == nullptr ? "" : params);
}

}  // namespace berth::testing
