#include "surface/cli/mig/migparted_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace berth::cli {
namespace {

using ::testing::HasSubstr;

/// One file in memory.
class StandInFile : public Files {
 public:
  StandInFile(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}
  [[nodiscard]] Result<std::string> read(const std::string& path) const override {
    if (path == path_) return text_;
    return fail(ErrorCode::kNotFound, path + ": not found");
  }
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> list(const std::string& /*path*/) const override {
    return std::nullopt;
  }

 private:
  std::string path_;
  std::string text_;
};

constexpr const char* kMixed = R"(version: v1
mig-configs:
  all-disabled:
    - {devices: all, mig-enabled: false}
  "b\e":
    - {devices: [0, 1], mig-enabled: true, mig-devices: {1g.10gb: 2, 2g.20gb: 1, 3g.40gb: 1}}
    - {devices: [2], mig-enabled: true, mig-devices: {}}
    - {device-filter: 0x20B710DE, devices: all, mig-enabled: true, mig-devices: {1g.6gb: 4}}
)";

std::string imported(const MigImportOptions& options) {
  const StandInFile files("mig.yaml", kMixed);
  const auto text = mig_import_report(options, files);
  return text ? *text : "error: " + text.error().message;
}

TEST(MigImportReport, TableHasALineForEachLayout) {
  EXPECT_EQ(imported({.path = "mig.yaml", .gpu = "A100-80GB", .label = ""}),
            "label         devices        GPU     units  layout\n"
            "all-disabled      all                       MIG is off\n"
            "\"b\\x1b\"           0,1  A100-80GB  112-3---  1g.10gb@0,1g.10gb@1,2g.20gb@2,3g.40gb@4\n"
            "\"b\\x1b\"             2  A100-80GB  ........  no instances\n"
            "\"b\\x1b\"           all                       for other GPUs\n");
}

TEST(MigImportReport, JsonHasStatesForEachGpu) {
  const std::string text = imported({.path = "mig.yaml", .gpu = "", .label = "", .format = OutputFormat::kJson});
  const auto json = nlohmann::json::parse(text);
  EXPECT_TRUE(json["gpu"].is_null());
  const auto& entries = json["configs"][1]["entries"];
  EXPECT_EQ(entries[0]["devices"], nlohmann::json({0, 1}));
  EXPECT_EQ(entries[0]["layouts"].size(), 3U);  // A100-80GB and both H100-80GB
  EXPECT_EQ(entries[0]["layouts"][0]["state"][2].dump(), R"({"profile":"2g.20gb","start":2})");
  EXPECT_EQ(entries[2]["device_filter"], nlohmann::json({"0x20B710DE"}));
  EXPECT_EQ(entries[2]["layouts"][0]["gpu"], "A30-24GB");
}

TEST(MigImportReport, ErrorsNameTheirPlace) {
  EXPECT_EQ(imported({.path = "absent.yaml", .gpu = "", .label = ""}), "error: absent.yaml: not found");
  EXPECT_THAT(imported({.path = "mig.yaml", .gpu = "H200", .label = ""}), HasSubstr("error: mig.yaml:6:"));
  EXPECT_EQ(imported({.path = "mig.yaml", .gpu = "H200", .label = "none"}).find("error: mig.yaml: wanted the label"),
            0U);
  EXPECT_THAT(imported({.path = "mig.yaml", .gpu = "K80", .label = ""}), HasSubstr("error: --gpu: wanted a GPU"));
}

TEST(MigImportReport, RefusalsNameTheOptionThatAvoidsThem) {
  const std::string refusal = imported({.path = "mig.yaml", .gpu = "A30", .label = "b\x1b"});
  EXPECT_THAT(refusal, ::testing::EndsWith("; --skip-other-gpus leaves such entries out"));
}

std::string exported(const MigExportOptions& options) {
  const auto text = mig_export_report(options);
  return text ? *text : "error: " + text.error().message;
}

TEST(MigExportReport, WritesAState) {
  EXPECT_EQ(exported({.gpu = "A100-80GB", .state = "3g.40gb@4,1g.10gb+me@0", .label = "mixed+me"}),
            R"(# A100-80GB: 1g.10gb+me@0,3g.40gb@4 (mig-parted keeps the counts, not the places)
version: v1
mig-configs:
  mixed.me:
    - devices: all
      mig-enabled: true
      mig-devices:
        "1g.10gb+me": 1
        "3g.40gb": 1
)");
  EXPECT_THAT(exported({.gpu = "A30", .state = "full@0"}), HasSubstr("mig-enabled: false"));
  EXPECT_THAT(exported({.gpu = "A30", .state = ""}), HasSubstr("mig-devices: {}"));
}

TEST(MigExportReport, IsReadBack) {
  const MigExportOptions all = {.gpu = "RTX", .state = "", .has_all_labels = true};
  const StandInFile files("all.yaml", exported(all));
  const auto table = mig_import_report({.path = "all.yaml", .gpu = "RTX", .label = "all-balanced"}, files);
  ASSERT_TRUE(table.has_value()) << table.error().message;
  EXPECT_THAT(*table, HasSubstr("1g.24gb@0,1g.24gb@3,2g.48gb@6"));
}

TEST(MigExportReport, RefusesBadOptions) {
  EXPECT_EQ(exported({.gpu = "A30", .state = "", .label = "a b"}),
            "error: --name: wanted 1 to 63 letters, digits, dots, dashes and underscores, found \"a b\"");
  EXPECT_EQ(exported({.gpu = "T4", .state = ""}),
            "error: --gpu: wanted a GPU with MIG, found T4-16GB, which does not support MIG");
  EXPECT_THAT(exported({.gpu = "A30", .state = "1g.6gb@0,1g.6gb@0"}), HasSubstr("error: --state: 1g.6gb@0"));
}

}  // namespace
}  // namespace berth::cli
