#include "ledger/books/detail/sections.h"

#include <cstring>
#include <utility>

#include "base/core/archive.h"
#include "live/chain/short_hash.h"

namespace berth::ledger::detail {
namespace {

/// Increment when the saved format changes: older saved books are then rebuilt.
constexpr std::string_view kPurpose = "berth books 1\n";

/// The table of contents; its own place is in the last bytes.
struct Contents {
  std::string label;
  std::vector<Section> sections;
};
constexpr std::size_t kPlaceSize = sizeof(Section);

/// The bytes of a section, if their hash matches.
std::optional<std::string_view> section_bytes(std::string_view all, const Section& section) {
  if (section.begin > all.size() || section.size > all.size() - section.begin) return std::nullopt;
  const std::string_view bytes = all.substr(section.begin, section.size);
  return chain::short_hash(bytes) == section.hash ? std::optional(bytes) : std::nullopt;
}

std::optional<Contents> read_contents(std::string_view bytes) {
  if (!bytes.starts_with(kPurpose) || bytes.size() < kPurpose.size() + kPlaceSize) return std::nullopt;
  Section place;
  std::memcpy(&place, bytes.data() + bytes.size() - kPlaceSize, kPlaceSize);
  const auto own = section_bytes(bytes, place);
  if (!own) return std::nullopt;
  ArchiveReader archive(*own);
  Contents contents;
  archive(contents);
  return archive.is_at_end() ? std::optional(std::move(contents)) : std::nullopt;
}

}  // namespace

SectionWriter::SectionWriter(std::string_view label, const std::function<void(std::string_view)>& sink)
    : sink_(sink), label_(label) {
  sink_(kPurpose);
  written_ = kPurpose.size();
}

Section SectionWriter::write(std::string_view bytes) {
  const Section section{.begin = written_, .size = bytes.size(), .hash = chain::short_hash(bytes)};
  sink_(bytes);
  written_ += bytes.size();
  return section;
}

void SectionWriter::add(std::string_view bytes) { sections_.push_back(write(bytes)); }

void SectionWriter::finish() {
  ArchiveWriter archive;
  archive(Contents{.label = label_, .sections = sections_});
  const Section place = write(archive.bytes());
  sink_({reinterpret_cast<const char*>(&place), kPlaceSize});
}

std::optional<Sections> read_sections(std::string_view bytes) {
  auto contents = read_contents(bytes);
  if (!contents) return std::nullopt;
  Sections sections{.label = std::move(contents->label), .list = {}};
  sections.list.reserve(contents->sections.size());
  for (const Section& section : contents->sections) {
    const auto own = section_bytes(bytes, section);
    if (!own) return std::nullopt;
    sections.list.push_back(*own);
  }
  return sections;
}

std::optional<std::string> read_label(std::string_view bytes) {
  auto contents = read_contents(bytes);
  return contents ? std::optional(std::move(contents->label)) : std::nullopt;
}

}  // namespace berth::ledger::detail
