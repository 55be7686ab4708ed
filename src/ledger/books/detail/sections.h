/// Parts of saved bytes, each with a hash, that can be read without the others.
///
///   purpose, section .., contents (label and sections), the place of the contents
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::ledger::detail {

/// The place of a section.
struct Section {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::uint64_t hash = 0;  ///< detects accidental damage
};

/// Writes sections one after the other.
class SectionWriter {
 public:
  SectionWriter(std::string_view label, const std::function<void(std::string_view)>& sink);

  void add(std::string_view bytes);
  /// To be called at the end.
  void finish();

 private:
  Section write(std::string_view bytes);

  const std::function<void(std::string_view)>& sink_;
  std::string label_;
  std::vector<Section> sections_;
  std::uint64_t written_ = 0;
};

struct Sections {
  std::string label;
  std::vector<std::string_view> list;  ///< in the order in which they were added
};

/// Absent: the bytes are damaged, or of another version. O(bytes): all are hashed.
[[nodiscard]] std::optional<Sections> read_sections(std::string_view bytes);
/// The label alone. O(sections).
[[nodiscard]] std::optional<std::string> read_label(std::string_view bytes);

}  // namespace berth::ledger::detail
