#include "apps/up/up_log.h"

#include <fmt/format.h>

#include "apps/up/wall_clock.h"
#include "base/core/clock_text.h"

namespace berth::up {
namespace {

std::string_view word_of(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "info";
}

void log_message(std::FILE* err, LogLevel level, const std::string& message) {
  log_fields(err, level, word_of(level), [&](json::Writer& json) { json.member("message", message); });
}

}  // namespace

void log_line(std::FILE* err, std::string_view event,
              std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  log_fields(err, event, [&](json::Writer& json) {
    for (const auto& [key, text] : fields) json.member(key, text);
  });
}

void log_fields(std::FILE* err, std::string_view event, const std::function<void(json::Writer&)>& put) {
  log_fields(err, LogLevel::kInfo, event, put);
}

void log_fields(std::FILE* err, LogLevel level, std::string_view event, const std::function<void(json::Writer&)>& put) {
  json::Writer json;
  json.open_object().member("event", event).member("time", WorldEpoch{}.text(Instant(wall_us_now())));
  put(json.member("level", word_of(level)));
  const std::string text = json.close_object().take_line();
  std::fwrite(text.data(), 1, text.size(), err);
  std::fflush(err);
}

std::string url_of(const std::string& host, std::uint16_t port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

void log_warning(std::FILE* err, const std::string& message) { log_message(err, LogLevel::kWarning, message); }

void log_error(std::FILE* err, const std::string& message) { log_message(err, LogLevel::kError, message); }

}  // namespace berth::up
