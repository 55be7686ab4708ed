/// Helpers for tests of pages.
#pragma once

#include <cstddef>
#include <regex>
#include <string>
#include <string_view>

namespace berth::report::testing {

/// How often a text occurs.
inline std::size_t count_of(std::string_view page, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = page.find(text); at != std::string_view::npos; at = page.find(text, at + 1)) ++count;
  return count;
}

/// Whether a position or a figure is not a number.
inline bool has_bad_number(const std::string& page) {
  static const std::regex bad(R"([ "$MHVLhv<>=-](nan|inf)[ "%MHVLhvZ<])");
  return std::regex_search(page, bad);
}

}  // namespace berth::report::testing
