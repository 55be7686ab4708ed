/// Messages as gRPC carries them: read from its buffers and written to them.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

#include <span>
#include <string>
#include <vector>

namespace berth::edges {

/// A field, by its number, whose submessages are looked into when fields are counted.
struct FieldToCount {
  int number = 0;
  std::span<const FieldToCount> inside = {};
};

/// Fields of variable length in a message. An empty submessage has two bytes, and a hundred in memory: without a limit
/// a request could claim all memory.
inline constexpr int kFieldCountMax = 1'100'000;

enum class ReadOutcome {
  kRead,
  kBroken,         ///< it is no such message
  kTooManyFields,  ///< more than kFieldCountMax
};

/// Reads a message. Its fields of variable length are counted before it is parsed, and those inside of `fields`.
[[nodiscard]] ReadOutcome read_message(const grpc::ByteBuffer& buffer, std::span<const FieldToCount> fields,
                                       google::protobuf::MessageLite& message);

/// The message, followed by elements of its repeated field of bytes with this number. Large ones are not copied.
[[nodiscard]] grpc::ByteBuffer write_message(const google::protobuf::MessageLite& message, int number = 1,
                                             std::vector<std::string> elements = {});

}  // namespace berth::edges
