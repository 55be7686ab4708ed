// What holds of the client against any API server: the fake one, and a real one where it is built.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/json/node_text.h"
#include "edges/kube/follower.h"
#include "edges/kube/test_servers.h"
#include "kube/client/write.h"

namespace berth::edges {
namespace {

using kube::Write;
using kube::WriteFate;
using kube::WriteKind;
using ::testing::HasSubstr;

constexpr kube::Resource kConfigMaps = {"", "v1", "configmaps", "ConfigMap", true};
constexpr std::chrono::seconds kDeadline(30);

enum class ServerKind { kFake, kReal };

class ClientOnBoth : public ::testing::TestWithParam<ServerKind> {
 protected:
  static void SetUpTestSuite() { real_ = std::make_unique<RealServer>(); }
  static void TearDownTestSuite() { real_ = nullptr; }

  void SetUp() override {
    if (GetParam() == ServerKind::kReal) {
      if (!real_->reason().empty()) GTEST_SKIP() << real_->reason();
      const std::vector<std::string> paths = {real_->kubeconfig()};
      const auto access = kube::read_kubeconfig(files_, {.paths = paths});
      ASSERT_TRUE(access) << access.error().message;
      access_ = *access;
    } else {
      access_.server = fake_.url();
      access_.token = "admin-token";
      fake_.accept_tokens({"admin-token"});
    }
    client_ = client_of(access_);
  }

  std::unique_ptr<KubeClient> client_of(const kube::Access& access) {
    return std::make_unique<KubeClient>(std::make_shared<KubeIdentity>(access, files_), pace_,
                                        KubeClientOptions{.patience = Micros::seconds(10)});
  }
  Write write_of(WriteKind kind, const std::string& name, const std::string& value = "1") {
    Write write{.kind = kind, .resource = kConfigMaps, .name = {"default", name}, .body = kube::map_node()};
    kube::put(kube::put(write.body, "data", kube::map_node()), "key", kube::text_node(value));
    return write;
  }
  kube::WriteOutcome carry_out(const Write& write) {
    const auto outcome = kube::write_carefully(*client_, write);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(kube::WriteOutcome{});
  }
  static std::string version_in(const yaml::Node& object) {
    return std::string(json::text_at(object, {"metadata", "resourceVersion"}));
  }
  static std::string uid_in(const yaml::Node& object) {
    return std::string(json::text_at(object, {"metadata", "uid"}));
  }

  static std::unique_ptr<RealServer> real_;
  DiskFiles files_;
  testing::FakeApiServer fake_;
  kube::Access access_;
  std::shared_ptr<SharedPace> pace_ = std::make_shared<SharedPace>();
  std::unique_ptr<KubeClient> client_;
};

std::unique_ptr<RealServer> ClientOnBoth::real_;

TEST_P(ClientOnBoth, WritesAreRefusedUnlessTheyNameTheVersionThatStands) {
  const auto created = carry_out(write_of(WriteKind::kCreate, "versions"));
  ASSERT_EQ(created.fate, WriteFate::kDone) << created.message;
  EXPECT_EQ(carry_out(write_of(WriteKind::kCreate, "versions")).fate, WriteFate::kConflict);
  Write patch = write_of(WriteKind::kPatch, "versions", "2");
  patch.uid = uid_in(created.object);
  patch.version = version_in(created.object);
  const auto patched = carry_out(patch);
  ASSERT_EQ(patched.fate, WriteFate::kDone) << patched.message;
  EXPECT_EQ(json::text_at(patched.object, {"data", "key"}), "2");
  EXPECT_EQ(carry_out(patch).fate, WriteFate::kConflict);
  Write other = patch;
  other.version = version_in(patched.object);
  other.uid = "another-uid";
  EXPECT_EQ(carry_out(other).fate, WriteFate::kConflict);
  Write removal = write_of(WriteKind::kDelete, "versions");
  removal.uid = "another-uid";
  EXPECT_EQ(carry_out(removal).fate, WriteFate::kConflict);
  removal.uid = uid_in(created.object);
  EXPECT_EQ(carry_out(removal).fate, WriteFate::kDone);
  EXPECT_EQ(carry_out(removal).fate, WriteFate::kDone);
  patch.version = version_in(patched.object);
  EXPECT_NE(carry_out(patch).fate, WriteFate::kDone);
}

TEST_P(ClientOnBoth, AnApplyCreatesAndSaysTheSameTwice) {
  const auto first = carry_out(write_of(WriteKind::kApply, "applied"));
  ASSERT_EQ(first.fate, WriteFate::kDone) << first.message;
  const auto second = carry_out(write_of(WriteKind::kApply, "applied"));
  EXPECT_EQ(version_in(second.object), version_in(first.object));
  EXPECT_NE(version_in(carry_out(write_of(WriteKind::kApply, "applied", "3")).object), version_in(first.object));
}

TEST_P(ClientOnBoth, AFollowerSeesWhatStandsAndWhatChanges) {
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(carry_out(write_of(WriteKind::kApply, fmt::format("followed-{}", i))).fate, WriteFate::kDone);
  ChangeQueue queue;
  std::map<std::string, std::string> seen;  // name to value
  bool has_listed = false;
  const auto follow_until = [&](const auto& is_enough) {
    const auto end = std::chrono::steady_clock::now() + kDeadline;
    while (!is_enough() && std::chrono::steady_clock::now() < end) {
      for (const KubeNews& news : queue.take(std::chrono::milliseconds(100))) {
        for (const kube::Change& change : news.changes) {
          const std::string& name = change.identity.name.name;
          if (!name.starts_with("followed-")) continue;
          if (change.kind == kube::ChangeKind::kDeleted) {
            seen.erase(name);
          } else {
            seen[name] = json::text_at(change.object, {"data", "key"});
          }
        }
        has_listed = has_listed || news.has_listed;
      }
    }
    return is_enough();
  };
  // Watches end each second: what happens meanwhile is not missed.
  KubeFollower follower(kConfigMaps, std::make_shared<KubeIdentity>(access_, files_), pace_, queue,
                        {.page_size = 2, .watch_seconds = 1});
  EXPECT_TRUE(follow_until([&] { return has_listed && seen.size() == 5; }));
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(carry_out(write_of(WriteKind::kApply, "followed-1", fmt::format("value-{}", i))).fate, WriteFate::kDone);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  Write removal = write_of(WriteKind::kDelete, "followed-2");
  removal.uid = uid_in(carry_out(write_of(WriteKind::kApply, "followed-2", "last")).object);
  ASSERT_EQ(carry_out(removal).fate, WriteFate::kDone);
  EXPECT_TRUE(follow_until([&] { return seen.size() == 4 && seen["followed-1"] == "value-19"; })) << seen.size();
  queue.close();
}

TEST_P(ClientOnBoth, ARefusalSaysWhatWasAskedAndWhy) {
  Write patch = write_of(WriteKind::kPatch, "nowhere");
  patch.version = "1";
  const auto gone = carry_out(patch);
  EXPECT_EQ(gone.fate, WriteFate::kGone);
  EXPECT_THAT(gone.message,
              HasSubstr("PATCH /api/v1/namespaces/default/configmaps/nowhere?fieldManager=berth: 404 NotFound"));
}

TEST_P(ClientOnBoth, ATokenIsReadAgainWhenItIsRefused) {
  const OwnFolder folder;
  kube::Access access = access_;
  access.token.clear();
  access.token_path = folder.path() + "/token";
  std::ofstream(access.token_path) << "expired\n";
  const auto identity = std::make_shared<KubeIdentity>(access, files_);
  KubeClient client(identity, pace_, {.patience = Micros(0)});
  const KubeCall call{.target = "/api/v1/namespaces/default/configmaps?limit=1"};
  const auto refused = client.ask(call);
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_EQ(refused->status, 401);
  std::ofstream(access.token_path) << "admin-token\n";
  const auto let_in = client.ask(call);
  ASSERT_TRUE(let_in) << let_in.error().message;
  EXPECT_EQ(let_in->status, 200);
}

TEST_P(ClientOnBoth, ACertificateIsAnIdentityAndAStrangerIsNotTrusted) {
  if (GetParam() == ServerKind::kFake) GTEST_SKIP() << "the fake server speaks no TLS";
  const std::vector<std::string> paths = {real_->kubeconfig()};
  auto access = kube::read_kubeconfig(files_, {.paths = paths, .context = "certificate"});
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_TRUE(access->token.empty());
  const KubeCall call{.target = "/api/v1/nodes"};
  EXPECT_EQ(client_of(*access)->ask(call)->status, 200);
  // By another name that the certificate has.
  access->server_name = "kubernetes.default.svc";
  const auto named = client_of(*access)->ask(call);
  EXPECT_TRUE(!named || named->status == 200);
  access->server_name = "elsewhere.example";
  EXPECT_FALSE(client_of(*access)->ask(call));
  access->server_name.clear();
  access->authority_pem = access->certificate_pem;
  KubeClient stranger(std::make_shared<KubeIdentity>(*access, files_), pace_, {.patience = Micros(0)});
  EXPECT_FALSE(stranger.ask(call));
  access->verifies_server = false;
  EXPECT_EQ(client_of(*access)->ask(call)->status, 200);
}

INSTANTIATE_TEST_SUITE_P(Servers, ClientOnBoth, ::testing::Values(ServerKind::kFake, ServerKind::kReal),
                         [](const auto& server) { return server.param == ServerKind::kFake ? "Fake" : "Real"; });

}  // namespace
}  // namespace berth::edges
