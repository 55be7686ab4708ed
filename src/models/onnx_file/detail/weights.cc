#include "models/onnx_file/detail/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/core/text.h"

namespace berth::models::detail {
namespace {

constexpr std::size_t kTextBytesMax = 4'096;
constexpr std::size_t kFileCountMax = 10'000;
constexpr int kRankMax = 256;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Fields of TensorProto (onnx.proto).
constexpr std::uint32_t kDims = 1;
constexpr std::uint32_t kDataType = 2;
constexpr std::uint32_t kFloatData = 4;
constexpr std::uint32_t kInt32Data = 5;
constexpr std::uint32_t kStringData = 6;
constexpr std::uint32_t kInt64Data = 7;
constexpr std::uint32_t kRawData = 9;
constexpr std::uint32_t kDoubleData = 10;
constexpr std::uint32_t kUint64Data = 11;
constexpr std::uint32_t kExternalData = 13;
constexpr std::uint32_t kDataLocation = 14;
constexpr std::int64_t kIsExternal = 1;

std::int64_t add_up(std::int64_t a, std::int64_t b) { return a > kMost - b ? kMost : a + b; }
std::int64_t times(std::int64_t a, std::int64_t b) { return b != 0 && a > kMost / b ? kMost : a * b; }

/// Of one element of a TensorProto.DataType in memory.
std::int64_t bits_of(std::int64_t type) {
  switch (type) {
    case 8:  // texts, whose bytes are counted
      return 0;
    case 21:  // UINT4, INT4, FLOAT4E2M1
    case 22:
    case 23:
      return 4;
    case 25:  // UINT2, INT2
    case 26:
      return 2;
    case 4:  // UINT16, INT16, FLOAT16, BFLOAT16
    case 5:
    case 10:
    case 16:
      return 16;
    case 1:  // FLOAT, INT32, UINT32
    case 6:
    case 12:
      return 32;
    case 7:  // INT64, DOUBLE, UINT64, COMPLEX64
    case 11:
    case 13:
    case 14:
      return 64;
    case 15:  // COMPLEX128
      return 128;
    default:
      return 8;
  }
}

bool is_typed_data(const WireFields& fields) {
  for (const std::uint32_t field : {kFloatData, kInt32Data, kInt64Data, kDoubleData, kUint64Data}) {
    if (fields.is_bytes(field) || fields.is_fixed(field) || fields.is_number(field)) return true;
  }
  return false;
}

}  // namespace

struct WeightCount::Weight {
  int rank = 0;
  std::int64_t elements = 1;
  std::int64_t type = 0;
  std::int64_t raw_bytes = 0;    ///< of raw data and of texts, as they are in memory
  std::int64_t typed_bytes = 0;  ///< as packed numbers: at least one for each element
  bool is_outside = false;
  std::string path;
  std::int64_t offset = 0;
  std::int64_t length = -1;  ///< -1: not written

  [[nodiscard]] std::int64_t bytes_of(std::int64_t count) const {
    const std::int64_t bits = bits_of(type);
    return bits >= 8 ? times(count, bits / 8) : count / 8 * bits + (count % 8 * bits + 7) / 8;
  }
};

void WeightCount::add_tensor(Extent tensor) { add(read(tensor)); }

void WeightCount::add_sparse_tensor(Extent tensor) {
  for (WireFields fields(source_, tensor); fields.next();) {
    if (fields.is_bytes(1) || fields.is_bytes(2)) add_tensor(fields.extent());  // values, indices
  }
}

std::vector<WeightsFile> WeightCount::files() const {
  std::vector<WeightsFile> files;
  files.reserve(files_.size());
  for (const auto& [path, bytes] : files_) files.push_back({.path = path, .bytes_min = bytes});
  return files;
}

WeightCount::Weight WeightCount::read(Extent tensor) {
  Weight weight;
  for (WireFields fields(source_, tensor); fields.next();) {
    if (fields.is_number(kDims)) {
      add_dimension(fields.number(), weight);
    } else if (fields.is_bytes(kDims)) {
      fields.for_each_packed([&](std::int64_t size) { add_dimension(size, weight); });
    } else if (fields.is_number(kDataType)) {
      weight.type = fields.number();
    } else if (fields.is_bytes(kRawData) || fields.is_bytes(kStringData)) {
      weight.raw_bytes = add_up(weight.raw_bytes, static_cast<std::int64_t>(fields.extent().bytes()));
    } else if (is_typed_data(fields)) {
      const bool is_packed =
          !fields.is_number(kInt32Data) && !fields.is_number(kInt64Data) && !fields.is_number(kUint64Data);
      weight.typed_bytes =
          add_up(weight.typed_bytes, is_packed ? static_cast<std::int64_t>(fields.extent().bytes()) : 1);
    } else if (fields.is_bytes(kExternalData)) {
      read_outside(fields.extent(), weight);
    } else if (fields.is_number(kDataLocation)) {
      weight.is_outside = fields.number() == kIsExternal;
    }
  }
  return weight;
}

void WeightCount::read_outside(Extent entry, Weight& weight) {
  std::string key;
  std::string value;
  for (WireFields fields(source_, entry); fields.next();) {
    if (fields.is_bytes(1)) key = fields.text(kTextBytesMax);
    if (fields.is_bytes(2)) value = fields.text(kTextBytesMax);
  }
  if (key == "location") weight.path = value;
  if (key != "offset" && key != "length") return;
  const auto count = parse_count(value, kMost);
  if (!count) source_.refuse(fmt::format("wanted the {} of weights in another file, found {}", key, in_quotes(value)));
  (key == "offset" ? weight.offset : weight.length) = count.value_or(0);
}

void WeightCount::add_dimension(std::int64_t size, Weight& weight) {
  ++weight.rank;
  if (weight.rank > kRankMax)
    source_.refuse(fmt::format("wanted weights of at most {} dimensions, found more", kRankMax));
  if (size < 0) source_.refuse(fmt::format("wanted dimensions of weights of at least 0, found {}", size));
  weight.elements = times(weight.elements, std::max<std::int64_t>(size, 0));
}

void WeightCount::add(const Weight& weight) {
  if (source_.has_failed()) return;
  if (!weight.is_outside) {
    // What the dimensions say beyond what the file holds is not believed.
    bytes_ = add_up(bytes_, add_up(weight.raw_bytes, weight.bytes_of(std::min(weight.elements, weight.typed_bytes))));
    return;
  }
  if (weight.path.empty() || find_bad_utf8(weight.path) != std::string::npos) {
    source_.refuse(fmt::format("wanted the location of weights in another file, found {}", in_quotes(weight.path)));
    return;
  }
  const std::int64_t length = weight.length >= 0 ? weight.length : weight.bytes_of(weight.elements);
  bytes_ = add_up(bytes_, length);
  std::uint64_t& bytes_min = files_[weight.path];
  bytes_min = std::max(bytes_min, static_cast<std::uint64_t>(add_up(weight.offset, length)));
  if (files_.size() > kFileCountMax) {
    source_.refuse(fmt::format("wanted weights in at most {} other files, found more", kFileCountMax));
  }
}

}  // namespace berth::models::detail
