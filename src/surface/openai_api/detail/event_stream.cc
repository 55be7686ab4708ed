#include "surface/openai_api/detail/event_stream.h"

#include <algorithm>
#include <utility>

#include "surface/openai_api/detail/call_fields.h"

namespace berth::openai::detail {
namespace {

constexpr std::size_t kLineBytesMax = std::size_t{1} << 20U;
constexpr std::string_view kDataField = "data:";
constexpr std::string_view kDoneText = "[DONE]";
constexpr std::size_t kDoneLineBytesMax = 32;  // enough to tell it

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// The text of a line "data: TEXT"; nothing if it is another line.
std::optional<std::string_view> data_in(std::string_view line) {
  if (!line.starts_with(kDataField)) return std::nullopt;
  line.remove_prefix(kDataField.size());
  while (line.starts_with(' ')) line.remove_prefix(1);
  return without_return(line);
}

bool is_done_text(std::string_view data) { return data.starts_with(kDoneText); }

/// Whether an object of usage may be in the event; null is none.
bool may_have_usage(std::string_view data) {
  constexpr std::string_view kKey = "\"usage\"";
  const std::size_t at = data.rfind(kKey);
  if (at == std::string_view::npos) return false;
  const std::size_t value = data.find_first_not_of(" :", at + kKey.size());
  return value != std::string_view::npos && data[value] == '{';
}

}  // namespace

std::string EventStream::take(std::string_view bytes) {
  std::string text = std::exchange(kept_, {});
  text += bytes;
  std::size_t begin = 0;  // of a line
  while (begin < text.size()) {
    const std::string_view rest = std::string_view(text).substr(begin);
    if (is_kept(rest)) {
      kept_ = rest;
      text.resize(begin);
      return text;
    }
    const std::size_t line_end = rest.find('\n');
    is_line_begun_ = line_end == std::string_view::npos;
    if (is_line_begun_) {
      if (line_.size() < kLineBytesMax) line_ += rest;
      return text;
    }
    if (line_.empty()) {
      end_line(without_return(rest.substr(0, line_end)));
    } else {
      line_ += rest.substr(0, line_end);
      end_line(without_return(line_));
      line_.clear();
    }
    begin += line_end + 1;
  }
  return text;
}

std::string EventStream::take_kept() { return std::exchange(kept_, {}); }

bool EventStream::is_kept(std::string_view rest) const {
  if (is_done_ || is_done_line_) return false;
  const std::size_t line_end = rest.find('\n');
  std::string line = line_.substr(0, kDoneLineBytesMax);
  line += rest.substr(0, std::min(line_end, kDoneLineBytesMax));
  const auto data = data_in(line);
  if (!data || data->empty() || !kDoneText.starts_with(data->substr(0, kDoneText.size()))) return false;
  if (line_end == std::string_view::npos) return true;
  const std::string_view next = rest.substr(line_end + 1);
  return next.empty() || next == "\r";
}

void EventStream::end_line(std::string_view line) {
  if (line.empty()) {
    is_done_ = is_done_ || is_done_line_;
    is_event_begun_ = false;
    is_done_line_ = false;
    return;
  }
  is_event_begun_ = true;
  const auto data = data_in(line);
  is_done_line_ = data && is_done_text(*data);
  if (data && may_have_usage(*data)) usage_event_ = *data;
}

std::string_view EventStream::ending() const {
  if (is_line_begun_) return "\n\n";
  return is_event_begun_ ? "\n" : "";
}

std::optional<TokenUsage> EventStream::usage() const { return usage_in(usage_event_); }

}  // namespace berth::openai::detail
