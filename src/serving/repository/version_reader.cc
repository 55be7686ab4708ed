#include "serving/repository/version_reader.h"

#include <fmt/format.h>

#include <string_view>

#include "base/core/control_text.h"
#include "base/core/text.h"
#include "base/json/document.h"
#include "base/json/tree.h"
#include "models/onnx_file/onnx_file.h"
#include "serving/repository/repository_listing.h"

namespace berth::serving {
namespace {

/// Whether a path leads to a file below the folder that it is relative to, links aside.
bool stays_inside(std::string_view path) {
  if (path.starts_with('/')) return false;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") return false;
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  }
  return true;
}

/// Nothing if all files of weights are there. Whatever is wrong may be right soon: they may be in folders that are not
/// listed.
std::optional<Error> find_bad_weights(const FileTree& tree, const std::string& folder, const std::string& name,
                                      const models::OnnxFile& model) {
  for (const models::WeightsFile& weights : model.weights) {
    const auto refuse = [&](std::string_view why) {
      return Error{ErrorCode::kInvalidInput,
                   fmt::format("{}/{}: weights in {}: {}", name, kModelFile, in_quotes(weights.path), why)};
    };
    if (!stays_inside(weights.path)) return refuse("wanted a file in the folder of the model, found another path");
    const auto file = tree.open(folder + "/" + weights.path);
    if (!file) return refuse(file.error().message);
    const std::uint64_t bytes = (*file)->stamp().bytes;
    if (bytes < weights.bytes_min) {
      return refuse(fmt::format("wanted at least {} bytes, found {}", weights.bytes_min, bytes));
    }
  }
  return std::nullopt;
}

}  // namespace

VersionReading read_version(const FileTree& tree, const std::string& folder, const std::string& name,
                            const std::optional<ModelConfig>& config) {
  const auto file = tree.open(fmt::format("{}/{}", folder, kModelFile));
  if (!file) return {.terms = pass_on(file.error()), .may_differ_next = true};
  VersionReading reading{.model_stamp = (*file)->stamp()};
  const std::string file_name = fmt::format("{}/{}", name, kModelFile);
  const auto model = models::read_onnx_file(**file, file_name);
  if (!model) {
    reading.terms = pass_on(model.error());
    reading.may_differ_next = model.error().code != ErrorCode::kInvalidInput;
  } else if (const auto error = find_bad_weights(tree, folder, name, *model)) {
    reading.terms = pass_on(*error);
    reading.may_differ_next = true;
  } else {
    reading.terms = version_terms(*model, file_name, config);
  }
  return reading;
}

std::optional<std::string> read_variant(const FileTree& tree, const std::string& folder) {
  constexpr std::size_t kCardBytesMax = 64 << 10;
  constexpr std::size_t kVariantBytesMax = 128;
  const auto file = tree.open(fmt::format("{}/{}", folder, kVariantCard));
  if (!file) return std::nullopt;
  const auto text = read_whole(**file, kCardBytesMax);
  if (!text) return std::nullopt;
  const auto card = json::parse_document(*text, kVariantCard);
  const yaml::Node* const variant = card ? json::find_member(*card, "variant") : nullptr;
  const std::string* const name = variant == nullptr ? nullptr : json::text_in(*variant);
  if (name == nullptr || name->empty() || name->size() > kVariantBytesMax || has_control(*name)) return std::nullopt;
  return *name;
}

}  // namespace berth::serving
