#include "base/json/writer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace berth::json {
namespace {

std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

JsonWriter& JsonWriter::raw(std::string_view token) {
  if (needs_comma_) bytes_ += ',';
  bytes_ += token;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  raw(std::string_view(&bracket, 1));
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  bytes_ += bracket;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view key) {
  raw(quoted(key));
  bytes_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view text) { return raw(quoted(text)); }

JsonWriter& JsonWriter::integer(Int128 number) { return raw(fmt::format("{}", number)); }

JsonWriter& JsonWriter::number(std::string_view decimal) { return raw(decimal); }

JsonWriter& JsonWriter::truth(bool truth) { return raw(truth ? "true" : "false"); }

JsonWriter& JsonWriter::null() { return raw("null"); }

std::string JsonWriter::take() {
  needs_comma_ = false;
  return std::exchange(bytes_, {}) + "\n";
}

}  // namespace berth::json
