#include "domain/trace/detail/uniform_offsets.h"

#include <algorithm>
#include <bit>

#include "base/core/ensure.h"
#include "base/core/instant.h"

namespace berth::detail {
namespace {

constexpr int kOffsetBits = 20;  // 10^6 < 2^20
constexpr std::int64_t kUnbucketedCountMax = 16;

void sort_by_insertion(std::vector<std::uint32_t>& values) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    const std::uint32_t value = values[i];
    std::size_t at = i;
    for (; at > 0 && values[at - 1] > value; --at) values[at] = values[at - 1];
    values[at] = value;
  }
}

std::uint32_t draw_offset(Rng& rng) {
  return static_cast<std::uint32_t>(rng.below(static_cast<std::uint64_t>(kMicrosPerSecond)));
}

}  // namespace

void UniformOffsets::draw(Rng rng, std::int64_t count, std::vector<std::uint32_t>& out) {
  ENSURE(count >= 0 && count <= INT32_MAX);
  out.resize(static_cast<std::size_t>(count));
  if (count <= kUnbucketedCountMax) {
    for (std::uint32_t& offset : out) offset = draw_offset(rng);
    sort_by_insertion(out);
    return;
  }
  const int bits = std::min(kOffsetBits, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count))));
  const int shift = kOffsetBits - bits;
  unsorted_.resize(out.size());
  bucket_ends_.assign(std::size_t{1} << bits, 0);
  for (std::uint32_t& offset : unsorted_) {
    offset = draw_offset(rng);
    ++bucket_ends_[offset >> shift];
  }
  std::uint32_t end = 0;
  for (std::uint32_t& bucket_end : bucket_ends_) bucket_end = end += bucket_end;
  for (const std::uint32_t offset : unsorted_) out[--bucket_ends_[offset >> shift]] = offset;
  sort_by_insertion(out);
}

}  // namespace berth::detail
