#include "surface/report/page_parts.h"

#include "base/ensure.h"

namespace berth::report {
namespace {

const std::string& part_of(const PageParts& parts, std::string_view mark) {
  for (const auto& [name, text] : parts) {
    if (name == mark) return text;
  }
  ENSURE(false && "a mark of the frame");
  return parts.front().second;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string fill_page(std::string_view frame, const PageParts& parts) {
  std::string page;
  while (true) {
    const std::size_t open = frame.find("{{");
    page += frame.substr(0, open);
    if (open == std::string_view::npos) return page;
    const std::size_t close = frame.find("}}", open);
    ENSURE(close != std::string_view::npos);
    page += part_of(parts, frame.substr(open + 2, close - open - 2));
    frame.remove_prefix(close + 2);
  }
}

}  // namespace berth::report
