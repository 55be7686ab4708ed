// Every malformed example of tests/data/bad gives the message that its expected.txt describes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "domain/scenario/load.h"

namespace berth::scenario {
namespace {

/// The malformed examples. ctest sets BERTH_SOURCE_DIR to the root of the tree, because the test does not run there.
const std::string kFolder = [] {
  const char* root = std::getenv("BERTH_SOURCE_DIR");
  return (root == nullptr ? std::string() : std::string(root) + "/") + "tests/data/bad/";
}();

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

/// The folder of the examples, as if the program ran in it; fails with the messages of edges/files.
class ExampleFiles : public Files {
 public:
  [[nodiscard]] Result<std::string> read(const std::string& path) const override {
    if (std::filesystem::is_directory(kFolder + path)) return invalid(path + ": wanted a file, found a directory");
    if (!std::filesystem::exists(kFolder + path)) {
      return fail(ErrorCode::kNotFound, path + ": cannot read: No such file or directory");
    }
    return content(kFolder + path);
  }
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> list(const std::string& /*path*/) const override {
    return std::nullopt;
  }
};

std::map<std::string, std::string> expected_messages() {
  constexpr std::string_view kBar = " | ";
  std::map<std::string, std::string> messages;
  std::istringstream lines(content(kFolder + "expected.txt"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t bar = line.find(kBar);
    if (bar == std::string::npos) {
      ADD_FAILURE() << "no bar in " << line;
      continue;
    }
    messages.emplace(line.substr(0, bar), line.substr(bar + kBar.size()));
  }
  return messages;
}

TEST(BadExamples, GiveTheMessageDescribed) {
  const std::map<std::string, std::string> messages = expected_messages();
  EXPECT_GT(messages.size(), 50U);
  for (const auto& [name, message] : messages) {
    const auto scenario = load_scenario(name, ExampleFiles());
    ASSERT_FALSE(scenario.has_value()) << name;
    EXPECT_EQ(scenario.error().message, message);
  }
}

TEST(BadExamples, EachHasADescription) {
  const std::map<std::string, std::string> messages = expected_messages();
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".yaml") {
      EXPECT_TRUE(messages.contains(entry.path().filename().string())) << entry.path();
    }
  }
}

}  // namespace
}  // namespace berth::scenario
