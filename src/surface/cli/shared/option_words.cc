#include "surface/cli/shared/option_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace berth::cli {

Result<std::vector<std::string>> parse_policies(std::string_view text, const std::vector<std::string>& known) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string name(text.substr(0, comma));
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return invalid(fmt::format("--policies: wanted some of {}, found {}", fmt::join(known, ","), in_quotes(name)));
    }
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return invalid(fmt::format("--policies: wanted each policy once, found {} twice", in_quotes(name)));
    }
    names.push_back(name);
    if (comma == text.size()) return names;
    text.remove_prefix(comma + 1);
  }
}

Result<OutputFormat> parse_format(std::string_view text) {
  if (text == "table") return OutputFormat::kTable;
  if (text == "json") return OutputFormat::kJson;
  return invalid("--format: wanted table or json, found " + in_quotes(text));
}

}  // namespace berth::cli
