#include "serving/repository/repository_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/core/text.h"

namespace berth::serving {
namespace {

std::string no_folder(const std::string& path) {
  return fmt::format("{}: wanted a folder, found a device, a pipe or a link without a target", path);
}

/// Nothing if it has vanished.
std::optional<ListedVersion> list_version(const FileTree& tree, const std::string& path, const FolderEntry& folder,
                                          std::int64_t number) {
  ListedVersion version{.number = number};
  if (folder.kind == EntryKind::kOther) {
    version.fault = no_folder(path);
    return version;
  }
  auto entries = tree.list(path);
  if (!entries && entries.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!entries) {
    version.fault = entries.error().message;
    return version;
  }
  for (FolderEntry& entry : *entries) {
    if (entry.kind != EntryKind::kFolder) version.files.push_back(std::move(entry));
  }
  return version;
}

/// Nothing if it has vanished.
std::optional<ListedModel> list_model(const FileTree& tree, const std::string& path, const FolderEntry& folder) {
  ListedModel model{.name = folder.name};
  if (folder.kind == EntryKind::kOther) {
    model.fault = no_folder(path);
    return model;
  }
  auto entries = tree.list(path);
  if (!entries && entries.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!entries) {
    model.fault = entries.error().message;
    return model;
  }
  for (FolderEntry& entry : *entries) {
    const std::string entry_path = path + "/" + entry.name;
    const auto number = version_number(entry.name);
    if (number && entry.kind != EntryKind::kFile) {
      auto version = list_version(tree, entry_path, entry, *number);
      if (version) model.versions.push_back(*std::move(version));
    } else if (entry.name == kConfigFile && entry.kind == EntryKind::kFile) {
      model.config = std::move(entry);
    } else if (entry.name == kConfigFile) {
      model.fault = entry_path + ": wanted a file, found a folder, a device, a pipe or a link without a target";
    }
  }
  std::ranges::sort(model.versions, {}, &ListedVersion::number);
  return model;
}

}  // namespace

Result<std::vector<ListedModel>> list_repository(const FileTree& tree, const std::string& root) {
  const auto entries = tree.list(root);
  if (!entries) return pass_on(entries.error());
  std::vector<ListedModel> models;
  for (const FolderEntry& entry : *entries) {
    if (entry.kind == EntryKind::kFile || entry.name.starts_with('.')) continue;
    auto model = list_model(tree, root + "/" + entry.name, entry);
    if (model) models.push_back(*std::move(model));
  }
  return models;
}

std::optional<std::int64_t> version_number(std::string_view name) {
  if (name.starts_with('0')) return std::nullopt;
  const auto number = parse_count(name, std::numeric_limits<std::int64_t>::max());
  if (!number) return std::nullopt;
  return *number;
}

}  // namespace berth::serving
