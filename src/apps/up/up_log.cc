#include "apps/up/up_log.h"

namespace berth::up {

void log_line(std::FILE* err, const std::string& event, const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json line{{"event", event}};
  line.update(fields);
  const std::string text = line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), err);
  std::fflush(err);
}

void log_warning(std::FILE* err, const std::string& message) { log_line(err, "warning", {{"message", message}}); }

void log_error(std::FILE* err, const std::string& message) { log_line(err, "error", {{"message", message}}); }

}  // namespace berth::up
