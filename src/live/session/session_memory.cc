/// A session as bytes, and back.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/archive.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "engine/loop/engine.h"
#include "live/session/device_changes.h"
#include "live/session/forecast_book.h"
#include "live/session/request_book.h"
#include "live/session/session.h"
#include "live/session/session_log.h"
#include "live/session/session_objects.h"
#include "live/session/session_options.h"
#include "sim/world/loop.h"

namespace berth::live {
namespace {

/// To be raised whenever the bytes change their meaning. Format 2 has no blobs of services and no promises; format 3 no
/// samples of changes; format 4 no drained GPUs and no agreements of services. Format 6 also has the rules of services
/// for GPU models, and is read only. Format 7 has a flag for these rules, and the forecasts that are judged. Format 8
/// also has the rules for what is kept ready and for what runs; a session without such rules is saved in format 7.
/// Format 9 also has what gateways counted, and is written only where there is such; likewise format 10 who holds
/// foreign slices.
constexpr int kMemoryFormatOfTiers = 6;
constexpr int kMemoryFormatMin = 2;  // still read
constexpr int kMemoryFormatOfForecasts = 7;
constexpr int kMemoryFormatOfLaterRules = 8;
constexpr int kMemoryFormatOfRequests = 9;
constexpr int kMemoryFormatOfForeign = 10;
constexpr int kFormatOfSamples = 4;
constexpr int kFormatOfDrained = 5;
constexpr int kFormatOfAgreements = 5;

/// What was agreed on for each service: its spec does not archive that (Agreement).
std::vector<std::optional<Decimal>> agreed_shares(const SharedList<ServiceSpec>& services) {
  std::vector<std::optional<Decimal>> shares;
  shares.reserve(services.size());
  for (const ServiceSpec& service : services) shares.push_back(service.agreed.attainment);
  return shares;
}

void read_agreements(ArchiveReader& archive, SharedList<ServiceSpec>& services) {
  std::vector<std::optional<Decimal>> shares;
  archive(shares);
  if (!archive.require(shares.size() == services.size())) return;
  for (std::size_t index = 0; index < shares.size(); ++index) {
    if (std::as_const(services)[index].agreed.attainment == shares[index]) continue;  // changing one copies it
    services[index].agreed.attainment = std::move(shares[index]);
  }
}

bool has_tier_rules(const SharedList<ServiceSpec>& services) {
  return std::ranges::any_of(services, [](const ServiceSpec& service) { return service.tier.has_effect(); });
}

/// The rules of each service for GPU models: its spec does not archive them (TierRule).
template <class Archive, class Rule>
void archive_tier_rule(Archive& archive, Rule& rule) {
  archive(rule.is_auto, rule.gpu, rule.known_on);
}

void write_tier_rules(ArchiveWriter& archive, const SharedList<ServiceSpec>& services) {
  for (const ServiceSpec& service : services) archive_tier_rule(archive, service.tier);
}

void read_tier_rules(ArchiveReader& archive, SharedList<ServiceSpec>& services) {
  for (std::size_t index = 0; index < services.size(); ++index) {
    TierRule rule;
    archive_tier_rule(archive, rule);
    if (rule != std::as_const(services)[index].tier) services[index].tier = std::move(rule);
  }
}

bool has_later_rules(const SharedList<ServiceSpec>& services) {
  return std::ranges::any_of(
      services, [](const ServiceSpec& service) { return service.ready.has_effect() || service.running.has_effect(); });
}

/// What is kept ready for each service, and what runs on its slices: its spec does not archive them either.
template <class Archive, class Ready, class Run>
void archive_later_rules(Archive& archive, Ready& ready, Run& running) {
  archive(ready.warm_pool, ready.answer, ready.start_of_model, running.program, running.replicas);
}

void write_later_rules(ArchiveWriter& archive, const SharedList<ServiceSpec>& services) {
  for (const ServiceSpec& service : services) archive_later_rules(archive, service.ready, service.running);
}

void read_later_rules(ArchiveReader& archive, SharedList<ServiceSpec>& services) {
  for (std::size_t index = 0; index < services.size(); ++index) {
    Readiness ready;
    Running running;
    archive_later_rules(archive, ready, running);
    const ServiceSpec& known = std::as_const(services)[index];
    if (ready == known.ready && running == known.running) continue;
    services[index].ready = std::move(ready);
    services[index].running = std::move(running);
  }
}

/// GPUs behind those that the saved session had are absent until they are opened.
void note_added_gpus(std::size_t known_count, const Scenario& scenario, Snapshot& snapshot) {
  if (known_count >= scenario.gpu_count()) return;
  snapshot.gpus.resize(known_count);
  snapshot.gpus.resize(
      scenario.gpu_count(),
      GpuState{.scheduling = GpuScheduling::kAbsent, .health_since = snapshot.now, .scheduling_since = snapshot.now});
}

}  // namespace

/// The parts that all formats have, except the services: these are written in one way and read in another.
template <class Archive, class Self>
void Session::archive_parts(Archive& archive, Self& self) {
  self.objects_->archive_catalog(archive);
  SessionLog::archive_plans(archive, *self.log_);
  self.objects_->archive_places(archive);
  archive(self.step_count_, self.refreshed_step_);
  SessionLog::archive_conditions(archive, *self.log_);
  archive(self.read_second_);
  SessionLog::archive_draining(archive, *self.log_);
}

std::string Session::save() {
  emit_all();
  ArchiveWriter archive;
  const bool has_tiers = has_tier_rules(scenario_->services);
  const ForeignTenants& foreign = usage().foreign();
  const bool has_requests = !requests_->is_empty() || !foreign.empty();
  const bool has_later = has_requests || has_later_rules(scenario_->services);
  const int of_requests = foreign.empty() ? kMemoryFormatOfRequests : kMemoryFormatOfForeign;
  const int later = has_requests ? of_requests : kMemoryFormatOfLaterRules;
  archive(has_later ? later : kMemoryFormatOfForecasts);
  objects_->archive_services(archive);
  archive_parts(archive, *this);
  std::as_const(*objects_).archive_blobs(archive);
  archive(loop_->memory(), promises(), changes_->samples(), agreed_shares(scenario_->services));
  SessionLog::archive_drained(archive, *log_);
  archive(has_tiers);
  if (has_tiers) write_tier_rules(archive, scenario_->services);
  archive(*std::as_const(forecasts_), forecast_minute_);
  if (has_later) write_later_rules(archive, scenario_->services);
  if (has_requests) archive(*std::as_const(requests_));
  if (!foreign.empty()) archive(foreign);
  return archive.take();
}

Result<std::vector<std::string>> Session::restore(std::string_view bytes) {
  ArchiveReader archive(bytes);
  int format = 0;
  archive(format);
  sim::LoopMemory loop;
  if (archive.require(kMemoryFormatMin <= format && format <= kMemoryFormatOfForeign)) {
    scenario_->services = objects_->read_services(archive);
    archive_parts(archive, *this);
    if (format > kMemoryFormatMin) objects_->archive_blobs(archive);
    archive(loop);
    if (format > kMemoryFormatMin) archive(log_->promises());
    if (format >= kFormatOfSamples) archive(changes_->samples());
    if (format >= kFormatOfAgreements) read_agreements(archive, scenario_->services);
    if (format >= kFormatOfDrained) SessionLog::archive_drained(archive, *log_);
    bool has_tiers = format == kMemoryFormatOfTiers;
    if (format >= kMemoryFormatOfForecasts) archive(has_tiers);
    if (has_tiers) read_tier_rules(archive, scenario_->services);
    if (format >= kMemoryFormatOfForecasts) archive(*forecasts_, forecast_minute_);
    if (format >= kMemoryFormatOfLaterRules) read_later_rules(archive, scenario_->services);
    if (format >= kMemoryFormatOfRequests) archive(*requests_);
    ForeignTenants foreign;
    if (format >= kMemoryFormatOfForeign) archive(foreign);
    log_->usage().set_foreign(std::move(foreign));
    counted_ = counted_recorded_ = requests_->counted();
  }
  if (!archive.is_at_end()) return invalid("wanted the memory of a session, found other bytes or a later version's");
  if (format < kFormatOfDrained) log_->recall_drained();
  note_added_gpus(log_->usage().open().size(), *scenario_, loop.engine.cluster.snapshot);
  log_->usage().add_gpus(*scenario_, loop.now);
  auto unread = loop_->restore(loop, *scenario_);
  if (!unread) return unread;
  scenario_->no_changes = loop_->engine().scenario().no_changes;
  scenario_->measured_times = loop_->engine().scenario().measured_times;
  scenario_->speeds = loop_->engine().scenario().speeds;
  // The engine keeps places whose factor has ended.
  std::erase_if(scenario_->speeds, [](const auto& each) { return each.second.batches == 0; });
  for (std::uint32_t index = 0; index < scenario_->services.size(); ++index) options_->listener.service_set({index});
  return unread;
}

}  // namespace berth::live
