/// SHA-256 over a list of fields, encoded so that two different lists of fields of the same types never give the same
/// bytes.
#pragma once

#include <sodium/crypto_hash_sha256.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "domain/ports/journal_store.h"

namespace berth::chain {

/// Adds fields one by one: an integer as 8 bytes, lowest first; text and bytes as their length, then themselves.
class FieldHash {
 public:
  /// `purpose` is the first field: what is hashed, with the version of the encoding.
  explicit FieldHash(std::string_view purpose);

  FieldHash& add(std::int64_t value);
  FieldHash& add(std::uint64_t value);
  FieldHash& add(std::string_view text);
  FieldHash& add(const Sha256& digest);
  /// The hash; nothing may be added afterwards.
  [[nodiscard]] Sha256 finish();

 private:
  void feed(std::span<const unsigned char> bytes);

  crypto_hash_sha256_state state_;
};

/// SHA-256 of raw bytes, added piece by piece.
class BytesHash {
 public:
  BytesHash();

  BytesHash& add(std::string_view bytes);
  /// The hash; nothing may be added afterwards.
  [[nodiscard]] Sha256 finish();

 private:
  crypto_hash_sha256_state state_;
};

/// Of raw bytes: for keys and requests (`KeyedOutcome`).
[[nodiscard]] Sha256 sha256(std::string_view bytes);

/// As 64 lower-case hexadecimal digits, and back; absent if the text is not that.
[[nodiscard]] std::string hex_of(const Sha256& digest);
[[nodiscard]] std::optional<Sha256> sha256_of_hex(std::string_view hex);

}  // namespace berth::chain
