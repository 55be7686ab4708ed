#include "domain/profile_book/in_force.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace berth::profile_book {
namespace {

constexpr std::int64_t kBatchesForInterval = 10;
constexpr double kNormal95 = 1.959964;

using PlaceKey =
    std::tuple<std::string, std::string, std::string, std::string, std::int64_t, std::string, std::string, int>;

/// A label alone is the place; else all of the machine.
PlaceKey key_of(const ProfileRun& run) {
  const ProfilingMachine& at = run.machine;
  if (!run.label.empty()) return {run.label, "", "", "", 0, "", "", 0};
  return {"", at.device, at.processor, at.flags, at.memory_bytes, at.driver, at.engine, at.threads};
}

/// A place while it is put together.
struct Place {
  PlaceInForce place;
  std::set<std::string> urls;  ///< of its runs
};

ObservedMean mean_of(const ObservedTimes& sum) {
  const auto count = static_cast<double>(sum.count);
  ObservedMean mean{.count = sum.count, .mean_us = static_cast<double>(sum.sum_us) / count};
  if (sum.count < kBatchesForInterval) return mean;
  const double variance = std::max(0.0, sum.sum_squares - count * mean.mean_us * mean.mean_us) / (count - 1);
  mean.half_us = kNormal95 * std::sqrt(variance / count);
  return mean;
}

bool is_off(double observed_us, double measured_us) {
  return std::abs(observed_us - measured_us) >= kDriftShare * measured_us;
}

/// Takes what `newer` knows.
void add_figures(ProfiledModel& model, const ProfiledModel& newer) {
  const ProfiledModel older = std::exchange(model, newer);
  const auto keep = [](std::optional<std::int64_t>& value, const std::optional<std::int64_t>& known) {
    if (!value) value = known;
  };
  if (model.sha256.empty()) model.sha256 = older.sha256;
  if (model.file_bytes == 0) model.file_bytes = older.file_bytes;
  keep(model.flops, older.flops);
  keep(model.activation_bytes, older.activation_bytes);
  keep(model.parameters, older.parameters);
  keep(model.weight_bytes, older.weight_bytes);
}

void add_points(PlaceInForce& place, const ProfileRun& run) {
  for (const ProfilePoint& point : run.points) {
    const auto is_same = [&](const PointInForce& known) {
      return known.measured.batch == point.batch && known.measured.processes == point.processes;
    };
    const auto found = std::ranges::find_if(place.points, is_same);
    if (found == place.points.end()) {
      place.points.push_back({.measured = point, .run = run.id});
    } else {
      *found = {.measured = point, .run = run.id};
    }
  }
}

/// What belongs to one name.
struct Named {
  std::vector<const ProfileRun*> runs = {};  ///< by id
  std::string sha256 = {};                   ///< of the content that counts; empty: none is known
};

std::map<std::string, Named> named_runs(std::span<const ProfileRun> runs) {
  std::map<std::string, Named> names;
  for (const ProfileRun& run : runs) names[run.model.name].runs.push_back(&run);
  for (auto& [name, named] : names) {
    std::ranges::sort(named.runs, {}, &ProfileRun::id);
    for (const ProfileRun* run : named.runs) {
      if (!run->model.sha256.empty()) named.sha256 = run->model.sha256;
    }
  }
  return names;
}

std::map<PlaceKey, Place> places_of(const Named& named, ProfiledModel& model) {
  std::map<PlaceKey, Place> places;
  for (const ProfileRun* run : named.runs) {
    if (!run->model.sha256.empty() && run->model.sha256 != named.sha256) continue;
    add_figures(model, run->model);
    Place& place = places[key_of(*run)];
    place.place.label = run->label;
    place.place.machine = run->machine;
    place.place.run = run->id;
    if (run->memory_at_load_bytes) place.place.memory_at_load_bytes = run->memory_at_load_bytes;
    if (!run->model.url.empty()) place.urls.insert(run->model.url);
    add_points(place.place, *run);
  }
  return places;
}

bool belongs_to(const ObservedSum& sum, const Place& place) {
  const std::string_view device = device_name(sum.times.device);
  return place.urls.contains(sum.url) || device_name(place.place.machine.device) == device ||
         place.place.label == device;
}

/// Of the places to which a sum belongs the one with the newest run; a new one if there is none.
Place& place_for(std::map<PlaceKey, Place>& places, const ObservedSum& sum) {
  Place* newest = nullptr;
  for (auto& [key, place] : places) {
    if (belongs_to(sum, place) && (newest == nullptr || place.place.run > newest->place.run)) newest = &place;
  }
  if (newest != nullptr) return *newest;
  Place& made = places[{"", sum.times.device, "", "", 0, "", "", 0}];
  made.place.machine.device = sum.times.device;
  return made;
}

void add_observed(PlaceInForce& place, const std::map<int, ObservedTimes>& by_batch) {
  int processes = place.points.empty() ? 1 : place.points.front().measured.processes;
  for (const PointInForce& point : place.points) processes = std::min(processes, point.measured.processes);
  const bool was_measured = place.run != 0;
  for (const auto& [batch, times] : by_batch) {
    const auto is_same = [&](const PointInForce& known) {
      return known.measured.batch == batch && known.measured.processes == processes;
    };
    const auto found = std::ranges::find_if(place.points, is_same);
    if (found != place.points.end()) {
      found->observed = mean_of(times);
    } else if (!was_measured) {
      place.points.push_back({.measured = {.batch = batch}, .observed = mean_of(times)});
    }
  }
}

void sort_points(PlaceInForce& place) {
  std::ranges::sort(place.points, {}, [](const PointInForce& point) {
    return std::pair(point.measured.processes, point.measured.batch);
  });
}

/// Whether a sum is of that model; by its name if one of both contents is not known.
bool is_of(const ObservedTimes& times, const std::string& name, const Named& named) {
  if (named.runs.empty() && times.model != name) return false;
  if (times.sha256.empty() || named.sha256.empty()) return times.model == name;
  return times.sha256 == named.sha256;
}

/// The sums that were added last of names that no run knows.
std::map<std::string, const ObservedSum*> only_observed(const std::map<std::string, Named>& measured,
                                                        std::span<const ObservedSum> sums) {
  std::map<std::string, const ObservedSum*> last;
  for (const ObservedSum& sum : sums) {
    const auto is_its_model = [&](const auto& entry) { return is_of(sum.times, entry.first, entry.second); };
    if (measured.contains(sum.times.model) || std::ranges::any_of(measured, is_its_model)) continue;
    const ObservedSum*& known = last[sum.times.model];
    if (known == nullptr || sum.last_us >= known->last_us) known = &sum;
  }
  return last;
}

ModelInForce model_in_force(const std::string& name, const Named& named, std::span<const ObservedSum> sums) {
  ModelInForce model{.name = name};
  std::map<PlaceKey, Place> places = places_of(named, model.model);
  model.model.name = name;
  model.model.sha256 = named.sha256;
  std::map<Place*, std::map<int, ObservedTimes>> observed;
  for (const ObservedSum& sum : sums) {
    if (!is_of(sum.times, name, named)) {
      if (sum.times.model == name) model.batches_of_other_content += sum.times.count;
      continue;
    }
    auto [found, is_new] = observed[&place_for(places, sum)].try_emplace(sum.times.batch, sum.times);
    if (is_new) continue;
    found->second.count += sum.times.count;
    found->second.sum_us += sum.times.sum_us;
    found->second.sum_squares += sum.times.sum_squares;
  }
  for (auto& [key, place] : places) {
    if (const auto found = observed.find(&place); found != observed.end()) add_observed(place.place, found->second);
    sort_points(place.place);
    model.places.push_back(std::move(place.place));
  }
  return model;
}

}  // namespace

std::string_view device_name(std::string_view device) {
  constexpr std::string_view kSimulated = "simulated: ";
  constexpr std::string_view kCuda = "cuda:";
  if (device.starts_with(kSimulated)) return device.substr(kSimulated.size());
  const std::size_t end = device.find(": ");
  return device.starts_with(kCuda) && end != std::string_view::npos ? device.substr(end + 2) : device;
}

bool PointInForce::is_drift() const {
  if (!observed || measured.mean_us <= 0 || !is_off(observed->mean_us, measured.mean_us)) return false;
  if (is_replaced()) return true;
  if (!observed->half_us) return false;
  const bool is_slower = observed->mean_us > measured.mean_us;
  const double nearest = observed->mean_us + (is_slower ? -*observed->half_us : *observed->half_us);
  return (nearest > measured.mean_us) == is_slower && is_off(nearest, measured.mean_us);
}

std::vector<ModelInForce> points_in_force(std::span<const ProfileRun> runs, std::span<const ObservedSum> sums) {
  std::map<std::string, Named> names = named_runs(runs);
  for (const auto& [name, last] : only_observed(names, sums)) names[name].sha256 = last->times.sha256;
  std::vector<ModelInForce> models;
  models.reserve(names.size());
  for (const auto& [name, named] : names) models.push_back(model_in_force(name, named, sums));
  return models;
}

}  // namespace berth::profile_book
