#include "surface/cli/optimize/publish_variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "base/json/writer.h"
#include "domain/ports/file_tree.h"
#include "edges/files/disk_tree.h"
#include "edges/files/folder_sink.h"
#include "live/chain/field_hash.h"
#include "models/onnx/read_model.h"
#include "models/onnx_file/onnx_file.h"
#include "surface/cli/optimize/variant_folder.h"
#include "surface/cli/shared/unwritable.h"

namespace berth::cli {
namespace {

using models::Manifest;
using models::OnnxFile;
using models::OnnxTensor;
using models::VariantRecord;

constexpr std::string_view kCardFile = "berth.json";  // kVariantCard of serving/repository

Result<const VariantRecord*> chosen_variant(const Manifest& manifest, const PublishVariantRequest& request) {
  const std::string& name = request.variant ? *request.variant : manifest.findings.recommended;
  if (name.empty()) return invalid(fmt::format("{}: wanted a variant that is kept, found none", request.folder));
  const VariantRecord* const variant = find_variant(manifest.findings, name);
  if (variant == nullptr || !variant->is_kept) {
    std::string kept;
    for (const VariantRecord& each : manifest.findings.variants) {
      if (each.is_kept) kept += (kept.empty() ? "" : ", ") + each.name;
    }
    return invalid(fmt::format("--variant: wanted one that is kept ({}), found {}", kept.empty() ? "none" : kept,
                               in_quotes(name)));
  }
  return variant;
}

Result<std::string> read_variant(const FileTree& tree, const PublishVariantRequest& request,
                                 const VariantRecord& variant) {
  const std::string path = fmt::format("{}/{}", request.folder, variant_path(variant));
  const auto file = tree.open(path);
  if (!file) return pass_on(file.error());
  auto bytes = read_whole(**file, models::kModelBytesMax);
  if (!bytes) return invalid(fmt::format("{}: {}", path, bytes.error().message));
  const std::string sum = chain::hex_of(chain::sha256(*bytes));
  if (sum == variant.sha256) return bytes;
  return invalid(fmt::format("{}: wanted the file of the manifest (SHA-256 {}), found another one ({})", path,
                             variant.sha256, sum));
}

/// The versions of the model, ascending; none if it is new.
Result<std::vector<std::int64_t>> versions_there(const FileTree& tree, const PublishVariantRequest& request) {
  constexpr std::int64_t kVersionMax = 1'000'000'000'000;
  const auto models = tree.list(request.repository);
  if (!models) return pass_on(models.error());
  std::vector<std::int64_t> versions;
  if (std::ranges::find(*models, request.model, &FolderEntry::name) == models->end()) return versions;
  const auto entries = tree.list(fmt::format("{}/{}", request.repository, request.model));
  if (!entries) return pass_on(entries.error());
  for (const FolderEntry& entry : *entries) {
    const auto number = parse_count(entry.name, kVersionMax);
    const bool is_version = number && *number > 0 && entry.name == fmt::format("{}", *number);
    if (is_version && entry.kind == EntryKind::kFolder) versions.push_back(*number);
  }
  std::ranges::sort(versions);
  return versions;
}

std::string tensors_text(std::vector<OnnxTensor> tensors) {
  std::ranges::sort(tensors, {}, &OnnxTensor::name);
  std::string text;
  for (const OnnxTensor& tensor : tensors) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", tensor.name, name_of(tensor.type));
    if (!tensor.shape) {
      text += " of any shape";
      continue;
    }
    text += '[';
    for (std::size_t i = 0; i < tensor.shape->size(); ++i) {
      const std::int64_t size = (*tensor.shape)[i];
      text += fmt::format("{}{}", i == 0 ? "" : ",", size < 0 ? "any" : fmt::format("{}", size));
    }
    text += ']';
  }
  return text;
}

Result<void> check_same(std::string_view what, const std::string& version, const std::vector<OnnxTensor>& there,
                        const std::vector<OnnxTensor>& variant) {
  const std::string wanted = tensors_text(there);
  const std::string found = tensors_text(variant);
  if (wanted == found) return {};
  return invalid(fmt::format("{}: wanted the {} of the version there: {}; found {}", version, what, wanted, found));
}

/// Compared with the newest version that has a model.
Result<void> check_signature(const FileTree& tree, const PublishVariantRequest& request,
                             const std::vector<std::int64_t>& versions, std::string_view bytes) {
  const auto variant = models::read_onnx_file(*file_over(bytes), "the variant");
  if (!variant) return pass_on(variant.error());
  for (std::size_t i = versions.size(); i-- > 0;) {
    const std::string version = fmt::format("{}/{}/{}", request.repository, request.model, versions[i]);
    const std::string path = fmt::format("{}/{}", version, models::kVariantFile);
    const auto file = tree.open(path);
    if (!file) continue;
    const auto there = models::read_onnx_file(**file, path);
    if (!there) continue;
    if (auto same = check_same("inputs", version, there->inputs, variant->inputs); !same) return same;
    return check_same("outputs", version, there->outputs, variant->outputs);
  }
  return {};
}

std::string card_json(const Manifest& manifest, const VariantRecord& variant) {
  const models::VariantFigures& figures = *variant.figures;
  json::Writer out(2);
  out.open_object()
      .member("berth", 1)
      .member("variant", variant.name)
      .member("sha256", variant.sha256)
      .member("original_sha256", manifest.model.sha256)
      .member("metric", name_of(manifest.findings.metric))
      .member("loss", figures.judging.loss.value)
      .member("loss_low", figures.judging.loss.low)
      .member("loss_high", figures.judging.loss.high)
      .member("time_ratio", figures.time_ratio.value)
      .member("device", manifest.device)
      .member("engine", manifest.engine)
      .close_object();
  return out.take_line();
}

Result<void> write_version(const std::string& folder, std::string_view inside, std::string_view model,
                           std::string_view card) {
  auto sink = edges::FolderSink::open(folder);
  if (!sink) return pass_on(sink.error());
  // The model last: a listing of a half-copied repository has no version without its card.
  if (auto added = sink->add(fmt::format("{}{}", inside, kCardFile), card); !added) return unwritable(added.error());
  if (auto added = sink->add(fmt::format("{}{}", inside, models::kVariantFile), model); !added) {
    return unwritable(added.error());
  }
  return sink->commit();
}

}  // namespace

Result<std::string> run_publish_variant(const PublishVariantRequest& request, const VerbContext& context) {
  const edges::DiskTree tree;
  const auto manifest = read_variant_folder(*context.files, request.folder);
  if (!manifest) return pass_on(manifest.error());
  const auto variant = chosen_variant(*manifest, request);
  if (!variant) return pass_on(variant.error());
  const auto bytes = read_variant(tree, request, **variant);
  if (!bytes) return pass_on(bytes.error());
  const auto versions = versions_there(tree, request);
  if (!versions) return pass_on(versions.error());
  if (auto checked = check_signature(tree, request, *versions, *bytes); !checked) return pass_on(checked.error());
  const std::int64_t next = versions->empty() ? 1 : versions->back() + 1;
  const std::string model = fmt::format("{}/{}", request.repository, request.model);
  const std::string card = card_json(*manifest, **variant);
  // Of a new model, its folder appears with the version in it.
  const auto there = tree.list(model);
  const bool is_new = !there || there->empty();
  const auto written = is_new ? write_version(model, fmt::format("{}/", next), *bytes, card)
                              : write_version(fmt::format("{}/{}", model, next), "", *bytes, card);
  if (!written) return pass_on(written.error());
  return fmt::format("{} is version {} of {}: {}/{}\n", (*variant)->name, next, request.model, model, next);
}

}  // namespace berth::cli
