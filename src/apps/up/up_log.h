/// The lines that a running `berth up` writes to stderr: one JSON object each.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace berth::up {

/// {"event": ..., fields}.
void log_line(std::FILE* err, const std::string& event, const nlohmann::ordered_json& fields);

/// {"event": "warning" or "error", "message": ...}.
void log_warning(std::FILE* err, const std::string& message);
void log_error(std::FILE* err, const std::string& message);

}  // namespace berth::up
