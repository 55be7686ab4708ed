#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "surface/cli/shared/command_line.h"
#include "surface/cli/verbs.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct MigOutcome {
  std::string out;
  std::string err;
  int status = 0;
};

std::string content_of(std::FILE* file) {
  std::string text;
  std::fseek(file, 0, SEEK_SET);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

/// One file in memory, "mig.yaml".
class StandInFiles : public Files {
 public:
  [[nodiscard]] Result<std::string> read(const std::string& path) const override {
    if (path != "mig.yaml") return fail(ErrorCode::kNotFound, path + ": not found");
    return "version: v1\nmig-configs: {one: [{devices: all, mig-enabled: true, mig-devices: {2g.12gb: 1}}]}\n";
  }
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> list(const std::string& /*path*/) const override {
    return std::nullopt;
  }
};

/// Runs `berth mig ...`.
MigOutcome run(const std::vector<std::string>& words) {
  const StandInFiles files;
  const Program program = {.name = "berth", .help = "", .version = "", .footer = "", .verbs = {mig_verb()}};
  VerbContext context = {.out = std::tmpfile(), .err = std::tmpfile(), .status = 0, .files = &files};
  std::vector<const char*> arguments = {"berth", "mig"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const int status = run_command_line(program, arguments, context);
  return {.out = content_of(context.out), .err = content_of(context.err), .status = status};
}

TEST(MigVerb, RunsEachReport) {
  EXPECT_THAT(run({"profiles", "--gpu", "A30"}).out, StartsWith("A30-24GB: 56 SMs"));
  EXPECT_THAT(run({"profiles", "--gpu", "A30", "--format", "json"}).out, StartsWith(R"({"gpu":"A30-24GB","units":4,)"));
  EXPECT_THAT(run({"layouts", "--gpu", "A100-40GB", "--before-r510"}).out, HasSubstr("18 maximal layouts"));
  EXPECT_THAT(run({"layouts", "--gpu", "A30", "--profiles", "1g.6gb,2g.12gb"}).out, HasSubstr("25 legal states"));
  EXPECT_THAT(run({"layouts", "--gpu", "A30", "--all-profiles"}).out, HasSubstr("76 legal states"));
  EXPECT_THAT(run({"fits", "--gpu", "A30", "--state", "2g.12gb@0"}).out, HasSubstr("1g.6gb   2,3"));
  EXPECT_THAT(run({"fits", "--gpu", "A30", "--state", ""}).out, HasSubstr("A30-24GB, empty"));
  EXPECT_THAT(run({"fits", "--gpu", "A30"}).out, HasSubstr("A30-24GB, empty"));
  EXPECT_THAT(run({"import", "mig.yaml", "--gpu", "A30", "--config", "one"}).out, HasSubstr("2g.12gb@0"));
  EXPECT_THAT(run({"import", "mig.yaml", "--gpu", "A100-40GB", "--skip-other-gpus"}).out, HasSubstr("for other GPUs"));
  EXPECT_THAT(run({"export", "--gpu", "A30", "--all"}).out, HasSubstr("all-2g.12gb.me:"));
  EXPECT_THAT(run({"export", "--gpu", "A30", "--all=false"}).out, HasSubstr("all-2g.12gb.me:"));
  EXPECT_THAT(run({"export", "--gpu", "A30", "--state", "1g.6gb@3", "--name", "x"}).out, HasSubstr("\"x\":"));
}

TEST(MigVerb, BadInputEndsWithStatus2AndNothingOnStdout) {
  const std::vector<std::vector<std::string>> cases = {
      {},
      {"profiles"},
      {"profiles", "--gpu", "K80"},
      {"profiles", "--gpu", "A30", "--format", "xml"},
      {"fits", "--gpu", "A30", "--state", "1g.6gb@0,2g.12gb@0"},
      {"layouts", "--gpu", "A30", "--all-profiles", "--profiles", "1g.6gb"},
      {"import", "absent.yaml"},
      {"import", "mig.yaml", "--gpu", "A100-40GB"},
      {"export", "--gpu", "A30"},
      {"export", "--gpu", "A30", "--all", "--state", ""},
  };
  for (const std::vector<std::string>& arguments : cases) {
    const MigOutcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << ::testing::PrintToString(arguments);
    EXPECT_EQ(outcome.out, "") << ::testing::PrintToString(arguments);
    EXPECT_NE(outcome.err, "") << ::testing::PrintToString(arguments);
  }
  EXPECT_EQ(run({"fits", "--gpu", "A30", "--state", "1g.6gb@0,2g.12gb@0"}).err,
            "berth: --state: 1g.6gb@0 (unit 0) and 2g.12gb@0 (units 0 to 1) overlap\n");
}

}  // namespace
}  // namespace berth::cli
