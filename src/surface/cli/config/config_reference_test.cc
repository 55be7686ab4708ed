#include "surface/cli/config/config_reference.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "surface/cli/shared/config_file.h"
#include "surface/cli/shared/config_keys.h"

namespace berth::cli {
namespace {

TEST(ConfigReference, IsWhatTheDocumentationHas) {
  const char* root = std::getenv("BERTH_SOURCE_DIR");
  const std::filesystem::path path = std::filesystem::path(root != nullptr ? root : ".") / "docs/reference/config.md";
  std::ifstream stream(path, std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_TRUE(page == config_reference()) << "out of date: berth config reference > docs/reference/config.md";
}

TEST(ConfigReference, HasEveryKeyAndAnExampleThatIsRead) {
  const std::string page = config_reference();
  for (const ConfigKey& key : config_keys()) {
    EXPECT_NE(page.find("| `" + std::string(key.name) + "` |"), std::string::npos) << key.name;
  }
  const std::string begin = "```yaml\n";
  const std::size_t from = page.find(begin) + begin.size();
  const auto config = read_config(page.substr(from, page.find("```", from) - from), "example");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->retention, live::Retention());
  EXPECT_EQ(config->no_changes.size(), 7U);  // the one of Sunday ends in the next week
}

}  // namespace
}  // namespace berth::cli
