#include "domain/migparted/config_map.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "base/yaml/reader.h"

namespace berth::migparted {
namespace {

constexpr std::string_view kFileKey = "config.yaml";
constexpr std::string_view kKind = "ConfigMap";

const yaml::Node* find_value(const yaml::Node& node, std::string_view key) {
  const auto* map = std::get_if<yaml::Map>(&node.value);
  if (map == nullptr) return nullptr;
  const auto entry = std::ranges::find(*map, key, &yaml::Entry::key);
  return entry == map->end() ? nullptr : &entry->value;
}

bool is_config_map(const yaml::Node& node) {
  const yaml::Node* kind = find_value(node, "kind");
  const auto* word = kind == nullptr ? nullptr : std::get_if<yaml::Scalar>(&kind->value);
  return word != nullptr && word->text == kKind;
}

/// Whether it is a ConfigMap that can hold a file of mig-parted.
bool has_file(const yaml::Node& node) {
  const yaml::Node* data = find_value(node, "data");
  return is_config_map(node) && data != nullptr && find_value(*data, kFileKey) != nullptr;
}

std::size_t indentation_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

std::string_view without_end(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

/// A literal block scalar as it is in the whole text, below as many empty lines as are above it, so that places in it
/// are places in the whole text. Nothing if the lines below its header are not, without their indentation, the scalar.
std::optional<std::string> block_in_place(std::string_view text, std::size_t header_line, std::string_view scalar) {
  std::string in_place;
  std::string block;
  std::optional<std::size_t> indentation;
  for (LineReader lines(text); lines.next();) {
    const std::string_view line = lines.line();
    if (lines.number() <= header_line) {
      in_place += '\n';
      continue;
    }
    const bool is_empty = indentation_of(line) == line.size();
    if (!is_empty && !indentation) indentation = indentation_of(line);
    if (!is_empty && indentation_of(line) < *indentation) break;
    const std::size_t cut = std::min(indentation.value_or(line.size()), indentation_of(line));
    block.append(line.substr(cut)) += '\n';
    in_place.append(line) += '\n';
  }
  if (without_end(block) != without_end(scalar)) return std::nullopt;
  return in_place;
}

/// The key of `data` that holds the file; fails if there is none.
std::string file_key_of(const yaml::Value& data) {
  const std::vector<std::string> keys = data.keys();
  if (std::ranges::find(keys, kFileKey) != keys.end()) return std::string(kFileKey);
  if (keys.size() == 1) return keys.front();
  std::string found;
  for (const std::string& key : keys) found += (found.empty() ? "" : ", ") + in_quotes(key);
  data.refuse("the key " + std::string(kFileKey) + ", with a file of mig-parted", keys.empty() ? "no key" : found);
  return {};
}

Result<FileRoot> read_config_map(const yaml::Node& root, std::string_view text, std::string_view file) {
  yaml::Report report{std::string(file)};
  const yaml::Value value(root, report);
  if (!is_config_map(root)) {
    value.at("kind").refuse("ConfigMap, or no kind in a file of mig-parted");
    return pass_on(report.failure());
  }
  const yaml::Value data = value.at("data");
  if (!data.is_map()) data.refuse("a map with the key " + std::string(kFileKey));
  const std::string key = file_key_of(data);
  const std::string scalar = data.at(key).text("the text of a file of mig-parted");
  if (report.has_failed()) return pass_on(report.failure());  // the first one
  const yaml::Node& node = *find_value(*find_value(root, "data"), key);
  if (const auto in_place = block_in_place(text, node.place.line, scalar)) {
    auto inner = yaml::parse_document(*in_place, file);
    if (!inner) return pass_on(inner.error());
    return FileRoot{.node = *std::move(inner), .file = std::string(file)};
  }
  const std::string inner_file = std::string(file) + ": data." + in_quotes(key);
  auto inner = yaml::parse_document(scalar, inner_file);
  if (!inner) return pass_on(inner.error());
  return FileRoot{.node = *std::move(inner), .file = inner_file};
}

}  // namespace

Result<FileRoot> read_file_root(std::string_view text, std::string_view file) {
  auto root = yaml::parse_document(text, file);
  if (root && find_value(*root, "kind") == nullptr) {
    return FileRoot{.node = *std::move(root), .file = std::string(file)};
  }
  if (root) return read_config_map(*root, text, file);
  // A manifest may have other documents next to the ConfigMap.
  const auto documents = yaml::parse_documents(text, file);
  if (documents && std::ranges::count_if(*documents, has_file) == 1) {
    return read_config_map(*std::ranges::find_if(*documents, has_file), text, file);
  }
  return pass_on(root.error());
}

}  // namespace berth::migparted
