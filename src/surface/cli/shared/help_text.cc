#include "surface/cli/shared/help_text.h"

#include <algorithm>

namespace berth::cli {
namespace {

/// The column of descriptions: after the names of options and verbs, and two spaces.
constexpr std::size_t kDescriptionColumn = 30;

/// The column in which a broken line continues; the length of the line if it must not be broken.
std::size_t column_of_text(std::string_view line) {
  if (!line.starts_with(' ')) return 0;
  const bool has_description = line.size() > kDescriptionColumn && line[kDescriptionColumn] != ' ' &&
                               line.substr(kDescriptionColumn - 2, 2) == "  ";
  return has_description ? kDescriptionColumn : line.size();
}

void append_wrapped(std::string line, std::string& text) {
  const std::size_t column = column_of_text(line);
  while (line.size() > kHelpColumns) {
    std::size_t end = line.rfind(' ', kHelpColumns);
    if (end == std::string::npos || end <= column) end = line.find(' ', column + 1);  // a long word
    if (end == std::string::npos) break;
    text.append(line, 0, end).append("\n");
    line = std::string(column, ' ') + line.substr(end + 1);
  }
  text.append(line).append("\n");
}

}  // namespace

std::string wrapped_help(std::string_view help) {
  std::string text;
  while (!help.empty()) {
    const std::size_t end = std::min(help.find('\n'), help.size());
    append_wrapped(std::string(help.substr(0, end)), text);
    help.remove_prefix(std::min(end + 1, help.size()));
  }
  return text;
}

}  // namespace berth::cli
