/// The lines of a file of events, one event after the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "base/core/text.h"
#include "ledger/events/event.h"
#include "ledger/events/event_reader.h"

namespace berth::ledger {

/// A line at its place in the text.
struct EventLine {
  std::uint64_t number = 0;    ///< from 1
  std::uint64_t position = 0;  ///< of its first byte in the text
  std::string_view text;       ///< without its line end
  Event event;
};

/// Reads the lines of a text, which must outlive it. Ignores a byte-order mark, CR before LF, and blank lines at the
/// end.
class EventLines {
 public:
  EventLines(std::string_view text, std::string_view file) : text_(text), file_(file), lines_(text) {}

  /// Moves to the next line; false after the last one. Errors: "FILE:LINE: KEY: wanted .., found ..".
  [[nodiscard]] Result<bool> next();
  /// Valid until the next call.
  [[nodiscard]] const EventLine& line() const { return places_[current_].line; }
  /// The line after it, if there is a well-formed one: it is read ahead, so that the caller can prefetch memory for it.
  [[nodiscard]] const EventLine* ahead() const {
    return has_ahead_ && *has_ahead_ ? &places_[1 - current_].line : nullptr;
  }

 private:
  /// A line, and the reader that owns the memory of its texts.
  struct Place {
    EventReader reader;
    EventLine line;
  };

  [[nodiscard]] Result<bool> read(Place& place);

  std::string_view text_;
  std::string file_;
  LineReader lines_;
  std::array<Place, 2> places_;
  std::size_t current_ = 0;
  bool is_begun_ = false;
  Result<bool> has_ahead_ = false;  ///< the result of the next call
};

/// The line that begins at a position of the text, without its line end.
[[nodiscard]] std::string_view line_at(std::string_view text, std::uint64_t position);

}  // namespace berth::ledger
