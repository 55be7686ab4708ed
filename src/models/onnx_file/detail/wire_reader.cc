#include "models/onnx_file/detail/wire_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/core/ensure.h"

namespace berth::models::detail {
namespace {

// Between large weights there are a few hundred bytes each.
constexpr std::size_t kBufferBytes = 16'384;

// Most names: they come out of the buffer.
constexpr std::size_t kShortTextBytes = 256;

constexpr int kVarintBytesMax = 10;
constexpr int kVarintBits = 7;
constexpr std::uint64_t kTagKindBits = 3;

}  // namespace

WireSource::WireSource(const OpenFile& file) : file_(file), bytes_(file.stamp().bytes) {}

std::uint8_t WireSource::byte_at(std::uint64_t offset) {
  ENSURE(offset < bytes_);
  if (offset < buffer_begin_ || offset - buffer_begin_ >= buffer_.size()) fill(offset);
  if (has_failed()) return 0;
  return static_cast<std::uint8_t>(buffer_[static_cast<std::size_t>(offset - buffer_begin_)]);
}

void WireSource::fill(std::uint64_t offset) {
  buffer_begin_ = offset;
  buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kBufferBytes, bytes_ - offset)));
  const auto count = file_.read(offset, buffer_);
  if (!count) {
    if (!error_) error_ = count.error();
  } else if (*count < buffer_.size()) {
    refuse("wanted a file that does not change, found one that has become shorter");
  }
}

std::string WireSource::text_of(Extent extent) {
  std::string text(static_cast<std::size_t>(extent.bytes()), '\0');
  if (text.size() <= kShortTextBytes) {
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(byte_at(extent.begin + i));
    return text;
  }
  const auto count = file_.read(extent.begin, text);
  if (!count) {
    if (!error_) error_ = count.error();
  } else if (*count < text.size()) {
    refuse("wanted a file that does not change, found one that has become shorter");
  }
  return text;
}

void WireSource::refuse(std::string message) {
  if (!error_) error_ = Error{ErrorCode::kInvalidInput, std::move(message)};
}

bool WireFields::next() {
  if (at_ >= end_ || source_.has_failed()) return false;
  const std::uint64_t begin = at_;
  const std::uint64_t tag = read_varint(at_, end_);
  if (source_.has_failed()) return false;
  const std::uint64_t field = tag >> kTagKindBits;
  if (field == 0 || field > std::numeric_limits<std::uint32_t>::max()) {
    source_.refuse(fmt::format("wanted an ONNX file, found no field at byte {}", begin));
    return false;
  }
  field_ = static_cast<std::uint32_t>(field);
  switch (tag & ((1U << kTagKindBits) - 1)) {
    case 0:
      kind_ = Kind::kNumber;
      number_ = read_varint(at_, end_);
      break;
    case 1:
      kind_ = Kind::kFixed;
      take(8);
      break;
    case 2:
      kind_ = Kind::kBytes;
      take(read_varint(at_, end_));
      break;
    case 5:
      kind_ = Kind::kFixed;
      take(4);
      break;
    default:
      source_.refuse(fmt::format("wanted an ONNX file, found no field at byte {}", begin));
  }
  return !source_.has_failed();
}

void WireFields::take(std::uint64_t bytes) {
  if (source_.has_failed()) return;
  if (bytes > end_ - at_) {
    const bool is_cut_off = end_ == source_.whole().end;
    source_.refuse(fmt::format("wanted an ONNX file, found field {} of {} bytes at byte {}, where {} has {}", field_,
                               bytes, at_, is_cut_off ? "the file" : "the message around it", end_ - at_));
    return;
  }
  extent_ = {at_, at_ + bytes};
  at_ += bytes;
}

std::uint64_t WireFields::read_varint(std::uint64_t& at, std::uint64_t end) const {
  const std::uint64_t begin = at;
  std::uint64_t value = 0;
  for (int i = 0; i < kVarintBytesMax && at < end && !source_.has_failed(); ++i) {
    const std::uint8_t byte = source_.byte_at(at++);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << static_cast<unsigned>(i * kVarintBits);
    if ((byte & 0x80U) == 0) return value;
  }
  source_.refuse(fmt::format("wanted an ONNX file, found no number at byte {}", begin));
  return 0;
}

std::string WireFields::text(std::size_t bytes_max) const {
  if (extent_.bytes() > bytes_max) {
    source_.refuse(fmt::format("wanted a text of at most {} bytes in field {} at byte {}, found {}", bytes_max, field_,
                               extent_.begin, extent_.bytes()));
    return {};
  }
  return source_.text_of(extent_);
}

}  // namespace berth::models::detail
