/// An option of a verb as a row of a table: its names, its help, and the variable for its value.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace berth::cli {

/// The variable for the value; it must outlive the parsing. Its type determines what the option takes: a flag no word,
/// a list one word each time it is given, the others one word. The value of a plain text before the parsing is the
/// default that the help shows, unless it is empty.
using OptionTarget = std::variant<bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*>;

/// What is assumed about a value, as a sentence; nothing if its meaning is plain.
using ValueRemark = std::optional<std::string> (*)(std::string_view value);

/// Properties that few options have.
struct OptionTraits {
  bool is_required = false;                        ///< in a verb with subcommands: unless a subcommand is named
  bool is_split = false;                           ///< of a list: each word has several values, separated by commas
  bool ignores_value = false;                      ///< of a flag: "--all=false" is "--all"
  std::string_view environment = {};               ///< the environment variable with the value if no word is given
  std::string_view excludes = {};                  ///< an earlier option of the table that cannot be given as well
  std::span<const std::string_view> choices = {};  ///< the words that are accepted; empty: the verb checks them
  ValueRemark remark = nullptr;                    ///< printed as a warning before the verb runs; null: never
};

inline constexpr OptionTraits kRequired = {.is_required = true};

struct OptionRow {
  std::string names;    ///< "-o,--output"; without dashes it is a positional: "SCENARIO"
  std::string value;    ///< the placeholder in the help: "FILE"; empty for a flag
  std::string meaning;  ///< empty: the help hides the option
  OptionTarget target;
  OptionTraits traits = {};
};

/// Options in the order of the help.
using OptionTable = std::vector<OptionRow>;

/// The rows of all tables, in order.
[[nodiscard]] inline OptionTable joined_rows(std::initializer_list<OptionTable> tables) {
  OptionTable rows;
  for (const OptionTable& table : tables) rows.insert(rows.end(), table.begin(), table.end());
  return rows;
}

}  // namespace berth::cli
