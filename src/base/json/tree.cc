#include "base/json/tree.h"

#include <algorithm>
#include <cstdlib>
#include <variant>

namespace berth::json {
namespace {

const std::string* scalar_in(const yaml::Node& node, yaml::ScalarKind kind) {
  const auto* scalar = std::get_if<yaml::Scalar>(&node.value);
  return scalar != nullptr && scalar->kind == kind ? &scalar->text : nullptr;
}

}  // namespace

const yaml::Node* find_member(const yaml::Node& node, std::string_view key) {
  const auto* map = std::get_if<yaml::Map>(&node.value);
  if (map == nullptr) return nullptr;
  const auto found = std::ranges::find(*map, key, &yaml::Entry::key);
  return found == map->end() ? nullptr : &found->value;
}

const yaml::List* list_in(const yaml::Node& node) { return std::get_if<yaml::List>(&node.value); }

const std::string* text_in(const yaml::Node& node) { return scalar_in(node, yaml::ScalarKind::kText); }

const std::string* number_in(const yaml::Node& node) { return scalar_in(node, yaml::ScalarKind::kNumber); }

std::optional<bool> truth_in(const yaml::Node& node) {
  const std::string* text = scalar_in(node, yaml::ScalarKind::kTruth);
  return text == nullptr ? std::nullopt : std::optional(*text == "true");
}

std::optional<double> double_in(const yaml::Node& node) {
  const std::string* text = number_in(node);
  return text == nullptr ? std::nullopt : std::optional(std::strtod(text->c_str(), nullptr));
}

}  // namespace berth::json
