/// Texts as numbers, so that records are small and texts are compared once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::ledger::detail {

/// The number of a text in a `Names`, from 0 in the order of arrival.
using NameId = std::uint32_t;

/// Open addressing over one block of bytes: about 20 bytes in addition to each text.
class Names {
 public:
  Names();

  [[nodiscard]] NameId intern(std::string_view text);
  [[nodiscard]] std::optional<NameId> find(std::string_view text) const;
  /// Valid until the next `intern`.
  [[nodiscard]] std::string_view text(NameId id) const {
    return {bytes_.data() + starts_[id], static_cast<std::size_t>(starts_[id + 1] - starts_[id])};
  }
  [[nodiscard]] std::size_t size() const { return hashes_.size(); }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.bytes_, self.starts_);
    if constexpr (Archive::kReads) archive.require(self.restore());
  }

 private:
  static constexpr NameId kNone = UINT32_MAX;

  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  void grow();
  /// Rebuilds the table after the texts were read. Returns whether they are valid and distinct.
  [[nodiscard]] bool restore();

  std::string bytes_;
  std::vector<std::uint64_t> starts_ = {0};  ///< of each text, and the end
  std::vector<std::uint32_t> hashes_;        ///< by NameId
  std::vector<NameId> slots_;                ///< a power of two
};

}  // namespace berth::ledger::detail
