/// A stream of server-sent events on its way from a backend to a client.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "surface/openai_api/proxied_request.h"

namespace berth::openai::detail {

/// Follows the lines of a stream (ended by LF or CR LF) to know how it can be ended and what usage it states.
class EventStream {
 public:
  /// What can be sent of the bytes that were kept and these: all but the event `[DONE]` while it is not complete.
  [[nodiscard]] std::string take(std::string_view bytes);
  /// The bytes that are kept, for a stream that ends well.
  [[nodiscard]] std::string take_kept();

  /// Whether the event `[DONE]` has passed.
  [[nodiscard]] bool is_done() const { return is_done_; }
  /// What must come before an event of ours: the end of what the backend has begun.
  [[nodiscard]] std::string_view ending() const;
  /// In the last event that has one.
  [[nodiscard]] std::optional<TokenUsage> usage() const;

 private:
  /// Whether the line that begins there, and is not complete or has no empty line behind it, must be kept.
  [[nodiscard]] bool is_kept(std::string_view rest) const;
  void end_line(std::string_view line);

  std::string kept_;
  std::string line_;  ///< begun and passed on; only its first bytes if it is very long
  bool is_line_begun_ = false;
  bool is_event_begun_ = false;  ///< a line of it has passed
  bool is_done_line_ = false;    ///< the last line was that of `[DONE]`
  bool is_done_ = false;
  std::string usage_event_;
};

}  // namespace berth::openai::detail
