// Programs over the connection: a client, a server, and verbs controlled by the test.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gpu/hands/hands_client.h"
#include "gpu/hands/test_hands.h"

namespace berth::edges {
namespace {

ProcessOrder program_order(const std::string& slice, const std::string& word = "a") {
  return {.template_name = "t",
          .parameters = {{"word", word}},
          .tenant = "vision",
          .slice = slice,
          .generation = 1,
          .device_uuid = "GPU-1"};
}

/// Everything that is started is ready at once.
class ReadyPrograms {
 public:
  ProgramVerbs verbs() {
    return {
        .start = [this](const ProcessOrder& order) { put({.order = order, .phase = ProcessPhase::kReady, .pid = 7}); },
        .stop =
            [this](const std::string& slice, std::uint64_t generation) {
              ProcessReport report{.phase = ProcessPhase::kStopped};
              report.order.slice = slice;
              report.order.generation = generation;
              put(report);
            },
        .list = [this] { return list(); },
        .take_reports =
            [this] {
              const std::scoped_lock hold(mutex_);
              return std::exchange(changed_, {});
            },
        .read_log = [](const std::string& slice, std::uint64_t, std::size_t bytes_max) -> std::optional<std::string> {
          if (slice == "none") return std::nullopt;
          return "log of " + slice + std::string(bytes_max > 100 ? 0 : 1, '!');
        },
        .offers = {{.name = "t", .tenants = {"vision"}, .parameters = {{"word", "[a-z]"}}}},
        .on_news =
            [this](std::function<void()> on_news) {
              const std::scoped_lock hold(mutex_);
              on_news_ = std::move(on_news);
            }};
  }
  [[nodiscard]] std::vector<ProcessReport> list() {
    const std::scoped_lock hold(mutex_);
    std::vector<ProcessReport> all;
    for (const auto& [slice, report] : reports_) all.push_back(report);
    return all;
  }
  void put(const ProcessReport& report) {
    const std::scoped_lock hold(mutex_);
    reports_.insert_or_assign(report.order.slice, report);
    if (report.phase == ProcessPhase::kStopped) reports_.erase(report.order.slice);
    changed_.push_back(report);
    if (on_news_) on_news_();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, ProcessReport> reports_;
  std::vector<ProcessReport> changed_;
  std::function<void()> on_news_;
};

class HandsProgramsTest : public HandsTest {
 protected:
  ~HandsProgramsTest() override { stop_server(); }  // it uses `ready_`

  /// The next report about a slice.
  [[nodiscard]] static ProcessReport report_of_slice(HandsClient& client, const std::string& slice) {
    ProcessReport found;
    EXPECT_TRUE(comes_true([&] {
      for (ProcessReport& report : client.take_reports()) {
        if (report.order.slice == slice) found = std::move(report);
      }
      return found.order.slice == slice;
    })) << slice;
    return found;
  }

  ReadyPrograms ready_;
};

TEST_F(HandsProgramsTest, StartStopAndLogPassBothWays) {
  programs_ = ready_.verbs();
  ready_.put({.order = program_order("old"), .phase = ProcessPhase::kReady, .pid = 3});
  serve_all();
  HandsClient client(socket_path(), client_options());
  EXPECT_TRUE(comes_true([&] { return client.knows_all(); }));
  EXPECT_EQ(report_of_slice(client, "old").pid, 3) << "all are reported over a new connection";
  client.start(program_order("new"));
  EXPECT_EQ(report_of_slice(client, "new"),
            (ProcessReport{.order = program_order("new"), .phase = ProcessPhase::kReady, .pid = 7}));
  EXPECT_EQ(client.read_log("new", 1, 1000), "log of new");
  EXPECT_EQ(client.read_log("none", 1, 1000), std::nullopt);
  client.stop("new", 1);
  EXPECT_EQ(report_of_slice(client, "new").phase, ProcessPhase::kStopped);
  EXPECT_EQ(ready_.list().size(), 1U);
}

TEST_F(HandsProgramsTest, OrdersAreCheckedByWhatTheHandsOffer) {
  programs_ = ready_.verbs();
  HandsClient before(socket_path(), client_options());
  EXPECT_EQ(before.check(program_order("a")).error().code, ErrorCode::kUnavailable) << "there are no hands yet";
  serve_all();
  EXPECT_TRUE(comes_true([&] { return before.knows_all(); }));
  EXPECT_TRUE(before.check(program_order("a")).has_value());
  const auto refused = before.check(program_order("a", "B"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().message.starts_with("run.parameters.word: wanted")) << refused.error().message;
}

TEST_F(HandsProgramsTest, OnlyManagedDevicesGetPrograms) {
  programs_ = ready_.verbs();
  serve_all();
  HandsClient client(socket_path(), client_options());
  EXPECT_TRUE(comes_true([&] { return client.knows_all(); }));
  const auto start_on = [&](const std::string& slice, const std::string& device) {
    ProcessOrder order = program_order(slice);
    order.device_uuid = device;
    client.start(order);
    return report_of_slice(client, slice);
  };
  EXPECT_EQ(start_on("a", std::string("MIG-of-") + kGpu).phase, ProcessPhase::kReady);
  EXPECT_EQ(start_on("b", kOtherGpu).phase, ProcessPhase::kReady);
  for (const char* device : {"GPU-of-nobody", "MIG-of-nobody", ""}) {
    const ProcessReport refused = start_on("c", device);
    EXPECT_EQ(refused.phase, ProcessPhase::kFailed) << device;
    EXPECT_TRUE(refused.message.starts_with("device: wanted a GPU of manage:")) << refused.message;
  }
  EXPECT_EQ(ready_.list().size(), 2U);
}

TEST_F(HandsProgramsTest, WithoutHandsAnOrderFailsWithAReason) {
  HandsClient client(socket_path(), client_options());
  EXPECT_TRUE(comes_true([&] { return client.why_gone().has_value(); }));
  client.start(program_order("a"));
  const ProcessReport report = report_of_slice(client, "a");
  EXPECT_EQ(report.phase, ProcessPhase::kFailed);
  EXPECT_NE(report.message.find("no GPU agent there"), std::string::npos) << report.message;
  EXPECT_FALSE(client.knows_all());
  EXPECT_EQ(client.read_log("a", 1, 10), std::nullopt);
}

TEST_F(HandsProgramsTest, AListIsTakenOverEachConnection) {
  programs_ = ready_.verbs();
  serve_all();
  HandsClient client(socket_path(), client_options());
  EXPECT_TRUE(comes_true([&] { return client.knows_all(); }));
  stop_server();
  EXPECT_TRUE(comes_true([&] { return client.why_gone().has_value(); }));
  EXPECT_FALSE(client.knows_all());
  ready_.put({.order = program_order("meanwhile"), .phase = ProcessPhase::kReady, .pid = 9});
  serve_all();
  EXPECT_TRUE(comes_true([&] { return client.knows_all(); }));
  EXPECT_EQ(report_of_slice(client, "meanwhile").pid, 9);
}

TEST_F(HandsProgramsTest, HandsWithoutProgramsRefuseThem) {
  serve_all();
  HandsClient client(socket_path(), client_options());
  EXPECT_TRUE(comes_true([&] { return client.knows_all(); }));
  client.start(program_order("a"));
  EXPECT_EQ(report_of_slice(client, "a").message,
            "run: wanted templates or repositories in the configuration of the GPU agent, found none");
  client.stop("a", 1);
  EXPECT_EQ(report_of_slice(client, "a").phase, ProcessPhase::kStopped);
}

}  // namespace
}  // namespace berth::edges
