#include "surface/cli/shared/printable.h"

#include <fmt/format.h>

#include "base/core/control_text.h"

namespace berth::cli {
namespace {

constexpr char kInPlace = '?';

std::string without_controls(std::string_view text, bool keeps_lines) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_kept = keeps_lines && text[at] == '\n';
    const std::size_t control = is_kept ? 0 : control_size(text, at);
    result += control > 0 ? kInPlace : text[at];
    at += control > 0 ? control : 1;
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return without_controls(text, false); }
std::string printable_lines(std::string_view text) { return without_controls(text, true); }

std::string printable_json(std::string_view json) {
  std::string result;
  for (std::size_t at = 0; at < json.size(); ++at) {
    if (json[at] == '\x7F') {
      result += "\\u007f";
    } else if (control_size(json, at) == 2) {
      result += fmt::format("\\u00{:02x}", static_cast<unsigned char>(json[++at]));
    } else {
      result += json[at];
    }
  }
  return result;
}

}  // namespace berth::cli
