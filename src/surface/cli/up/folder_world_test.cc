#include "surface/cli/up/folder_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "edges/sqlite_store/sqlite_store.h"
#include "mig/catalogue.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* kScenario = "scenario.yaml";

device::LocalGpu gpu(const std::string& uuid, const std::string& model) {
  device::LocalGpu gpu{
      .uuid = uuid, .name = "NVIDIA", .pci_bus_id = "", .model = *mig::find_gpu_model(model), .differences = {}};
  for (MigProfile& profile : gpu.model.profiles) profile.unverified.clear();
  return gpu;
}

/// A folder, and starts of `berth up` with it.
class FolderWorldTest : public ::testing::Test {
 protected:
  FolderWorldTest()
      : folder_(std::filesystem::temp_directory_path() / ("berth_folder_world_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~FolderWorldTest() override { std::filesystem::remove_all(folder_); }
  FolderWorldTest(const FolderWorldTest&) = delete;
  FolderWorldTest& operator=(const FolderWorldTest&) = delete;

  [[nodiscard]] Result<FolderWorld> start(const UpOptions& options) const {
    auto request = check_up_options(options);
    if (!request) return pass_on(request.error());
    const RecordedFiles files({{kScenario, scenario_}}, {});
    return find_world(*request, files, folder_.string(), 1, machine_);
  }
  [[nodiscard]] std::string refusal_of(const UpOptions& options) const {
    const auto world = start(options);
    return world ? "none" : world.error().message;
  }
  /// Begins a world, and records that it did.
  void begin(const UpOptions& options) const {
    const auto world = start(options);
    ASSERT_TRUE(world.has_value()) << world.error().message;
    auto store = edges::open_sqlite_store(journal_path_in(folder_.string()));
    ASSERT_TRUE(store.has_value());
    auto writer = store->store->open_writer(1);
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE((*writer)->append({.entries = first_rows(world->beginning, world->files, 1)}).has_value());
  }

  std::filesystem::path folder_;
  std::string scenario_ = "berth: 1\nfleet: [{gpu: A100-80GB, count: 2}]\nwindow_seconds: 60\nservices: []\n";
  std::vector<device::LocalGpu> machine_ = {gpu("GPU-0", "A100-80GB"), gpu("GPU-1", "A100-80GB")};
};

TEST_F(FolderWorldTest, ALocalOneHasTheGpusOfTheMachineAndNoServices) {
  const auto world = start({.world = "local"});
  ASSERT_TRUE(world.has_value()) << world.error().message;
  EXPECT_EQ(world->fleet, machine_);
  EXPECT_EQ(world->scenario.gpu_count(), 2U);
  EXPECT_TRUE(world->scenario.services.empty());
  EXPECT_TRUE(world->files.is_local());
}

TEST_F(FolderWorldTest, AutoIsLocalWhereThereIsAGpu) {
  EXPECT_TRUE(start({.world = "auto"})->fleet.has_value());
  machine_.clear();
  const auto world = start({.world = "auto"});
  EXPECT_FALSE(world->fleet.has_value());
  EXPECT_FALSE(world->scenario.services.empty()) << "the demo";
  const auto none = start({.world = "local"});
  ASSERT_TRUE(none.has_value()) << "a machine without GPUs is a world without any";
  EXPECT_EQ(none->scenario.gpu_count(), 0U);
}

TEST_F(FolderWorldTest, AScenarioMustHaveTheGpusOfTheMachine) {
  EXPECT_EQ(start({.world = "local", .scenario = kScenario})->scenario.gpu_count(), 2U);
  machine_[1] = gpu("GPU-1", "A30-24GB");
  EXPECT_EQ(refusal_of({.world = "local", .scenario = kScenario}),
            "fleet: GPU 1: wanted A30-24GB, which this machine has there (GPU-1), found A100-80GB");
  machine_.pop_back();
  EXPECT_EQ(refusal_of({.world = "local", .scenario = kScenario}), "fleet: wanted the 1 GPUs of this machine, found 2");
  EXPECT_EQ(refusal_of({.world = "auto", .scenario = kScenario}), "fleet: wanted the 1 GPUs of this machine, found 2");
  EXPECT_EQ(refusal_of({.scenario = kScenario}), "none") << "a simulated world";
}

TEST_F(FolderWorldTest, ALocalFolderStaysLocal) {
  begin({.world = "local"});
  EXPECT_THAT(refusal_of({.world = "simulated"}), HasSubstr("--world: wanted local, with which the world of"));
  EXPECT_THAT(refusal_of({}), HasSubstr("found simulated; for another world use another folder"));
  EXPECT_EQ(refusal_of({.world = "local"}), "none");
  EXPECT_THAT(refusal_of({.world = "local", .scenario = kScenario}), HasSubstr("--scenario: wanted none"));
  machine_.clear();
  for (const char* word : {"local", "auto"}) {
    const auto world = start({.world = word});
    ASSERT_TRUE(world.has_value()) << world.error().message;
    ASSERT_TRUE(world->fleet.has_value()) << "also without its GPUs";
    EXPECT_EQ(world->fleet->size(), 2U);
    EXPECT_EQ(world->scenario.gpu_count(), 2U);
    EXPECT_TRUE(world->history.has_value());
  }
}

TEST_F(FolderWorldTest, ALocalFolderKeepsItsScenario) {
  begin({.world = "local", .scenario = kScenario});
  EXPECT_EQ(refusal_of({.world = "local", .scenario = kScenario}), "none") << "the fleet is none of its files";
  EXPECT_EQ(refusal_of({.world = "local"}), "none");
  scenario_ += "# another\n";
  EXPECT_THAT(refusal_of({.world = "local", .scenario = kScenario}), HasSubstr("with other content"));
}

TEST_F(FolderWorldTest, ASimulatedFolderStaysSimulated) {
  begin({});
  EXPECT_THAT(refusal_of({.world = "local"}), HasSubstr("--world: wanted simulated, with which the world of"));
  const auto world = start({.world = "auto"});
  ASSERT_TRUE(world.has_value()) << world.error().message;
  EXPECT_FALSE(world->fleet.has_value()) << "although there are GPUs";
}

TEST_F(FolderWorldTest, VersionsThatKnowNoLocalWorldRefuseItsRowsAndSnapshots) {
  constexpr int kKnownToThem = 1;
  const auto local = start({.world = "local"});
  const auto simulated = start({});
  EXPECT_GT(first_rows(local->beginning, local->files, 1).front().format, kKnownToThem);
  EXPECT_EQ(first_rows(simulated->beginning, simulated->files, 1).front().format, kKnownToThem);
  EXPECT_GT(snapshot_format(local->files), kSnapshotFormat);
  EXPECT_EQ(snapshot_format(simulated->files), kSnapshotFormat);
}

}  // namespace
}  // namespace berth::cli
