/// What is in a tree of JSON, for readers of texts that this program wrote itself. What people write is read by
/// base/yaml/reader.h, which says what is wrong.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/yaml/document.h"

namespace berth::json {

/// The value of a key; null if the node is not an object, or does not have it.
[[nodiscard]] const yaml::Node* find_member(const yaml::Node& node, std::string_view key);
/// The items; null if the node is not a list.
[[nodiscard]] const yaml::List* list_in(const yaml::Node& node);
/// The text; null if the node is not one.
[[nodiscard]] const std::string* text_in(const yaml::Node& node);
/// The number as it was written; null if the node is not one.
[[nodiscard]] const std::string* number_in(const yaml::Node& node);
/// Nothing if the node is neither true nor false.
[[nodiscard]] std::optional<bool> truth_in(const yaml::Node& node);
/// Nothing if the node is not a number.
[[nodiscard]] std::optional<double> double_in(const yaml::Node& node);

/// Nothing if the node is not an integer without fraction and exponent, or one that the type cannot hold.
template <std::integral Integer>
[[nodiscard]] std::optional<Integer> integer_in(const yaml::Node& node) {
  const std::string* text = number_in(node);
  if (text == nullptr) return std::nullopt;
  Integer number = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

}  // namespace berth::json
