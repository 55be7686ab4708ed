#include "serving/replica_proof/replica_proof.h"

#include <fmt/format.h>
#include <sodium/crypto_auth_hmacsha256.h>
#include <sodium/utils.h>

#include <algorithm>
#include <array>

namespace berth::serving {
namespace {

/// Of a list of texts, each with its length, so that no two lists have the same bytes.
std::string keyed_hash(std::string_view key, std::span<const std::string_view> texts) {
  const auto bytes_of = [](std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); };
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, bytes_of(key), key.size());
  for (const std::string_view text : texts) {
    const std::string length = fmt::format("{}:", text.size());
    crypto_auth_hmacsha256_update(&state, bytes_of(length), length.size());
    crypto_auth_hmacsha256_update(&state, bytes_of(text), text.size());
  }
  std::array<unsigned char, crypto_auth_hmacsha256_BYTES> digest{};
  crypto_auth_hmacsha256_final(&state, digest.data());
  std::string digits;
  for (const unsigned char byte : digest) digits += fmt::format("{:02x}", byte);
  return digits;
}

}  // namespace

std::string replica_proof(std::string_view key, const ReplicaStatement& statement) {
  const std::array<std::string_view, 5> texts = {"berth replica 1", statement.nonce, statement.slice,
                                                 statement.generation, statement.client};
  return keyed_hash(key, texts);
}

std::string request_token(std::string_view key) {
  const std::array<std::string_view, 1> texts = {"berth request 1"};
  return keyed_hash(key, texts);
}

bool is_same_secret(std::string_view given, std::string_view wanted) {
  return given.size() == wanted.size() && sodium_memcmp(given.data(), wanted.data(), wanted.size()) == 0;
}

bool has_proof(std::span<const HttpField> headers, std::string_view key, const ReplicaStatement& statement) {
  const auto proof = find_header(headers, kProofHeader);
  return proof && is_same_secret(*proof, replica_proof(key, statement));
}

std::optional<std::string_view> nonce_in(std::span<const HttpField> headers) {
  const auto nonce = find_header(headers, kNonceHeader);
  if (!nonce || nonce->empty() || nonce->size() > kNonceBytesMax) return std::nullopt;
  const bool is_visible = std::ranges::all_of(*nonce, [](char each) { return each > ' ' && each <= '~'; });
  return is_visible ? nonce : std::nullopt;
}

}  // namespace berth::serving
