#include "base/core/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace berth {
namespace {

RC_GTEST_PROP(TextProperty, QuotedIsAlwaysShortWellFormedAndPrintable, (const std::vector<std::uint8_t>& bytes)) {
  const std::string text(bytes.begin(), bytes.end());
  const std::string shown = in_quotes(text);
  RC_ASSERT(find_bad_utf8(shown) == std::string::npos);
  RC_ASSERT(shown.size() <= 4 * 48 + 5);
  for (const char c : shown) RC_ASSERT((static_cast<unsigned char>(c) >= 0x20 && c != 0x7F));
}

RC_GTEST_PROP(TextProperty, LinesJoinedAgainAreTheText, (const std::vector<std::string>& parts)) {
  std::string text;
  std::vector<std::string> wanted;
  for (std::string part : parts) {
    std::erase_if(part, [](char c) { return c == '\n' || c == '\r'; });
    text += part + "\n";
    wanted.push_back(part);
  }
  RC_PRE(text.substr(0, 3) != "\xEF\xBB\xBF");
  LineReader reader(text);
  std::vector<std::string> found;
  while (reader.next()) found.emplace_back(reader.line());
  RC_ASSERT(found == wanted);
}

RC_GTEST_PROP(TextProperty, PlainFieldsComeBack, ()) {
  const auto fields = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab1. -")))));
  std::string row;
  for (const std::string& field : fields) row += (row.empty() && &field == fields.data() ? "" : ",") + field;
  const auto split = split_row(row, fields.size());
  RC_ASSERT(split.has_value());
  RC_ASSERT(split->size() == fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string& field = fields[i];
    const std::size_t first = field.find_first_not_of(' ');
    const std::string trimmed =
        first == std::string::npos ? "" : field.substr(first, field.find_last_not_of(' ') - first + 1);
    RC_ASSERT((*split)[i].text == trimmed);
    if (!trimmed.empty()) RC_ASSERT(row.substr((*split)[i].column - 1, trimmed.size()) == trimmed);
  }
}

}  // namespace
}  // namespace berth
