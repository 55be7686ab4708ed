/// An option of a verb as a row of a table: what it is called, what the help says about it, and where its value goes.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace berth::cli {

/// Where the value goes; it must outlive the parsing. The type says what the option takes: a flag no word, a list one
/// word each time it is given, the others one word. What a plain text is before the parsing is the default that the
/// help shows, unless it is empty.
using OptionTarget = std::variant<bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*>;

/// What few options have.
struct OptionTraits {
  bool is_required = false;                        ///< in a verb with subcommands: unless one of them is named
  bool is_split = false;                           ///< of a list: each word is several, separated by commas
  bool ignores_value = false;                      ///< of a flag: "--all=false" is "--all"
  std::string_view environment = {};               ///< the variable that has the value if no word is given
  std::string_view excludes = {};                  ///< an earlier option of the table, which cannot be given as well
  std::span<const std::string_view> choices = {};  ///< the words that are accepted; empty: the verb checks them
};

inline constexpr OptionTraits kRequired = {.is_required = true};

struct OptionRow {
  std::string names;    ///< "-o,--output"; without dashes it is a positional: "SCENARIO"
  std::string value;    ///< what it takes, as the help shows it: "FILE"; of a flag nothing
  std::string meaning;  ///< empty: the help does not show the option
  OptionTarget target;
  OptionTraits traits = {};
};

/// In the order of the help.
using OptionTable = std::vector<OptionRow>;

/// The rows of all tables, in that order.
[[nodiscard]] inline OptionTable joined_rows(std::initializer_list<OptionTable> tables) {
  OptionTable rows;
  for (const OptionTable& table : tables) rows.insert(rows.end(), table.begin(), table.end());
  return rows;
}

}  // namespace berth::cli
