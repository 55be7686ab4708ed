/// Lines of a file of events as values.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/core/result.h"
#include "ledger/events/event.h"

namespace berth::ledger {

/// Reads one line after the other; what it returned is valid until the next one.
class EventReader {
 public:
  static constexpr std::size_t kLineBytesMax = 4'096;
  static constexpr std::size_t kTextBytesMax = 128;

  EventReader();
  EventReader(EventReader&&) noexcept;
  EventReader& operator=(EventReader&&) noexcept;
  ~EventReader();

  /// Errors, without a position: not a JSON object, an unknown, missing or repeated key, a value of the wrong type or
  /// out of range, a use without a tenant or service; "KEY: wanted .., found ..".
  [[nodiscard]] Result<Event> read(std::string_view line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::ledger
