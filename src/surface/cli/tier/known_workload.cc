#include "surface/cli/tier/known_workload.h"

#include <fmt/format.h>

#include <string_view>

#include "base/core/text.h"
#include "tier/readers/read_csv.h"

namespace berth::cli {
namespace {

using tier::TierTable;
using tier::TierWorkload;

constexpr std::size_t kNamesListedMax = 8;

std::string long_name(const TierWorkload& workload) { return fmt::format("{}/{}", workload.group, workload.name); }

std::string names_listed(const std::vector<const TierWorkload*>& workloads) {
  std::string names;
  for (std::size_t i = 0; i < workloads.size() && i < kNamesListedMax; ++i) {
    names += (i == 0 ? "" : ", ") + long_name(*workloads[i]);
  }
  return names + (workloads.size() > kNamesListedMax ? ", ..." : "");
}

std::vector<const TierWorkload*> workloads_named(const TierTable& table, const std::optional<std::string>& name) {
  std::vector<const TierWorkload*> found;
  for (const TierWorkload& workload : table.workloads) {
    if (!name || workload.name == *name || long_name(workload) == *name) found.push_back(&workload);
  }
  return found;
}

std::string_view kind_words(tier::TierKind kind) {
  return kind == tier::TierKind::kJobs ? "rows without a latency (the target is samples_per_second)"
                                       : "rows with a latency (the target is requests_per_second and latency_ms)";
}

}  // namespace

Result<TierWorkload> read_known_workload(const std::string& path, const std::optional<std::string>& name,
                                         const std::vector<tier::Tier>& tiers, tier::TierKind kind,
                                         const Files& files) {
  const auto text = files.read(path);
  if (!text) return pass_on(text.error());
  const auto table = tier::read_csv(*text, path, tiers, tier::OtherTiers::kRefuse);
  if (!table) return pass_on(table.error());
  if (table->kind != kind) {
    return invalid(fmt::format("{}: wanted {}, found rows {} one", path, kind_words(kind),
                               table->kind == tier::TierKind::kJobs ? "without" : "with"));
  }
  const auto found = workloads_named(*table, name);
  if (found.size() == 1) return *found.front();
  if (found.empty() && name)
    return invalid(fmt::format("--name: wanted a workload of {}, found {}", path, in_quotes(*name)));
  if (found.empty()) return invalid(fmt::format("{}: wanted rows of a workload, found none", path));
  return invalid(fmt::format("{}: wanted the rows of one workload{}, found {}: {}", path,
                             name ? "" : ", or its name (--name)", found.size(), names_listed(found)));
}

}  // namespace berth::cli
