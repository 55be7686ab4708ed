/// The entries of a session: which one is emitted when, and which are durable. Entries of seconds are collected in
/// blocks, and steps that other entries imply have none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "live/session/entry.h"
#include "live/session/event_log.h"
#include "live/session/session_listener.h"

namespace berth::live {

class EntryEmitter {
 public:
  /// Both are borrowed. `records_first`: SessionOptions.
  EntryEmitter(const SessionListener& listener, bool records_first, const EventLog& log)
      : listener_(listener), records_first_(records_first), log_(log) {}

  /// While entries are repeated, none is emitted.
  void set_repeating(bool is_repeating) { is_repeating_ = is_repeating; }
  [[nodiscard]] bool is_repeating() const { return is_repeating_; }

  void emit(Entry entry);
  /// To be called before entries of that instant are emitted or recorded: completes what was emitted before.
  void announce(Instant at);
  /// The engine was given the event. Orders have entries of their own, and seconds are collected.
  void emit_event(const Event& event, Instant now);
  void emit_second(const ServiceSecond& second, Instant now);
  /// Seconds that the engine is given now have an entry already (SecondsMeasured), or have none.
  void set_seconds_told(bool are_told) { are_seconds_told_ = are_told; }
  /// The engine stepped; a plain step at a whole second has no entry.
  void emit_step(const StepAnswer& answer, Instant now);
  /// Emits the seconds that do not fill a block yet.
  void emit_block(ServiceId service, Instant now);
  void emit_blocks(Instant now);
  /// Emits that it stepped plainly since the last entry.
  void emit_plain_step();

  /// Records orders before they take effect. Returns whether they are recorded.
  [[nodiscard]] bool record(const std::vector<Entry>& orders);
  /// Records what was emitted, where orders are recorded first. If that fails, those entries are not durable yet.
  void record_emitted();
  /// Everything so far is recorded.
  void set_recorded() { recorded_event_ = log_.last_sequence(); }
  /// The last event of the log that a crash cannot take back.
  [[nodiscard]] std::uint64_t last_safe_event() const {
    return records_first_ ? recorded_event_ : log_.last_sequence();
  }
  /// Why the latest order was not recorded.
  [[nodiscard]] const std::optional<std::string>& why_not_recorded() const { return why_not_recorded_; }

  /// Marks the answer to that question as having an entry already.
  void know_answer(std::uint64_t question) { known_question_ = question; }

 private:
  const SessionListener& listener_;
  bool records_first_;
  const EventLog& log_;
  bool is_repeating_ = false;
  bool are_seconds_told_ = false;
  std::optional<Instant> stepped_at_;  ///< the last step that was emitted, plain or not
  std::uint64_t recorded_event_ = 0;
  std::optional<std::string> why_not_recorded_;
  std::uint64_t known_question_ = 0;                ///< whose answer was emitted
  std::vector<std::optional<SecondsSeen>> blocks_;  ///< by ServiceId: not emitted yet
  bool has_news_ = true;                            ///< besides seconds, since the last step
  std::optional<Instant> plain_step_;               ///< the last step, if it has no entry
};

}  // namespace berth::live
