// Random orders of valid and wrong calls to random GPUs: the devices and an independent model of the rules give the
// same answers, and all later queries agree, too.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "domain/mig/catalogue.h"
#include "gpu/nvml_sim/compute_instances.h"
#include "gpu/nvml_sim/gpu_instances.h"
#include "gpu/nvml_sim/mig_devices.h"
#include "gpu/nvml_sim/mode.h"
#include "gpu/nvml_sim/processes.h"
#include "gpu/nvml_sim/reset.h"
#include "gpu/nvml_sim/state.h"
#include "gpu/nvml_sim/testing/rules_model.h"

namespace berth::nvml_sim {
namespace {

using nvml_abi::Code;
using testing::Device;
using testing::KnownGpu;
using testing::KnownProfile;
using testing::ModelMode;
using testing::ModelProcess;
using testing::Place;
using testing::RulesModel;
using testing::Told;

/// Answers of the devices in the words of the model.
Place told(const Interval& interval) { return {interval.start, interval.length}; }
Device told(const MigDevice& device) { return {device.gpu_instance, device.compute_instance}; }
ModelMode told(const MigMode& mode) { return {.is_on = mode.is_on, .is_pending_on = mode.is_pending_on}; }
std::uint32_t told(const ComputeProfile& profile) { return profile.id; }
int told(int value) { return value; }
Code told(Code code) { return code; }
ModelProcess told(const ProcessRecord& process) {
  std::optional<Device> device;
  if (process.gpu_instance != kNoInstance) {
    device = {static_cast<int>(process.gpu_instance), static_cast<int>(process.compute_instance)};
  }
  return {.pid = process.pid, .device = device, .memory_mib = process.memory_mib};
}
template <class T>
auto told(const std::vector<T>& values) {
  std::vector<decltype(told(values.front()))> all;
  all.reserve(values.size());
  for (const T& value : values) all.push_back(told(value));
  return all;
}
template <class T>
auto told(const Answer<T>& answer) {
  using Value = decltype(told(*answer));
  return answer ? Told<Value>{.value = told(*answer)} : Told<Value>{.code = answer.error()};
}
std::optional<Interval> interval_of(const std::optional<Place>& place) {
  if (!place) return std::nullopt;
  return Interval{.start = place->first, .length = place->second};
}

std::string text(Code code) { return std::string(name_of(code)); }
std::string text(std::uint32_t value) { return std::to_string(value); }
std::string text(int value) { return std::to_string(value); }
std::string text(const Place& place) { return std::to_string(place.first) + ":" + std::to_string(place.second); }
std::string text(const std::optional<Place>& place) { return place ? " at " + text(*place) : ""; }
std::string text(const ModelMode& mode) {
  return std::string(mode.is_on ? "on" : "off") + (mode.is_pending_on ? ", pending on" : ", pending off");
}
std::string text(const ModelProcess& process) {
  return std::to_string(process.pid) + (process.device ? " on " + text(*process.device) : "") + " with " +
         std::to_string(process.memory_mib) + " MiB";
}
template <class T>
std::string text(const std::vector<T>& values) {
  std::string all = "[";
  for (const T& value : values) all += (all.size() > 1 ? " " : "") + text(value);
  return all + "]";
}
template <class T>
std::string text(const Told<T>& answer) {
  return answer.code == Code::kSuccess ? text(answer.value) : text(answer.code);
}

/// An exception, because both RapidCheck and GoogleTest report its text.
[[noreturn]] void fail(const std::string& difference) { throw std::runtime_error(difference); }

/// The answers of calls, such as "create_gpu_instance NVML_ERROR_IN_USE".
using Outcomes = std::set<std::string>;

/// One GPU twice: in the devices and in the model.
class TwinGpu {
 public:
  TwinGpu(GpuRecord& gpu, const KnownGpu& known, Rng& rng, Outcomes& outcomes)
      : gpu_(gpu), rng_(rng), outcomes_(outcomes), model_(make(gpu, known, rng)) {}

  /// One random call of both.
  void call() {
    const std::uint64_t draw = rng_.below(100);
    if (draw < 24) return create_gpu_instance();
    if (draw < 33) return destroy_gpu_instance();
    if (draw < 53) return create_compute_instance();
    if (draw < 63) return destroy_compute_instance();
    if (draw < 68) return set_mode();
    if (draw < 73) return add_process();
    if (draw < 78) return remove_process();
    if (draw < 80) return reset();
    if (draw < 90) return ask();
    ask_compute();
  }

  void reboot() {
    model_.reboot();
    check_all();
  }

  void check_all() {
    what_ = "afterwards";
    check("mode", told(mig_mode(gpu_)), model_.mode());
    check_profiles();
    for (const auto& [id, instance] : model_.instances()) check_instance(id, instance);
    check("devices", told(mig_devices(gpu_)), model_.devices());
    check("devices_max", mig_devices_max(gpu_), model_.devices_max());
    std::vector<ModelProcess> processes = told(processes_of(gpu_));
    std::ranges::sort(processes);
    check("processes", processes, model_.processes());
  }

  [[nodiscard]] const GpuRecord& record() const { return gpu_; }
  [[nodiscard]] const RulesModel& model() const { return model_; }

 private:
  static RulesModel make(GpuRecord& gpu, const KnownGpu& known, Rng& rng) {
    const auto is_it = [&](const GpuModel& model) { return model.name == known.model; };
    const GpuModel& model = *std::ranges::find_if(mig::gpu_models(), is_it);
    const bool is_mig_on = known.is_mig_capable() && rng.below(4) > 0;
    const bool is_before_r510 = known.model.starts_with("A100") && rng.below(3) == 0;
    const auto index = static_cast<std::uint32_t>(rng.below(kGpusMax));
    gpu = make_gpu({.model = &model, .index = index, .is_mig_on = is_mig_on, .is_before_r510 = is_before_r510});
    return {known, is_mig_on, is_before_r510};
  }

  template <class T>
  void check(const std::string& call, const T& found, const T& wanted) {
    if (found == wanted) return;
    fail(what_ + ": " + call + ": the model says " + text(wanted) + ", the devices say " + text(found) + "; " +
         model_.to_string());
  }

  /// Compares the answers of a call that may have changed something. A refused one must not have.
  template <class T>
  void check_change(const std::string& call, const GpuRecord& before, const Told<T>& found, const Told<T>& wanted) {
    outcomes_.insert(call + " " + text(wanted.code));
    check(call, found, wanted);
    if (found.code == Code::kSuccess) return check_all();
    if (std::memcmp(&before, &gpu_, sizeof(before)) != 0) fail(what_ + ": refused, but the record changed");
  }

  void create_gpu_instance() {
    const std::uint32_t id = any_profile_id();
    const std::optional<Place> place = any_place(model_.placements(id).value);
    const bool may_change = may();
    what_ = "create_gpu_instance " + std::to_string(id) + text(place);
    const GpuRecord before = gpu_;
    const auto wanted = model_.create_gpu_instance(id, place, may_change);
    const auto found = told(nvml_sim::create_gpu_instance(gpu_, id, interval_of(place), {may_change}));
    if (found.code == Code::kSuccess) check_new(gpu_.gpu_instances[found.value].generation);
    check_change("create_gpu_instance", before, found, wanted);
  }

  void destroy_gpu_instance() {
    const int id = any_gpu_instance().value_or(static_cast<int>(rng_.below(kGpuInstancesMax)));
    const bool may_change = may();
    what_ = "destroy_gpu_instance " + std::to_string(id);
    const GpuRecord before = gpu_;
    const Code wanted = model_.destroy_gpu_instance(id, may_change);
    check_change("destroy_gpu_instance", before, code(nvml_sim::destroy_gpu_instance(gpu_, id, {may_change})),
                 code(wanted));
  }

  void create_compute_instance() {
    const std::optional<int> in = any_gpu_instance();
    if (!in) return;
    const std::uint32_t id = any_compute_profile();
    const std::optional<Place> place = any_place(model_.compute_placements(*in, id).value);
    const bool may_change = may();
    what_ = "create_compute_instance " + std::to_string(id) + text(place) + " in " + std::to_string(*in);
    const GpuRecord before = gpu_;
    const auto wanted = model_.create_compute_instance(*in, id, place, may_change);
    const auto found = told(nvml_sim::create_compute_instance(gpu_, *in, id, interval_of(place), {may_change}));
    if (found.code == Code::kSuccess) check_new(gpu_.gpu_instances[*in].compute_instances[found.value].generation);
    check_change("create_compute_instance", before, found, wanted);
  }

  void destroy_compute_instance() {
    const std::optional<int> in = any_gpu_instance();
    if (!in) return;
    const auto id = static_cast<int>(rng_.below(rng_.below(3) > 0 ? 2 : kComputeInstancesMax));
    const bool may_change = may();
    what_ = "destroy_compute_instance " + std::to_string(id) + " in " + std::to_string(*in);
    const GpuRecord before = gpu_;
    const Code wanted = model_.destroy_compute_instance(*in, id, may_change);
    check_change("destroy_compute_instance", before,
                 code(nvml_sim::destroy_compute_instance(gpu_, *in, id, {may_change})), code(wanted));
  }

  void set_mode() {
    const bool is_on = rng_.below(4) > 0;
    const bool may_change = may();
    what_ = is_on ? "set_mig_mode on" : "set_mig_mode off";
    const GpuRecord before = gpu_;
    const auto wanted = model_.set_mode(is_on, may_change);
    if (wanted.code == Code::kSuccess) outcomes_.insert("activation " + text(wanted.value));
    check_change("set_mig_mode", before, told(set_mig_mode(gpu_, is_on, {may_change})), wanted);
  }

  void add_process() {
    const std::vector<Device> devices = model_.devices();
    ModelProcess process{.pid = static_cast<std::uint32_t>(1 + rng_.below(6)),
                         .memory_mib = static_cast<std::uint32_t>(rng_.below(4096))};
    if (!devices.empty()) process.device = devices[rng_.below(devices.size())];
    what_ = "add_process " + text(process);
    model_.add_process(process);
    ProcessRecord record{.pid = process.pid, .memory_mib = process.memory_mib};
    if (process.device) {
      record.gpu_instance = static_cast<std::uint32_t>(process.device->first);
      record.compute_instance = static_cast<std::uint32_t>(process.device->second);
    }
    if (!nvml_sim::add_process(gpu_, record)) fail(what_ + ": refused");
    check_all();
  }

  void remove_process() {
    const auto pid = static_cast<std::uint32_t>(1 + rng_.below(6));
    what_ = "remove_process " + std::to_string(pid);
    const bool wanted = model_.remove_process(pid);
    if (nvml_sim::remove_process(gpu_, pid) != wanted) fail(what_ + ": wrong answer");
    check_all();
  }

  void reset() {
    what_ = "reset";
    model_.reset();
    reset_gpu(gpu_);
    check_all();
  }

  void ask() {
    const auto number = static_cast<std::uint32_t>(rng_.below(24));
    what_ = "profile number " + std::to_string(number);
    check_question("gpu_instance_profile", profile_id(gpu_instance_profile(gpu_, number)), model_.profile_id(number));
    const std::uint32_t id = any_profile_id();
    what_ = "profile " + std::to_string(id);
    check_question("possible_placements", told(possible_placements(gpu_, id)), model_.placements(id));
    check_question("remaining_capacity", told(remaining_capacity(gpu_, id)), model_.capacity(id));
    check_question("gpu_instances_of", told(gpu_instances_of(gpu_, id)), model_.gpu_instances(id));
    check_question("mig_mode", told(mig_mode(gpu_)), model_.mode());
  }

  void ask_compute() {
    const std::optional<int> in = any_gpu_instance();
    if (!in) return;
    const std::uint32_t id = any_compute_profile();
    what_ = "compute profile " + std::to_string(id) + " of " + std::to_string(*in);
    check_question("compute_profile", told(compute_profile(gpu_, *in, id)), model_.compute_profile_id(*in, id));
    check_question("compute_placements", told(compute_placements(gpu_, *in, id)), model_.compute_placements(*in, id));
    check_question("compute_capacity", told(remaining_compute_capacity(gpu_, *in, id)),
                   model_.compute_capacity(*in, id));
    check_question("compute_instances_of", told(compute_instances_of(gpu_, *in, id)),
                   model_.compute_instances(*in, id));
  }

  template <class T>
  void check_question(const std::string& call, const Told<T>& found, const Told<T>& wanted) {
    outcomes_.insert(call + " " + text(wanted.code));
    check(call, found, wanted);
  }

  void check_profiles() {
    for (const KnownProfile& profile : model_.gpu().profiles) {
      check("capacity of " + profile.name, told(remaining_capacity(gpu_, profile.id)), model_.capacity(profile.id));
      check("instances of " + profile.name, told(gpu_instances_of(gpu_, profile.id)), model_.gpu_instances(profile.id));
    }
  }

  void check_instance(int id, const testing::ModelGpuInstance& instance) {
    check("place of " + std::to_string(id), told(place_of(gpu_, id)), Place{instance.start, instance.profile->length});
    check_memory(id, *instance.profile);
    for (std::uint32_t kind = 0; kind < 9; ++kind) {
      check("compute capacity", told(remaining_compute_capacity(gpu_, id, kind)), model_.compute_capacity(id, kind));
      check("compute instances", told(compute_instances_of(gpu_, id, kind)), model_.compute_instances(id, kind));
    }
    for (const auto& [compute_id, compute] : instance.compute) {
      const ComputeInstanceRecord& record = gpu_.gpu_instances[id].compute_instances[compute_id];
      check("slices", Place{record.start, record.slices}, Place{compute.place.first, compute.slices});
    }
  }

  /// Two instances of one profile may differ in memory, and none has more than its profile.
  void check_memory(int id, const KnownProfile& profile) {
    constexpr int kDifferenceMax = 128;
    const auto memory = static_cast<int>(gpu_.gpu_instances[id].memory_mib);
    const int most = profile.memory_mib.value_or(model_.gpu().gigabytes * 1024);
    const int least = profile.memory_mib ? most - kDifferenceMax : 1;
    if (memory < least || memory > most) fail(what_ + ": memory of " + profile.name + ": " + text(memory) + " MiB");
  }

  /// Generations grow, so that no instance is mistaken for an earlier one.
  void check_new(std::uint32_t generation) {
    if (generation <= generation_max_) fail(what_ + ": a generation for the second time");
    generation_max_ = generation;
  }

  [[nodiscard]] Told<std::uint32_t> profile_id(const Answer<ProfileId>& answer) const {
    if (!answer) return {.code = answer.error()};
    return {.value = static_cast<std::uint32_t>(model_of(gpu_).profiles[answer->index].device_profile_id)};
  }
  static Told<int> code(Code code) { return {.code = code}; }

  [[nodiscard]] bool may() { return rng_.below(20) > 0; }
  [[nodiscard]] std::uint32_t any_profile_id() {
    const std::vector<KnownProfile>& profiles = model_.gpu().profiles;
    if (profiles.empty() || rng_.below(10) == 0) return static_cast<std::uint32_t>(rng_.below(70));
    return profiles[rng_.below(profiles.size())].id;
  }
  [[nodiscard]] std::uint32_t any_compute_profile() {
    return static_cast<std::uint32_t>(rng_.below(rng_.below(10) == 0 ? 12 : 5));
  }
  [[nodiscard]] std::optional<int> any_gpu_instance() {
    if (model_.instances().empty() || rng_.below(10) == 0) return std::nullopt;
    const auto skipped = static_cast<std::ptrdiff_t>(rng_.below(model_.instances().size()));
    return std::next(model_.instances().begin(), skipped)->first;
  }
  /// None, a legal one, or any.
  [[nodiscard]] std::optional<Place> any_place(const std::vector<Place>& legal) {
    const std::uint64_t draw = rng_.below(10);
    if (draw < 4) return std::nullopt;
    if (draw < 9 && !legal.empty()) return legal[rng_.below(legal.size())];
    return Place{static_cast<int>(rng_.below(16)) - 2, static_cast<int>(rng_.below(10)) - 1};
  }

  GpuRecord& gpu_;
  Rng& rng_;
  Outcomes& outcomes_;
  RulesModel model_;
  std::string what_;
  std::uint32_t generation_max_ = 0;
};

/// Several GPUs of random models in one machine.
class TwinMachine {
 public:
  explicit TwinMachine(std::uint64_t seed) : rng_(seed), machine_(std::make_unique<MachineRecord>()) {
    machine_->gpu_count = static_cast<std::uint32_t>(1 + rng_.below(4));
    for (std::uint32_t i = 0; i < machine_->gpu_count; ++i) {
      const std::vector<KnownGpu>& known = testing::known_gpus();
      twins_.push_back(std::make_unique<TwinGpu>(machine_->gpus[i], known[rng_.below(known.size())], rng_, outcomes_));
    }
  }

  void call() {
    if (rng_.below(500) == 0) {
      reboot(*machine_, "another boot", 0);
      for (const auto& twin : twins_) twin->reboot();
      return;
    }
    const TwinGpu& called = call_one(*twins_[rng_.below(twins_.size())]);
    for (const MigDevice& device : mig_devices(called.record())) check_uuid(called.record(), device);
  }

  [[nodiscard]] const Outcomes& outcomes() const { return outcomes_; }

 private:
  static TwinGpu& call_one(TwinGpu& twin) {
    twin.call();
    return twin;
  }

  /// A MIG UUID is determined by the UUID of the GPU and both ids alone: it recurs with them, and no other device ever
  /// has it.
  void check_uuid(const GpuRecord& gpu, const MigDevice& device) {
    const std::string uuid = mig_uuid(gpu, device);
    const std::string meaning = gpu.uuid + std::string(" ") + text(told(device));
    if (!uuid.starts_with("MIG-")) fail("a MIG UUID " + uuid);
    if (uuid_of_.emplace(meaning, uuid).first->second != uuid) fail("a second UUID of " + meaning);
    if (meaning_of_.emplace(uuid, meaning).first->second != meaning) fail("a UUID for the second time: " + meaning);
  }

  Rng rng_;
  Outcomes outcomes_;
  std::unique_ptr<MachineRecord> machine_;
  std::vector<std::unique_ptr<TwinGpu>> twins_;
  std::map<std::string, std::string> uuid_of_;
  std::map<std::string, std::string> meaning_of_;
};

constexpr int kCallsOfACase = 2000;  ///< RapidCheck tries 100 cases

RC_GTEST_PROP(NvmlSim, AnswersAsTheModelOfTheRules, ()) {
  TwinMachine machine(*rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>()));
  for (int i = 0; i < kCallsOfACase; ++i) machine.call();
}

// The property is weak if random calls rarely succeed.
TEST(NvmlSim, RandomCallsReachEveryOutcome) {
  Outcomes seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    TwinMachine machine(seed);
    for (int i = 0; i < kCallsOfACase; ++i) machine.call();
    seen.insert(machine.outcomes().begin(), machine.outcomes().end());
  }
  const auto reaches = [&](const std::string& call, std::initializer_list<Code> codes) {
    for (const Code code : codes) EXPECT_TRUE(seen.contains(call + " " + text(code))) << call << " " << text(code);
  };
  using enum Code;
  reaches("create_gpu_instance", {kSuccess, kNotSupported, kInvalidArgument, kNoPermission, kInsufficientResources});
  reaches("destroy_gpu_instance", {kSuccess, kNoPermission, kNotFound, kInUse});
  reaches("create_compute_instance", {kSuccess, kInvalidArgument, kNoPermission, kInsufficientResources});
  reaches("destroy_compute_instance", {kSuccess, kNoPermission, kNotFound, kInUse});
  reaches("set_mig_mode", {kSuccess, kNotSupported, kNoPermission, kInUse});
  reaches("activation", {kSuccess, kResetRequired, kInUse});
  reaches("gpu_instance_profile", {kSuccess, kNotSupported, kInvalidArgument});
  reaches("remaining_capacity", {kSuccess, kNotSupported, kInvalidArgument});
  reaches("compute_profile", {kSuccess, kNotSupported, kInvalidArgument});
  reaches("compute_capacity", {kSuccess, kInvalidArgument});
}

TEST(NvmlSim, TheModelKnowsEveryGpuOfTheCatalogue) {
  std::vector<std::string> known;
  for (const KnownGpu& gpu : testing::known_gpus()) known.push_back(gpu.model);
  std::vector<std::string> of_catalogue;
  for (const GpuModel& model : mig::gpu_models()) of_catalogue.push_back(model.name);
  EXPECT_EQ(known, of_catalogue);
}

/// Units where the instances begin that a GPU of this model gets one after the other without a placement; -1: refused.
std::vector<int> starts_of(std::string_view name, const std::vector<std::uint32_t>& profile_ids) {
  const KnownGpu& gpu = *std::ranges::find(testing::known_gpus(), name, &KnownGpu::model);
  RulesModel model(gpu, true, false);
  std::vector<int> starts;
  for (const std::uint32_t id : profile_ids) {
    const auto made = model.create_gpu_instance(id, std::nullopt, true);
    starts.push_back(made.code == Code::kSuccess ? model.instances().at(made.value).start : -1);
  }
  return starts;
}

/// Slices where the compute instances begin that one GPU instance gets likewise.
std::vector<int> compute_starts_of(std::string_view name, std::uint32_t profile_id,
                                   const std::vector<std::uint32_t>& compute_ids) {
  const KnownGpu& gpu = *std::ranges::find(testing::known_gpus(), name, &KnownGpu::model);
  RulesModel model(gpu, true, false);
  const int in = model.create_gpu_instance(profile_id, std::nullopt, true).value;
  std::vector<int> starts;
  for (const std::uint32_t id : compute_ids) {
    const auto made = model.create_compute_instance(in, id, std::nullopt, true);
    starts.push_back(made.code == Code::kSuccess ? model.instances().at(in).compute.at(made.value).place.first : -1);
  }
  return starts;
}

constexpr std::uint32_t k1g = 19;
constexpr std::uint32_t k2g = 14;
constexpr std::uint32_t k3g = 9;
constexpr std::uint32_t k4g = 5;
constexpr std::uint32_t k7g = 0;

// Placements chosen by drivers in public listings, so that the model is not only compared with the simulated devices.
TEST(RulesModel, ChoosesPlacesAsTheDriver) {
  EXPECT_EQ(starts_of("A100-40GB", {k1g, k1g, k2g, k3g}), (std::vector{6, 4, 0, -1}));
  EXPECT_EQ(starts_of("A100-40GB", {k3g, k1g, k2g, k1g}), (std::vector{4, 0, 2, 1}));
  EXPECT_EQ(starts_of("A100-40GB", {k3g, k3g}), (std::vector{4, 0}));
  EXPECT_EQ(starts_of("A100-80GB", {k2g, k2g, k1g}), (std::vector{4, 0, 6}));
  EXPECT_EQ(starts_of("H100-80GB-SXM5", {k3g, k2g}), (std::vector{4, 0}));
  EXPECT_EQ(starts_of("A100-40GB", {k4g}), (std::vector{0}));
}

TEST(RulesModel, ChoosesComputeSlicesAsTheDriver) {
  constexpr std::uint32_t k1c = 0;
  constexpr std::uint32_t k2c = 1;
  constexpr std::uint32_t k3c = 2;
  EXPECT_EQ(compute_starts_of("A100-40GB", k3g, {k1c, k1c, k1c}), (std::vector{0, 1, 2}));
  EXPECT_EQ(compute_starts_of("A100-80GB", k3g, {k1c, k2c}), (std::vector{0, 1}));
  EXPECT_EQ(compute_starts_of("A100-80GB", k4g, {k1c, k2c}), (std::vector{0, 1}));
  EXPECT_EQ(compute_starts_of("A100-40GB", k7g, {k1c, k2c, k3c}), (std::vector{0, 1, 3}));
  EXPECT_EQ(compute_starts_of("H200-141GB", k3g, {k1c, k2c}), (std::vector{2, 0}));
}

}  // namespace
}  // namespace berth::nvml_sim
