/// Lines from bytes that arrive in pieces of any size.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace berth::edges::detail {

class LineSplitter {
 public:
  enum class State {
    kGoesOn,
    kStopped,  ///< `take` returned false
    kTooLong,  ///< a line is longer than the limit
  };

  explicit LineSplitter(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  /// Passes each complete line, without LF or CR LF, to `take`, until that returns false. Must not be called again
  /// after a state other than kGoesOn.
  [[nodiscard]] State add(std::string_view bytes, const std::function<bool(std::string_view)>& take);

 private:
  std::size_t line_bytes_max_;
  std::string begun_;  ///< a line without its end
};

}  // namespace berth::edges::detail
