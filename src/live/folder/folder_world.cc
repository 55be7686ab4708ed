#include "live/folder/folder_world.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "base/core/text.h"
#include "domain/scenario/load.h"
#include "live/folder/local_fleet.h"
#include "live/folder/tier_files.h"
#include "live/session/demo.h"
#include "tier/enforce/forest_speeds.h"

namespace berth::live {
namespace {

/// Limit for the files of a scenario: each snapshot has them, together with what later services hold
/// (domain/values/held_bytes.h), in one value of at most 1,000,000,000 bytes. Worlds that began before there was a
/// limit continue.
constexpr std::size_t kScenarioBytesMax = std::size_t{256} << 20U;

Result<Warned<Scenario>> scenario_of(const UpRequest& request, const Files& files, bool is_local) {
  if (!request.scenario_path) {
    return Warned<Scenario>{.value = is_local ? scenario_without_services() : demo_scenario(), .warnings = {}};
  }
  return scenario::load_scenario_with_warnings(*request.scenario_path, files, {.allows_empty = true});
}

/// The policy `fixed` has only the layout of the scenario. Without GPUs there is no layout to write.
Result<void> check_layout(const UpRequest& request, const Beginning& beginning, const Scenario& scenario,
                          bool is_local) {
  if (beginning.policy != "fixed" || scenario.layout || scenario.gpu_count() == 0) return {};
  std::string found = is_local ? "none" : "the demo, which has none";
  if (request.scenario_path) found = in_quotes(*request.scenario_path) + ", which has none";
  return invalid("--policy fixed: wanted a scenario with a layout, found " + found);
}

/// In a cluster services are objects of the API server, which has those of a file neither as objects nor as pods. They
/// come and go, as GPUs do, so there is no layout to begin with.
Result<void> check_cluster_scenario(const UpRequest& request, const Scenario& scenario) {
  if (!request.scenario_path) return {};
  if (!scenario.services.empty()) {
    return invalid(
        fmt::format("{}: services: wanted none in the world of a cluster, whose services are its GpuServices, found {}",
                    *request.scenario_path, scenario.services.size()));
  }
  if (!scenario.layout) return {};
  return invalid(
      fmt::format("{}: layout: wanted none in the world of a cluster, whose slices are those of its GpuServices, found "
                  "one of {} slices",
                  *request.scenario_path, scenario.layout->size()));
}

/// Other policies decide once, for the services and GPUs at second 0: in a cluster there are no services then.
Result<void> check_cluster_policy(const Beginning& beginning, const StartFacts& start) {
  if (!start.cluster || beginning.policy == Beginning().policy) return {};
  return invalid(
      fmt::format("--policy: wanted {} in the world of a cluster, whose GPUs and services come and go, found {}",
                  Beginning().policy, beginning.policy));
}

/// Checks a new world: nothing is written before all of it is valid.
Result<FolderWorld> begin_world(const UpRequest& request, const Files& files, const StartFacts& start) {
  FolderWorld world;
  const RememberingFiles read(files, kScenarioBytesMax);
  const bool is_local = request.world ? *request.world != WorldKind::kSimulated : !start.machine.empty();
  auto loaded = scenario_of(request, read, is_local);
  if (!loaded) return pass_on(loaded.error());
  Scenario& scenario = loaded->value;
  if (start.cluster) {
    if (auto none = check_cluster_scenario(request, scenario); !none) return pass_on(none.error());
  }
  if (start.cluster && !request.scenario_path) scenario.name = word(WorldKind::kKubernetes);
  world.warnings = std::move(loaded->warnings);
  auto contents = read.contents();
  auto tiers = tier_files(request, files);
  if (!tiers) return pass_on(tiers.error());
  if (auto put = put_tier_settings(scenario, *tiers); !put) return pass_on(put.error());
  if (const auto model = tier::read_tier_model(scenario.tiers); !model) return pass_on(model.error());
  contents.merge(*tiers);
  if (is_local) {
    if (auto put = device::put_fleet(scenario, start.machine); !put) return pass_on(put.error());
    world.fleet = start.machine;
    contents[kLocalFleetFile] = fleet_json(start.machine);
    if (start.cluster) contents[kClusterFile] = *start.cluster;
  }
  world.beginning.scenario = request.scenario_path;
  world.beginning.seed = request.seed.value_or(world.beginning.seed);
  world.beginning.policy = request.policy.value_or(world.beginning.policy);
  world.beginning.approval = request.approval.value_or(world.beginning.approval);
  world.beginning.until_end = request.until_end;
  world.beginning.epoch_us = start.now_us;
  if (auto policy = check_cluster_policy(world.beginning, start); !policy) return pass_on(policy.error());
  if (auto checked = check_layout(request, world.beginning, scenario, is_local); !checked)
    return pass_on(checked.error());
  world.scenario = std::move(scenario);
  world.files = RecordedFiles(std::move(contents), read.folders());
  return world;
}

/// The contents of the scenario's files.
std::multiset<std::string> contents_of(const std::map<std::string, std::string>& files) {
  std::multiset<std::string> contents;
  for (const auto& [path, content] : files) {
    if (path != kLocalFleetFile && path != kClusterFile && path != kTierSureFile && path != kTierModelFile)
      contents.insert(content);
  }
  return contents;
}

/// The errors for a request that does not match the folder's world.
class Refusal {
 public:
  explicit Refusal(const std::string& folder) : folder_(folder) {}

  tl::unexpected<Error> operator()(std::string_view option, const std::string& wanted, const std::string& found) const {
    return invalid(
        fmt::format("{}: wanted {}, with which the world of {} began, found {}; for another world use another "
                    "folder: berth up --data OTHER",
                    option, wanted, in_quotes(folder_), found));
  }

 private:
  const std::string& folder_;
};

Result<void> check_same_scenario(const UpRequest& request, const Files& files, const FolderWorld& world,
                                 const Refusal& refuse) {
  if (!request.scenario_path) return {};
  const RememberingFiles read(files);
  const auto scenario = scenario_of(request, read, world.files.is_local());
  if (!scenario) return pass_on(scenario.error());
  const std::optional<std::string>& began_with = world.beginning.scenario;
  if (began_with && contents_of(read.contents()) == contents_of(world.files.contents())) return {};
  const std::string found = in_quotes(*request.scenario_path);
  const std::string none = world.files.is_local() ? "none" : "the demo";
  return refuse("--scenario", began_with ? in_quotes(*began_with) : none,
                began_with == request.scenario_path ? found + " with other content" : found);
}

WorldKind kind_of(const RecordedFiles& files) {
  if (files.cluster()) return WorldKind::kKubernetes;
  return files.is_local() ? WorldKind::kLocal : WorldKind::kSimulated;
}

Result<void> check_same(const UpRequest& request, const Files& files, const FolderWorld& world,
                        const std::string& folder, const std::optional<std::string>& cluster) {
  const Refusal refuse(folder);
  const Beginning& beginning = world.beginning;
  const WorldKind kind = kind_of(world.files);
  if (request.world && *request.world != kind)
    return refuse("--world", std::string(word(kind)), std::string(word(*request.world)));
  if (world.files.cluster() != cluster) {
    return refuse("the cluster", in_quotes(world.files.cluster().value_or("")) + " (uid of its namespace kube-system)",
                  in_quotes(cluster.value_or("")));
  }
  if (auto same = check_same_scenario(request, files, world, refuse); !same) return same;
  if (request.tier_sure && *request.tier_sure != world.scenario.tiers.sure) {
    return refuse("tier_sure", world.scenario.tiers.sure.to_string(), request.tier_sure->to_string());
  }
  if (request.tier_model) {
    const auto model = files.read(*request.tier_model);
    if (!model) return pass_on(model.error());
    const std::shared_ptr<const std::string>& began_with = world.scenario.tiers.forest;
    if (!began_with || *began_with != *model) {
      return refuse("tier_model", began_with ? "the same content" : "none", in_quotes(*request.tier_model));
    }
  }
  if (request.seed && *request.seed != beginning.seed) {
    return refuse("--seed", fmt::format("{}", beginning.seed), fmt::format("{}", *request.seed));
  }
  if (request.policy && *request.policy != beginning.policy) {
    return refuse("--policy", beginning.policy, *request.policy);
  }
  if (request.approval && *request.approval != beginning.approval) {
    return refuse("--approval", std::string(approval_word(beginning.approval)),
                  std::string(approval_word(*request.approval)));
  }
  if (request.until_end && !beginning.until_end) return refuse("--until end", "none", "it");
  return {};
}

}  // namespace

std::string journal_path_in(const std::string& folder) { return folder + "/journal.db"; }
std::string devices_path_in(const std::string& folder) { return folder + "/devices"; }

tl::unexpected<Error> failed(const StoreError& error) { return fail(ErrorCode::kUnavailable, error.message); }

Result<FolderWorld> find_world(const UpRequest& request, const Files& files, const StartFacts& start) {
  if (start.journal == nullptr) return begin_world(request, files, start);
  auto history = read_history(*start.journal, journal_path_in(start.folder));
  if (!history) return pass_on(history.error());
  FolderWorld world;
  if (!*history) {  // the process ended before it began
    auto begun = begin_world(request, files, start);
    if (!begun) return pass_on(begun.error());
    world = std::move(*begun);
  } else {
    world.history = std::move(**history);
    world.beginning = world.history->beginning;
    world.files = std::move(world.history->files);
    world.scenario = std::move(world.history->scenario);
    world.fleet = std::move(world.history->fleet);
    if (auto same = check_same(request, files, world, start.folder, start.cluster); !same) return pass_on(same.error());
    if (auto policy = check_cluster_policy(world.beginning, start); !policy) return pass_on(policy.error());
  }
  world.has_journal = true;
  return world;
}

}  // namespace berth::live
