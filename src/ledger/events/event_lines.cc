#include "ledger/events/event_lines.h"

#include <fmt/format.h>

#include <utility>

namespace berth::ledger {

Result<bool> EventLines::read(Place& place) {
  if (!lines_.next()) return false;
  EventLine& line = place.line;
  line.text = lines_.line();
  line.number = lines_.number();
  line.position = static_cast<std::uint64_t>(line.text.data() - text_.data());
  if (is_blank(line.text) && lines_.is_rest_blank()) return false;
  auto event = place.reader.read(line.text);
  if (!event) {
    return fail(event.error().code, fmt::format("{}:{}: {}", file_, line.number, event.error().message));
  }
  line.event = *std::move(event);
  return true;
}

Result<bool> EventLines::next() {
  if (!is_begun_) has_ahead_ = read(places_[1 - current_]);
  is_begun_ = true;
  if (!has_ahead_ || !*has_ahead_) return has_ahead_;
  current_ = 1 - current_;
  has_ahead_ = read(places_[1 - current_]);
  return true;
}

std::string_view line_at(std::string_view text, std::uint64_t position) {
  const std::string_view rest = text.substr(position);
  std::string_view line = rest.substr(0, rest.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace berth::ledger
