#include "live/chain/short_hash.h"

#include <sodium/crypto_shorthash_siphash24.h>

#include <array>
#include <bit>

namespace berth::chain {
namespace {

constexpr std::array<unsigned char, crypto_shorthash_siphash24_KEYBYTES> kShortHashKey = {'b', 'e', 'r', 't', 'h'};

}  // namespace

std::uint64_t short_hash(std::string_view bytes) {
  std::array<unsigned char, crypto_shorthash_siphash24_BYTES> hash{};
  crypto_shorthash_siphash24(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                             kShortHashKey.data());
  return std::bit_cast<std::uint64_t>(hash);
}

}  // namespace berth::chain
