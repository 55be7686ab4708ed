#include "base/core/archive.h"

namespace berth {
namespace {

/// Integers are written in groups of seven bits, lowest first; a byte's highest bit says that another one follows.
constexpr int kGroupBits = 7;
constexpr std::uint64_t kMoreFollows = 1U << kGroupBits;
constexpr int kByteBits = 8;
constexpr int kIntegerBits = 64;

}  // namespace

void ArchiveWriter::write_integer(std::uint64_t value) {
  while (value >= kMoreFollows) {
    bytes_.push_back(static_cast<char>(value | kMoreFollows));
    value >>= kGroupBits;
  }
  bytes_.push_back(static_cast<char>(value));
}

void ArchiveWriter::write_bits(std::uint64_t bits) {
  std::array<char, sizeof(bits) + 1> bytes{};
  std::size_t size = 1;
  for (; bits != 0; bits <<= kByteBits) bytes[size++] = static_cast<char>(bits >> (kIntegerBits - kByteBits));
  bytes[0] = static_cast<char>(size - 1);
  bytes_.append(bytes.data(), size);
}

void ArchiveWriter::write(const std::string& text) {
  write_integer(text.size());
  bytes_ += text;
}

void ArchiveReader::fail() {
  has_failed_ = true;
  bytes_ = {};
}

std::uint64_t ArchiveReader::read_integer() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < kIntegerBits; shift += kGroupBits) {
    if (bytes_.empty()) break;
    const auto byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    const std::uint64_t group = byte & (kMoreFollows - 1);
    if (group << shift >> shift != group) break;  // more than 64 bits
    value |= group << shift;
    if (byte < kMoreFollows) return value;
  }
  fail();
  return 0;
}

std::uint64_t ArchiveReader::read_bits() {
  const std::size_t count = read_count();
  if (!require(count <= sizeof(std::uint64_t))) return 0;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t byte = static_cast<unsigned char>(bytes_[i]);
    bits |= byte << (kIntegerBits - kByteBits * (static_cast<int>(i) + 1));
  }
  bytes_.remove_prefix(count);
  return bits;
}

std::size_t ArchiveReader::read_count() {
  const std::uint64_t count = read_integer();
  return require(count <= bytes_.size()) ? count : 0;
}

void ArchiveReader::read(std::string& text) {
  const std::size_t size = read_count();
  text = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
}

}  // namespace berth
