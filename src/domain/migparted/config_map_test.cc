#include "domain/migparted/config_map.h"

#include <gtest/gtest.h>

#include <string>

#include "domain/migparted/config_file.h"

namespace berth::migparted {
namespace {

/// The labels, or the error.
std::string labels_of(std::string_view text) {
  const auto configs = parse_config_file(text, "cm.yaml");
  if (!configs) return configs.error().message;
  std::string labels;
  for (const Config& config : *configs) labels += config.label + ";";
  return labels;
}

constexpr const char* kHead = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: custom-mig-config\ndata:\n";

TEST(ReadFileRoot, FindsTheFileInAConfigMap) {
  const std::string inner =
      "  config.yaml: |\n"
      "    version: v1\n"
      "    mig-configs:\n"
      "\n"
      "      # comment\n"
      "      all-disabled:\n"
      "        - {devices: all, mig-enabled: false}\n";
  EXPECT_EQ(labels_of(kHead + inner), "all-disabled;");
  EXPECT_EQ(labels_of(kHead + inner + "  other: text\n"), "all-disabled;");
  EXPECT_EQ(labels_of("---\n" + std::string(kHead) + inner + "immutable: true\n"), "all-disabled;");
  EXPECT_EQ(labels_of("kind: Namespace\n---\n" + std::string(kHead) + inner + "---\nkind: Service\n"), "all-disabled;");
}

TEST(ReadFileRoot, TakesTheOnlyKey) {
  EXPECT_EQ(labels_of(std::string(kHead) + "  a100.yaml: |-\n    version: v1\n    mig-configs: {a: [{devices: all, "
                                           "mig-enabled: false}]}\n"),
            "a;");
}

TEST(ReadFileRoot, ReadsQuotedAndFoldedTextAndJson) {
  const std::string quoted = R"("version: v1\nmig-configs:\n  a:\n  - {devices: all, mig-enabled: false}\n")";
  EXPECT_EQ(labels_of(std::string(kHead) + "  config.yaml: " + quoted + "\n"), "a;");
  EXPECT_EQ(labels_of(R"({"apiVersion": "v1", "kind": "ConfigMap", "data": {"config.yaml": )" + quoted + "}}"), "a;");
  EXPECT_EQ(labels_of(std::string(kHead) +
                      "  config.yaml: >\n    {version: v1,\n    mig-configs: {a: [{devices: all,\n    mig-enabled: "
                      "false}]}}\n"),
            "a;");
}

// Of a literal block they are places of the ConfigMap.
TEST(ReadFileRoot, ErrorsNameThePlaceInTheWholeText) {
  EXPECT_EQ(labels_of(std::string(kHead) + "  config.yaml: |\n    version: v1\n    mig-configs:\n      a:\n"
                                           "        - devices: some\n          mig-enabled: true\n"),
            "cm.yaml:10:20: mig-configs.a[0].devices: wanted all, or a list of GPU indices, found \"some\"");
  EXPECT_EQ(labels_of(std::string(kHead) + "  config.yaml: |\n    version: v1\n    mig-configs: {\n"),
            "cm.yaml:9:1: malformed YAML: while parsing a flow node, did not find expected node content");
  EXPECT_EQ(labels_of(std::string(kHead) + "  config.yaml: \"version: v2\\nmig-configs: {}\"\n"),
            "cm.yaml: data.\"config.yaml\":1:10: version: wanted v1, found \"v2\"");
}

TEST(ReadFileRoot, RefusesOtherManifests) {
  EXPECT_EQ(labels_of("apiVersion: apps/v1\nkind: Deployment\n"),
            "cm.yaml:2:7: kind: wanted ConfigMap, or no kind in a file of mig-parted, found \"Deployment\"");
  EXPECT_EQ(labels_of("kind: ConfigMap\n"), "cm.yaml:1:1: data: wanted a map with the key config.yaml, found nothing");
  EXPECT_EQ(labels_of(std::string(kHead) + "  a: x\n  b: y\n"),
            "cm.yaml:6:3: data: wanted the key config.yaml, with a file of mig-parted, found \"a\", \"b\"");
  EXPECT_EQ(labels_of("kind: ConfigMap\ndata: {}\n"),
            "cm.yaml:2:7: data: wanted the key config.yaml, with a file of mig-parted, found no key");
  EXPECT_EQ(labels_of("kind: ConfigMap\ndata: {config.yaml: [a]}\n"),
            "cm.yaml:2:21: data.config.yaml: wanted the text of a file of mig-parted, found a list");
  // Two that could be meant.
  const std::string one = std::string(kHead) + "  config.yaml: x\n";
  EXPECT_NE(labels_of(one + "---\n" + one).find("cm.yaml:7:1"), std::string::npos);
}

}  // namespace
}  // namespace berth::migparted
