#include "serving/protocol/metadata_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/core/text.h"
#include "base/json/document.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"

namespace berth::serving::protocol {
namespace {

constexpr std::size_t kMessageBytesMax = 300;
constexpr std::size_t kFoundBytesMax = 100;

Result<yaml::Node> read_metadata_tree(std::string_view text, std::string_view source) {
  auto tree = json::parse_document(text, source);
  if (!tree) return invalid(tree.error().message);
  return tree;
}

tl::unexpected<Error> wanted_member(std::string_view source, std::string_view key, std::string_view wanted,
                                    std::string_view found = "none") {
  return invalid(fmt::format("{}: {}: wanted {}, found {}", source, key, wanted, found));
}

std::string text_or_empty(const yaml::Node& node, std::string_view key) {
  const yaml::Node* const member = json::find_member(node, key);
  const std::string* const text = member != nullptr ? json::text_in(*member) : nullptr;
  return text != nullptr ? *text : "";
}

/// What is there in place of what was wanted, in JSON.
std::string text_of_member(const yaml::Node& node, std::string_view key) {
  const yaml::Node* const member = json::find_member(node, key);
  return member != nullptr ? json::text_of_node(*member).substr(0, kFoundBytesMax) : "none";
}

const yaml::List* list_of(const yaml::Node& node, std::string_view key) {
  const yaml::Node* const member = json::find_member(node, key);
  return member != nullptr ? json::list_in(*member) : nullptr;
}

std::optional<std::vector<std::int64_t>> read_shape(const yaml::Node& input) {
  const yaml::List* const sizes = list_of(input, "shape");
  if (sizes == nullptr) return std::nullopt;
  std::vector<std::int64_t> shape;
  for (const yaml::Node& node : *sizes) {
    const auto size = json::integer_in<std::int64_t>(node);
    if (!size || *size < -1) return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

Result<TensorSignature> read_input(const yaml::Node& node, std::string_view source, std::size_t index) {
  const std::string place = fmt::format("inputs[{}]", index);
  TensorSignature input{.name = text_or_empty(node, "name")};
  if (input.name.empty()) return wanted_member(source, place + ".name", "a name");
  const std::string datatype = text_or_empty(node, "datatype");
  const auto type = tensor_type_named(datatype);
  if (!type) {
    return invalid(
        fmt::format("{}: {}.datatype: wanted a type such as FP32, found {}", source, place, in_quotes(datatype)));
  }
  input.type = *type;
  auto shape = read_shape(node);
  if (!shape) {
    return wanted_member(source, place + ".shape", "a list of sizes from -1 on", text_of_member(node, "shape"));
  }
  input.shape = *std::move(shape);
  return input;
}

}  // namespace

Result<ServerSaid> read_server_metadata(std::string_view text, std::string_view source) {
  const auto tree = read_metadata_tree(text, source);
  if (!tree) return pass_on(tree.error());
  ServerSaid said{.name = text_or_empty(*tree, "name"),
                  .version = text_or_empty(*tree, "version"),
                  .device = text_or_empty(*tree, "device")};
  if (said.name.empty()) return wanted_member(source, "name", "the name of a server");
  if (const yaml::List* const extensions = list_of(*tree, "extensions")) {
    said.takes_binary = std::ranges::any_of(*extensions, [](const yaml::Node& node) {
      const std::string* const name = json::text_in(node);
      return name != nullptr && *name == "binary_tensor_data";
    });
  }
  return said;
}

Result<ModelSaid> read_model_metadata(std::string_view text, std::string_view source) {
  const auto tree = read_metadata_tree(text, source);
  if (!tree) return pass_on(tree.error());
  ModelSaid said{.name = text_or_empty(*tree, "name")};
  if (said.name.empty()) return wanted_member(source, "name", "the name of a model");
  const yaml::List* const versions = list_of(*tree, "versions");
  const std::string* const last = versions != nullptr && !versions->empty() ? json::text_in(versions->back()) : nullptr;
  if (last != nullptr) said.version = *last;
  const yaml::List* const inputs = list_of(*tree, "inputs");
  if (inputs == nullptr || inputs->empty()) return wanted_member(source, "inputs", "a list of inputs");
  for (const yaml::Node& node : *inputs) {
    auto input = read_input(node, source, said.inputs.size());
    if (!input) return pass_on(input.error());
    if (std::ranges::find(said.inputs, input->name, &TensorSignature::name) != said.inputs.end()) {
      return invalid(fmt::format("{}: inputs: wanted each name once, found {} twice", source, in_quotes(input->name)));
    }
    said.inputs.push_back(*std::move(input));
  }
  return said;
}

std::string read_error_message(std::string_view text) {
  const auto tree = json::parse_document(text, "answer");
  std::string message = tree ? text_or_empty(*tree, "error") : "";
  if (message.empty()) message = text.substr(0, kMessageBytesMax);
  message.resize(std::min(message.size(), kMessageBytesMax));
  const std::size_t bad = find_bad_utf8(message);
  if (bad != std::string::npos) message.resize(bad);
  std::ranges::replace_if(message, [](char c) { return c >= 0 && c < ' '; }, ' ');
  return message;
}

}  // namespace berth::serving::protocol
