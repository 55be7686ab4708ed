#include "models/rows/detail/npy_header.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <system_error>

#include "base/core/text.h"

namespace berth::models::detail {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kHeaderBytesMax = std::size_t{1} << 16U;
constexpr std::size_t kRankMax = 64;  // as in NumPy 2
constexpr std::size_t kElementBytesMax = std::size_t{1} << 24U;

/// Reads the literals of Python that a header has.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : rest_(text) {}

  /// Whether this comes next, which is then read.
  bool take(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  /// In single or double quotes, without a backslash.
  std::optional<std::string> text() {
    skip_spaces();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string found(rest_.substr(1, end - 1));
    if (found.find('\\') != std::string::npos) return std::nullopt;
    rest_.remove_prefix(end + 1);
    return found;
  }
  std::optional<bool> truth() {
    if (take("True")) return true;
    if (take("False")) return false;
    return std::nullopt;
  }
  /// At least 0; Python 2 wrote "3L".
  std::optional<std::int64_t> count() {
    skip_spaces();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc() || number < 0) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);
    return number;
  }
  /// "()", "(3,)", "(3, 4)".
  std::optional<std::vector<std::int64_t>> counts() {
    if (!take("(")) return std::nullopt;
    std::vector<std::int64_t> counts;
    while (!take(")")) {
      const auto next = count();
      if (!next || counts.size() == kRankMax) return std::nullopt;
      counts.push_back(*next);
      if (take(",")) continue;
      if (counts.size() == 1 || !take(")")) return std::nullopt;  // "(3)" is no tuple
      return counts;
    }
    return counts;
  }
  [[nodiscard]] bool is_at_end() {
    skip_spaces();
    return rest_.empty();
  }

 private:
  void skip_spaces() {
    const std::size_t first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }

  std::string_view rest_;
};

struct Entries {
  std::optional<std::string> descr;
  std::optional<bool> is_fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
};

/// The value of a key; false: an unknown or repeated key, or another kind of value.
bool read_entry(LiteralReader& reader, Entries& entries) {
  const auto key = reader.text();
  if (!key || !reader.take(":")) return false;
  if (*key == "descr" && !entries.descr) return (entries.descr = reader.text()).has_value();
  if (*key == "fortran_order" && !entries.is_fortran_order) {
    return (entries.is_fortran_order = reader.truth()).has_value();
  }
  if (*key == "shape" && !entries.shape) return (entries.shape = reader.counts()).has_value();
  return false;
}

std::optional<Entries> read_entries(std::string_view text) {
  LiteralReader reader(text);
  Entries entries;
  if (!reader.take("{")) return std::nullopt;
  while (!reader.take("}")) {
    if (!read_entry(reader, entries)) return std::nullopt;
    if (reader.take(",")) continue;
    if (!reader.take("}")) return std::nullopt;
    break;
  }
  if (!reader.is_at_end() || !entries.descr || !entries.is_fortran_order || !entries.shape) return std::nullopt;
  return entries;
}

NpyKind kind_of(char letter) {
  switch (letter) {
    case 'b':
      return NpyKind::kBool;
    case 'i':
      return NpyKind::kSigned;
    case 'u':
      return NpyKind::kUnsigned;
    case 'f':
      return NpyKind::kFloat;
    case 'U':
      return NpyKind::kUnicode;
    case 'S':
      return NpyKind::kText;
    default:
      return NpyKind::kOther;
  }
}

/// Such as "<f4"; of other types only the text is known.
void read_type(NpyHeader& header) {
  std::string_view rest = header.descr;
  if (!rest.empty() && std::string_view("<>|=").find(rest[0]) != std::string_view::npos) {
    header.is_big_endian = rest[0] == '>';
    rest.remove_prefix(1);
  }
  if (rest.size() < 2) return;
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), size);
  if (error != std::errc() || end != rest.data() + rest.size() || size > kElementBytesMax) return;
  header.kind = kind_of(rest[0]);
  header.element_bytes = header.kind == NpyKind::kUnicode ? size * 4 : size;
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8U | static_cast<unsigned char>(bytes[i]);
  return number;
}

}  // namespace

Result<NpyHeader> read_npy_header(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return invalid("wanted an array of NumPy (.npy), found other bytes");
  constexpr std::size_t kVersionAt = kMagic.size();
  constexpr std::size_t kSizeAt = kVersionAt + 2;
  const auto version = bytes.size() > kVersionAt ? static_cast<unsigned char>(bytes[kVersionAt]) : 0U;
  if (version < 1 || version > 3) return invalid(fmt::format("wanted version 1 to 3 of .npy, found {}", version));
  const std::size_t size_bytes = version == 1 ? 2 : 4;
  if (bytes.size() < kSizeAt + size_bytes) return invalid("wanted a header of .npy, found the end of the file");
  const std::size_t size = little_endian(bytes.substr(kSizeAt, size_bytes));
  const std::size_t begin = kSizeAt + size_bytes;
  if (size > kHeaderBytesMax || size > bytes.size() - begin) {
    return invalid(fmt::format("wanted a header of {} bytes, found {}", size, bytes.size() - begin));
  }
  const std::string_view text = bytes.substr(begin, size);
  auto entries = read_entries(text);
  if (!entries) {
    return invalid(
        fmt::format("wanted a header with descr (no records), fortran_order and shape, found {}", in_quotes(text)));
  }
  NpyHeader header{.descr = std::move(*entries->descr),
                   .is_fortran_order = *entries->is_fortran_order,
                   .shape = std::move(*entries->shape),
                   .bytes = begin + size};
  read_type(header);
  return header;
}

}  // namespace berth::models::detail
