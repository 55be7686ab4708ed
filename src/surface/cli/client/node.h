/// Access by path to values in the server's answers, and their text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/yaml/document.h"

namespace berth::cli {

/// The value at a path such as "status.last_minute.requests"; null if a key is missing or its parent is not a map.
[[nodiscard]] const yaml::Node* find_node(const yaml::Node& root, std::string_view path);
/// The items of the list at a path; empty if there is none.
[[nodiscard]] const yaml::List& items_at(const yaml::Node& root, std::string_view path);
/// The text of the scalar at a path; absent if it is missing or null.
[[nodiscard]] std::optional<std::string> text_at(const yaml::Node& root, std::string_view path);
/// The finite number at a path; absent if there is none.
[[nodiscard]] std::optional<double> number_at(const yaml::Node& root, std::string_view path);

/// A JSON scalar.
[[nodiscard]] yaml::Node text_node(std::string text);
[[nodiscard]] yaml::Node number_node(std::string text);
[[nodiscard]] yaml::Node truth_node(bool value);
[[nodiscard]] yaml::Node null_node();
/// Adds a key to a map. Requires: `map` is a map.
void put(yaml::Node& map, std::string key, yaml::Node value);

/// JSON in one line, or indented by two spaces with a line feed at its end. Control characters are escaped.
[[nodiscard]] std::string json_of(const yaml::Node& node);
[[nodiscard]] std::string indented_json_of(const yaml::Node& node);

}  // namespace berth::cli
