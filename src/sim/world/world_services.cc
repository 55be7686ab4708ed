/// World: services are added, changed and removed.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "sim/world/world.h"

namespace berth::sim {

void World::set_service(const ServiceSet& set, Instant now) {
  ENSURE(now == now_ && set.service.index <= scenario_.services.size());
  serving_.catch_up(now.micros());
  const std::size_t index = set.service.index;
  const bool is_added = index == scenario_.services.size();
  const bool is_new = is_added || std::as_const(scenario_.services)[index].is_absent;
  if (!is_added && has_new_table(std::as_const(scenario_.services)[index], *set.spec)) {
    forget_speeds(scenario_.speeds, set.service);
  }
  scenario_.services.set_shared(index, set.spec);
  if (is_added) {
    add_place();
  } else {
    tables_.forget(set.service);
    serving_.read_spec(set.service);
  }
  revisions_[index] = set.revision;
  if (is_new) meters_[index].restart();
  if (is_new || set.restarts_arrivals) new_arrivals_[set.service] = set.revision;
  if (is_new || set.restarts_retraining) restart_retraining(set.service, now);
  if (set.renumbers_variants) slices_.forget_variants_of(set.service);
  renew_slices_of(set.service, now);
  settle_effects(now);
  serving_.take_all(now.micros());
}

void World::add_place() {
  const auto index = static_cast<std::uint32_t>(scenario_.services.size() - 1);
  arrivals_.add_place();
  meters_.emplace_back(ServiceId{index}, arrivals_.streams()[index], journal_);
  if (second_measured_) meters_.back().keep_recent();
  busy_.add_service();
  slices_.add_service();
  serving_.add_place(arrivals_.streams()[index]);
  retrainings_.emplace_back();
  least_chosen_sm_us_.emplace_back();
  arrivals_from_.emplace_back();
  revisions_.emplace_back();
}

void World::remove_service(ServiceId service, Instant now) {
  ENSURE(now == now_ && service.index < scenario_.services.size());
  serving_.catch_up(now.micros());
  serving_.abandon(service, now.micros());
  meters_[service.index].keep_counts();
  arrivals_.silence(service);
  new_arrivals_.erase(service);
  stop_retraining(service, now);
  forget_speeds(scenario_.speeds, service);
  if (faults_.forget_service(service)) {
    is_changed_ = true;
    set_truth(service);
  }
  // Its tables stay: batches under way end at their latencies.
  scenario_.services.set(service.index, absent_service(std::as_const(scenario_.services)[service.index]));
}

bool World::is_free(ServiceId service) const {
  const std::size_t index = service.index;
  return index < scenario_.services.size() && scenario_.services[index].is_absent && meters_[index].open_count() == 0;
}

void World::renew_slices_of(ServiceId service, Instant now) {
  for (const world::SliceIndex index : slices_.up_slices_of(service)) {
    const world::TrackedSlice& slice = slices_.at(index);
    if (slice.holding.role == Role::kRetraining) continue;
    if (slice.can_serve) {
      renew_tables(index);
    } else {
      slices_.set_can_serve(index, true, now);
      start_slice(index, now);
    }
  }
}

void World::stop_retraining(ServiceId service, Instant now) {
  std::optional<RetrainingClock>& clock = retrainings_[service.index];
  if (!clock) return;
  retraining_times_.erase({clock->next_time(), service.index});
  if (const auto slice = clock->running_on()) busy_.end(*slice, service, now.micros());
  clock.reset();
  serving_.set_stale(service, false);
}

void World::restart_retraining(ServiceId service, Instant now) {
  stop_retraining(service, now);
  const std::optional<Retraining>& spec = std::as_const(scenario_.services)[service.index].retraining;
  if (!spec || is_silent(service.index)) return;
  retrainings_[service.index].emplace(*spec, end_, now);
  retraining_times_.emplace(retrainings_[service.index]->next_time(), service.index);
  for (const world::SliceIndex index : slices_.up_slices_of(service)) {
    if (slices_.at(index).holding.role == Role::kRetraining) start_slice(index, now);
  }
}

void World::begin_new_arrivals(std::int64_t second) {
  for (const auto& [service, revision] : std::exchange(new_arrivals_, {})) {
    serving_.abandon(service, now_.micros());
    meters_[service.index].keep_counts();
    const std::shared_ptr<const ServiceSpec> spec = scenario_.services.share(service.index);
    arrivals_.begin(service, std::shared_ptr<const Arrivals>(spec, &spec->arrivals), revision, second);
    arrivals_from_[service.index] = {.number = revision, .from_second = second};
    is_changed_ = true;
    if (serving_.wants_other_way(service)) change_way(service);
  }
}

/// The batches under way on its slices are dropped. Services that share a slice keep their way.
void World::change_way(ServiceId service) {
  std::vector<world::SliceIndex> slices;
  for (const world::SliceIndex index : slices_.up_slices_of(service)) {
    const world::TrackedSlice& slice = slices_.at(index);
    if (slice.holding.services.size() > 1) return;
    if (slice.holding.role == Role::kInference && slice.can_serve) slices.push_back(index);
  }
  for (const world::SliceIndex index : slices) serving_.lose(index, {service}, now_.micros());
  serving_.change_way(service);
  for (const world::SliceIndex index : slices) start_slice(index, now_);
}

}  // namespace berth::sim
