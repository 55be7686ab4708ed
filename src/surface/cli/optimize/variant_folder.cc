#include "surface/cli/optimize/variant_folder.h"

#include <fmt/format.h>

namespace berth::cli {

Result<models::Manifest> read_variant_folder(const Files& files, const std::string& folder) {
  const std::string path = fmt::format("{}/{}", folder, models::kManifestFile);
  const auto text = files.read(path);
  if (!text) return pass_on(text.error());
  return models::read_manifest(*text, path);
}

}  // namespace berth::cli
