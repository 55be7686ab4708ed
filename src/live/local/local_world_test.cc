#include "live/local/local_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "domain/mig/board.h"
#include "domain/mig/catalogue.h"
#include "domain/values/snapshot.h"
#include "live/session/entry.h"
#include "live/session/event_log.h"
#include "live/session/session.h"
#include "live/session/session_options.h"

namespace berth::live {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint32_t kProfile3g = 9;  // of an A100-80GB

/// A library whose GPUs report what the test sets. Readings of "GPU-hanging" wait until the test releases them.
class FakeLibrary final : public GpuLibrary {
 public:
  [[nodiscard]] const GpuLibraryFacts& facts() const override { return facts_; }
  [[nodiscard]] GpuAnswer<std::vector<Listed>> list() override { return std::vector<Listed>(); }
  [[nodiscard]] GpuAnswer<GpuReading> read(const std::string& uuid) override {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [&] { return uuid != "GPU-hanging" || !hangs_; });
    const auto found = readings_.find(uuid);
    if (found != readings_.end()) return found->second;
    return tl::unexpected(GpuCallFailure{.call = "nvmlDeviceGetHandleByUUID", .code_name = "NVML_ERROR_NOT_FOUND"});
  }
  [[nodiscard]] GpuAnswer<GpuMeasurement> measure(const std::string&) override {
    const std::scoped_lock hold(mutex_);
    return measurement_;
  }
  [[nodiscard]] GpuAnswer<std::optional<GpuNotice>> wait(const std::string& uuid, std::int64_t millis_max) override {
    std::unique_lock hold(mutex_);
    changed_.wait_for(hold, milliseconds(millis_max), [&] { return notices_.contains(uuid); });
    const auto notice = notices_.find(uuid);
    if (notice == notices_.end()) return std::nullopt;
    return std::optional(notices_.extract(notice).mapped());
  }

  void show(const std::string& uuid, GpuAnswer<GpuReading> reading) {
    const std::scoped_lock hold(mutex_);
    readings_.insert_or_assign(uuid, std::move(reading));
    notices_[uuid] = {.kind = GpuNotice::Kind::kMigChange};
    changed_.notify_all();
  }
  void give(GpuAnswer<GpuMeasurement> measurement) {
    const std::scoped_lock hold(mutex_);
    measurement_ = std::move(measurement);
  }
  void raise(const std::string& uuid, std::uint64_t xid) {
    const std::scoped_lock hold(mutex_);
    notices_[uuid] = {.kind = GpuNotice::Kind::kXid, .xid = xid};
    changed_.notify_all();
  }
  void let_go() {
    const std::scoped_lock hold(mutex_);
    hangs_ = false;
    changed_.notify_all();
  }

 private:
  GpuLibraryFacts facts_{.path = "libfake.so", .library_version = "13.580", .driver_version = "580.95"};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, GpuAnswer<GpuReading>> readings_;
  std::map<std::string, GpuNotice> notices_;
  GpuAnswer<GpuMeasurement> measurement_ = GpuMeasurement{};
  bool hangs_ = true;
};

device::LocalGpu a100(const std::string& uuid) {
  GpuModel model = *mig::find_gpu_model("A100-80GB");
  for (MigProfile& profile : model.profiles) profile.unverified.clear();
  return {.uuid = uuid, .name = "NVIDIA A100", .pci_bus_id = "00000000:07:00.0", .model = model, .differences = {}};
}

GpuReading empty_reading() {
  GpuReading reading;
  reading.is_mig_on = reading.is_mig_pending_on = true;
  return reading;
}

GpuReading with_3g(int start) {
  GpuReading reading = empty_reading();
  reading.instances = {{.id = 1, .profile_id = kProfile3g, .start = start, .length = 4, .compute_instances = {}}};
  return reading;
}

/// A world on the library's GPUs, and a session that knows them.
class LocalWorldTest : public ::testing::Test {
 protected:
  /// By default the machine has the GPUs of the fleet.
  void begin(const std::vector<device::LocalGpu>& fleet,
             const std::optional<std::vector<device::LocalGpu>>& here = {}) {
    make_world(fleet, here);
    make_session(fleet);
    session_->begin();
    world_->tell(*session_);
  }
  void make_world(const std::vector<device::LocalGpu>& fleet,
                  const std::optional<std::vector<device::LocalGpu>>& here = {}) {
    edges::LocalMachine machine;
    auto library = std::make_unique<FakeLibrary>();
    library_ = library.get();
    for (const device::LocalGpu& gpu : fleet) library_->show(gpu.uuid, empty_reading());
    if (prepare_) prepare_(*library_);
    machine.library = std::move(library);
    machine.facts = library_->facts();
    machine.gpus = here.value_or(fleet);
    world_ = std::make_unique<LocalWorld>(std::move(machine), fleet, LocalManagement(), milliseconds(200));
    world_->start([this] { has_news_ = true; });
  }
  void make_session(const std::vector<device::LocalGpu>& fleet) {
    Scenario scenario;
    ASSERT_TRUE(device::put_fleet(scenario, fleet));
    SessionOptions options;
    options.observed = world_->observed();
    options.has_load = false;
    options.has_outside_devices = true;
    options.listener.entry = [this](Entry entry) { told_.push_back(std::move(entry)); };
    session_ = std::move(*Session::make(std::move(scenario), std::move(options)));
  }

  /// Serves the session until `is_done`.
  void wait_for(const std::function<bool()>& is_done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!is_done() && std::chrono::steady_clock::now() < deadline) {
      if (has_news_.exchange(false)) world_->serve(*session_);
      std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_TRUE(is_done());
  }

  /// Messages of events of that kind, in order.
  [[nodiscard]] std::vector<std::string> messages(EventKind kind) const {
    std::vector<std::string> messages;
    for (const LoggedEvent& event : session_->events().after(0, 1000)) {
      if (event.kind == kind) messages.push_back(event.message);
    }
    return messages;
  }
  [[nodiscard]] bool is_lost(std::uint32_t gpu) const { return session_->gpu_state({gpu}).health == GpuHealth::kLost; }
  [[nodiscard]] std::size_t slice_count() const { return session_->snapshot().slices.size(); }

  std::function<void(FakeLibrary&)> prepare_;
  FakeLibrary* library_ = nullptr;
  std::atomic<bool> has_news_ = true;
  std::vector<Entry> told_;
  std::unique_ptr<LocalWorld> world_;
  std::unique_ptr<Session> session_;
};

TEST_F(LocalWorldTest, ItsGpusAreSeenAndOnlyObserved) {
  device::LocalGpu second = a100("GPU-1");
  second.differences = {"1g.10gb: memory in MiB 1, our table has 2"};
  begin({a100("GPU-0"), second});
  EXPECT_THAT(messages(EventKind::kGpuSeen),
              ElementsAre("GPU-0, NVIDIA A100, model A100-80GB", "GPU-1, NVIDIA A100, model A100-80GB"));
  EXPECT_THAT(messages(EventKind::kGpuDiffers), ElementsAre("1g.10gb: memory in MiB 1, our table has 2"));
  EXPECT_EQ(session_->gpu_state({0}).scheduling, GpuScheduling::kCordoned);
  EXPECT_EQ(session_->gpu_state({0}).scheduling_reason, "observed: --manage-gpus is not given");
  const DeviceSource source = world_->source(false);
  EXPECT_EQ(source.library().driver, "580.95");
  const DeviceView view = source.device({1});
  EXPECT_EQ(view.uuid, "GPU-1");
  EXPECT_TRUE(view.why_observed.has_value());
  EXPECT_EQ(view.is_mig_on, true);
  EXPECT_EQ(view.recovery_action, "none");
  EXPECT_EQ(view.differences, second.differences);
}

TEST_F(LocalWorldTest, WhatOthersMakeComesAndGoes) {
  begin({a100("GPU-0")});
  library_->show("GPU-0", with_3g(4));
  wait_for([&] { return slice_count() == 1; });
  EXPECT_TRUE(session_->snapshot().slices.begin()->is_foreign);
  EXPECT_EQ(messages(EventKind::kSliceForeign).size(), 1U);
  library_->show("GPU-0", empty_reading());
  wait_for([&] { return slice_count() == 0; });
  EXPECT_EQ(messages(EventKind::kSliceGone).size(), 1U);
}

TEST_F(LocalWorldTest, ShowsWhatAGpuMeasuresAndItsProcesses) {
  prepare_ = [](FakeLibrary& library) {
    GpuReading reading = with_3g(4);
    reading.processes = {
        {.pid = 41, .name = "train", .memory_mib = 900, .gpu_instance = 1, .compute_instance = 0, .user = "ann"},
        {.pid = 42, .name = "", .memory_mib = 0, .gpu_instance = 7, .compute_instance = 0}};
    library.show("GPU-0", reading);
    library.give(GpuMeasurement{.memory_total_mib = 81920, .memory_used_mib = 900, .temperature_celsius = 41});
  };
  begin({a100("GPU-0")});
  const DeviceSource source = world_->source(false);
  wait_for([&] { return source.device({0}).measured.has_value(); });
  const DeviceView view = source.device({0});
  EXPECT_EQ(view.measured->memory_used_mib, 900);
  EXPECT_EQ(view.measured->temperature_celsius, 41);
  EXPECT_EQ(view.measured->utilization_percent, std::nullopt) << "unknown, not 0";
  ASSERT_TRUE(view.processes.has_value());
  ASSERT_EQ(view.processes->size(), 2U);
  const DeviceProcessView& first = view.processes->front();
  EXPECT_EQ(first.user, "ann");
  EXPECT_EQ(first.memory_mib, 900);
  ASSERT_TRUE(first.slice.has_value());
  EXPECT_EQ(first.slice->start, 4);
  const DeviceProcessView& second = view.processes->back();
  EXPECT_EQ(second.pid, 42U);
  EXPECT_EQ(second.user, std::nullopt);
  EXPECT_EQ(second.memory_mib, std::nullopt);
  EXPECT_EQ(second.slice, std::nullopt) << "its instance is gone";
  EXPECT_EQ(source.agent_gone(), std::nullopt) << "none is wanted";

  library_->show("GPU-0",
                 tl::unexpected(GpuCallFailure{
                     .call = "nvmlDeviceGetMigMode", .code_name = "NVML_ERROR_GPU_IS_LOST", .is_gpu_lost = true}));
  wait_for([&] { return is_lost(0); });
  EXPECT_EQ(source.device({0}).processes, std::nullopt);
  EXPECT_EQ(source.device({0}).measured, std::nullopt) << "old figures are not shown";
}

TEST_F(LocalWorldTest, InstancesThatNoProfileDescribesAreReported) {
  begin({a100("GPU-0")});
  GpuReading reading = empty_reading();
  reading.instances = {{.id = 5, .profile_id = 77, .start = 1, .length = 2, .compute_instances = {}}};
  library_->show("GPU-0", reading);
  wait_for([&] { return !messages(EventKind::kGpuDiffers).empty(); });
  EXPECT_THAT(messages(EventKind::kGpuDiffers), ElementsAre("GPU instance 5 of profile id 77 at 1, length 2"));
  EXPECT_THAT(world_->source(false).device({0}).differences,
              ElementsAre("GPU instance 5 of profile id 77 at 1, length 2"));
  library_->show("GPU-0", empty_reading());
  wait_for([&] { return messages(EventKind::kGpuDiffers).size() == 2; });
  EXPECT_EQ(messages(EventKind::kGpuDiffers).back(), "none");
}

TEST_F(LocalWorldTest, XidsAndRecoveryActionsAreEvents) {
  begin({a100("GPU-0")});
  library_->raise("GPU-0", 63);
  wait_for([&] { return messages(EventKind::kGpuXid).size() == 1; });
  EXPECT_THAT(messages(EventKind::kGpuXid), ElementsAre("XID 63"));
  GpuReading reading = empty_reading();
  reading.recovery_action = "gpu_reset";
  library_->show("GPU-0", reading);
  wait_for([&] { return !messages(EventKind::kGpuRecoveryAction).empty(); });
  library_->show("GPU-0", empty_reading());
  wait_for([&] { return messages(EventKind::kGpuRecoveryAction).size() == 2; });
  EXPECT_THAT(messages(EventKind::kGpuRecoveryAction), ElementsAre("gpu_reset", "none"));
}

TEST_F(LocalWorldTest, ALostGpuComesBack) {
  prepare_ = [](FakeLibrary& library) { library.show("GPU-0", with_3g(0)); };
  begin({a100("GPU-0"), a100("GPU-1")});
  EXPECT_EQ(slice_count(), 1U);
  library_->show("GPU-0",
                 tl::unexpected(GpuCallFailure{
                     .call = "nvmlDeviceGetMigMode", .code_name = "NVML_ERROR_GPU_IS_LOST", .is_gpu_lost = true}));
  wait_for([&] { return is_lost(0); });
  EXPECT_FALSE(is_lost(1));
  EXPECT_EQ(session_->gpu_state({0}).health_reason, "it cannot be read: nvmlDeviceGetMigMode: NVML_ERROR_GPU_IS_LOST");
  EXPECT_EQ(world_->source(false).device({0}).is_mig_on, std::nullopt) << "unknown now";
  library_->show("GPU-0", empty_reading());
  wait_for([&] { return !is_lost(0); });
  EXPECT_EQ(slice_count(), 0U);
  EXPECT_EQ(session_->gpu_state({0}).scheduling_reason, "observed: --manage-gpus is not given")
      << "it is still only observed";
}

TEST_F(LocalWorldTest, ACallThatFailsOnceChangesNothing) {
  prepare_ = [](FakeLibrary& library) { library.show("GPU-0", with_3g(0)); };
  begin({a100("GPU-0")});
  library_->show("GPU-0",
                 tl::unexpected(GpuCallFailure{.call = "nvmlDeviceGetMigMode", .code_name = "NVML_ERROR_UNKNOWN"}));
  const auto differences = [&] { return world_->source(false).device({0}).differences; };
  wait_for([&] { return !differences().empty(); });
  EXPECT_THAT(differences(), ElementsAre("it cannot be read: nvmlDeviceGetMigMode: NVML_ERROR_UNKNOWN"));
  EXPECT_FALSE(is_lost(0));
  EXPECT_EQ(slice_count(), 1U);
}

TEST_F(LocalWorldTest, AGpuThatHangsAtTheStartIsLostUntilItAnswers) {
  begin({a100("GPU-hanging"), a100("GPU-1")});
  EXPECT_TRUE(is_lost(0));
  EXPECT_EQ(session_->gpu_state({0}).health_reason, "the driver does not answer");
  EXPECT_FALSE(is_lost(1));
  library_->let_go();
  wait_for([&] { return !is_lost(0); });
}

TEST_F(LocalWorldTest, AStartFindsGpusThatAreGoneNewOrChanged) {
  const std::vector<device::LocalGpu> fleet = {a100("GPU-0"), a100("GPU-1"), a100("GPU-2")};
  prepare_ = [](FakeLibrary& library) { library.show("GPU-1", with_3g(4)); };
  begin(fleet);
  const std::vector<Entry> past = told_;
  sim::WorldLeft left = session_->world_left();
  const std::size_t differences_before = messages(EventKind::kGpuDiffers).size();
  world_->stop();

  prepare_ = [](FakeLibrary& library) {
    library.show("GPU-0", tl::unexpected(GpuCallFailure{.call = "nvmlDeviceGetHandleByUUID",
                                                        .code_name = "NVML_ERROR_NOT_FOUND"}));
    library.show("GPU-1", with_3g(0));
  };
  device::LocalGpu changed = a100("GPU-2");
  changed.model.profiles[0].memory_mib = 7;
  make_world(fleet, std::vector{a100("GPU-1"), changed, a100("GPU-9")});
  const std::vector<std::string> warnings = world_->warnings();
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_THAT(warnings[0], HasSubstr("gpu-2 (GPU-2): 1g.10gb: now 7 MiB"));
  EXPECT_THAT(warnings[1], HasSubstr("GPU-9 (NVIDIA A100) is in this machine and not in the world of this folder"));
  make_session(fleet);
  world_->adopt(left);
  session_->repeat(past, left.world.orders);
  session_->resume(std::move(left));
  world_->tell_notes(*session_);
  EXPECT_TRUE(is_lost(0));
  EXPECT_EQ(session_->gpu_state({0}).health_reason, "GPU-0 is not in this machine: the library does not list it");
  ASSERT_EQ(slice_count(), 1U) << "the one at 4 is gone, the one at 0 is new";
  EXPECT_EQ(session_->snapshot().slices.begin()->holding.slice.start, 0);
  EXPECT_EQ(messages(EventKind::kGpuSeen).size(), 3U) << "only once";
  EXPECT_EQ(messages(EventKind::kGpuDiffers).size(), differences_before + 1);
  world_->tell_notes(*session_);
  EXPECT_EQ(messages(EventKind::kGpuDiffers).size(), differences_before + 1) << "known already";
  library_->show("GPU-0", empty_reading());
  wait_for([&] { return !is_lost(0); });
}

TEST_F(LocalWorldTest, WithoutALibraryTheGpusOfTheFolderAreLost) {
  edges::LocalMachine machine;
  machine.reason = "wanted a library, found none";
  const std::vector<device::LocalGpu> fleet = {a100("GPU-0")};
  world_ = std::make_unique<LocalWorld>(std::move(machine), fleet, LocalManagement());
  make_session(fleet);
  session_->begin();
  world_->tell(*session_);
  world_->start([] {});
  world_->serve(*session_);
  EXPECT_TRUE(is_lost(0));
  EXPECT_EQ(session_->gpu_state({0}).health_reason, "GPU-0 is not in this machine: wanted a library, found none");
  EXPECT_EQ(world_->library().reason, "wanted a library, found none");
  EXPECT_EQ(world_->library().gpu_count, 0);
}

}  // namespace
}  // namespace berth::live
