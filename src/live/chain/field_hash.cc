#include "live/chain/field_hash.h"

#include <array>
#include <cstddef>

namespace berth::chain {
namespace {

static_assert(std::tuple_size_v<Sha256> == crypto_hash_sha256_BYTES);

std::span<const unsigned char> bytes_of(std::string_view text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

}  // namespace

FieldHash::FieldHash(std::string_view purpose) : state_() {
  crypto_hash_sha256_init(&state_);
  add(purpose);
}

FieldHash& FieldHash::add(std::int64_t value) { return add(static_cast<std::uint64_t>(value)); }

FieldHash& FieldHash::add(std::uint64_t value) {
  std::array<unsigned char, sizeof(value)> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(value >> (8 * i));
  feed(bytes);
  return *this;
}

FieldHash& FieldHash::add(std::string_view text) {
  add(std::uint64_t{text.size()});
  feed(bytes_of(text));
  return *this;
}

FieldHash& FieldHash::add(const Sha256& digest) {
  add(std::uint64_t{digest.size()});
  feed(digest);
  return *this;
}

Sha256 FieldHash::finish() {
  Sha256 digest{};
  crypto_hash_sha256_final(&state_, digest.data());
  return digest;
}

void FieldHash::feed(std::span<const unsigned char> bytes) {
  crypto_hash_sha256_update(&state_, bytes.data(), bytes.size());
}

BytesHash::BytesHash() : state_() { crypto_hash_sha256_init(&state_); }

BytesHash& BytesHash::add(std::string_view bytes) {
  crypto_hash_sha256_update(&state_, bytes_of(bytes).data(), bytes.size());
  return *this;
}

Sha256 BytesHash::finish() {
  Sha256 digest{};
  crypto_hash_sha256_final(&state_, digest.data());
  return digest;
}

Sha256 sha256(std::string_view bytes) {
  Sha256 digest{};
  crypto_hash_sha256(digest.data(), bytes_of(bytes).data(), bytes.size());
  return digest;
}

std::string hex_of(const Sha256& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : digest) (hex += kDigits[byte >> 4U]) += kDigits[byte & 15U];
  return hex;
}

std::optional<Sha256> sha256_of_hex(std::string_view hex) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  Sha256 digest{};
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const std::size_t digit = kDigits.find(hex[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    digest[i / 2] = static_cast<std::uint8_t>(std::size_t{16} * digest[i / 2] + digit);
  }
  return digest;
}

}  // namespace berth::chain
