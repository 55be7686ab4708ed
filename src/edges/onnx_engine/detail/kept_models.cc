#include "edges/onnx_engine/detail/kept_models.h"

#include <fmt/format.h>

#include <utility>

#include "edges/files/disk_tree.h"
#include "models/onnx_file/onnx_file.h"

namespace berth::edges::detail {
namespace {

/// Whether the file has the content whose sum is known, and no weights elsewhere.
bool is_whole_and_unchanged(const ModelFile& file) {
  const auto open = DiskTree().open(file.path);
  if (!open || (*open)->stamp() != file.stamp) return false;
  const auto read = models::read_onnx_file(**open, file.path);
  return read && read->weights.empty();
}

}  // namespace

Result<std::unique_ptr<LoadedModel>> KeptModels::load(const ModelFile& file, const Load& load) {
  if (auto kept = load_kept(file, load)) return kept;
  const Result<bool> is_kept = is_refused(file) ? false : keep(file, load);
  if (is_kept && *is_kept) {
    if (auto kept = load_kept(file, load)) return kept;
    refuse(file, "the library does not load what it wrote");
  }
  auto loaded = load({.path = file.path});
  if (loaded && !is_kept) refuse(file, is_kept.error().message);  // else the model itself is at fault
  return loaded;
}

std::unique_ptr<LoadedModel> KeptModels::load_kept(const ModelFile& file, const Load& load) {
  const auto found = cache_.find(file.sha256);
  if (!found) report_(fmt::format("--cache: {}; {} is optimised again", found.error().message, file.path));
  if (!found || !*found) return nullptr;
  auto loaded = load({.path = **found, .is_optimised = true});
  if (loaded) return std::move(*loaded);
  report_(fmt::format("--cache: {}: {}; {} is optimised again", **found, loaded.error().message, file.path));
  return nullptr;
}

Result<bool> KeptModels::keep(const ModelFile& file, const Load& load) {
  if (!is_whole_and_unchanged(file)) return false;
  const auto place = begin(file);
  if (!place) return pass_on(place.error());
  const auto written = load({.path = file.path, .write_to = *place});
  if (!written || !is_whole_and_unchanged(file)) {  // else nobody knows which content was loaded
    ModelCache::discard(*place);
    return written ? Result<bool>(false) : pass_on(written.error());
  }
  if (auto kept = cache_.keep(file.sha256, *place); !kept) return pass_on(kept.error());
  return true;
}

Result<std::string> KeptModels::begin(const ModelFile& file) {
  const std::scoped_lock hold(lock_);
  return cache_.begin(file.sha256);
}

void KeptModels::refuse(const ModelFile& file, const std::string& reason) {
  report_(fmt::format("--cache: {} is not kept: {}", file.path, reason));
  const std::scoped_lock hold(lock_);
  refused_.insert(file.sha256);
}

bool KeptModels::is_refused(const ModelFile& file) {
  const std::scoped_lock hold(lock_);
  return refused_.contains(file.sha256);
}

}  // namespace berth::edges::detail
