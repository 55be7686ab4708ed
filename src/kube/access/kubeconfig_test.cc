#include "kube/access/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "kube/access/in_cluster.h"

namespace berth::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FolderOfFiles : public Files {
 public:
  explicit FolderOfFiles(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  [[nodiscard]] Result<std::string> read(const std::string& path) const override {
    const auto found = files_.find(path);
    if (found == files_.end()) return fail(ErrorCode::kNotFound, path + ": no such file");
    return found->second;
  }
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> list(const std::string&) const override {
    return std::nullopt;
  }

 private:
  std::map<std::string, std::string> files_;
};

constexpr const char* kConfig = R"(apiVersion: v1
kind: Config
current-context: one
preferences: {}
clusters:
- name: c
  cluster: {server: "https://host:6443/", certificate-authority-data: Q0E=, tls-server-name: kube}
- name: plain
  cluster: {server: http://127.0.0.1:1, insecure-skip-tls-verify: true, proxy-url: "http://proxy:3128"}
contexts:
- name: one
  context: {cluster: c, user: token, namespace: lab}
- name: two
  context: {cluster: c, user: certificate}
- name: three
  context: {cluster: plain}
- name: four
  context: {cluster: c, user: program}
- name: five
  context: {cluster: missing}
- name: six
  context: {cluster: c, user: half}
users:
- name: token
  user: {token: secret}
- name: certificate
  user: {client-certificate: pki/me.crt, client-key-data: S0VZ}
- name: program
  user: {exec: {command: aws}}
- name: half
  user: {client-certificate-data: Q0E=}
)";

Result<Access> read(std::map<std::string, std::string> files, std::vector<std::string> paths,
                    std::optional<std::string> context = std::nullopt, bool may_be_missing = false) {
  return read_kubeconfig(FolderOfFiles(std::move(files)),
                         {.paths = paths, .context = std::move(context), .may_be_missing = may_be_missing});
}

TEST(Kubeconfig, TheCurrentContextIsUsedUnlessAnotherIsNamed) {
  const auto one = read({{"/k/config", kConfig}}, {"/k/config"});
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->server, "https://host:6443");
  EXPECT_EQ(one->authority_pem, "CA");
  EXPECT_EQ(one->server_name, "kube");
  EXPECT_EQ(one->token, "secret");
  EXPECT_EQ(one->namespace_name, "lab");
  EXPECT_TRUE(one->verifies_server);
  const auto two = read({{"/k/config", kConfig}, {"/k/pki/me.crt", "CERT"}}, {"/k/config"}, "two");
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_EQ(two->certificate_pem, "CERT");
  EXPECT_EQ(two->key_pem, "KEY");
  const auto three = read({{"/k/config", kConfig}}, {"/k/config"}, "three");
  ASSERT_TRUE(three) << three.error().message;
  EXPECT_FALSE(three->verifies_server);
  EXPECT_EQ(three->proxy, "http://proxy:3128");
  EXPECT_EQ(three->token, "");
}

TEST(Kubeconfig, OfSeveralFilesTheFirstThatNamesSomethingDecides) {
  const std::string first = R"({"contexts": [{"name": "one", "context": {"cluster": "c", "user": "token"}}],
    "users": [{"name": "token", "user": {"token": "first"}}]})";
  const auto access = read({{"a", first}, {"b", kConfig}}, {"a", "none", "b"}, std::nullopt, true);
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->token, "first");
  EXPECT_EQ(access->namespace_name, "");
  EXPECT_EQ(access->server, "https://host:6443");
  EXPECT_THAT(split_paths(":a::b:"), ElementsAre("a", "b"));
}

TEST(Kubeconfig, WhatIsWrongIsSaidWithItsPlace) {
  struct Case {
    std::string context;
    std::string message;
  };
  for (const Case& each : std::vector<Case>{
           {"to", "config: wanted the name of a context (one, two, three, four, five, six), found \"to\""},
           {"two", "pki/me.crt"},
           {"four", "wanted a token or a client certificate; this is not supported"},
           {"five", "config: wanted the name of a cluster (c, plain), found \"missing\""},
           {"six", "wanted client-certificate and client-key, found one of them"}}) {
    const auto access = read({{"config", kConfig}}, {"config"}, each.context);
    ASSERT_FALSE(access) << each.context;
    EXPECT_THAT(access.error().message, HasSubstr(each.message));
  }
  EXPECT_EQ(read({}, {"a"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(read({}, {"a"}, std::nullopt, true).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(read({{"a", "[1, 2"}}, {"a"}));
  EXPECT_THAT(read({{"a", "kind: Config"}}, {"a"}).error().message, HasSubstr("wanted current-context"));
  EXPECT_THAT(read({{"a", "current-context: x\ncontexts: 3"}}, {"a"}).error().message, HasSubstr("a:2:"));
}

TEST(InCluster, TheTokenIsReadFromItsFile) {
  const FolderOfFiles files({{"/f/ca.crt", "CA"}, {"/f/token", "t"}, {"/f/namespace", "lab"}});
  const auto access = in_cluster_access(files, {.host = "10.0.0.1", .port = "443", .folder = "/f"});
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://10.0.0.1:443");
  EXPECT_EQ(access->token_path, "/f/token");
  EXPECT_EQ(access->token, "");
  EXPECT_EQ(access->namespace_name, "lab");
  EXPECT_EQ(in_cluster_access(files, {.host = "fd00::1", .port = "443", .folder = "/f"})->server,
            "https://[fd00::1]:443");
  EXPECT_EQ(in_cluster_access(files, {}).error().code, ErrorCode::kNotFound);
  const FolderOfFiles no_token(std::map<std::string, std::string>{{"/f/ca.crt", "CA"}});
  EXPECT_FALSE(in_cluster_access(no_token, {.host = "h", .port = "1", .folder = "/f"}));
}

}  // namespace
}  // namespace berth::kube
