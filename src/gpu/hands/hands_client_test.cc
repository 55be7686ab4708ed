#include "gpu/hands/hands_client.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gpu/hands/capabilities.h"
#include "gpu/hands/protocol.h"
#include "gpu/hands/reach_hands.h"
#include "gpu/hands/test_hands.h"

namespace berth::edges {
namespace {

using std::chrono::milliseconds;

class HandsClientTest : public HandsTest {
 protected:
  /// A client of a server in this process.
  [[nodiscard]] std::unique_ptr<HandsClient> client_of_one(HandsClientOptions options) {
    auto client = std::make_unique<HandsClient>(HandsProcess{.socket = serve_one(), .pid = 0}, std::move(options));
    EXPECT_TRUE(client->wait_until_known(kTestPatience));
    return client;
  }
  [[nodiscard]] std::unique_ptr<HandsClient> client_of_path() {
    auto client = std::make_unique<HandsClient>(socket_path(), client_options());
    EXPECT_TRUE(client->wait_until_known(kTestPatience));
    return client;
  }
  /// A process in place of the agent.
  [[nodiscard]] static HandsProcess start_shell(const std::string& script) {
    auto process = start_hands("/bin/sh", {"-c", script});
    EXPECT_TRUE(process.has_value()) << process.error().message;
    return std::move(*process);
  }
};

TEST_F(HandsClientTest, GivesOrdersAndTakesEnds) {
  std::atomic<int> news_count = 0;
  HandsClientOptions options = client_options();
  options.on_news = [&] { ++news_count; };
  const auto client = client_of_one(options);
  EXPECT_EQ(client->why_not(kGpu), std::nullopt);
  EXPECT_EQ(client->why_not(kUnlisted), "it is not in manage: of the GPU agent");
  EXPECT_TRUE(comes_true([&] { return news_count > 0; }));
  const int before = news_count;
  client->submit({order(1), order(2, kUnlisted)});
  auto ends = take(*client, 2);
  if (ends[0].intent == 2) std::swap(ends[0], ends[1]);
  EXPECT_EQ(ends[0], done(order(1)));
  EXPECT_EQ(ends[1].outcome, DeviceOutcome::kRefused);
  EXPECT_TRUE(comes_true([&] { return news_count > before; }));
}

TEST_F(HandsClientTest, GivesTheOrdersOfAGpuOneAfterTheOther) {
  const auto client = client_of_one(client_options());
  changer_.hold(kGpu);
  client->submit({order(1), order(2), order(3, kOtherGpu), order(4)});
  EXPECT_EQ(take(*client, 1)[0].intent, 3U);
  EXPECT_TRUE(comes_true([&] { return orders().size() == 2; }));
  changer_.hold("");
  const auto ends = take(*client, 3);
  EXPECT_EQ(ends[0].intent, 1U);
  EXPECT_EQ(ends[1].intent, 2U);
  EXPECT_EQ(ends[2].intent, 4U);
}

TEST_F(HandsClientTest, TriesABusyOrderAgainAndKeepsTheOthersBack) {
  const auto client = client_of_one(client_options());
  const auto busy = [](const DeviceOrder& order) {
    DeviceEnd end = plain_end(order, DeviceOutcome::kBusy, "in use");
    end.holders = {{.pid = 9, .name = "train"}};
    return end;
  };
  int count = 0;
  answer_with([&](const DeviceOrder& order) { return order.intent == 1 && ++count <= 3 ? busy(order) : done(order); });
  client->submit({order(1), order(2)});
  EXPECT_EQ(take(*client, 2)[0], done(order(1)));
  EXPECT_EQ(count, 4);
  std::vector<std::uint64_t> intents;
  for (const DeviceOrder& each : orders()) intents.push_back(each.intent);
  EXPECT_EQ(intents, (std::vector<std::uint64_t>{1, 1, 1, 1, 2}));
  EXPECT_EQ(client->take_delayed(), std::vector{busy(order(1))});  // once

  answer_with([&](const DeviceOrder& order) { return busy(order); });
  client->submit({order(3)});
  EXPECT_EQ(take(*client, 1)[0], busy(order(3)));
  EXPECT_EQ(orders().size(), 5U + 6U);
}

TEST_F(HandsClientTest, SaysWhichCallHasNotReturned) {
  HandsClientOptions options = client_options();
  options.deadline = milliseconds(200);
  const auto client = client_of_one(options);
  changer_.hold(kGpu);
  client->submit({order(1), order(2)});
  const auto ends = take(*client, 2);
  DeviceEnd given_up = plain_end(order(1), DeviceOutcome::kFailed, "no end after 200 ms");
  given_up.goes_on = true;
  EXPECT_EQ(ends[0], given_up);
  EXPECT_EQ(ends[1], plain_end(order(2), DeviceOutcome::kRefused, "order 1 has not returned for more than 200 ms"));
  const std::string why = "nvmlDeviceCreateGpuInstanceWithPlacement has not returned for more than 200 ms";
  EXPECT_TRUE(comes_true([&] { return client->why_not(kGpu) == why; }));
  EXPECT_EQ(client->why_not(kOtherGpu), std::nullopt);
  client->submit({order(3)});
  EXPECT_EQ(take(*client, 1)[0], plain_end(order(3), DeviceOutcome::kRefused, why));
  client->submit({order(4, kOtherGpu)});
  EXPECT_EQ(take(*client, 1)[0], done(order(4)));

  changer_.hold("");
  EXPECT_TRUE(comes_true([&] { return !client->why_not(kGpu); }));
  EXPECT_EQ(take(*client, 1)[0], done(order(1)));
  client->submit({order(5)});
  EXPECT_EQ(take(*client, 1)[0], done(order(5)));
}

TEST_F(HandsClientTest, EndsAllOrdersWithTheHands) {
  HandsClient client(start_shell("sleep 1; kill -9 $$"), client_options());
  EXPECT_EQ(client.why_not(kGpu), "the GPU agent has not answered yet");
  client.submit({order(1)});  // never sent: the hello was not answered
  EXPECT_EQ(take(client, 1)[0], plain_end(order(1), DeviceOutcome::kRefused, "the GPU agent ended (signal 9)"));
  EXPECT_EQ(client.why_not(kGpu), "the GPU agent ended (signal 9)");
  client.submit({order(2)});
  EXPECT_EQ(take(client, 1)[0], plain_end(order(2), DeviceOutcome::kRefused, "the GPU agent ended (signal 9)"));
}

TEST_F(HandsClientTest, SaysHowTheHandsEnded) {
  HandsClient client(start_shell("exit 2"), client_options());
  EXPECT_TRUE(client.wait_until_known(kTestPatience));
  EXPECT_EQ(client.why_not(kGpu), "the GPU agent ended (status 2)");
  HandsClient none(HandsProcess(std::move(*start_hands("/no/such/program", {}))), client_options());
  EXPECT_TRUE(none.wait_until_known(kTestPatience));
  EXPECT_EQ(none.why_not(kGpu), "the GPU agent ended (status 127)");
}

TEST_F(HandsClientTest, StartedHandsHaveTheirSocketAndNothingElse) {
  constexpr int kOpen = 50;
  ASSERT_EQ(::dup2(1, kOpen), kOpen);  // without close-on-exec
  const std::string file = folder_.path() + "/open";
  HandsClient client(start_shell("test \"$0 $1\" = '--fd 3' && ls -l /proc/self/fd >" + file + "; exit 5"),
                     client_options());
  EXPECT_TRUE(client.wait_until_known(kTestPatience));
  EXPECT_EQ(client.why_not(kGpu), "the GPU agent ended (status 5)");
  std::ifstream stream(file);
  const std::string listed{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_NE(listed.find(" 3 -> socket:"), std::string::npos) << listed;
  EXPECT_EQ(listed.find(" 50 -> "), std::string::npos) << listed;
  ::close(kOpen);
}

/// The lines of a file that a script writes.
std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream stream(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string gone_words(const std::string& why, const std::string& next) {
  return "the GPU agent (berth hands) is gone: " + why + "; " + next;
}

TEST_F(HandsClientTest, StartsTheHandsAgainAfterLongerAndLongerPauses) {
  const std::string file = folder_.path() + "/starts";
  std::mutex mutex;
  std::vector<std::string> told;
  HandsClientOptions options = client_options();
  options.restart_pause = milliseconds(20);
  options.restart_pause_max = milliseconds(70);
  options.on_agent = [&](const std::optional<std::string>& why) {
    const std::scoped_lock hold(mutex);
    told.push_back(why.value_or("it answers"));
  };
  auto client = std::make_unique<HandsClient>(start_shell("echo $$ $PPID $1 >>" + file + "; exit 3"), options);
  EXPECT_TRUE(comes_true([&] { return lines_of(file).size() >= 5; }));
  EXPECT_EQ(client->why_not(kGpu), "the GPU agent ended (status 3)");
  EXPECT_EQ(client->why_gone(), gone_words("the GPU agent ended (status 3)", "it is started again after 70 ms"));
  client.reset();
  const std::string parent = " " + std::to_string(::getpid()) + " 3";
  for (const std::string& line : lines_of(file)) EXPECT_TRUE(line.ends_with(parent)) << line;
  EXPECT_EQ(told,
            (std::vector<std::string>{gone_words("the GPU agent ended (status 3)", "it is started again after 20 ms"),
                                      gone_words("the GPU agent ended (status 3)", "it is started again after 40 ms"),
                                      gone_words("the GPU agent ended (status 3)", "it is started again after 70 ms")}))
      << "the same is not told again";
  EXPECT_TRUE(comes_true([] {  // the standby ends with its client
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    return errno == ECHILD;
  }));
}

TEST_F(HandsClientTest, WithoutAStandbyTheHandsAreGoneForGood) {
  const std::string file = folder_.path() + "/starts";
  HandsClientOptions options = client_options();
  options.restart_pause = milliseconds(20);
  HandsProcess process = start_shell("echo $$ >>" + file + "; sleep 100");
  const pid_t hands = process.pid;
  HandsClient client(std::move(process), options);
  const std::string place = "/proc/" + std::to_string(hands) + "/task/" + std::to_string(hands) + "/children";
  EXPECT_EQ(client.why_gone(), std::nullopt) << "it has not answered yet";
  ASSERT_TRUE(comes_true([&] { return lines_of(file).size() == 1 && !lines_of(place).empty(); }));
  const auto standby = static_cast<pid_t>(std::stol(lines_of(place).front()));  // the first child
  ASSERT_EQ(::kill(standby, SIGKILL), 0);
  ASSERT_EQ(::kill(-hands, SIGKILL), 0);
  const std::string why = "the GPU agent ended (signal 9), and its standby has ended";
  EXPECT_TRUE(comes_true([&] { return client.why_not(kGpu) == why; }));
  EXPECT_EQ(client.why_gone(), gone_words(why, "it cannot be started again: berth up must be"));
  EXPECT_EQ(lines_of(file).size(), 1U);
}

TEST_F(HandsClientTest, HandsThatAnotherProcessStartedAreOnlyReported) {
  const auto client = client_of_path();
  const std::string next = "berth up did not start it: another process must start it again";
  EXPECT_EQ(client->why_gone(), gone_words(socket_path() + ": no GPU agent there: No such file or directory", next));
  serve_all();
  EXPECT_TRUE(comes_true([&] { return !client->why_gone(); }));
  stop_server();
  EXPECT_TRUE(comes_true([&] { return client->why_gone().has_value(); }));
}

TEST_F(HandsClientTest, LooksForHandsAtAPathAgain) {
  const auto client = client_of_path();
  EXPECT_EQ(client->why_not(kGpu), socket_path() + ": no GPU agent there: No such file or directory");
  client->submit({order(1)});
  EXPECT_EQ(take(*client, 1)[0].outcome, DeviceOutcome::kRefused);
  serve_all();
  EXPECT_TRUE(comes_true([&] { return !client->why_not(kGpu); }));
  client->submit({order(2)});
  EXPECT_EQ(take(*client, 1)[0], done(order(2)));
  stop_server();
  EXPECT_TRUE(comes_true([&] { return client->why_not(kGpu).has_value(); }));
  serve_all();
  EXPECT_TRUE(comes_true([&] { return !client->why_not(kGpu); }));
  client->submit({order(3)});
  EXPECT_EQ(take(*client, 1)[0], done(order(3)));
}

TEST_F(HandsClientTest, NobodyKnowsWhatBecameOfWhatWasGiven) {
  auto pair = make_socket_pair();
  ASSERT_TRUE(pair.has_value());
  HandsClient client(HandsProcess{.socket = std::move(pair->ours), .pid = 0}, client_options());
  ASSERT_EQ(send_packet(pair->theirs, packet_of(HandsPacket(HandsHello{.pid = 4, .gpus = {{.uuid = kGpu}}}))),
            SendOutcome::kSent);
  client.submit({order(1), order(2)});
  EXPECT_TRUE(comes_true([&] {  // the hello, and one order
    return receive_packet(pair->theirs).bytes.find("\"intent\":1") != std::string::npos;
  }));
  ASSERT_EQ(send_packet(pair->theirs, "garbage"), SendOutcome::kSent);
  const auto ends = take(client, 2);
  EXPECT_EQ(ends[0].outcome, DeviceOutcome::kFailed);
  EXPECT_TRUE(
      ends[0].message.starts_with("nobody knows what became of it: the GPU agent sent what cannot be read: packet:1:1"))
      << ends[0].message;
  EXPECT_EQ(ends[1].outcome, DeviceOutcome::kRefused);
}

TEST_F(HandsClientTest, TakesEndsOfTheProcessBeforeIt) {
  serve_all();
  {
    const auto client = client_of_path();
    changer_.hold(kGpu);
    client->submit({order(1)});
    changer_.wait_for_entry(1);
  }
  const auto client = client_of_path();
  EXPECT_TRUE(comes_true([&] { return !client->why_not(kGpu); }));
  changer_.hold("");
  EXPECT_EQ(take(*client, 1)[0], done(order(1)));
}

TEST_F(HandsClientTest, TheSecondClientIsToldOfTheFirst) {
  serve_all();
  const auto first = client_of_path();
  const auto second = client_of_path();
  EXPECT_EQ(second->why_not(kGpu),
            "the GPU agent refuses: process " + std::to_string(::getpid()) + " is connected, and one at a time may be");
  EXPECT_EQ(first->why_not(kGpu), std::nullopt);
}

class ReachHandsTest : public HandsTest {
 protected:
  /// Runs in a separate process, as dropped capabilities cannot be regained. Returns its exit status.
  static int in_a_child(const std::function<int()>& work) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work());
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  static std::string text_of(const std::string& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

TEST_F(ReachHandsTest, TheHandsHaveThePrivilegesAndTheCallerHasNone) {
  if (!may_change_gpus()) GTEST_SKIP() << "not privileged: nothing can be dropped";
  const std::string program = folder_.path() + "/program";
  const std::string out = folder_.path() + "/out";
  std::ofstream(program) << "#!/bin/sh\ngrep CapEff /proc/self/status >" << out << "\necho \"$@\" >>" << out << "\n";
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  EXPECT_EQ(in_a_child([&] {
              const auto found = reach_hands({.config_path = "c.yaml", .nvml_path = "n.so", .program = program});
              const HandsProcess* process = found ? std::get_if<HandsProcess>(&*found) : nullptr;
              if (process == nullptr) return 1;
              if (::waitpid(process->pid, nullptr, 0) != process->pid) return 2;
              const std::string status = text_of("/proc/self/status");
              return status.find("CapEff:\t0000000000000000\n") == std::string::npos || may_change_gpus() ? 3 : 0;
            }),
            0);
  EXPECT_EQ(text_of(out).find("CapEff:\t0000000000000000\n"), std::string::npos);
  EXPECT_NE(text_of(out).find("\nhands --config c.yaml --nvml n.so --fd 3\n"), std::string::npos) << text_of(out);
}

TEST_F(ReachHandsTest, WithoutPrivilegesAndWithoutASocketThereAreNone) {
  EXPECT_EQ(in_a_child([&] {
              if (!drop_capabilities()) return 1;
              const auto found = reach_hands({});
              if (!found) return 2;
              const auto* none = std::get_if<NoHands>(&*found);
              return none && none->reason == "berth up is not root, and --hands names no socket" ? 0 : 3;
            }),
            0);
}

TEST_F(ReachHandsTest, WithoutAConfigurationNobodyIsStarted) {
  EXPECT_EQ(in_a_child([&] {
              const auto found = reach_hands({.program = "/bin/false"});
              if (!found) return 1;
              return std::holds_alternative<NoHands>(*found) && !may_change_gpus() ? 0 : 2;
            }),
            0);
}

TEST_F(ReachHandsTest, ASocketIsEnoughWithoutPrivileges) {
  serve_all();
  EXPECT_EQ(in_a_child([&] {
              auto found = reach_hands({.socket_path = socket_path()});
              if (!found) return 1;
              const auto hands = use_hands(std::move(*found), client_options());
              return !hands.gpus->why_not(kGpu) && hands.programs != nullptr && !may_change_gpus()
                         ? 0
                         : 2;  // it waited for the answer
            }),
            0);
  EXPECT_EQ(in_a_child([&] {  // an agent that is not there yet may come
              const auto found = reach_hands({.socket_path = folder_.path() + "/later"});
              return found && std::holds_alternative<std::string>(*found) ? 0 : 1;
            }),
            0);
}

class TrustTest : public HandsTest {};

TEST_F(TrustTest, ASocketOfSomebodyElseIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: cannot give a socket away";
  serve_all();
  // Root trusts only its own.
  ASSERT_EQ(::chown(socket_path().c_str(), 1234, static_cast<gid_t>(-1)), 0);
  const std::string message = socket_path() + ": wanted a socket of root or of user 0, found one of user 1234";
  const auto checked = check_hands_socket(socket_path());
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error(), (Error{ErrorCode::kInvalidInput, message}));
  const auto connected = connect_with_hands(socket_path());
  ASSERT_FALSE(connected.has_value());
  EXPECT_EQ(connected.error().message, message);
  const auto found = reach_hands({.socket_path = socket_path()});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error(), (Error{ErrorCode::kInvalidInput, "--hands: " + message}));
}

TEST_F(TrustTest, OnlySocketsAreUsed) {
  std::ofstream(socket_path()) << "a file";
  EXPECT_EQ(check_hands_socket(socket_path()).error().message, socket_path() + ": wanted a socket, found another file");
  EXPECT_EQ(HandsSocket::listen(socket_path(), std::nullopt).error(),
            (Error{ErrorCode::kInvalidInput, socket_path() + ": wanted a place for a socket, found another file"}));
  EXPECT_EQ(HandsSocket::listen(std::string(108, 'x'), std::nullopt).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(check_hands_socket(folder_.path() + "/none").error().code, ErrorCode::kNotFound);
}

TEST_F(TrustTest, ADeadSocketIsReplacedALivingOneIsNot) {
  {
    auto socket = HandsSocket::listen(socket_path(), std::nullopt);
    ASSERT_TRUE(socket.has_value());
    const auto second = HandsSocket::listen(socket_path(), std::nullopt);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error(), (Error{ErrorCode::kUnavailable,
                                     socket_path() + ": process " + std::to_string(::getpid()) + " listens there"}));
    ASSERT_EQ(::rename(socket_path().c_str(), (socket_path() + ".kept").c_str()), 0);
  }
  ASSERT_EQ(::rename((socket_path() + ".kept").c_str(), socket_path().c_str()), 0);  // as after kill -9
  EXPECT_TRUE(HandsSocket::listen(socket_path(), std::nullopt).has_value());
}

TEST(RefusingHandsTest, SayWhy) {
  const auto hands = use_hands(NoHands{"there are none"}, {});
  EXPECT_EQ(hands.programs, nullptr);
  EXPECT_EQ(hands.why_no_programs, "there are none");
  EXPECT_EQ(hands.gpus->why_not("GPU-1"), "there are none");
  DeviceOrder order;
  order.intent = 4;
  hands.gpus->submit({order});
  EXPECT_EQ(hands.gpus->take_ended(), std::vector{plain_end(order, DeviceOutcome::kRefused, "there are none")});
  EXPECT_TRUE(hands.gpus->take_ended().empty());
}

}  // namespace
}  // namespace berth::edges
