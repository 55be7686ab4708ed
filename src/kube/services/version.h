/// Which of two states of an object is older.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace berth::kube {

/// Versions of one resource are ordered as numbers (since Kubernetes 1.35). False if one of them is none.
[[nodiscard]] inline bool is_older_version(std::string_view version, std::string_view than) {
  const auto number = [](std::string_view text) {
    std::uint64_t value = 0;
    const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc() && rest == text.data() + text.size() ? value : 0;
  };
  const std::uint64_t a = number(version);
  const std::uint64_t b = number(than);
  return a != 0 && b != 0 && a < b;
}

}  // namespace berth::kube
