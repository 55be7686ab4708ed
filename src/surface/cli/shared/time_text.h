/// Instants for people.
#pragma once

#include <cstdint>
#include <string>

namespace berth::cli {

/// Microseconds since 1970 as "2026-11-17 12:00:00", with a fraction unless it is 0. Requires: us >= 0.
[[nodiscard]] std::string time_text(std::int64_t us);

}  // namespace berth::cli
