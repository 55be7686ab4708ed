#include "surface/cli/cli.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "edges/files/disk_files.h"

namespace berth::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScenario = R"(berth: 1
fleet: [{gpu: A100-80GB, count: 1, usd_per_gpu_hour: 3.6}]
services:
  - name: one
    profile: {format: csv, path: profiles.csv, model: m}
    slo: {latency_ms: 100}
    arrivals: {format: constant, requests_per_second: 10, seconds: 4}
)";
constexpr const char* kProfiles =
    "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n"
    "m,A100-80GB,7g.80gb,1,1,100,10\n";

struct Outcome {
  int status = 0;
  std::string out;
  std::string err;
};

std::string content(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Has a temporary folder with a scenario.
class Cli : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "berth_cli_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::ofstream(folder_ / "s.yaml") << kScenario;
    std::ofstream(folder_ / "profiles.csv") << kProfiles;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  /// Whether the folder has nothing except the input.
  [[nodiscard]] bool is_untouched() const { return std::distance(fs::directory_iterator(folder_), {}) == 2; }

  Outcome run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "berth");
    std::vector<const char*> pointers;
    pointers.reserve(arguments.size());
    for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
    std::FILE* out = std::tmpfile();
    std::FILE* err = std::tmpfile();
    const edges::DiskFiles files;
    const CliParts parts{.out = out, .err = err, .files = files_ != nullptr ? files_ : &files};
    const int status = run_cli(static_cast<int>(pointers.size()), pointers.data(), parts);
    return {status, taken(out), taken(err)};
  }

  const Files* files_ = nullptr;  ///< instead of the disk's

 private:
  static std::string taken(std::FILE* stream) {
    EXPECT_EQ(std::fseek(stream, 0, SEEK_SET), 0);
    std::string text;
    for (int c = std::fgetc(stream); c != EOF; c = std::fgetc(stream)) text += static_cast<char>(c);
    std::fclose(stream);
    return text;
  }

  fs::path folder_;
};

TEST_F(Cli, ReplaysAndPrintsATable) {
  const Outcome outcome = run({"replay", at("s.yaml"), "--policies", "shared,whole"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("40 requests, seed 1; the fleet costs $0.004000"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\nshared "), std::string::npos);
  EXPECT_NE(outcome.out.find("\nwhole* "), std::string::npos);
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(is_untouched());
}

TEST_F(Cli, RowsThatContradictThemselvesAreOneWarningForTheFile) {
  std::ofstream(at("profiles.csv")) << "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n"
                                       "m,A100-80GB,7g.80gb,4,1,53,32\nx,A100-80GB,7g.80gb,1,1,500,10\n";
  const std::string warning =
      "berth: warning: " + at("profiles.csv") +
      ": the columns of 2 of 2 rows contradict each other: rate x latency / (batch x processes) is outside 0.75 to "
      "1.05; the worst, line 3 (A100-80GB, 7g.80gb), has 5: 500 requests per second, where 1 process with batches of 1 "
      "in 10 ms serves 100\n";
  const std::vector<std::vector<std::string>> accepting = {
      {"replay", at("s.yaml"), "--policies", "shared", "--format", "json"},
      {"size", at("s.yaml"), "--attainment", "0.5", "--policies", "shared", "--format", "json"},
      {"plan", at("s.yaml"), "--at", "1", "--format", "json"}};
  for (const auto& arguments : accepting) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 0) << arguments[0] << outcome.err;
    EXPECT_EQ(outcome.err, warning) << arguments[0];
    EXPECT_EQ(outcome.out.find('{'), 0U) << arguments[0];
  }
  std::ofstream(at("d.csv")) << "model,requests_per_second,latency_ms\nm,10,100\n";
  const Outcome packed = run({"pack", "--gpu", "A100-80GB", "--profiles", at("profiles.csv"), "--profile-format", "csv",
                              "--demand", at("d.csv")});
  EXPECT_EQ(packed.status, 2);
  EXPECT_EQ(packed.out, "");
  EXPECT_EQ(packed.err.find("berth: " + at("profiles.csv") + ":3:25: wanted at most 105 requests per second"), 0U)
      << packed.err;
}

TEST_F(Cli, ANameOfTwoBoardsIsAWarning) {
  const Outcome outcome = run({"mig", "profiles", "--gpu", "H100-80GB"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err,
            "berth: warning: --gpu: \"H100-80GB\" is taken as H100-80GB-SXM5; the other board is H100-80GB-PCIe\n");
  EXPECT_EQ(run({"mig", "profiles", "--gpu", "H100-80GB-SXM5"}).err, "");
  std::ofstream(at("h.yaml")) << R"(berth: 1
fleet: [{gpu: H100-80GB, count: 1}]
services:
  - name: one
    profile: {format: csv, path: h.csv, model: m}
    slo: {latency_ms: 100}
    arrivals: {format: constant, requests_per_second: 10, seconds: 4}
)";
  std::ofstream(at("h.csv")) << "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n"
                                "m,H100-80GB,7g.80gb,1,1,100,10\n";
  const Outcome replayed = run({"replay", at("h.yaml"), "--policies", "shared"});
  EXPECT_EQ(replayed.status, 0);
  EXPECT_EQ(replayed.err,
            "berth: warning: " + at("h.yaml") +
                ":2:15: fleet[0].gpu: \"H100-80GB\" is taken as H100-80GB-SXM5; the other board is H100-80GB-PCIe\n"
                "berth: warning: " +
                at("h.csv") + ": \"H100-80GB\" is taken as H100-80GB-SXM5; the other board is H100-80GB-PCIe\n");
}

TEST_F(Cli, WritesReportAndJournalAndTheSameJsonTwice) {
  const std::vector<std::string> arguments = {"replay",   at("s.yaml"),   "--policies", "shared",
                                              "--format", "json",         "--seed",     "7",
                                              "--report", at("out/deep"), "--journal",  at("out/deep/j.jsonl")};
  const Outcome first = run(arguments);
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(first.out.find(R"({"berth":1,"scenario":")"), 0U);
  EXPECT_NE(first.out.find(R"("seed":7,"simulated_seconds":4,)"), std::string::npos);
  EXPECT_EQ(content(at("out/deep/index.html")).find("<!DOCTYPE html>"), 0U);
  const std::string journal = content(at("out/deep/j.jsonl"));
  EXPECT_EQ(journal.find(R"({"t_us":0,"policy":"shared","type":"slice_created","gpu":0,"profile":"full","start":0,)"),
            0U);
  EXPECT_EQ(run(arguments).out, first.out);
  EXPECT_EQ(content(at("out/deep/j.jsonl")), journal);
}

TEST_F(Cli, LeavesOutThePolicyFixedWithoutALayout) {
  EXPECT_EQ(run({"replay", at("s.yaml"), "--format", "json"}).out.find(R"("name":"fixed")"), std::string::npos);
}

TEST_F(Cli, RefusesBadInputAndWritesNothing) {
  struct Case {
    std::vector<std::string> arguments;
    const char* message;
  };
  const std::string scenario = at("s.yaml");
  const std::vector<Case> cases = {
      {{}, "wanted a verb"},
      {{"replya", at("s.yaml")}, "wanted a verb, found \"replya\"; did you mean replay?"},
      {{"frob"}, "frob"},
      {{"replay"}, "SCENARIO"},
      {{"replay", scenario, "--colour"}, "--colour"},
      {{"replay", scenario, "--seed"}, "--seed"},
      {{"replay", scenario, "--seed", "x"}, "--seed: "},
      {{"replay", scenario, "--seed=-1"}, "--seed: "},
      {{"replay", scenario, "--seed", "9223372036854775808"}, "--seed: "},
      {{"replay", scenario, "--seed", "1", "--seed", "2"}, "--seed"},
      {{"replay", scenario, "--format", "xml"}, "--format: wanted table or json, found \"xml\""},
      {{"replay", scenario, "--policies", "best"}, "shared,whole"},
      {{"replay", scenario, "--policies", ""}, "--policies: wanted some of"},
      {{"replay", scenario, "--policies", "shared,"}, "--policies: wanted some of"},
      {{"replay", scenario, "--policies", "shared,shared"}, "found \"shared\" twice"},
      {{"replay", scenario, "--report", ""}, "--report: wanted a folder"},
      {{"replay", scenario, "--journal", ""}, "--journal: wanted a file"},
      {{"replay", scenario, "--journal", scenario}, "wanted another file than the scenario"},
      {{"replay", scenario, "--report", at("r"), "--journal", at("r/index.html")}, "than the page of --report"},
      {{"replay", at("missing.yaml"), "--report", at("r"), "--journal", at("j")}, "missing.yaml"},
      {{"replay", at("profiles.csv"), "--report", at("r"), "--journal", at("j")}, "profiles.csv"},
      {{"replay", at("."), "--report", at("r")}, "directory"},
  };
  for (const Case& bad : cases) {
    const Outcome outcome = run(bad.arguments);
    EXPECT_EQ(outcome.status, 2) << bad.message;
    EXPECT_EQ(outcome.out, "") << bad.message;
    EXPECT_EQ(outcome.err.find("berth: "), 0U) << outcome.err;
    EXPECT_NE(outcome.err.find(bad.message), std::string::npos) << outcome.err;
    EXPECT_TRUE(is_untouched()) << bad.message;
  }
}

TEST_F(Cli, SaysWhatCannotBeWritten) {
  const Outcome report = run({"replay", at("s.yaml"), "--policies", "shared", "--report", at("profiles.csv/x")});
  EXPECT_EQ(report.status, 1);
  EXPECT_EQ(report.out, "");
  EXPECT_EQ(report.err.find("berth: --report "), 0U) << report.err;

  const Outcome journal = run({"replay", at("s.yaml"), "--policies", "shared", "--journal", at("no/j.jsonl")});
  EXPECT_EQ(journal.status, 1);
  EXPECT_EQ(journal.out, "");
  EXPECT_NE(journal.err.find("no/j.jsonl"), std::string::npos) << journal.err;

  EXPECT_EQ(run({"replay", at("s.yaml"), "--policies", "shared", "--journal", at(".")}).status, 1);

  const Outcome full = run({"replay", at("s.yaml"), "--policies", "shared", "--journal", "/dev/full"});
  EXPECT_EQ(full.status, 1);
  EXPECT_EQ(full.out, "");
  EXPECT_NE(full.err.find("/dev/full"), std::string::npos) << full.err;
  EXPECT_TRUE(is_untouched());
}

TEST_F(Cli, AFailedReplayUnmakesItsFolders) {
  const Outcome outcome =
      run({"replay", at("s.yaml"), "--policies", "shared", "--report", at("a/b/c"), "--journal", "/dev/full"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(is_untouched());
}

/// The files of a machine without free memory.
struct FilesWithoutMemory final : Files {
  [[nodiscard]] Result<std::string> read(const std::string&) const override { throw std::bad_alloc(); }
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> list(const std::string&) const override {
    throw std::bad_alloc();
  }
};

TEST_F(Cli, LetsNoExceptionOut) {
  const FilesWithoutMemory files;
  files_ = &files;
  const Outcome outcome = run({"replay", at("s.yaml"), "--policies", "shared"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "berth: out of memory\n");
  EXPECT_EQ(outcome.out, "");
}

TEST_F(Cli, HelpAndVersionGoToStdout) {
  const Outcome version = run({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.find("berth "), 0U);
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"}, {"replay", "--help"}}) {
    const Outcome help = run(arguments);
    EXPECT_EQ(help.status, 0);
    EXPECT_EQ(help.err, "");
    EXPECT_NE(help.out.find("replay"), std::string::npos);
  }
  EXPECT_NE(run({"replay", "--help"}).out.find("berth replay scenario.yaml --format json"), std::string::npos);
}

}  // namespace
}  // namespace berth::cli
