#include "apps/optimize/model_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/core/text.h"
#include "live/chain/field_hash.h"
#include "models/onnx/read_model.h"

namespace berth::optimizer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;

/// Whether the file, links followed, is below the folder.
bool is_below(const fs::path& folder, const fs::path& file) {
  const auto [rest, unused] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return rest == folder.end();
}

/// Opens each file of weights once.
class OutsideWeights {
 public:
  OutsideWeights(const FileTree& tree, const std::string& model) : tree_(tree), folder_(fs::path(model).parent_path()) {
    if (folder_.empty()) folder_ = ".";
  }

  Result<std::string> read(const std::string& path, std::uint64_t offset, std::uint64_t bytes) {
    const auto file = open(path);
    if (!file) return pass_on(file.error());
    const std::uint64_t size = (*file)->stamp().bytes;
    const std::uint64_t wanted = bytes != 0 ? bytes : size - std::min(size, offset);
    if (wanted > models::kModelBytesMax || offset > size || wanted > size - offset) {
      return invalid(fmt::format("wanted {} bytes from {} on, found a file of {} bytes", wanted, offset, size));
    }
    std::string content(wanted, '\0');
    const auto count = (*file)->read(offset, content);
    if (!count) return pass_on(count.error());
    if (*count == wanted) return content;
    return invalid(fmt::format("wanted {} bytes from {} on, found {}", wanted, offset, *count));
  }

  /// Adds all files that were read.
  Result<void> add_to(chain::BytesHash& hash, std::int64_t& file_bytes) const {
    std::string piece(kPieceBytes, '\0');
    for (const auto& [path, file] : files_) {
      std::uint64_t offset = 0;
      while (offset < file->stamp().bytes) {
        const auto count = file->read(offset, piece);
        if (!count) return pass_on(count.error());
        if (*count == 0)
          return invalid(fmt::format("{}: wanted a file that does not change, found one that does", path));
        hash.add(std::string_view(piece).substr(0, *count));
        offset += *count;
      }
      file_bytes += static_cast<std::int64_t>(offset);
    }
    return {};
  }

 private:
  Result<const OpenFile*> open(const std::string& path) {
    const auto known = files_.find(path);
    if (known != files_.end()) return known->second.get();
    std::error_code error;
    const fs::path folder = fs::canonical(folder_, error);
    const fs::path file = fs::canonical(folder_ / path, error);
    if (error) return invalid(fmt::format("{}: {}", (folder_ / path).string(), error.message()));
    if (!is_below(folder, file)) {
      return invalid(fmt::format("wanted a file below the folder of the model, found a link to {}", file.string()));
    }
    auto opened = tree_.open(file.string());
    if (!opened) return pass_on(opened.error());
    return files_.emplace(path, *std::move(opened)).first->second.get();
  }

  const FileTree& tree_;
  fs::path folder_;
  std::map<std::string, std::unique_ptr<OpenFile>> files_;
};

}  // namespace

Result<ModelSource> read_model_source(const FileTree& tree, const std::string& path) {
  const auto file = tree.open(path);
  if (!file) return invalid(file.error().message);
  const auto bytes = read_whole(**file, models::kModelBytesMax);
  if (!bytes) return invalid(fmt::format("{}: {}", path, bytes.error().message));
  OutsideWeights outside(tree, path);
  auto model = models::read_model(*bytes, path,
                                  [&outside](const std::string& weights, std::uint64_t offset, std::uint64_t count) {
                                    return outside.read(weights, offset, count);
                                  });
  if (!model) return pass_on(model.error());
  ModelSource source = {.model = *std::move(model), .file_bytes = static_cast<std::int64_t>(bytes->size())};
  chain::BytesHash hash;
  hash.add(*bytes);
  if (auto added = outside.add_to(hash, source.file_bytes); !added) return pass_on(added.error());
  source.sha256 = chain::hex_of(hash.finish());
  return source;
}

}  // namespace berth::optimizer
