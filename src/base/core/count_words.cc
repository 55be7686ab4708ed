#include "base/core/count_words.h"

#include <fmt/format.h>

#include <iterator>

#include "base/core/figure_text.h"

namespace berth {

std::string counted_noun(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", with_separators(number), noun, number == 1 ? "" : "s");
}

std::string as_good_words(std::span<const std::string_view> names) {
  if (names.size() == 1) return fmt::format("{} is as good", names.front());
  return fmt::format("{} and {} are as good", names.front(), counted_noun(std::ssize(names) - 1, "other"));
}

}  // namespace berth
