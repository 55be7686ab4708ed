#include "surface/cli/tier/measurement_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/core/text.h"
#include "tier/hardware/source_tiers.h"
#include "tier/hardware/tiers_file.h"
#include "tier/readers/read_csv.h"
#include "tier/readers/read_parvagpu.h"
#include "tier/readers/read_training.h"

namespace berth::cli {
namespace {

using tier::TierTable;

constexpr std::array<std::string_view, 4> kSiaTiers = {"aws", "rtx", "quad", "dgx-ext"};

/// `path`, or, if it is a folder, the file of that name in it.
Result<std::string> file_at(const std::string& path, std::string_view name, const Files& files) {
  const auto entries = files.list(path);
  if (!entries) return pass_on(entries.error());
  return *entries ? fmt::format("{}/{}", path, name) : path;
}

/// A folder, and the names of its entries.
struct FolderEntries {
  std::string path;
  std::vector<std::string> names;
};

/// `path`, or the folder `inner` in it if there is one.
Result<FolderEntries> folder_at(const std::string& path, std::string_view inner, const Files& files) {
  const auto entries = files.list(path);
  if (!entries) return pass_on(entries.error());
  if (!*entries)
    return invalid(fmt::format("{}: wanted a folder, or one with the folder {}, found a file", path, inner));
  if (std::ranges::find(**entries, inner) == (*entries)->end()) return FolderEntries{path, **entries};
  const std::string inner_path = fmt::format("{}/{}", path, inner);
  const auto inner_entries = files.list(inner_path);
  if (!inner_entries) return pass_on(inner_entries.error());
  if (!*inner_entries) return FolderEntries{path, **entries};
  return FolderEntries{inner_path, **inner_entries};
}

using TextReader = Result<TierTable> (*)(std::string_view, std::string_view, const std::vector<tier::Tier>&);

Result<TierTable> read_one(const std::string& path, TextReader read, const std::vector<tier::Tier>& tiers,
                           const Files& files) {
  const auto text = files.read(path);
  if (!text) return pass_on(text.error());
  return read(*text, path, tiers);
}

Result<TierTable> read_own_csv(std::string_view text, std::string_view file, const std::vector<tier::Tier>& tiers) {
  return tier::read_csv(text, file, tiers, tier::OtherTiers::kLeaveOut);
}

/// "placements-aws.csv" -> aws, if it is one of the source's tiers or of `tiers`.
std::optional<std::string> sia_tier(std::string_view name, const std::vector<tier::Tier>& tiers) {
  constexpr std::string_view kFront = "placements-";
  constexpr std::string_view kBack = ".csv";
  if (!name.starts_with(kFront) || !name.ends_with(kBack)) return std::nullopt;
  if (name.size() <= kFront.size() + kBack.size()) return std::nullopt;
  const std::string tier(name.substr(kFront.size(), name.size() - kFront.size() - kBack.size()));
  const bool is_known = std::ranges::find(kSiaTiers, tier) != kSiaTiers.end() ||
                        std::ranges::find(tiers, tier, &tier::Tier::name) != tiers.end();
  return is_known ? std::optional(tier) : std::nullopt;
}

Result<void> add_app(std::vector<tier::SiaFile>& apps, const std::string& folder, const std::string& app,
                     const std::vector<tier::Tier>& tiers, const Files& files) {
  const std::string path = fmt::format("{}/{}", folder, app);
  const auto names = files.list(path);
  if (!names) return pass_on(names.error());
  if (!*names) return {};
  for (const std::string& name : **names) {
    const auto tier = sia_tier(name, tiers);
    if (!tier) continue;
    const std::string file = fmt::format("{}/{}", path, name);
    const auto text = files.read(file);
    if (!text) return pass_on(text.error());
    apps.push_back({.app = app, .tier = *tier, .file = file, .text = *text});
  }
  return {};
}

Result<TierTable> read_sia_folder(const std::string& path, const std::vector<tier::Tier>& tiers, const Files& files) {
  const auto folder = folder_at(path, "traces", files);
  if (!folder) return pass_on(folder.error());
  std::vector<tier::SiaFile> apps;
  for (const std::string& app : folder->names) {
    if (auto added = add_app(apps, folder->path, app, tiers, files); !added) return pass_on(added.error());
  }
  if (apps.empty()) {
    return invalid(fmt::format("{}: wanted files APP/placements-TIER.csv, found none of the tiers", folder->path));
  }
  return tier::read_sia(apps, tiers);
}

Result<TierTable> read_parvagpu_folder(const std::string& path, const std::vector<tier::Tier>& tiers,
                                       const Files& files) {
  const auto folder = folder_at(path, "prof_data", files);
  if (!folder) return pass_on(folder.error());
  std::vector<tier::ParvagpuFile> models;
  for (const std::string& name : folder->names) {
    constexpr std::string_view kBack = ".csv";
    if (!name.ends_with(kBack) || name.size() == kBack.size()) continue;
    const std::string file = fmt::format("{}/{}", folder->path, name);
    const auto text = files.read(file);
    if (!text) return pass_on(text.error());
    models.push_back({.model = name.substr(0, name.size() - kBack.size()), .file = file, .text = *text});
  }
  if (models.empty()) return invalid(fmt::format("{}: wanted files MODEL.csv, found none", folder->path));
  return tier::read_parvagpu(models, tiers);
}

}  // namespace

Result<std::vector<tier::Tier>> tiers_to_read(tier::TierSource source, const std::string& tiers_path,
                                              const Files& files) {
  if (tiers_path.empty()) return tier::source_tiers(tier::name_of(source)).value();
  const auto text = files.read(tiers_path);
  if (!text) return pass_on(text.error());
  return tier::read_tiers_file(*text, tiers_path);
}

Result<TierTable> read_measurements(tier::TierSource source, const std::string& path,
                                    const std::vector<tier::Tier>& tiers, const Files& files) {
  switch (source) {
    case tier::TierSource::kGavel: {
      const auto file = file_at(path, "physical_cluster_throughputs.json", files);
      return file ? read_one(*file, tier::read_gavel, tiers, files) : pass_on(file.error());
    }
    case tier::TierSource::kMiso: {
      const auto file = file_at(path, "mig_iteration_time.csv", files);
      return file ? read_one(*file, tier::read_miso, tiers, files) : pass_on(file.error());
    }
    case tier::TierSource::kSia:
      return read_sia_folder(path, tiers, files);
    case tier::TierSource::kParvagpu:
      return read_parvagpu_folder(path, tiers, files);
    case tier::TierSource::kCsv:
      return read_one(path, read_own_csv, tiers, files);
  }
  return TierTable();
}

}  // namespace berth::cli
