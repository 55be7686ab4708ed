#include "gpu/program_runner/known_users.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/core/text.h"

namespace berth::edges {
namespace {

constexpr std::int64_t kIdMax = UINT32_MAX;

std::string text_of_file(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// Calls `use` with the name and the numbers in the second and third place of each line (-1: no number), until it
/// returns true.
template <class Use>
void for_lines(const std::string& text, const Use& use) {
  const auto number = [](std::string_view word) { return parse_count(word, kIdMax).value_or(-1); };
  for (const std::string_view line : parts_of(text, '\n')) {
    constexpr std::size_t kPartsMin = 3;
    const auto parts = parts_of(line, ':');
    if (parts.size() >= kPartsMin && use(parts[0], number(parts[1]), number(parts[2]))) return;
  }
}

}  // namespace

UserFiles read_user_files() {
  return {.users = text_of_file("/etc/passwd"),
          .groups = text_of_file("/etc/group"),
          .subordinates = text_of_file("/etc/subuid")};
}

std::optional<std::string> known_user_in(const programs::UidRange& range, const UserFiles& files) {
  std::optional<std::string> found;
  const auto look_for = [&](const std::string& text, std::string_view kind, std::string_view file) {
    for_lines(text, [&](std::string_view name, std::int64_t, std::int64_t id) {
      if (id >= range.first && id <= range.last) found = fmt::format("{} {} ({}) of {}", kind, name, id, file);
      return found.has_value();
    });
  };
  look_for(files.users, "user", "/etc/passwd");
  if (!found) look_for(files.groups, "group", "/etc/group");
  if (found) return found;
  for_lines(files.subordinates, [&](std::string_view name, std::int64_t first, std::int64_t count) {
    const bool is_disjoint = first < 0 || count <= 0 || first > range.last || first + count <= range.first;
    if (!is_disjoint) {
      found = fmt::format("user {}, to whom /etc/subuid gives {}-{}", name, first, first + count - 1);
    }
    return found.has_value();
  });
  return found;
}

Result<void> check_no_known_user(const programs::UidRange& range) {
  const auto found = known_user_in(range, read_user_files());
  if (!found) return {};
  return invalid(fmt::format("uids: wanted a range that no user or group has, found {}", *found));
}

}  // namespace berth::edges
