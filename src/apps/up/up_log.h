/// The lines that a running `berth up` writes to stderr: one JSON object each. Each begins with `event`, `time` (of the
/// wall clock, RFC 3339) and `level`.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/json/writer.h"

namespace berth::up {

enum class LogLevel : std::uint8_t { kInfo, kWarning, kError };

/// {"event": ..., fields}; the fields are texts. The level is info.
void log_line(std::FILE* err, std::string_view event,
              std::initializer_list<std::pair<std::string_view, std::string_view>> fields);

/// The same with fields of any kind, as members that `put` adds.
void log_fields(std::FILE* err, std::string_view event, const std::function<void(json::Writer&)>& put);
void log_fields(std::FILE* err, LogLevel level, std::string_view event, const std::function<void(json::Writer&)>& put);

/// "http://HOST:PORT/", with an IPv6 address in brackets.
[[nodiscard]] std::string url_of(const std::string& host, std::uint16_t port);

/// {"event": "warning" or "error", "message": ...}.
void log_warning(std::FILE* err, const std::string& message);
void log_error(std::FILE* err, const std::string& message);

}  // namespace berth::up
