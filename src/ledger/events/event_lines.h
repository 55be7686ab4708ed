/// The lines of a file of events, one event after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "ledger/events/event.h"
#include "ledger/events/event_reader.h"

namespace berth::ledger {

/// A line where it stands.
struct EventLine {
  std::uint64_t number = 0;    ///< from 1
  std::uint64_t position = 0;  ///< of its first byte in the text
  std::string_view text;       ///< without its end
  Event event;
};

/// The text must outlive it. A byte-order mark, CR before LF, and blank lines at the end are left out.
class EventLines {
 public:
  EventLines(std::string_view text, std::string_view file) : text_(text), file_(file), lines_(text) {}

  /// Moves to the next line; false behind the last one. Errors: "FILE:LINE: KEY: wanted .., found ..".
  [[nodiscard]] Result<bool> next();
  /// Valid until the next call.
  [[nodiscard]] const EventLine& line() const { return line_; }

 private:
  std::string_view text_;
  std::string file_;
  LineReader lines_;
  EventReader reader_;
  EventLine line_;
};

/// The line that begins at a position of the text, without its end.
[[nodiscard]] std::string_view line_at(std::string_view text, std::uint64_t position);

}  // namespace berth::ledger
