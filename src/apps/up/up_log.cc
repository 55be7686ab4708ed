#include "apps/up/up_log.h"

#include <fmt/format.h>

namespace berth::up {

void log_line(std::FILE* err, std::string_view event,
              std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  log_fields(err, event, [&](json::Writer& json) {
    for (const auto& [key, text] : fields) json.member(key, text);
  });
}

void log_fields(std::FILE* err, std::string_view event, const std::function<void(json::Writer&)>& put) {
  json::Writer json;
  put(json.open_object().member("event", event));
  const std::string text = json.close_object().take_line();
  std::fwrite(text.data(), 1, text.size(), err);
  std::fflush(err);
}

std::string url_of(const std::string& host, std::uint16_t port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

void log_warning(std::FILE* err, const std::string& message) { log_line(err, "warning", {{"message", message}}); }

void log_error(std::FILE* err, const std::string& message) { log_line(err, "error", {{"message", message}}); }

}  // namespace berth::up
