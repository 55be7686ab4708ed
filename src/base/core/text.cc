#include "base/core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/core/control_text.h"

namespace berth {
namespace {

constexpr std::size_t kQuotedLengthMax = 48;

std::string_view trimmed(std::string_view text, std::size_t& column) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
    ++column;
  }
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Length of the well-formed UTF-8 sequence at the front (Unicode 15, table 3-7), or 0.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto is_tail = [&](std::size_t i, unsigned char low = 0x80, unsigned char high = 0xBF) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned char lead = byte(0);
  if (lead == 0) return 0;
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return is_tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned char low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : 0xBF;
    return is_tail(1, low, high) && is_tail(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned char low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xF4 ? 0x8F : 0xBF;
    return is_tail(1, low, high) && is_tail(2) && is_tail(3) ? 4 : 0;
  }
  return 0;
}

/// Levenshtein distance. O(a x b) on short words.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

Error error_at(std::string_view file, TextPlace place, std::string_view message) {
  return Error{ErrorCode::kInvalidInput, fmt::format("{}:{}:{}: {}", file, place.line, place.column, message)};
}

std::string in_quotes(std::string_view text) {
  std::string shown = "\"";
  const std::string_view begin = text.substr(0, kQuotedLengthMax);
  std::size_t control_end = 0;
  for (std::size_t at = 0; at < begin.size(); ++at) {
    control_end = std::max(control_end, at + control_size(begin, at));
    if (at < control_end) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(begin[at]));
    } else {
      shown += begin[at];
    }
  }
  // A truncated or invalid sequence must not make the message itself ill-formed.
  while (true) {
    const std::size_t bad = find_bad_utf8(shown);
    if (bad == std::string::npos) break;
    shown[bad] = '?';
  }
  shown += text.size() > kQuotedLengthMax ? "...\"" : "\"";
  return shown;
}

LineReader::LineReader(std::string_view text) : rest_(text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (rest_.substr(0, kByteOrderMark.size()) == kByteOrderMark) rest_.remove_prefix(kByteOrderMark.size());
}

bool LineReader::next() {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
  ++number_;
  return true;
}

bool LineReader::is_rest_blank() const {
  return std::all_of(rest_.begin(), rest_.end(),
                     [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
}

bool is_blank(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return c == ' ' || c == '\t'; });
}

tl::expected<std::vector<Field>, RowFault> split_row(std::string_view row, std::size_t field_count_max) {
  const auto refuse = [](std::size_t column, std::string message) {
    return tl::unexpected(RowFault{.column = column, .message = std::move(message)});
  };
  std::vector<Field> fields;
  std::size_t begin = 0;
  while (true) {
    if (fields.size() == field_count_max)
      return refuse(1, fmt::format("wanted at most {} fields, found more", field_count_max));
    std::size_t end = row.find(',', begin);
    std::size_t column = begin + 1;
    std::string_view text = trimmed(row.substr(begin, end == std::string_view::npos ? end : end - begin), column);
    if (!text.empty() && text.front() == '"') {
      const std::size_t open = column - 1;
      const std::size_t close = row.find('"', open + 1);
      if (close == std::string_view::npos) return refuse(column, "wanted a closing quote, found the end of the line");
      text = row.substr(open + 1, close - open - 1);
      end = row.find(',', close);
      std::size_t rest_column = close + 2;
      const std::string_view rest =
          trimmed(row.substr(close + 1, end == std::string_view::npos ? end : end - close - 1), rest_column);
      if (!rest.empty()) {
        return refuse(rest_column, "wanted a comma after the closing quote, found " + in_quotes(rest));
      }
      ++column;
    }
    fields.push_back({text, column});
    if (end == std::string_view::npos) return fields;
    begin = end + 1;
  }
}

std::size_t find_bad_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = sequence_length(text.substr(at, 4));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

Result<std::int64_t> parse_count(std::string_view text, std::int64_t max) {
  const auto refuse = [&] {
    return invalid(fmt::format("wanted a whole number from 0 to {}, found {}", max, in_quotes(text)));
  };
  if (text.empty() || text.size() > 19) return refuse();
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return refuse();
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (value > static_cast<std::uint64_t>(max)) return refuse();
  return static_cast<std::int64_t>(value);
}

std::string spelling_hint(std::string_view found, std::span<const std::string_view> known) {
  constexpr std::size_t kLengthMax = 60;
  if (found.size() > kLengthMax) return "";
  std::string_view nearest;
  std::size_t distance_min = std::max<std::size_t>(found.size() / 2, 1) + 1;
  for (const std::string_view word : known) {
    const std::size_t distance = edit_distance(found, word);
    if (distance >= distance_min) continue;
    distance_min = distance;
    nearest = word;
  }
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

}  // namespace berth
