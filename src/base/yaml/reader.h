/// Typed reading of a YAML tree. Each value knows its key path, so that every message has one form:
/// `scenario.yaml:12:16: services[0].slo.latency_ms: wanted a number above 0, found "abc"`.
///
/// The first failure is kept and later ones are ignored: after it every read returns a harmless value, so the code that
/// reads a whole file checks once at its end (and before anything expensive).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "base/yaml/document.h"

namespace berth::yaml {

/// A failure in parts, for API answers with a field for each.
struct Failure {
  ErrorCode code = ErrorCode::kInvalidInput;
  TextPlace place;          ///< of the value, or of the unknown key
  std::string path;         ///< of the value: "spec.slo.latency_ms"; empty for the root
  std::string unknown_key;  ///< of the map at `path`; empty for other failures
  std::string wanted;       ///< empty, like `found`, where the message does not say both
  std::string found;
  std::string message;         ///< without place and path
  bool has_own_place = false;  ///< the message names a place in another file, and `path` the value that names the file

  /// The path of the value or of the unknown key.
  [[nodiscard]] std::string field() const;
};

/// About something that is accepted and probably not meant.
struct Warning {
  std::string path;  ///< of the value, as in Failure
  std::string text;  ///< a whole line: says where, and does not rely on `path`
};

/// Remembers the file's name, the first failure, and warnings.
class Report {
 public:
  explicit Report(std::string file) : file_(std::move(file)) {}

  [[nodiscard]] bool has_failed() const { return failure_.has_value(); }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// The failure in one text: "FILE:LINE:COLUMN: PATH: MESSAGE". Requires: has_failed().
  [[nodiscard]] Error failure() const;
  /// Requires: has_failed().
  [[nodiscard]] const Failure& parts() const { return *failure_; }
  /// Keeps the failure unless there is one. The parts `wanted` and `found` are taken from a message of the form
  /// "wanted .., found ..", if they are empty.
  void keep(Failure failure);

  /// Keeps the warning unless there is one with the same text.
  void warn(Warning warning);
  [[nodiscard]] const std::vector<Warning>& warnings() const { return warnings_; }

 private:
  std::string file_;
  std::optional<Failure> failure_;
  std::vector<Warning> warnings_;
};

/// Which numbers are accepted. `wanted` is the text for the message: "a number above 0".
struct NumberRule {
  Decimal min;
  bool is_min_allowed = true;
  Decimal max;
  bool is_max_allowed = true;
  std::string wanted;
};

/// min <= x <= max; 0 < x <= max; min < x < max.
[[nodiscard]] NumberRule number_from(const Decimal& min, const Decimal& max);
[[nodiscard]] NumberRule number_above_zero(const Decimal& max);
[[nodiscard]] NumberRule number_between(const Decimal& min, const Decimal& max);

/// Bounds of a whole number, both allowed.
struct WholeRange {
  std::int64_t min = 0;
  std::int64_t max = INT64_MAX;
};

/// A place in the tree where a value is, or should be. Cheap to copy except for its path; valid as long as the tree and
/// the report.
class Value {
 public:
  Value(const Node& root, Report& report);

  /// Written and not null.
  [[nodiscard]] bool is_present() const;
  /// Written, possibly as null.
  [[nodiscard]] bool is_written() const { return node_ != nullptr; }
  [[nodiscard]] bool is_map() const;
  [[nodiscard]] bool has_failed() const { return report_->has_failed(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// "FILE:LINE:COLUMN: PATH", for checks that are only possible once the file is read.
  [[nodiscard]] std::string where() const;

  /// Fails at any key of the map that is not in `known`, with the nearest known one in the message. A value that is not
  /// a map fails, too.
  void check_keys(std::span<const std::string_view> known) const;
  void check_keys(std::initializer_list<std::string_view> known) const {
    check_keys(std::span(known.begin(), known.size()));
  }
  /// The value of a key; absent if this is not a map or has no such key.
  [[nodiscard]] Value at(std::string_view key) const;
  /// The keys of a map in the order of the file.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// The items of a list. A value that is not a list, or an empty list where that is not allowed, fails; `wanted` is
  /// the text for the message: "a list of GPUs".
  [[nodiscard]] std::vector<Value> items(std::string_view wanted, bool is_empty_allowed = true) const;

  /// The bytes of a scalar. In JSON it must be a string; for `number` and `whole`, a number.
  [[nodiscard]] std::string text(std::string_view wanted) const;
  /// A name: 1 to `length_max` bytes, printable, not only spaces.
  [[nodiscard]] std::string name(std::size_t length_max = 200) const;
  /// A number that the rule accepts, exactly; a whole number within the range, both bounds allowed.
  [[nodiscard]] Decimal number(const NumberRule& rule) const;
  [[nodiscard]] std::int64_t whole(WholeRange range) const;
  /// A whole number of 64 bits without sign, such as a seed: digits only.
  [[nodiscard]] std::uint64_t whole_unsigned() const;
  /// The text of a scalar as it is written, "1.50"; empty for anything else.
  [[nodiscard]] std::string_view written() const;
  /// `true` or `false`.
  [[nodiscard]] bool truth() const;
  /// The index of the word in `words`.
  [[nodiscard]] std::size_t choice(std::span<const std::string_view> words) const;
  [[nodiscard]] std::size_t choice(std::initializer_list<std::string_view> words) const {
    return choice(std::span(words.begin(), words.size()));
  }

  /// Fails here: "wanted W, found F", where F is the value here.
  void refuse(std::string_view wanted) const;
  /// The same, with the caller's description of the value found here.
  void refuse(std::string_view wanted, std::string_view found) const;
  /// The failure of the latter, which is not kept.
  [[nodiscard]] Failure refusal(std::string_view wanted, std::string_view found) const;
  /// Fails here with the caller's message, or with an error whose code is kept.
  void fail(std::string_view message) const;
  /// The same, with separate texts for what was wanted and found.
  void fail(std::string_view message, std::string_view wanted, std::string_view found) const;
  void fail_with(const Error& error) const;
  /// Fails with an error that names its own place; it is kept unchanged.
  void pass_on(const Error& error) const;
  /// Keeps a warning about this value in the report.
  void warn(std::string text) const { report_->warn({path_, std::move(text)}); }

 private:
  Value(const Node* node, TextPlace place, std::string path, Report* report)
      : node_(node), place_(place), path_(std::move(path)), report_(report) {}

  [[nodiscard]] Failure failure_here(std::string message) const;
  /// The text of a scalar that is of this kind or untyped.
  [[nodiscard]] std::string scalar(ScalarKind kind, std::string_view wanted) const;

  const Node* node_;  ///< null: absent
  TextPlace place_;   ///< of the node, or of the map that should contain it
  std::string path_;
  Report* report_;
};

}  // namespace berth::yaml
