#include "apps/up/build_parts.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/up/follow_traces.h"
#include "apps/up/programs.h"
#include "apps/up/recording.h"
#include "apps/up/request_log.h"
#include "apps/up/series_options.h"
#include "apps/up/up_log.h"
#include "apps/up/up_metrics.h"
#include "apps/up/up_parts.h"
#include "apps/up/world_records.h"
#include "domain/ports/process_hands.h"
#include "domain/values/no_changes.h"
#include "edges/live_driver/live_driver.h"
#include "edges/live_driver/series_queue.h"
#include "edges/sqlite_store/sqlite_store.h"
#include "edges/state_folder/state_folder.h"
#include "live/local/local_world.h"
#include "live/session/session.h"
#include "live/session/session_options.h"

namespace berth::up {
namespace {

Result<std::unique_ptr<edges::StateFolder>> folder_of(const live::UpRequest& request) {
  std::string path = request.data_dir.value_or("");
  if (path.empty()) {
    auto usual = edges::default_state_folder();
    if (!usual) return pass_on(usual.error());
    path = std::move(*usual);
  }
  return edges::StateFolder::open(path);
}

Result<void> open_folder(UpParts& parts) {
  auto folder = folder_of(parts.request);
  if (!folder) return pass_on(folder.error());
  parts.folder = std::move(*folder);
  if (!parts.folder->warning().empty()) log_warning(parts.outside.err, parts.folder->warning());
  return {};
}

void log_machine(UpParts& parts, const edges::LocalMachine& machine) {
  log_fields(parts.outside.err, "devices", [&](json::Writer& json) {
    json.member("gpus", machine.gpus.size());
    if (!machine.facts.path.empty()) json.member("library", machine.facts.path);
    if (!machine.facts.driver_version.empty()) json.member("driver", machine.facts.driver_version);
    if (machine.reason) json.member("reason", *machine.reason);
  });
}

/// The id of the machine's boot, once it is recorded.
std::optional<std::string> follow_boot(UpParts& parts) {
  auto boot = parts.boot->follow();
  if (!boot && std::exchange(parts.boot_failure, boot.error().message) != boot.error().message) {
    log_error(parts.outside.err, "no order to a GPU is given: " + boot.error().message);
  }
  if (!boot) return std::nullopt;
  parts.boot_failure.clear();
  return *std::move(boot);
}

/// Called by the agent's client, in its thread.
void log_agent(UpParts& parts, const std::optional<std::string>& why_gone) {
  if (why_gone) return log_error(parts.outside.err, *why_gone);
  log_line(parts.outside.err, "gpu_agent", {{"message", "the GPU agent (berth hands) answers again"}});
}

edges::HandsClientOptions agent_options(UpParts& parts) {
  edges::HandsClientOptions options;
  options.world = parts.folder->path();
  options.on_news = [&parts] {
    if (edges::LiveDriver* const driver = parts.waked.load()) driver->wake();
  };
  options.on_agent = [&parts](const std::optional<std::string>& why_gone) { log_agent(parts, why_gone); };
  return options;
}

/// The access to GPUs that was found before the first thread.
live::LocalManagement management(UpParts& parts) {
  live::LocalManagement management{.is_wanted = parts.request.manage_gpus, .is_dry_run = parts.request.is_dry_run};
  management.gpus = parts.request.manage;
  if (parts.request.xid_policy) management.health.policy = *parts.request.xid_policy;
  management.health.is_dry_run = parts.request.is_health_dry_run;
  if (parts.hands_found) {
    edges::HandsInUse hands = edges::use_hands(std::move(*parts.hands_found), agent_options(parts));
    management.hands = std::move(hands.gpus);
    parts.process_hands = hands.programs;
  }
  parts.boot.emplace(parts.folder->path());
  management.is_same_boot = parts.boot->is_current();
  management.boot_id = edges::boot_id_now;
  return management;
}

/// Absent: the folder has no journal, or an empty one.
Result<std::unique_ptr<JournalReader>> open_journal(const std::string& path) {
  const auto is_new = edges::is_sqlite_store_new(path);
  if (!is_new) return live::failed(is_new.error());
  if (*is_new) return nullptr;
  auto reader = edges::open_sqlite_reader(path);
  if (!reader) return live::failed(reader.error());
  return std::move(*reader);
}

/// A world that began keeps its numbers.
Result<void> check_fleet_size(const live::FolderWorld& world, const ClusterOutside& cluster) {
  if (world.history || !world.fleet || std::cmp_less_equal(world.fleet->size(), cluster.gpus_max)) return {};
  return invalid(fmt::format("kubernetes.gpus_max: wanted at most {} GPUs in the owned pools, found {}",
                             cluster.gpus_max, world.fleet->size()));
}

/// Finds out which world it is, and for a local one the GPUs of this machine.
Result<void> find_devices_and_world(UpParts& parts) {
  edges::LocalMachine machine;
  const bool is_cluster = parts.request.world == live::WorldKind::kKubernetes;
  if (is_cluster) machine.gpus = parts.outside.cluster->fleet;
  if (!is_cluster && parts.request.world != live::WorldKind::kSimulated) {
    auto found = parts.search->emplace(parts.request.nvml_path).take();
    if (!found) return pass_on(found.error());
    machine = std::move(*found);
    log_machine(parts, machine);
  }
  auto journal = open_journal(live::journal_path_in(parts.folder->path()));
  if (!journal) return pass_on(journal.error());
  auto world = live::find_world(parts.request, *parts.outside.files,
                                {.folder = parts.folder->path(),
                                 .journal = journal->get(),
                                 .now_us = parts.outside.wall_us(),
                                 .machine = machine.gpus,
                                 .cluster = is_cluster ? std::optional(parts.outside.cluster->uid) : std::nullopt});
  journal->reset();
  if (!world) return pass_on(world.error());
  parts.world = std::move(*world);
  for (const std::string& warning : parts.world.warnings) log_warning(parts.outside.err, warning);
  const bool was_stated = parts.request.world.has_value();
  const live::WorldKind outside = is_cluster ? live::WorldKind::kKubernetes : live::WorldKind::kLocal;
  auto settled = live::settle_world(parts.request, parts.world.fleet ? outside : live::WorldKind::kSimulated);
  if (!settled) return pass_on(settled.error());
  parts.request = std::move(*settled);
  if (!was_stated) log_line(parts.outside.err, "world", {{"world", parts.world.fleet ? "local" : "simulated"}});
  if (!parts.world.fleet) return {};
  if (is_cluster) {
    if (auto small = check_fleet_size(parts.world, *parts.outside.cluster); !small) return small;
    parts.devices = parts.outside.cluster->make_world(*parts.world.fleet, parts.world.beginning.epoch_us);
    return {};
  }
  auto checked = live::check_manage(parts.request.manage, parts.request.manage_places, machine, *parts.world.fleet);
  if (!checked) return checked;
  parts.local = std::make_unique<live::LocalWorld>(
      std::move(machine), *parts.world.fleet, management(parts), live::kFirstReadingPatience,
      edges::GpuWatcherOptions{.collects_figures = parts.request.device_metrics.has_value()});
  parts.devices = parts.local->as_outside();
  for (const std::string& warning : parts.local->warnings()) log_warning(parts.outside.err, warning);
  return {};
}

/// Passes the session's reports to the parts that record them or act on them.
live::SessionListener listener_of(UpParts& parts) {
  live::SessionListener listener;
  listener.wall_clock = [&parts] { return parts.wall.now_us(); };
  if (parts.request.journal_path) {
    listener.journal = [&parts](const sim::JournalRecord& record) {
      parts.run_journal.writer->write(parts.world.beginning.policy, record);
    };
    listener.service_set = [&parts](ServiceId service) { parts.run_journal.writer->read_name(service); };
  }
  listener.entry = [&parts](const live::Entry& entry) { parts.recorder().note(entry); };
  listener.record = [&parts](const std::vector<live::Entry>& entries) { return parts.recorder().record(entries); };
  listener.usage = [&parts](const live::UsageInterval& interval) {
    note_usage(parts, interval);
    parts.metrics->book.add(interval);
  };
  listener.past_usage = [&parts](const live::UsageInterval& interval) {
    if (parts.records->has_no_past_usage()) note_usage(parts, interval);
  };
  listener.series = [&parts](SeriesSpan second) {
    parts.metrics->book.add(second);
    parts.series->add(std::move(second));
  };
  listener.world_changed = [&parts](const live::WorldChanges& changes) { parts.records->remember(changes); };
  listener.question = [&parts](SolveRequest question) { parts.solver.ask(std::move(question)); };
  if (parts.devices) listener.next_intent = [&parts] { return parts.records->next_intent(); };
  if (parts.local) listener.boot = [&parts] { return follow_boot(parts); };
  if (parts.devices && !parts.local) listener.boot = [uid = parts.outside.cluster->uid] { return std::optional(uid); };
  follow_plans(parts, listener);
  return listener;
}

live::SessionOptions session_options(UpParts& parts) {
  live::SessionOptions options;
  options.has_load = parts.request.has_load;
  options.measures_load = parts.request.measures_load;
  options.learns_speed = parts.request.learns_speed;
  options.runs_all_services = parts.devices && !parts.local;
  if (parts.devices) {
    options.observed = parts.devices->observed();
    options.has_outside_devices = true;
    options.first_layout_takes_time = true;
    options.device_speed = parts.request.speed;
  }
  options.seed = parts.world.beginning.seed;
  options.policy = parts.world.beginning.policy;
  options.approval = parts.world.beginning.approval;
  options.has_end = parts.world.beginning.until_end;
  if (parts.request.no_changes)
    options.no_changes = no_changes_of(*parts.request.no_changes, parts.world.beginning.epoch_us);
  options.records_first = true;
  options.proposals_expire = true;
  options.solving = parts.request.speed == 0 ? sim::Solving::kElsewhereWaiting : sim::Solving::kElsewhere;
  options.listener = listener_of(parts);
  return options;
}

Result<void> make_session(UpParts& parts) {
  parts.metrics =
      std::make_unique<UpMetrics>(parts.world.scenario, parts.request.has_load || parts.request.measures_load,
                                  static_cast<std::size_t>(parts.request.series_max));
  auto session = live::Session::make(parts.world.scenario, session_options(parts));
  if (!session) return pass_on(session.error());
  parts.session = std::move(*session);
  auto journal = edges::open_run_journal(parts.request.journal_path, parts.session->scenario());
  if (!journal) return pass_on(journal.error());
  parts.run_journal = std::move(*journal);
  return {};
}

void open_series(UpParts& parts) {
  parts.series = std::make_unique<edges::SeriesQueue>(
      series_options(parts.folder->path(), parts.world.beginning.epoch_us,
                     [&parts](const std::string& event, const std::string& message) {
                       log_line(parts.outside.err, event, {{"message", message}});
                     }));
  parts.series->keep(series_seconds(parts.retention));
}

/// Everything that can fail before anything is recorded.
Result<void> prepare_parts(UpParts& parts) {
  if (auto found = find_devices_and_world(parts); !found) return found;
  if (auto checked = check_programs(parts); !checked) return checked;
  return make_session(parts);
}

Result<void> check_world(const live::UpRequest& request, const Files& files, const std::string& folder,
                         const ClusterOutside& cluster) {
  auto journal = open_journal(live::journal_path_in(folder));
  if (!journal) return pass_on(journal.error());
  const live::StartFacts facts{
      .folder = folder, .journal = journal->get(), .machine = cluster.fleet, .cluster = cluster.uid};
  const auto world = live::find_world(request, files, facts);
  if (!world) return pass_on(world.error());
  if (auto small = check_fleet_size(*world, cluster); !small) return small;
  const auto settled = live::settle_world(request, live::WorldKind::kKubernetes);
  return settled ? Result<void>() : pass_on(settled.error());
}

}  // namespace

Result<void> check_cluster_folder(const live::UpRequest& request, const Files& files, const ClusterOutside& cluster) {
  auto folder = folder_of(request);
  if (!folder) return pass_on(folder.error());
  auto checked = check_world(request, files, (*folder)->path(), cluster);
  (*folder)->discard_if_new();
  return checked;
}

Result<std::unique_ptr<UpParts>> build_parts(const live::UpRequest& request, const UpOutside& outside,
                                             DeviceAccess devices, edges::Telemetry* telemetry) {
  auto built = std::make_unique<UpParts>();
  UpParts& parts = *built;
  parts.request = request;
  parts.outside = outside;
  parts.retention = request.retention;
  parts.hands_found = std::move(devices.hands);
  parts.search = devices.search;
  parts.telemetry = telemetry;
  parts.request_log = std::make_unique<RequestLog>(outside.err);
  make_traces(parts);
  if (auto opened = open_folder(parts); !opened) return pass_on(opened.error());
  if (auto prepared = prepare_parts(parts); !prepared) {
    parts.folder->discard_if_new();
    return pass_on(prepared.error());
  }
  parts.records =
      std::make_unique<WorldRecords>(parts.folder->path(), parts.request.speed > 0, parts.wall, outside.err);
  if (auto opened = parts.records->open(parts.world); !opened) return pass_on(opened.error());
  open_series(parts);
  if (auto made = make_programs(parts); !made) return pass_on(made.error());
  return built;
}

}  // namespace berth::up
