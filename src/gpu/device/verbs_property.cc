// Orders on every model and at every place, with a failure injected at every call: when repeated, they end as done or
// rightly refused, and never touch foreign instances.

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "domain/mig/catalogue.h"
#include "gpu/device/testing/simulated_gpu.h"
#include "gpu/device/verbs.h"
#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/testing/gpus.h"

namespace berth::device {
namespace {

using nvml_abi::Code;
using nvml_sim::GpuInstanceRecord;
using nvml_sim::GpuRecord;
using nvml_sim::Interval;
using testing::SimulatedGpu;
using testing::Trouble;
using Kind = Trouble::Kind;

constexpr nvml_sim::Caller kRoot{.may_change = true};
/// The longest verb makes fewer calls; a failure at a later one has no effect.
constexpr int kCallsMax = 9;
/// Each failure spoils one attempt; after the third the device is back and processes are gone.
constexpr int kAttemptsMax = 8;
constexpr int kAttemptsSpoilt = 3;
constexpr std::uint32_t kForeignPid = 4242;
constexpr std::uint32_t kLatePid = 77;

/// A place of a profile on a GPU.
struct Place {
  std::uint32_t profile_id = 0;
  Interval interval;
};

std::vector<Place> places_of(const GpuModel& model) {
  std::vector<Place> places;
  for (const MigProfile& profile : model.profiles) {
    for (const int start : profile.starts) {
      places.push_back({static_cast<std::uint32_t>(profile.device_profile_id), {start, profile.length}});
    }
  }
  return places;
}

bool overlap(const Interval& a, const Interval& b) {
  return a.start < b.start + b.length && b.start < a.start + a.length;
}

int create(GpuRecord& gpu, const Place& place) {
  return nvml_sim::create_gpu_instance(gpu, place.profile_id, place.interval, kRoot).value_or(-1);
}

void add_compute(GpuRecord& gpu, int gpu_instance, int slices) {
  const auto profile = nvml_sim::compute_profile_of_slices(slices);
  static_cast<void>(nvml_sim::create_compute_instance(gpu, gpu_instance, profile, std::nullopt, kRoot));
}

int slices_of(const GpuRecord& gpu, int id) {
  return nvml_sim::model_of(gpu).profiles[gpu.gpu_instances[id].profile].compute_slices;
}

/// A foreign instance with a process on it, wherever one fits next to that place.
void add_neighbour(GpuRecord& gpu, const Place& own) {
  for (const Place& place : places_of(nvml_sim::model_of(gpu))) {
    GpuRecord tried = gpu;
    if (overlap(place.interval, own.interval) || create(tried, place) < 0 || create(tried, own) < 0) continue;
    const int id = create(gpu, place);
    add_compute(gpu, id, slices_of(gpu, id));
    ASSERT_TRUE(nvml_sim::add_process(gpu, {kForeignPid, static_cast<std::uint32_t>(id), 0, 100}));
    return;
  }
}

/// The instance at that place: its id, or -1.
int find(const GpuRecord& gpu, const Place& own) {
  const auto ids = nvml_sim::gpu_instances_of(gpu, own.profile_id);
  for (const int id : *ids) {
    if (nvml_sim::place_of(gpu, id) == own.interval) return id;
  }
  return -1;
}

/// An order about one place, and the failure injected into it.
class Case {
 public:
  Case(const GpuRecord& record, DeviceVerb verb, const Place& place) : gpu_(record), place_(place) {
    order_ = {.intent = 1,
              .verb = DeviceVerb::kCreate,
              .uuid = gpu_.uuid(),
              .profile_id = place.profile_id,
              .start = place.interval.start,
              .length = place.interval.length};
    if (verb == DeviceVerb::kDestroy) {
      EXPECT_EQ(attempt({}).outcome, DeviceOutcome::kDone);
    }
    order_.verb = verb;
    before_ = gpu_.record();
  }

  /// Gives the order until it ends, with these troubles in its first attempts.
  void run(const std::vector<Trouble>& troubles) {
    DeviceEnd end;
    for (std::size_t number = 0; number < kAttemptsMax; ++number) {
      end = attempt(number < troubles.size() ? std::vector{troubles[number]} : std::vector<Trouble>{});
      if (gpu_.is_dead()) {
        order_.was_tried = true;
        gpu_.script({});
        continue;
      }
      check_attempt(end);
      if (end.outcome == DeviceOutcome::kDone || end.outcome == DeviceOutcome::kRefused) break;
      order_.was_tried = !end.reading.has_value();
      if (number + 1 == kAttemptsSpoilt) heal();
    }
    check_end(end);
  }

 private:
  DeviceEnd attempt(std::vector<Trouble> troubles) {
    gpu_.script(std::move(troubles));
    Tools tools{gpu_, gpu_, [this] { return gpu_.now_us(); }};
    DeviceEnd end = carry_out(tools, order_);
    EXPECT_LE(gpu_.calls(), kCallsMax);
    return end;
  }

  void heal() {
    gpu_.record().is_lost = 0;
    static_cast<void>(nvml_sim::remove_process(gpu_.record(), kLatePid));
  }

  /// A reported failure left everything as it was.
  void check_attempt(const DeviceEnd& end) {
    const bool is_failed = end.outcome == DeviceOutcome::kFailed || end.outcome == DeviceOutcome::kBusy;
    if (!is_failed || !end.reading) return;
    EXPECT_NE(end.message, "");
    const int id = find(gpu_.record(), place_);
    const bool is_ours = id >= 0 && gpu_.is_ours(static_cast<std::uint32_t>(id));
    if (order_.verb == DeviceVerb::kDestroy) return expect_whole(id);
    EXPECT_FALSE(is_ours) << end.message;
  }

  void check_end(const DeviceEnd& end) {
    EXPECT_EQ(gpu_.wrongs(), std::vector<std::string>());
    expect_neighbour();
    const int id = find(gpu_.record(), place_);
    const bool is_ours = id >= 0 && gpu_.is_ours(static_cast<std::uint32_t>(id));
    if (end.outcome == DeviceOutcome::kRefused) {
      EXPECT_TRUE(is_of_others()) << end.message;
      return;
    }
    ASSERT_EQ(end.outcome, DeviceOutcome::kDone) << end.message;
    EXPECT_EQ(is_ours, order_.verb == DeviceVerb::kCreate) << end.message;
    if (order_.verb == DeviceVerb::kDestroy) return;
    expect_whole(id);
    EXPECT_EQ(end.mig_uuid, end.reading ? nvml_sim::mig_uuid(gpu_.record(), {id, 0}) : "");
    EXPECT_EQ(count_ours(), 1);
  }

  /// Our instance, with the compute instance that covers it.
  void expect_whole(int id) {
    ASSERT_GE(id, 0);
    ASSERT_TRUE(gpu_.is_ours(static_cast<std::uint32_t>(id)));
    const GpuInstanceRecord& instance = gpu_.record().gpu_instances[id];
    EXPECT_EQ(instance.compute_instances[0].is_there, 1);
    EXPECT_EQ(instance.compute_instances[0].slices, slices_of(gpu_.record(), id));
    for (int compute = 1; compute < nvml_sim::kComputeInstancesMax; ++compute) {
      EXPECT_EQ(instance.compute_instances[compute].is_there, 0);
    }
  }

  /// Foreign instances that existed before still exist.
  void expect_neighbour() {
    for (const nvml_sim::ProcessRecord& process : nvml_sim::processes_of(before_)) {
      const std::uint32_t id = process.gpu_instance;
      EXPECT_EQ(std::memcmp(&gpu_.record().gpu_instances[id], &before_.gpu_instances[id], sizeof(GpuInstanceRecord)),
                0);
      EXPECT_TRUE(nvml_sim::has_process(gpu_.record(), static_cast<int>(id)));
    }
  }

  int count_ours() {
    int count = 0;
    for (std::uint32_t id = 0; id < nvml_sim::kGpuInstancesMax; ++id) count += gpu_.is_ours(id) ? 1 : 0;
    return count;
  }

  /// Whether something at the place is foreign: an instance, or a compute instance in ours.
  bool is_of_others() {
    const GpuRecord& gpu = gpu_.record();
    for (int id = 0; id < nvml_sim::kGpuInstancesMax; ++id) {
      if (gpu.gpu_instances[id].is_there == 0 || !overlap(nvml_sim::place_of(gpu, id), place_.interval)) continue;
      if (!gpu_.is_ours(static_cast<std::uint32_t>(id))) return true;
      for (const auto& compute : gpu.gpu_instances[id].compute_instances) {
        if (compute.is_there != 0 && compute.slices != slices_of(gpu, id)) return true;
      }
    }
    return false;
  }

  SimulatedGpu gpu_;
  Place place_;
  DeviceOrder order_;
  GpuRecord before_;
};

/// Another program creates an instance that overlaps the place, if any does.
void create_overlapping(GpuRecord& gpu, const Place& own) {
  for (const Place& place : places_of(nvml_sim::model_of(gpu))) {
    const bool is_same = place.profile_id == own.profile_id && place.interval == own.interval;
    if (!is_same && overlap(place.interval, own.interval) && create(gpu, place) >= 0) return;
  }
}

/// All failures that can occur at a call of an order about that place.
std::vector<Trouble> troubles_at(int call, DeviceVerb verb, const Place& own) {
  std::vector<Trouble> all;
  for (const Code code : {Code::kUnknown, Code::kInUse, Code::kInsufficientResources, Code::kNoPermission}) {
    all.push_back({.at_call = call, .kind = Kind::kRefused, .code = code});
  }
  for (const Code code : {Code::kUnknown, Code::kInUse, Code::kTimeout}) {
    all.push_back({.at_call = call, .kind = Kind::kDoneButFailed, .code = code});
  }
  all.push_back({.at_call = call, .kind = Kind::kLost});
  all.push_back({.at_call = call, .kind = Kind::kDies});
  const auto event = [&](std::function<void(GpuRecord&)> what) {
    all.push_back({.at_call = call, .kind = Kind::kEvent, .event = std::move(what)});
  };
  event([own](GpuRecord& gpu) { create_overlapping(gpu, own); });
  event([own](GpuRecord& gpu) {  // a foreign compute instance in ours, which is smaller
    const int id = find(gpu, own);
    if (id >= 0 && slices_of(gpu, id) > 1) add_compute(gpu, id, 1);
  });
  event([own](GpuRecord& gpu) {  // a process on ours
    const int id = find(gpu, own);
    if (id < 0 || gpu.gpu_instances[id].compute_instances[0].is_there == 0) return;
    static_cast<void>(nvml_sim::add_process(gpu, {kLatePid, static_cast<std::uint32_t>(id), 0, 100}));
  });
  if (verb == DeviceVerb::kCreate) {  // with a destruction the replacement could not be detected
    event([own](GpuRecord& gpu) { static_cast<void>(create(gpu, own)); });
  }
  return all;
}

constexpr DeviceVerb kVerbs[] = {DeviceVerb::kCreate, DeviceVerb::kDestroy};

/// A GPU with something foreign next to that place.
GpuRecord gpu_with_neighbour(const GpuModel& model, const Place& own) {
  GpuRecord gpu = nvml_sim::testing::gpu_of(model.name);
  add_neighbour(gpu, own);
  return gpu;
}

TEST(VerbsProperty, OneTroubleAtAnyCallOnEveryModelAndPlace) {
  for (const GpuModel& model : mig::gpu_models()) {
    for (const Place& place : places_of(model)) {
      const GpuRecord gpu = gpu_with_neighbour(model, place);
      for (const DeviceVerb verb : kVerbs) {
        for (int call = 0; call < kCallsMax; ++call) {
          for (const Trouble& trouble : troubles_at(call, verb, place)) Case(gpu, verb, place).run({trouble});
        }
      }
      if (::testing::Test::HasFailure())
        FAIL() << model.name << " profile " << place.profile_id << " at " << place.interval.start;
    }
  }
}

/// After a crash, or if the effect of a call is unknown, a foreign instance created at the same place is taken for
/// ours: the two cannot be distinguished.
bool hides_who_made_it(const Trouble& trouble) { return trouble.kind == Kind::kDies || trouble.kind == Kind::kLost; }

/// One of each kind: the codes are the first test's.
std::vector<Trouble> kinds_at(int call, DeviceVerb verb, const Place& own) {
  std::vector<Trouble> all = troubles_at(call, verb, own);
  std::erase_if(all, [](const Trouble& trouble) { return trouble.code != Code::kUnknown; });
  return all;
}

TEST(VerbsProperty, TwoTroublesOneAfterTheOther) {
  for (const std::string_view name : {"H200", "A30"}) {
    const GpuModel model = mig::find_gpu_model(name).value();
    for (const Place& place : places_of(model)) {
      if (place.interval.start != 0) continue;
      const GpuRecord gpu = gpu_with_neighbour(model, place);
      for (const DeviceVerb verb : kVerbs) {
        for (int first_call = 0; first_call < kCallsMax; ++first_call) {
          for (const Trouble& first : kinds_at(first_call, verb, place)) {
            for (int second_call = 0; second_call < kCallsMax; ++second_call) {
              std::vector<Trouble> seconds = kinds_at(second_call, verb, place);
              if (verb == DeviceVerb::kCreate && hides_who_made_it(first)) seconds.pop_back();
              for (const Trouble& second : seconds) Case(gpu, verb, place).run({first, second});
            }
          }
        }
        if (::testing::Test::HasFailure()) FAIL() << name << " profile " << place.profile_id;
      }
    }
  }
}

}  // namespace
}  // namespace berth::device
