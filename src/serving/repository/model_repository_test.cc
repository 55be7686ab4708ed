#include "serving/repository/model_repository.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/ports/testing/memory_tree.h"
#include "models/onnx_file/testing/test_models.h"

namespace berth::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MemoryTree;
using testing::ProtoWriter;
using testing::twice_model;
using Kind = RepositoryChange::Kind;

constexpr Micros kStart = Micros::seconds(1'000'000);

RepositoryChange model_change(Kind kind, std::string model) { return {.kind = kind, .model = std::move(model)}; }
RepositoryChange version_change(Kind kind, std::string model, std::int64_t version) {
  return {.kind = kind, .model = std::move(model), .version = version};
}

/// A repository in memory and the clock of its files.
class ModelRepositoryTest : public ::testing::Test {
 protected:
  ModelRepositoryTest() { tree_.make_folder("r"); }

  void write(const std::string& path, std::string bytes) { tree_.write("r/" + path, std::move(bytes), now_); }
  void write_model(const std::string& path, std::int64_t columns = 4) { write(path, twice_model("Add", columns)); }
  void wait(Micros time) { now_ += time; }
  std::vector<RepositoryChange> scan() {
    auto changes = repository_.scan(now_);
    EXPECT_TRUE(changes) << changes.error().message;
    return changes.value_or(std::vector<RepositoryChange>{});
  }
  /// When all that was written counts.
  std::vector<RepositoryChange> settle_and_scan() {
    wait(kSettleTime);
    return scan();
  }
  [[nodiscard]] const RepositoryModel& model(const std::string& name) const { return repository_.models().at(name); }
  [[nodiscard]] std::vector<std::int64_t> versions(const std::string& name) const {
    std::vector<std::int64_t> numbers;
    for (const RepositoryVersion& version : model(name).versions) numbers.push_back(version.number);
    return numbers;
  }

  MemoryTree tree_;
  Micros now_ = kStart;
  ModelRepository repository_{tree_, "r"};
};

TEST_F(ModelRepositoryTest, ReadsWhichVariantAVersionIs) {
  write_model("a/1/model.onnx");
  write_model("b/1/model.onnx");
  write("b/1/berth.json", R"({"berth": 1, "variant": "fuse+int8"})");
  write_model("c/1/model.onnx");
  write("c/1/berth.json", R"({"variant": 3})");
  settle_and_scan();
  EXPECT_EQ(model("a").versions.front().variant, std::nullopt);
  EXPECT_EQ(model("b").versions.front().variant, "fuse+int8");
  EXPECT_EQ(model("c").versions.front().variant, std::nullopt);
  write("b/1/berth.json", R"({"berth": 1, "variant": "fuse"})");
  settle_and_scan();
  settle_and_scan();
  EXPECT_EQ(model("b").versions.front().variant, "fuse");
}

TEST_F(ModelRepositoryTest, FindsModelsAndTheirLatestVersions) {
  write_model("b/2/model.onnx");
  write_model("b/10/model.onnx", 7);
  write_model("a/1/model.onnx");
  write("README", "no model");
  write_model(".trash/1/model.onnx");
  EXPECT_THAT(settle_and_scan(),
              ElementsAre(model_change(Kind::kModelAdded, "a"), version_change(Kind::kVersionAdded, "a", 1),
                          model_change(Kind::kModelAdded, "b"), version_change(Kind::kVersionAdded, "b", 10)));
  const RepositoryModel& b = model("b");
  EXPECT_THAT(b.on_disk, ElementsAre(2, 10));
  EXPECT_EQ(b.fault, "");
  EXPECT_EQ(b.versions[0].path, "r/b/10/model.onnx");
  ASSERT_TRUE(b.versions[0].terms);
  EXPECT_EQ(b.versions[0].terms->inputs[0].shape, (std::vector<std::int64_t>{-1, 7}));
  EXPECT_EQ(b.versions[0].terms->rows_max, 64);
  EXPECT_THAT(settle_and_scan(), IsEmpty());
}

TEST_F(ModelRepositoryTest, OnlyWholeNumbersAreVersions) {
  for (const char* name : {"0", "01", "1a", "a", "-1", "1.0", "99999999999999999999", " 1"}) {
    EXPECT_EQ(version_number(name), std::nullopt) << name;
    write_model("m/" + std::string(name) + "/model.onnx");
  }
  write("m/1", "a file");
  settle_and_scan();
  EXPECT_EQ(model("m").fault, "m: wanted a folder for each version, such as 1, found none");
  EXPECT_EQ(version_number("9223372036854775807"), INT64_MAX);
}

TEST_F(ModelRepositoryTest, AFileCountsOnceItIsUnchangedForASecond) {
  write_model("m/1/model.onnx");
  EXPECT_THAT(scan(), ElementsAre(model_change(Kind::kModelAdded, "m")));
  EXPECT_EQ(model("m").fault, "m/1: wanted a file that is unchanged for 1 s, found one that is being written");
  wait(Micros(999'999));
  write("m/1/model.onnx.part", "more");
  EXPECT_THAT(scan(), IsEmpty());
  wait(Micros(999'999));
  EXPECT_THAT(scan(), IsEmpty());
  wait(Micros(1));
  EXPECT_THAT(scan(), ElementsAre(model_change(Kind::kModelChanged, "m"), version_change(Kind::kVersionAdded, "m", 1)));
  EXPECT_EQ(model("m").fault, "");
}

TEST_F(ModelRepositoryTest, FilesOfTheFutureCountWhenTheyWereSeenForASecond) {
  tree_.write("r/m/1/model.onnx", twice_model("Add", 4), now_ + Micros::seconds(1'000));
  scan();
  EXPECT_THAT(versions("m"), IsEmpty());
  settle_and_scan();
  EXPECT_THAT(versions("m"), ElementsAre(1));
}

TEST_F(ModelRepositoryTest, ANewVersionTakesOverWhenItIsComplete) {
  write_model("m/1/model.onnx");
  settle_and_scan();
  tree_.make_folder("r/m/2");
  EXPECT_THAT(settle_and_scan(), IsEmpty());
  EXPECT_THAT(settle_and_scan(), IsEmpty());  // an empty folder hides no version
  write("m/2/model.onnx", "half");
  EXPECT_THAT(scan(), IsEmpty());
  wait(Micros(500'000));
  write_model("m/2/model.onnx", 5);
  EXPECT_THAT(scan(), IsEmpty());
  EXPECT_THAT(settle_and_scan(),
              ElementsAre(version_change(Kind::kVersionAdded, "m", 2), version_change(Kind::kVersionRemoved, "m", 1)));
  EXPECT_THAT(model("m").on_disk, ElementsAre(1, 2));
  tree_.remove("r/m/2");
  EXPECT_THAT(scan(),
              ElementsAre(version_change(Kind::kVersionAdded, "m", 1), version_change(Kind::kVersionRemoved, "m", 2)));
}

TEST_F(ModelRepositoryTest, AChangedFileCountsWhenItIsWritten) {
  tree_.make_folder("r/m/1");
  write_model("m/1/model.onnx", 4);
  settle_and_scan();
  tree_.remove("r/m/1/model.onnx");
  EXPECT_THAT(scan(), IsEmpty());  // between the removal of the old file and the new one
  EXPECT_TRUE(model("m").versions[0].terms);
  write_model("m/1/model.onnx", 5);
  EXPECT_THAT(scan(), IsEmpty());
  EXPECT_THAT(settle_and_scan(), ElementsAre(version_change(Kind::kVersionFiles, "m", 1)));
  EXPECT_EQ(model("m").versions[0].terms->inputs[0].shape, (std::vector<std::int64_t>{-1, 5}));
  tree_.remove("r/m/1/model.onnx");
  scan();
  EXPECT_THAT(settle_and_scan(),
              ElementsAre(model_change(Kind::kModelChanged, "m"), version_change(Kind::kVersionRemoved, "m", 1)));
  EXPECT_EQ(model("m").fault, "m/1: wanted a file model.onnx, found none");
}

TEST_F(ModelRepositoryTest, OnlyWhatChangedIsRead) {
  write_model("a/1/model.onnx");
  write_model("b/1/model.onnx");
  write("b/config.pbtxt", "max_batch_size: 4");
  settle_and_scan();
  EXPECT_EQ(tree_.open_count(), 3);
  settle_and_scan();
  EXPECT_EQ(tree_.open_count(), 3);
  write("a/1/model.onnx", "no model");
  settle_and_scan();
  settle_and_scan();
  EXPECT_EQ(tree_.open_count(), 4);
  EXPECT_EQ(model("a").versions[0].terms.error().message,
            "a/1/model.onnx: wanted an ONNX file, found no field at byte 0");
}

TEST_F(ModelRepositoryTest, FollowsTheConfig) {
  write_model("m/1/model.onnx");
  write_model("m/2/model.onnx");
  settle_and_scan();
  write("m/config.pbtxt", "max_batch_size: 4 version_policy { all {} }");
  EXPECT_THAT(scan(), IsEmpty());
  EXPECT_THAT(settle_and_scan(),
              ElementsAre(model_change(Kind::kModelChanged, "m"), version_change(Kind::kVersionAdded, "m", 1),
                          version_change(Kind::kVersionTerms, "m", 2)));
  EXPECT_EQ(model("m").versions[1].terms->rows_max, 4);
  write("m/config.pbtxt", "max_batch_size: 4 version_policy { all {} }  # a comment");
  EXPECT_THAT(settle_and_scan(), IsEmpty());
  write("m/config.pbtxt", "sequence_batching {}");
  settle_and_scan();
  EXPECT_THAT(model("m").fault, HasSubstr("m/config.pbtxt:1:1: sequence_batching: "));
  EXPECT_THAT(versions("m"), IsEmpty());
  tree_.remove("r/m/config.pbtxt");
  EXPECT_THAT(scan(), IsEmpty());
  settle_and_scan();
  EXPECT_EQ(model("m").fault, "");
  EXPECT_THAT(versions("m"), ElementsAre(2));
}

TEST_F(ModelRepositoryTest, ChangesOfConfigAndVersionAtOnce) {
  write_model("m/1/model.onnx");
  settle_and_scan();
  write("m/config.pbtxt", "max_batch_size: 4");
  wait(kSettleTime);
  write("m/1/extra", "being written");
  scan();
  EXPECT_EQ(model("m").versions[0].terms->rows_max, 64);
  tree_.remove("r/m/1/extra");
  settle_and_scan();
  settle_and_scan();
  EXPECT_EQ(model("m").versions[0].terms->rows_max, 4);
}

TEST_F(ModelRepositoryTest, SpecificVersionsThatAreMissingSaySo) {
  write_model("m/1/model.onnx");
  tree_.make_folder("r/m/3");
  write("m/config.pbtxt", "version_policy { specific { versions: [ 1, 2, 3 ] } }");
  settle_and_scan();
  const RepositoryModel& m = model("m");
  ASSERT_EQ(m.versions.size(), 3U);
  EXPECT_TRUE(m.versions[0].terms);
  EXPECT_EQ(m.versions[1].terms.error().message, "m/2: wanted a folder, as version_policy says, found none");
  EXPECT_EQ(m.versions[2].terms.error().message, "m/3: wanted a file model.onnx, found none");
}

TEST_F(ModelRepositoryTest, RemovedModels) {
  write_model("m/1/model.onnx");
  settle_and_scan();
  tree_.remove("r/m");
  EXPECT_THAT(scan(),
              ElementsAre(version_change(Kind::kVersionRemoved, "m", 1), model_change(Kind::kModelRemoved, "m")));
  EXPECT_THAT(repository_.models(), IsEmpty());
}

TEST_F(ModelRepositoryTest, NamesHaveLimits) {
  const std::string longest(63, 'n');
  write_model(longest + "/1/model.onnx");
  write_model(longest + "n/1/model.onnx");
  write_model("bad\xFF/1/model.onnx");
  write_model("new\nline/1/model.onnx");
  settle_and_scan();
  EXPECT_EQ(model(longest).fault, "");
  EXPECT_EQ(model(longest + "n").fault, "wanted a name of 1 to 63 bytes, found 64");
  EXPECT_THAT(model("bad\\xff").fault, HasSubstr("wanted a name in UTF-8"));
  EXPECT_THAT(model("new\\x0aline").fault, HasSubstr("wanted a name in UTF-8 without control characters"));
}

TEST_F(ModelRepositoryTest, WhatCannotBeReadIsUnavailable) {
  tree_.make_folder("r/empty");
  tree_.make_other("r/link");
  tree_.make_other("r/linked_version/1");
  tree_.make_other("r/linked_file/1/model.onnx");
  tree_.make_folder("r/folder_file/1/model.onnx");
  tree_.make_folder("r/folder_config/config.pbtxt");
  write_model("folder_config/1/model.onnx");
  write_model("forbidden/1/model.onnx");
  write_model("forbidden_version/1/model.onnx");
  write_model("forbidden_file/1/model.onnx");
  tree_.forbid("r/forbidden");
  tree_.forbid("r/forbidden_version/1");
  tree_.forbid("r/forbidden_file/1/model.onnx");
  settle_and_scan();
  const std::string no_folder = ": wanted a folder, found a device, a pipe or a link without a target";
  EXPECT_EQ(model("empty").fault, "empty: wanted a folder for each version, such as 1, found none");
  EXPECT_EQ(model("link").fault, "r/link" + no_folder);
  EXPECT_EQ(model("linked_version").fault, "r/linked_version/1" + no_folder);
  EXPECT_EQ(model("linked_file").fault, "linked_file/1: wanted a file model.onnx, found none");
  EXPECT_EQ(model("folder_file").fault, "folder_file/1: wanted a file model.onnx, found none");
  EXPECT_THAT(model("folder_config").fault, HasSubstr("config.pbtxt: wanted a file"));
  EXPECT_EQ(model("forbidden").fault, "r/forbidden: cannot list: Permission denied");
  EXPECT_EQ(model("forbidden_version").fault, "r/forbidden_version/1: cannot list: Permission denied");
  EXPECT_EQ(model("forbidden_file").versions[0].terms.error().message,
            "r/forbidden_file/1/model.onnx: cannot open: Permission denied");
  tree_.allow("r/forbidden_file/1/model.onnx");
  EXPECT_THAT(scan(), ElementsAre(version_change(Kind::kVersionTerms, "forbidden_file", 1)));
}

TEST_F(ModelRepositoryTest, WithoutTheRootAllStaysAsItWas) {
  write_model("m/1/model.onnx");
  settle_and_scan();
  tree_.forbid("r");
  EXPECT_FALSE(repository_.scan(now_));
  EXPECT_THAT(versions("m"), ElementsAre(1));
  tree_.allow("r");
  EXPECT_THAT(scan(), IsEmpty());
}

/// A model with 16 bytes of weights in another file.
std::string outside_model(std::string_view path) {
  const ProtoWriter location = ProtoWriter().text(1, "location").text(2, path);
  const ProtoWriter weights = ProtoWriter().number(1, 4).number(2, 1).text(8, "w").message(13, location).number(14, 1);
  return testing::model_of(ProtoWriter()
                               .message(5, weights)
                               .message(11, testing::tensor_info("x", 1, {-1, 4}))
                               .message(12, testing::tensor_info("y", 1, {-1, 4})));
}

TEST_F(ModelRepositoryTest, WeightsInOtherFilesMustBeThere) {
  write("m/1/model.onnx", outside_model("w.bin"));
  write("m/1/w.bin", std::string(15, 'w'));
  write("missing/1/model.onnx", outside_model("data/w.bin"));
  write("escape/1/model.onnx", outside_model("../../m/1/w.bin"));
  write("absolute/1/model.onnx", outside_model("/etc/passwd"));
  settle_and_scan();
  const auto error_of = [&](const std::string& name) { return model(name).versions.at(0).terms.error().message; };
  EXPECT_EQ(error_of("m"), "m/1/model.onnx: weights in \"w.bin\": wanted at least 16 bytes, found 15");
  EXPECT_THAT(error_of("missing"), HasSubstr("weights in \"data/w.bin\": r/missing/1/data/w.bin: cannot open"));
  EXPECT_THAT(error_of("escape"), HasSubstr("wanted a file in the folder of the model, found another path"));
  EXPECT_THAT(error_of("absolute"), HasSubstr("wanted a file in the folder of the model, found another path"));
  write("m/1/w.bin", std::string(16, 'w'));
  write("missing/1/data/w.bin", std::string(16, 'w'));
  settle_and_scan();
  EXPECT_EQ(model("m").versions[0].terms->weight_bytes, 16);
  EXPECT_TRUE(model("missing").versions[0].terms);
}

}  // namespace
}  // namespace berth::serving
