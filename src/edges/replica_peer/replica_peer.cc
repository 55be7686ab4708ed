#include "edges/replica_peer/replica_peer.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "serving/replica_proof/replica_proof.h"

namespace berth::edges {
namespace {

/// 128 random bits; empty if the system has none, which no server can answer.
std::string drawn_nonce() {
  std::array<std::uint64_t, 2> bits{};
  if (::getrandom(bits.data(), sizeof(bits), 0) != static_cast<ssize_t>(sizeof(bits))) return "";
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

HttpPeerQuestion question_to(const std::shared_ptr<const Endpoint>& replica, const std::string& client) {
  const std::string nonce = drawn_nonce();
  const auto is_right = [replica, client, nonce](const std::vector<HttpField>& headers) {
    const std::string generation = fmt::format("{}", replica->generation);
    return !nonce.empty() &&
           serving::has_proof(headers, replica->key,
                              {.nonce = nonce, .slice = replica->slice, .generation = generation, .client = client});
  };
  return {.path = "/v2/health/live", .headers = {{std::string(serving::kNonceHeader), nonce}}, .is_right = is_right};
}

}  // namespace

std::shared_ptr<const HttpPeerCheck> peer_of(std::shared_ptr<const Endpoint> replica) {
  if (replica->key.empty() && !replica->user) return nullptr;
  auto check = std::make_shared<HttpPeerCheck>();
  check->identity = fmt::format("{} {} {} {}", replica->slice, replica->generation, replica->key,
                                replica->user ? *replica->user : -1);
  if (replica->key.empty()) {
    check->user = replica->user;
  } else {
    check->ask = [replica = std::move(replica)](const std::string& client) { return question_to(replica, client); };
  }
  return check;
}

}  // namespace berth::edges
