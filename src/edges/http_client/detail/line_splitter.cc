#include "edges/http_client/detail/line_splitter.h"

namespace berth::edges::detail {

LineSplitter::State LineSplitter::add(std::string_view bytes, const std::function<bool(std::string_view)>& take) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (begun_.size() + part.size() > line_bytes_max_) return State::kTooLong;
    begun_ += part;
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + 1);
    if (begun_.ends_with('\r')) begun_.pop_back();
    const bool goes_on = take(begun_);
    begun_.clear();
    if (!goes_on) return State::kStopped;
  }
  return State::kGoesOn;
}

}  // namespace berth::edges::detail
