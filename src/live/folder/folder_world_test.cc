#include "live/folder/folder_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "domain/mig/catalogue.h"
#include "live/chain/testing/memory_store.h"

namespace berth::live {
namespace {

using ::testing::HasSubstr;

constexpr const char* kScenarioFile = "scenario.yaml";

device::LocalGpu listed_gpu(const std::string& uuid, const std::string& model) {
  device::LocalGpu gpu{
      .uuid = uuid, .name = "NVIDIA", .pci_bus_id = "", .model = *mig::find_gpu_model(model), .differences = {}};
  for (MigProfile& profile : gpu.model.profiles) profile.unverified.clear();
  return gpu;
}

/// The request of a start. `word`: "local", "auto", else simulated.
UpRequest world(const char* word) {
  UpRequest request;
  if (word == std::string("local")) request.world = WorldKind::kLocal;
  if (word == std::string("cluster")) request.world = WorldKind::kKubernetes;
  if (word == std::string("auto")) request.world.reset();
  return request;
}
UpRequest with_scenario(UpRequest request) {
  request.scenario_path = kScenarioFile;
  return request;
}

/// A folder, and starts of `berth up` with it.
class FolderWorldTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<FolderWorld> start(const UpRequest& request) const {
    const RecordedFiles files({{kScenarioFile, scenario_}}, {});
    std::unique_ptr<JournalReader> journal;
    if (store_) journal = std::move(*store_->open_reader());
    return find_world(request, files,
                      {.folder = "/folder",
                       .journal = journal.get(),
                       .now_us = 1,
                       .machine = machine_,
                       .cluster = request.world == WorldKind::kKubernetes ? std::optional(cluster_) : std::nullopt});
  }
  [[nodiscard]] std::string refusal_of(const UpRequest& request) const {
    const auto begun = start(request);
    return begun ? "none" : begun.error().message;
  }
  /// Begins a world, and records its beginning.
  void begin(const UpRequest& request) {
    const auto begun = start(request);
    ASSERT_TRUE(begun.has_value()) << begun.error().message;
    store_ = std::make_unique<berth::testing::MemoryStore>();
    auto writer = store_->open_writer(1);
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE((*writer)->append({.entries = first_rows(begun->beginning, begun->files, 1)}).has_value());
  }

  std::unique_ptr<berth::testing::MemoryStore> store_;  ///< absent: the folder has no journal
  std::string scenario_ = "berth: 1\nfleet: [{gpu: A100-80GB, count: 2}]\nwindow_seconds: 60\nservices: []\n";
  std::vector<device::LocalGpu> machine_ = {listed_gpu("GPU-0", "A100-80GB"), listed_gpu("GPU-1", "A100-80GB")};
  std::string cluster_ = "one";
};

TEST_F(FolderWorldTest, ALocalOneHasTheGpusOfTheMachineAndNoServices) {
  const auto begun = start(world("local"));
  ASSERT_TRUE(begun.has_value()) << begun.error().message;
  EXPECT_EQ(begun->fleet, machine_);
  EXPECT_EQ(begun->scenario.gpu_count(), 2U);
  EXPECT_TRUE(begun->scenario.services.empty());
  EXPECT_TRUE(begun->files.is_local());
}

TEST_F(FolderWorldTest, ANewOneWarnsOfItsScenario) {
  scenario_ = "berth: 1\nfleet: [{gpu: H100-80GB, count: 1}]\nservices: []\n";
  const auto begun = start(with_scenario(world("simulated")));
  ASSERT_TRUE(begun.has_value()) << begun.error().message;
  ASSERT_EQ(begun->warnings.size(), 1U);
  EXPECT_THAT(begun->warnings[0],
              HasSubstr("scenario.yaml:2:15: fleet[0].gpu: \"H100-80GB\" is taken as H100-80GB-SXM5"));
}

TEST_F(FolderWorldTest, AutoIsLocalWhereThereIsAGpu) {
  EXPECT_TRUE(start(world("auto"))->fleet.has_value());
  machine_.clear();
  const auto begun = start(world("auto"));
  EXPECT_FALSE(begun->fleet.has_value());
  EXPECT_FALSE(begun->scenario.services.empty()) << "the demo";
  const auto none = start(world("local"));
  ASSERT_TRUE(none.has_value()) << "a machine without GPUs is a world without any";
  EXPECT_EQ(none->scenario.gpu_count(), 0U);
}

TEST_F(FolderWorldTest, AScenarioMustHaveTheGpusOfTheMachine) {
  EXPECT_EQ(start(with_scenario(world("local")))->scenario.gpu_count(), 2U);
  machine_[1] = listed_gpu("GPU-1", "A30-24GB");
  EXPECT_EQ(refusal_of(with_scenario(world("local"))),
            "fleet: gpu-1: wanted A30-24GB, which this machine has there (GPU-1), found A100-80GB");
  machine_.pop_back();
  EXPECT_EQ(refusal_of(with_scenario(world("local"))), "fleet: wanted the 1 GPUs of this machine, found 2");
  EXPECT_EQ(refusal_of(with_scenario(world("auto"))), "fleet: wanted the 1 GPUs of this machine, found 2");
  EXPECT_EQ(refusal_of(with_scenario({})), "none") << "a simulated world";
}

TEST_F(FolderWorldTest, AFixedLayoutIsPartOfAScenario) {
  UpRequest fixed = world("local");
  fixed.policy = "fixed";
  EXPECT_EQ(refusal_of(fixed), "--policy fixed: wanted a scenario with a layout, found none");
  EXPECT_EQ(refusal_of(with_scenario(fixed)),
            "--policy fixed: wanted a scenario with a layout, found \"scenario.yaml\", which has none");
}

TEST_F(FolderWorldTest, ALocalFolderStaysLocal) {
  begin(world("local"));
  EXPECT_THAT(refusal_of(world("simulated")), HasSubstr("--world: wanted local, with which the world of"));
  EXPECT_THAT(refusal_of({}), HasSubstr("found simulated; for another world use another folder"));
  EXPECT_EQ(refusal_of(world("local")), "none");
  EXPECT_THAT(refusal_of(with_scenario(world("local"))), HasSubstr("--scenario: wanted none"));
  machine_.clear();
  for (const char* word : {"local", "auto"}) {
    const auto begun = start(world(word));
    ASSERT_TRUE(begun.has_value()) << begun.error().message;
    ASSERT_TRUE(begun->fleet.has_value()) << "also without its GPUs";
    EXPECT_EQ(begun->fleet->size(), 2U);
    EXPECT_EQ(begun->scenario.gpu_count(), 2U);
    EXPECT_TRUE(begun->history.has_value());
  }
}

TEST_F(FolderWorldTest, ALocalFolderKeepsItsScenario) {
  begin(with_scenario(world("local")));
  EXPECT_EQ(refusal_of(with_scenario(world("local"))), "none") << "the fleet is none of its files";
  EXPECT_EQ(refusal_of(world("local")), "none");
  scenario_ += "history_seconds: 2\n";
  EXPECT_THAT(refusal_of(with_scenario(world("local"))), HasSubstr("with other content"));
}

TEST_F(FolderWorldTest, ASimulatedFolderStaysSimulated) {
  begin({});
  EXPECT_THAT(refusal_of(world("local")), HasSubstr("--world: wanted simulated, with which the world of"));
  const auto begun = start(world("auto"));
  ASSERT_TRUE(begun.has_value()) << begun.error().message;
  EXPECT_FALSE(begun->fleet.has_value()) << "although there are GPUs";
}

TEST_F(FolderWorldTest, VersionsThatKnowNoLocalWorldRefuseItsRowsAndSnapshots) {
  constexpr int kKnownToThem = 1;
  const auto local = start(world("local"));
  const auto simulated = start({});
  EXPECT_GT(first_rows(local->beginning, local->files, 1).front().format, kKnownToThem);
  EXPECT_EQ(first_rows(simulated->beginning, simulated->files, 1).front().format, kKnownToThem);
  EXPECT_GT(snapshot_format(local->files), kSnapshotFormat);
  EXPECT_EQ(snapshot_format(simulated->files), kSnapshotFormat);
}

TEST_F(FolderWorldTest, AFolderBelongsToOneCluster) {
  begin(world("cluster"));
  const auto begun = start(world("cluster"));
  ASSERT_TRUE(begun.has_value()) << begun.error().message;
  EXPECT_EQ(begun->scenario.name, "kubernetes");
  EXPECT_EQ(begun->fleet, machine_);
  EXPECT_GT(snapshot_format(begun->files), kSnapshotFormat + 1) << "versions that know no cluster refuse it";
  EXPECT_THAT(refusal_of(world("local")), HasSubstr("--world: wanted kubernetes"));
  cluster_ = "another";
  EXPECT_THAT(refusal_of(world("cluster")),
              HasSubstr("the cluster: wanted \"one\" (uid of its namespace kube-system), with which the world of"));
}

TEST_F(FolderWorldTest, ASnapshotWithMoreGpusIsWhereThePastOfTheFleetBegins) {
  const UpRequest request = with_scenario(world("cluster"));
  begin(request);
  auto reader = *store_->open_reader();
  const auto before = read_long_history(*reader, "journal.db", std::nullopt);
  ASSERT_TRUE(before.has_value() && before->has_value());
  EXPECT_FALSE((*before)->session) << "all rows are there";
  // A GPU comes: as `berth up` records it.
  auto grown = start(request)->files;
  std::vector<device::LocalGpu> fleet = machine_;
  fleet.push_back(listed_gpu("GPU-2", "A30-24GB"));
  grown.put_fleet(fleet);
  auto writer = *store_->open_writer(2);
  const std::uint64_t last = reader->range()->last;
  JournalSnapshot snapshot{.sequence = last,
                           .format = snapshot_format(grown),
                           .body = snapshot_bytes(start(request)->beginning, grown, "session")};
  ASSERT_TRUE(writer->append({.snapshot = snapshot}).has_value());
  const auto begun = start(request);
  ASSERT_TRUE(begun.has_value()) << begun.error().message;
  EXPECT_EQ(begun->fleet, fleet) << "the fleet of the scenario has to match the first ones only";
  EXPECT_EQ(begun->scenario.gpu_count(), 3U);
  EXPECT_EQ(begun->scenario.model_of({2}).name, "A30-24GB");
  const auto after = read_long_history(*reader, "journal.db", std::nullopt);
  ASSERT_TRUE(after.has_value() && after->has_value()) << after.error().message;
  EXPECT_EQ((*after)->session, "session") << "earlier rows are of the former fleet";
}

}  // namespace
}  // namespace berth::live
