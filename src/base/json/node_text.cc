#include "base/json/node_text.h"

#include <variant>

#include "base/core/overloaded.h"
#include "base/json/tree.h"

namespace berth::json {
namespace {

void write_scalar(Writer& json, const yaml::Scalar& scalar) {
  switch (scalar.kind) {
    case yaml::ScalarKind::kNumber:
    case yaml::ScalarKind::kTruth:
      json.written(scalar.text);
      return;
    case yaml::ScalarKind::kNull:
      json.value(nullptr);
      return;
    case yaml::ScalarKind::kUntyped:
    case yaml::ScalarKind::kText:
      json.value(scalar.text);
      return;
  }
}

}  // namespace

void write_node(Writer& json, const yaml::Node& node) {
  std::visit(Overloaded{[&](const yaml::Scalar& scalar) { write_scalar(json, scalar); },
                        [&](const yaml::List& items) {
                          json.list(items, [](Writer& inner, const yaml::Node& item) { write_node(inner, item); });
                        },
                        [&](const yaml::Map& entries) {
                          json.open_object();
                          for (const yaml::Entry& entry : entries) write_node(json.key(entry.key), entry.value);
                          json.close_object();
                        }},
             node.value);
}

std::string text_of_node(const yaml::Node& node) {
  Writer json;
  write_node(json, node);
  return json.take();
}

const yaml::Node* find_at(const yaml::Node& node, std::initializer_list<std::string_view> keys) {
  const yaml::Node* at = &node;
  for (const std::string_view key : keys) {
    at = find_member(*at, key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string_view text_at(const yaml::Node& node, std::initializer_list<std::string_view> keys) {
  const yaml::Node* at = find_at(node, keys);
  const std::string* text = at == nullptr ? nullptr : text_in(*at);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

const yaml::List& list_at(const yaml::Node& node, std::initializer_list<std::string_view> keys) {
  static const yaml::List kNone;
  const yaml::Node* at = find_at(node, keys);
  const yaml::List* list = at == nullptr ? nullptr : list_in(*at);
  return list == nullptr ? kNone : *list;
}

}  // namespace berth::json
