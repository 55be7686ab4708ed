#include "edges/sqlite_store/detail/owner.h"

#include <fmt/format.h>

namespace berth::edges::detail {

StoreResult<void> check_owner(const Connection& connection, const Owner& owner, std::string_view advice) {
  const auto found = connection.integer("PRAGMA application_id", "read its header");
  if (!found) return tl::unexpected(found.error());
  const auto format = connection.integer("PRAGMA user_version", "read its header");
  if (!format) return tl::unexpected(format.error());
  const auto tables = connection.integer("SELECT count(*) FROM sqlite_schema", "read its tables");
  if (!tables) return tl::unexpected(tables.error());
  const bool is_new = *found == 0 && *format == 0 && *tables == 0;
  if (is_new) return {};
  if (*found != owner.application_id) {
    return tl::unexpected(StoreError{StoreFault::kForeign,
                                     fmt::format("{}: not written by this program: {}", connection.path(), advice)});
  }
  if (*format > owner.format) {
    return tl::unexpected(StoreError{
        StoreFault::kNewer,
        fmt::format("{}: written by a later version (format {}; this one reads up to {}): start that version",
                    connection.path(), *format, owner.format)});
  }
  return {};
}

std::string sql_of(const Owner& owner) {
  return fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", owner.application_id, owner.format);
}

}  // namespace berth::edges::detail
