#include "ledger/events/event_lines.h"

#include <fmt/format.h>

#include <utility>

namespace berth::ledger {

Result<bool> EventLines::next() {
  if (!lines_.next()) return false;
  line_.text = lines_.line();
  line_.number = lines_.number();
  line_.position = static_cast<std::uint64_t>(line_.text.data() - text_.data());
  if (is_blank(line_.text) && lines_.is_rest_blank()) return false;
  auto event = reader_.read(line_.text);
  if (!event) {
    return fail(event.error().code, fmt::format("{}:{}: {}", file_, line_.number, event.error().message));
  }
  line_.event = *std::move(event);
  return true;
}

std::string_view line_at(std::string_view text, std::uint64_t position) {
  const std::string_view rest = text.substr(position);
  std::string_view line = rest.substr(0, rest.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace berth::ledger
