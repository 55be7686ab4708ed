#include "edges/grpc_server/oip/wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace berth::edges {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

// A tag is the number of a field, and in its lower bits how the field is written.
constexpr unsigned kWireBits = 3;
constexpr unsigned kWireMask = 7;
constexpr unsigned kWireVarint = 0;
constexpr unsigned kWire64Bits = 1;
constexpr unsigned kWireVariableLength = 2;
constexpr unsigned kWire32Bits = 5;

/// Below it a copy is cheaper than a slice of its own.
constexpr std::size_t kSliceBytesMin = 16'384;

/// The bytes of a buffer, slice after slice.
class BufferStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit BufferStream(std::span<const grpc::Slice> slices) : slices_(slices) {}

  bool Next(const void** bytes, int* size) override {
    while (index_ < slices_.size() && offset_ == slices_[index_].size()) {
      ++index_;
      offset_ = 0;
    }
    if (index_ == slices_.size()) return false;
    const std::size_t count = std::min(slices_[index_].size() - offset_, kPieceBytesMax);
    *bytes = slices_[index_].begin() + offset_;
    *size = static_cast<int>(count);
    offset_ += count;
    byte_count_ += static_cast<std::int64_t>(count);
    return true;
  }
  void BackUp(int count) override {
    offset_ -= static_cast<std::size_t>(count);
    byte_count_ -= count;
  }
  bool Skip(int count) override {
    const void* bytes = nullptr;
    int size = 0;
    while (count > 0 && Next(&bytes, &size)) {
      if (size > count) BackUp(size - count);
      count -= std::min(size, count);
    }
    return count == 0;
  }
  [[nodiscard]] std::int64_t ByteCount() const override { return byte_count_; }

 private:
  static constexpr std::size_t kPieceBytesMax = std::size_t{1} << 30U;

  std::span<const grpc::Slice> slices_;
  std::size_t index_ = 0;
  std::size_t offset_ = 0;  ///< in the slice
  std::int64_t byte_count_ = 0;
};

bool skip_number(CodedInputStream& input, unsigned wire) {
  std::uint64_t ignored = 0;
  if (wire == kWireVarint) return input.ReadVarint64(&ignored);
  if (wire == kWire64Bits) return input.Skip(8);
  return wire == kWire32Bits && input.Skip(4);  // groups: no message here has them
}

/// Takes the fields of variable length from `left`, until the end of the input or its limit.
ReadOutcome count_fields(CodedInputStream& input, std::span<const FieldToCount> fields, int& left) {
  while (const std::uint32_t tag = input.ReadTag()) {
    if ((tag & kWireMask) != kWireVariableLength) {
      if (!skip_number(input, tag & kWireMask)) return ReadOutcome::kBroken;
      continue;
    }
    if (--left < 0) return ReadOutcome::kTooManyFields;
    std::uint32_t size = 0;
    if (!input.ReadVarint32(&size) || size > INT32_MAX) return ReadOutcome::kBroken;
    const auto field = std::ranges::find(fields, static_cast<int>(tag >> kWireBits), &FieldToCount::number);
    if (field == fields.end()) {
      if (!input.Skip(static_cast<int>(size))) return ReadOutcome::kBroken;
      continue;
    }
    const CodedInputStream::Limit limit = input.PushLimit(static_cast<int>(size));
    const ReadOutcome inside = count_fields(input, field->inside, left);
    if (inside != ReadOutcome::kRead) return inside;
    if (input.BytesUntilLimit() != 0) return ReadOutcome::kBroken;
    input.PopLimit(limit);
  }
  return input.ConsumedEntireMessage() ? ReadOutcome::kRead : ReadOutcome::kBroken;
}

grpc::Slice slice_of(std::string text) {
  if (text.size() < kSliceBytesMin) return grpc::Slice(text);
  auto owned = std::make_unique<std::string>(std::move(text));
  char* const bytes = owned->data();
  const std::size_t size = owned->size();
  const auto free_text = [](void* last) { const std::unique_ptr<std::string> taken(static_cast<std::string*>(last)); };
  return {bytes, size, free_text, owned.release()};
}

void append_varint(std::string& text, std::uint64_t value) {
  std::array<std::uint8_t, 10> bytes{};
  const auto size = CodedOutputStream::WriteVarint64ToArray(value, bytes.data()) - bytes.data();
  text.append(bytes.begin(), bytes.begin() + size);
}

}  // namespace

ReadOutcome read_message(const grpc::ByteBuffer& buffer, std::span<const FieldToCount> fields,
                         google::protobuf::MessageLite& message) {
  std::vector<grpc::Slice> slices;
  if (buffer.Valid() && !buffer.Dump(&slices).ok()) return ReadOutcome::kBroken;
  BufferStream counted(slices);
  CodedInputStream input(&counted);
  int left = kFieldCountMax;
  const ReadOutcome outcome = count_fields(input, fields, left);
  if (outcome != ReadOutcome::kRead) return outcome;
  BufferStream parsed(slices);
  return message.ParseFromZeroCopyStream(&parsed) ? ReadOutcome::kRead : ReadOutcome::kBroken;
}

grpc::ByteBuffer write_message(const google::protobuf::MessageLite& message, int number,
                               std::vector<std::string> elements) {
  std::string head = message.SerializeAsString();
  std::vector<grpc::Slice> slices;
  for (std::string& element : elements) {
    append_varint(head, static_cast<unsigned>(number) << kWireBits | kWireVariableLength);
    append_varint(head, element.size());
    if (element.size() < kSliceBytesMin) {
      head += element;
      continue;
    }
    slices.push_back(slice_of(std::exchange(head, {})));
    slices.push_back(slice_of(std::move(element)));
  }
  slices.push_back(slice_of(std::move(head)));
  return {slices.data(), slices.size()};
}

}  // namespace berth::edges
