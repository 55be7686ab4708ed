#include "base/json/text.h"

namespace berth::json {

std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string exact_text(const Decimal& value) {
  const std::string text = value.to_string();
  return text.find('/') == std::string::npos ? text : json_text(value.to_double());
}

std::string object_text(const Members& members) {
  std::size_t size = 2;
  for (const auto& [key, value] : members) size += key.size() + value.size() + 4;
  std::string text;
  text.reserve(size);  // a page of objects is long: avoids copies as it grows
  text += '{';
  for (const auto& [key, value] : members) {
    if (text.size() > 1) text += ',';
    text.append("\"").append(key).append("\":").append(value);
  }
  text += '}';
  return text;
}

std::string list_text(const std::vector<std::string>& items) {
  std::size_t size = 2;
  for (const std::string& item : items) size += item.size() + 1;
  std::string text;
  text.reserve(size);
  text += '[';
  for (const std::string& item : items) {
    if (text.size() > 1) text += ',';
    text += item;
  }
  text += ']';
  return text;
}

}  // namespace berth::json
