#include "serving/replica_proof/replica_proof.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace berth::serving {
namespace {

constexpr ReplicaStatement kStatement{.nonce = "n", .slice = "s", .generation = "1", .client = "127.0.0.1:4"};

// Computed with Python: hmac.new(b"key", b"15:berth replica 1" b"1:n" b"1:s" b"1:1" b"11:127.0.0.1:4", "sha256").
TEST(ReplicaProof, IsTheHmacOfTheStatement) {
  EXPECT_EQ(replica_proof("key", kStatement), "a6e91c4266291699d846459796e3788fc26a29c2aada6309fb71aa2cade8e994");
  EXPECT_EQ(request_token("key"), "b92a38b1abeadc4e4bbb09dad3360cda33edd58bb77f75c833282ae5083c289a");
}

TEST(ReplicaProof, DependsOnEachPart) {
  std::set<std::string> proofs = {replica_proof("key", kStatement), replica_proof("kez", kStatement),
                                  request_token("key")};
  for (std::string_view ReplicaStatement::* part :
       {&ReplicaStatement::nonce, &ReplicaStatement::slice, &ReplicaStatement::generation, &ReplicaStatement::client}) {
    ReplicaStatement other = kStatement;
    other.*part = "x";
    proofs.insert(replica_proof("key", other));
  }
  // What moves from one part to the next is another statement.
  proofs.insert(replica_proof("key", {.nonce = "ns", .slice = "", .generation = "1", .client = "127.0.0.1:4"}));
  EXPECT_EQ(proofs.size(), 8U);
}

TEST(ReplicaProof, IsFoundInTheHeaders) {
  std::vector<HttpField> headers = {{"A", "b"}};
  EXPECT_FALSE(has_proof(headers, "key", kStatement));
  headers.push_back({"Berth-Proof", replica_proof("key", kStatement)});
  EXPECT_TRUE(has_proof(headers, "key", kStatement));
  EXPECT_FALSE(has_proof(headers, "other", kStatement));
  headers.back().value.pop_back();
  EXPECT_FALSE(has_proof(headers, "key", kStatement));
}

TEST(ReplicaProof, TakesNoncesOfVisibleCharacters) {
  const auto nonce = [](std::string value) {
    const std::vector<HttpField> headers = {{"berth-nonce", std::move(value)}};
    return nonce_in(headers).has_value();
  };
  EXPECT_TRUE(nonce("a"));
  EXPECT_TRUE(nonce(std::string(kNonceBytesMax, 'a')));
  EXPECT_FALSE(nonce(std::string(kNonceBytesMax + 1, 'a')));
  EXPECT_FALSE(nonce(""));
  EXPECT_FALSE(nonce("a b"));
  EXPECT_FALSE(nonce_in({}));
}

}  // namespace
}  // namespace berth::serving
