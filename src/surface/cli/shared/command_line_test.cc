#include "surface/cli/shared/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

namespace berth::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct ShipWords {
  std::string port;
  std::string speed = "10";
  std::optional<std::string> cargo;
  std::vector<std::string> crew;
  bool is_empty = false;
  std::string flag;
  std::string secret;
};

constexpr std::array<std::string_view, 2> kFlags = {"red", "blue"};
constexpr OptionTraits kCargo = {.environment = "BERTH_TEST_CARGO", .excludes = "--empty"};
constexpr OptionTraits kFlag = {.choices = kFlags};

OptionTable ship_option_rows(ShipWords& words) {
  return {
      {"PORT", "TEXT", "Where it goes", &words.port, kRequired},
      {"--speed", "N", "How fast", &words.speed},
      {"--empty", "", "Without cargo", &words.is_empty},
      {"-c,--cargo", "NAME", "What it carries", &words.cargo, kCargo},
      {"--crew", "A,B", "Who sails", &words.crew, {.is_split = true}},
      {"--flag", "COLOUR", "What it flies", &words.flag, kFlag},
      {"--secret", "TEXT", "", &words.secret},
  };
}

struct SailOutcome {
  int status = 0;
  std::string out;
  std::string err;
  std::vector<ShipWords> runs;  ///< the words of each run
};

std::string taken(std::FILE* file) {
  std::string text;
  std::fseek(file, 0, SEEK_SET);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

/// Runs a program with the verb `sail`, which has the subcommand `back`, and the verb `fleet`, which needs a
/// subcommand.
SailOutcome run_fleet(std::vector<const char*> arguments) {
  SailOutcome outcome;
  const auto note = [&outcome](const ShipWords& words, VerbContext& context) {
    outcome.runs.push_back(words);
    context.status = 5;
  };
  const auto verb = [&note](const char* name, const char* examples) {
    return with_words({.name = name, .help = "Sails.", .examples = examples}, ship_option_rows, note);
  };
  Verb sail = verb("sail", "Examples of sail");
  sail.subcommands = {verb("back", "")};
  const Program program = {
      .name = "berth",
      .help = "Ships.",
      .version = "berth 7",
      .footer = "The end.",
      .first_steps = "First sail.\n",
      .verbs = {std::move(sail), {.name = "fleet", .help = "All.", .subcommands = {verb("go", "")}}}};
  VerbContext context = {.out = std::tmpfile(), .err = std::tmpfile(), .status = 0};
  arguments.insert(arguments.begin(), "berth");
  outcome.status = run_command_line(program, arguments, context);
  outcome.out = taken(context.out);
  outcome.err = taken(context.err);
  return outcome;
}

TEST(CommandLine, FillsTheTargetsOfTheRows) {
  const SailOutcome outcome =
      run_fleet({"fleet", "go", "Kiel", "--speed", "3", "-c", "tea", "--crew", "a,b", "--crew", "c", "--flag", "red"});
  EXPECT_EQ(outcome.status, 5) << outcome.err;
  ASSERT_EQ(outcome.runs.size(), 1U);
  const ShipWords& words = outcome.runs[0];
  EXPECT_EQ(words.port, "Kiel");
  EXPECT_EQ(words.speed, "3");
  EXPECT_EQ(words.cargo, "tea");
  EXPECT_THAT(words.crew, ElementsAre("a", "b", "c"));
  EXPECT_FALSE(words.is_empty);
  EXPECT_EQ(words.flag, "red");
}

TEST(CommandLine, KeepsWhatIsNotTyped) {
  const SailOutcome outcome = run_fleet({"sail", "Kiel", "--empty", "--secret", "x"});
  ASSERT_EQ(outcome.runs.size(), 1U) << outcome.err;
  EXPECT_EQ(outcome.runs[0].speed, "10");
  EXPECT_EQ(outcome.runs[0].cargo, std::nullopt);
  EXPECT_TRUE(outcome.runs[0].is_empty);
  EXPECT_EQ(outcome.runs[0].secret, "x");
}

TEST(CommandLine, TakesAValueFromTheEnvironment) {
  ASSERT_EQ(::setenv("BERTH_TEST_CARGO", "salt", 1), 0);
  const SailOutcome outcome = run_fleet({"fleet", "go", "Kiel"});
  ASSERT_EQ(::unsetenv("BERTH_TEST_CARGO"), 0);
  ASSERT_EQ(outcome.runs.size(), 1U) << outcome.err;
  EXPECT_EQ(outcome.runs[0].cargo, "salt");
}

TEST(CommandLine, HelpShowsTheRowsInTheirOrder) {
  const SailOutcome outcome = run_fleet({"fleet", "go", "--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out,
            "Sails.\n"
            "Usage: berth fleet go [OPTIONS] PORT\n\n"
            "Positionals:\n"
            "  PORT TEXT REQUIRED          Where it goes\n\n"
            "Options:\n"
            "  -h,--help                   Print this help message and exit\n"
            "  --speed N=10                How fast\n"
            "  --empty Excludes: --cargo   Without cargo\n"
            "  -c,--cargo NAME (Env:BERTH_TEST_CARGO) Excludes: --empty\n"
            "                              What it carries\n"
            "  --crew A,B ...              Who sails\n"
            "  --flag COLOUR:{red,blue}    What it flies\n\n\n"
            "The end.\n");
}

TEST(CommandLine, SubcommandsHaveTheExamplesOfTheirVerbIfTheyHaveNone) {
  EXPECT_THAT(run_fleet({"sail", "back", "--help"}).out, HasSubstr("\nExamples of sail\n"));
  EXPECT_THAT(run_fleet({"--help"}).out, Not(HasSubstr("Examples of sail")));
}

TEST(CommandLine, AVerbWithSubcommandsWantsItsOptionsOnlyWithoutThem) {
  EXPECT_EQ(run_fleet({"sail"}).err, "berth: PORT is required\nSee: berth sail --help\n");
  EXPECT_EQ(run_fleet({"sail", "Kiel"}).runs.size(), 1U);
  const SailOutcome outcome = run_fleet({"sail", "back", "Kiel"});
  ASSERT_EQ(outcome.runs.size(), 1U) << outcome.err;
  EXPECT_EQ(outcome.runs[0].port, "Kiel");
}

TEST(CommandLine, RefusesWrongArgumentsAndRunsNothing) {
  struct Case {
    std::vector<const char*> arguments;
    const char* message;
  };
  const std::vector<Case> cases = {
      {{}, "wanted a verb, found none"},
      {{"sial"}, "wanted a verb, found \"sial\"; did you mean sail?"},
      {{"fleet"}, "A subcommand is required"},
      {{"fleet", "go"}, "PORT is required"},
      {{"fleet", "go", "Kiel", "Bremen"}, "Bremen"},
      {{"fleet", "go", "Kiel", "--sped", "3"}, "--sped"},
      {{"fleet", "go", "Kiel", "--speed"}, "--speed: 1 required N missing"},
      {{"fleet", "go", "Kiel", "--speed", "1", "--speed", "2"}, "--speed"},
      {{"fleet", "go", "Kiel", "--crew", "a", "b"}, "b"},
      {{"fleet", "go", "Kiel", "--empty", "--cargo", "tea"}, "--empty excludes --cargo"},
      {{"fleet", "go", "Kiel", "--flag", "green"}, "--flag: green not in {red,blue}"},
  };
  for (const Case& bad : cases) {
    const SailOutcome outcome = run_fleet(bad.arguments);
    EXPECT_EQ(outcome.status, 2) << bad.message;
    EXPECT_EQ(outcome.out, "") << bad.message;
    EXPECT_THAT(outcome.err, HasSubstr(bad.message));
    EXPECT_TRUE(outcome.runs.empty()) << bad.message;
  }
}

TEST(CommandLine, HelpIsAVerbToo) {
  EXPECT_EQ(run_fleet({"help", "sail"}).out, run_fleet({"sail", "--help"}).out);
  EXPECT_EQ(run_fleet({"help", "sail", "back"}).out, run_fleet({"sail", "back", "--help"}).out);
  EXPECT_EQ(run_fleet({"help"}).out, run_fleet({"--help"}).out);
  EXPECT_EQ(run_fleet({"help", "sial"}).status, 2);
}

TEST(CommandLine, SaysWhereToBegin) { EXPECT_THAT(run_fleet({}).err, HasSubstr("\n\nFirst sail.\n")); }

TEST(CommandLine, SaysItsVersion) { EXPECT_EQ(run_fleet({"--version"}).out, "berth 7\n"); }

}  // namespace
}  // namespace berth::cli
