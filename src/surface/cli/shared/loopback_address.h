/// Addresses that only programs of this machine reach.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/result.h"

namespace berth::cli {

struct LoopbackWords {
  std::string host;
  std::uint16_t port = 0;
};

/// "HOST:PORT", with an IPv6 address in brackets. `option` and `example` are for the error, which refuses every host
/// but
/// 127.0.0.1, ::1 and localhost.
[[nodiscard]] Result<LoopbackWords> parse_loopback(std::string_view option, std::string_view example,
                                                   const std::string& text);

}  // namespace berth::cli
