/// What a replica and those who send it requests compute from the key that both have.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "domain/ports/http_message.h"

namespace berth::serving {

/// Names of the headers that the gateway and `berth serve` use with each other.
inline constexpr std::string_view kSliceHeader = "berth-slice";
inline constexpr std::string_view kGenerationHeader = "berth-generation";
/// In a request: `request_token`. `berth serve` also takes the key itself, from its user.
inline constexpr std::string_view kKeyHeader = "berth-key";
/// In a request: a text that was not used before. Its answer has `kProofHeader`.
inline constexpr std::string_view kNonceHeader = "berth-nonce";
inline constexpr std::string_view kProofHeader = "berth-proof";
/// In the answer to a request that was not carried out, because it was meant for another replica or had no key.
inline constexpr std::string_view kRefusedHeader = "berth-refused";

inline constexpr std::size_t kNonceBytesMax = 128;

/// Who a replica is, and over which connection it says so.
struct ReplicaStatement {
  std::string_view nonce;
  std::string_view slice;
  std::string_view generation;  ///< as in the header
  /// The address of the client's side of the connection, "127.0.0.1:40000": a process that passes the question on to
  /// the replica does so over another connection.
  std::string_view client;
};

/// 64 lower-case hexadecimal digits (HMAC-SHA256) that only those who have the key can compute.
[[nodiscard]] std::string replica_proof(std::string_view key, const ReplicaStatement& statement);

/// What requests carry as proof that their sender has the key. From it neither the key nor a proof can be computed,
/// so it is of no use to a process that takes over the port of a replica: the next one has another key.
[[nodiscard]] std::string request_token(std::string_view key);

/// Takes as long for any wrong text of the same length.
[[nodiscard]] bool is_same_secret(std::string_view given, std::string_view wanted);

/// The proof that an answer's headers should have, compared with the one they have. False without one.
[[nodiscard]] bool has_proof(std::span<const HttpField> headers, std::string_view key,
                             const ReplicaStatement& statement);

/// The nonce of a request; nothing if it has none, or one that is empty, longer than `kNonceBytesMax` or not visible
/// characters of ASCII.
[[nodiscard]] std::optional<std::string_view> nonce_in(std::span<const HttpField> headers);

}  // namespace berth::serving
