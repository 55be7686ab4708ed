#include "gpu/programs/placeholders.h"

#include <fmt/format.h>

#include "base/core/ensure.h"
#include "base/core/text.h"

namespace berth::programs {
namespace {

/// A run of text, or the name of a place.
struct ArgumentPart {
  bool is_name = false;
  std::string text;
};

Result<std::vector<ArgumentPart>> parts_of(std::string_view argument) {
  std::vector<ArgumentPart> parts;
  for (std::size_t at = 0; at < argument.size();) {
    const char byte = argument[at];
    const bool is_brace = byte == '{' || byte == '}';
    if (!is_brace || (at + 1 < argument.size() && argument[at + 1] == byte)) {
      parts.push_back({.text = std::string(1, byte)});
      at += is_brace ? 2 : 1;
      continue;
    }
    const std::size_t end = byte == '{' ? argument.find_first_of("{}", at + 1) : std::string_view::npos;
    if (end == std::string_view::npos || argument[end] != '}' || end == at + 1) {
      return invalid(fmt::format("wanted {{NAME}}, {{{{ or }}}}, found {} at byte {} of {}",
                                 in_quotes(argument.substr(at, 1)), at + 1, in_quotes(argument)));
    }
    parts.push_back({.is_name = true, .text = std::string(argument.substr(at + 1, end - at - 1))});
    at = end + 1;
  }
  return parts;
}

}  // namespace

Result<std::vector<std::string>> placeholders_of(std::string_view argument) {
  const auto parts = parts_of(argument);
  if (!parts) return pass_on(parts.error());
  std::vector<std::string> names;
  for (const ArgumentPart& part : *parts) {
    if (part.is_name) names.push_back(part.text);
  }
  return names;
}

std::string filled(std::string_view argument, const std::map<std::string, std::string>& values) {
  const auto parts = parts_of(argument);
  ENSURE(parts.has_value());
  std::string text;
  for (const ArgumentPart& part : *parts) text += part.is_name ? values.at(part.text) : part.text;
  return text;
}

}  // namespace berth::programs
