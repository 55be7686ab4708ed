#include "live/session/usage_book.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "base/core/overloaded.h"

namespace berth::live {
namespace {

std::int32_t length_on(const GpuModel& model, ProfileId profile) {
  return profile.is_full() ? usage_units(model) : model.profiles[profile.index].length;
}

UsageState state_of(const Snapshot& snapshot, const StandingSlice& standing) {
  if (standing.is_foreign) return UsageState::kForeign;
  if (!standing.is_ready || standing.is_leaving || snapshot.is_orphan(standing)) return UsageState::kChanging;
  return standing.holding.services.empty() ? UsageState::kFree : UsageState::kHeld;
}

/// The part of a slice, without its units.
UsagePart part_of(const Snapshot& snapshot, const Scenario& names, const StandingSlice& standing,
                  const ForeignTenants& foreign) {
  UsagePart part{.state = state_of(snapshot, standing), .slice = standing.holding.slice};
  if (standing.is_foreign) {
    const auto tenant = foreign.find(standing.holding.slice);
    if (tenant == foreign.end()) return part;
    part.state = UsageState::kHeld;
    part.holders = {{.tenant = tenant->second, .name = {}}};
    return part;
  }
  part.generation = standing.generation;
  part.role = standing.holding.role;
  for (const ServiceId service : standing.holding.services) {
    const ServiceSpec& spec = names.services[service.index];
    part.holders.push_back({.tenant = spec.tenant, .name = spec.name});
  }
  return part;
}

/// The slices of a GPU: where two overlap, the units are those of the first.
std::vector<const StandingSlice*> by_precedence(const Snapshot& snapshot, GpuId gpu) {
  std::vector<const StandingSlice*> slices;
  for (const StandingSlice& standing : snapshot.slices_on(gpu)) slices.push_back(&standing);
  std::ranges::sort(slices, {}, [](const StandingSlice* each) {
    return std::tuple(!each->is_foreign, !each->is_leaving, each->generation, each->holding.slice);
  });
  return slices;
}

}  // namespace

std::int32_t usage_units(const GpuModel& model) { return std::max(1, model.units); }

std::vector<UsagePart> usage_parts(const Snapshot& snapshot, const Scenario& names, GpuId gpu,
                                   const ForeignTenants& foreign) {
  const GpuModel& model = names.model_of(gpu);
  const std::int32_t units = usage_units(model);
  if (snapshot.gpu_state(gpu).health == GpuHealth::kLost) return {{.units = units, .state = UsageState::kLost}};
  std::vector<const StandingSlice*> owners(static_cast<std::size_t>(units), nullptr);
  for (const StandingSlice* standing : by_precedence(snapshot, gpu)) {
    const Slice& slice = standing->holding.slice;
    const std::int32_t end = std::min(units, slice.start + length_on(model, slice.profile));
    for (std::int32_t unit = slice.start; unit < end; ++unit) {
      const StandingSlice*& owner = owners[static_cast<std::size_t>(unit)];
      if (owner == nullptr) owner = standing;
    }
  }
  std::vector<UsagePart> parts;
  for (std::int32_t unit = 0; unit < units;) {
    const StandingSlice* owner = owners[static_cast<std::size_t>(unit)];
    UsagePart part = owner == nullptr ? UsagePart() : part_of(snapshot, names, *owner, foreign);
    part.start = unit;
    while (unit < units && owners[static_cast<std::size_t>(unit)] == owner) ++unit;
    part.units = unit - part.start;
    parts.push_back(std::move(part));
  }
  return parts;
}

UsageBook::UsageBook(const Scenario& scenario) { add_gpus(scenario, Instant()); }

void UsageBook::add_gpus(const Scenario& scenario, Instant now) {
  while (open_.size() < scenario.gpu_count()) {
    const UsagePart all{.units = usage_units(scenario.model_of({static_cast<std::uint32_t>(open_.size())}))};
    open_.push_back({{.part = all, .from = now, .sequence = ++last_sequence_}});
  }
}

void UsageBook::note(const Event& event) {
  std::visit(Overloaded{
                 // The snapshot's versions do not show this.
                 [&](const SliceReady& ready) { changed_.insert(ready.slice.gpu); },
                 [&](const ServiceRemoved&) { is_all_changed_ = true; },
                 [](const auto&) {},
             },
             event.what);
}

void UsageBook::note_foreign(GpuId gpu, const ForeignTenants& tenants) {
  std::erase_if(foreign_, [&](const auto& each) { return each.first.gpu == gpu; });
  foreign_.insert(tenants.begin(), tenants.end());
  changed_.insert(gpu);
}

void UsageBook::update(const Snapshot& snapshot, const Scenario& names, const UsageSink& sink) {
  if (snapshot.layout_version != seen_version_ || is_all_changed_) {
    for (std::uint32_t gpu = 0; gpu < open_.size(); ++gpu) {
      const bool is_newer = gpu < snapshot.gpu_versions.size() && snapshot.gpu_versions[gpu] > seen_version_;
      if (is_newer || is_all_changed_) changed_.insert({gpu});
    }
    seen_version_ = snapshot.layout_version;
    is_all_changed_ = false;
  }
  for (const GpuId gpu : std::exchange(changed_, {})) {
    update_gpu(gpu, usage_parts(snapshot, names, gpu, foreign_), snapshot.now, sink);
  }
}

void UsageBook::skip(Instant from, Instant to, const UsageSink& sink) {
  for (std::uint32_t gpu = 0; gpu < open_.size(); ++gpu) {
    for (OpenUsage& open : open_[gpu]) {
      OpenUsage unobserved{.part = open.part, .from = from, .sequence = ++last_sequence_};
      if (open.from < from) sink({.gpu = {gpu}, .what = open, .to = from});
      sink({.gpu = {gpu}, .what = std::move(unobserved), .to = to, .is_observed = false});
      open.from = to;
      open.sequence = ++last_sequence_;
    }
  }
}

void UsageBook::update_gpu(GpuId gpu, std::vector<UsagePart> parts, Instant now, const UsageSink& sink) {
  std::vector<OpenUsage>& open = open_[gpu.index];
  std::vector<OpenUsage> next;
  next.reserve(parts.size());
  for (UsagePart& part : parts) {
    const auto same = std::ranges::find(open, part, &OpenUsage::part);
    if (same != open.end()) {
      next.push_back(std::move(*same));
      open.erase(same);
    } else {
      next.push_back({.part = std::move(part), .from = now, .sequence = ++last_sequence_});
    }
  }
  for (OpenUsage& over : open) {
    if (over.from < now) sink({.gpu = gpu, .what = std::move(over), .to = now});
  }
  open = std::move(next);
}

}  // namespace berth::live
