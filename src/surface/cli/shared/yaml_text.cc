#include "surface/cli/shared/yaml_text.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include "base/json/node_text.h"
#include "surface/cli/shared/printable.h"

namespace berth::cli {
namespace {

constexpr int kYamlIndent = 2;

/// Whether every YAML reader takes the text for a string even without quotes.
bool is_plain_in_yaml(const std::string& text) {
  constexpr std::array<std::string_view, 9> kWords = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_plain = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
  };
  if (text.empty() || !is_letter(text.front()) || !std::ranges::all_of(text, is_plain)) return false;
  std::string lower;
  for (const char c : text) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return std::ranges::find(kWords, lower) == kWords.end();
}

/// A YAML scalar: strings that need quotes are double-quoted, as in JSON, which YAML reads alike.
std::string scalar_text(const yaml::Scalar& scalar) {
  const bool is_text = scalar.kind == yaml::ScalarKind::kText || scalar.kind == yaml::ScalarKind::kUntyped;
  if (is_text && is_plain_in_yaml(scalar.text)) return scalar.text;
  return printable_json(json::text_of_node({{}, scalar}));
}

bool is_empty_collection(const yaml::Node& node) {
  if (const auto* list = std::get_if<yaml::List>(&node.value)) return list->empty();
  const auto* map = std::get_if<yaml::Map>(&node.value);
  return map != nullptr && map->empty();
}

/// Appends YAML lines; the first one begins without indentation if `is_inline`.
void append_yaml(std::string& out, const yaml::Node& node, int indent, bool is_inline) {
  bool is_begun = is_inline;
  const auto begin = [&] {
    if (!std::exchange(is_begun, false)) out += std::string(static_cast<std::size_t>(indent), ' ');
  };
  const auto is_leaf = [](const yaml::Node& value) {
    return std::holds_alternative<yaml::Scalar>(value.value) || is_empty_collection(value);
  };
  if (is_leaf(node)) {
    begin();
    if (const auto* scalar = std::get_if<yaml::Scalar>(&node.value)) {
      out += scalar_text(*scalar);
    } else {
      out += std::holds_alternative<yaml::List>(node.value) ? "[]" : "{}";
    }
    out += '\n';
  } else if (const auto* list = std::get_if<yaml::List>(&node.value)) {
    for (const yaml::Node& item : *list) {
      begin();
      out += "- ";
      append_yaml(out, item, indent + kYamlIndent, true);
    }
  } else {
    for (const yaml::Entry& entry : std::get<yaml::Map>(node.value)) {
      begin();
      out += scalar_text({.text = entry.key, .is_plain = false, .kind = yaml::ScalarKind::kText}) + ":";
      out += is_leaf(entry.value) ? " " : "\n";
      append_yaml(out, entry.value, indent + kYamlIndent, is_leaf(entry.value));
    }
  }
}

}  // namespace

std::string yaml_of(const yaml::Node& node, int indent) {
  std::string out;
  append_yaml(out, node, indent, false);
  return out;
}

}  // namespace berth::cli
