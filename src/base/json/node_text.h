/// Trees written back as JSON, and look-ups in them by several keys.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/json/writer.h"
#include "base/yaml/document.h"

namespace berth::json {

/// Adds the tree to what `json` has written. Numbers keep their text; untyped scalars of YAML are written as texts.
void write_node(Writer& json, const yaml::Node& node);
/// The tree alone, in one line.
[[nodiscard]] std::string text_of_node(const yaml::Node& node);

/// The value below these keys; null if one is missing.
[[nodiscard]] const yaml::Node* find_at(const yaml::Node& node, std::initializer_list<std::string_view> keys);
/// The text below these keys; empty if there is none.
[[nodiscard]] std::string_view text_at(const yaml::Node& node, std::initializer_list<std::string_view> keys);
/// The list below these keys; an empty one if there is none.
[[nodiscard]] const yaml::List& list_at(const yaml::Node& node, std::initializer_list<std::string_view> keys);

}  // namespace berth::json
