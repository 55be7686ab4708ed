#include "surface/api/object_uid.h"

#include <fmt/format.h>

namespace berth::api {
namespace {

/// FNV-1a of 64 bits, with a different initial value for each half.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  // Mixes, so that the last bytes affect all bits.
  hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93;
  return hash ^ (hash >> 32);
}

}  // namespace

std::string object_uid(const UidParts& parts) {
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n{}", parts.kind, parts.tenant, parts.name, parts.created_unix_micros, parts.number);
  const std::uint64_t high = hash_of(text, 0xcbf29ce484222325);
  const std::uint64_t low = hash_of(text, 0x84222325cbf29ce4);
  constexpr std::uint64_t kVersion = 0x8000;
  constexpr std::uint64_t kVariant = 0x8000;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     kVersion | (high & 0x0fff), kVariant | ((low >> 48) & 0x3fff), low & 0xffff'ffff'ffff);
}

}  // namespace berth::api
