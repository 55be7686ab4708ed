// Any bytes give a tree within the limits, with the values that the library's own parser finds, or an error with the
// source's name.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "base/json/document.h"

namespace {

using namespace berth;
using Json = nlohmann::json;

void check_scalar(const yaml::Scalar& scalar, const Json& expected) {
  switch (scalar.kind) {
    case yaml::ScalarKind::kUntyped:
      ENSURE(false);
      break;
    case yaml::ScalarKind::kText:
      ENSURE(expected.is_string() && expected.get<std::string>() == scalar.text);
      break;
    case yaml::ScalarKind::kNumber:
      ENSURE(expected.is_number() && Json::parse(scalar.text) == expected);
      break;
    case yaml::ScalarKind::kTruth:
      ENSURE(expected.is_boolean() && expected.get<bool>() == (scalar.text == "true"));
      break;
    case yaml::ScalarKind::kNull:
      ENSURE(expected.is_null());
      break;
  }
}

void check(const yaml::Node& node, const Json& expected, std::size_t depth) {
  ENSURE(depth <= json::kDepthMax);
  if (const auto* list = std::get_if<yaml::List>(&node.value)) {
    ENSURE(expected.is_array() && expected.size() == list->size());
    for (std::size_t i = 0; i < list->size(); ++i) check((*list)[i], expected[i], depth + 1);
  } else if (const auto* map = std::get_if<yaml::Map>(&node.value)) {
    ENSURE(expected.is_object() && expected.size() == map->size());
    for (const yaml::Entry& entry : *map) {
      ENSURE(node.place < entry.place && entry.place < entry.value.place);
      check(entry.value, expected.at(entry.key), depth + 1);
    }
  } else {
    check_scalar(std::get<yaml::Scalar>(node.value), expected);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto root = json::parse_document(text, "fuzz");
  if (root) {
    check(*root, Json::parse(text), 0);
  } else {
    ENSURE(root.error().message.substr(0, 5) == "fuzz:");
    ENSURE(find_bad_utf8(root.error().message) == std::string_view::npos);
  }
  return 0;
}
