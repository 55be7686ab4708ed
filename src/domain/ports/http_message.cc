#include "domain/ports/http_message.h"

#include <algorithm>

namespace berth {
namespace {

char to_lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

}  // namespace

bool is_same_header(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return to_lower(x) == to_lower(y); });
}

std::optional<std::string_view> find_header(std::span<const HttpField> headers, std::string_view name) {
  for (const HttpField& field : headers) {
    if (is_same_header(field.name, name)) return field.value;
  }
  return std::nullopt;
}

}  // namespace berth
