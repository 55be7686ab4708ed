/// Inspects a database's files before SQLite opens them, which would change them: reads the headers, the length, and
/// the WAL. The formats: https://sqlite.org/fileformat2.html and https://sqlite.org/walformat.html.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "domain/ports/journal_store.h"
#include "edges/sqlite_store/detail/owner.h"

namespace berth::edges::detail {

inline constexpr std::uint32_t kApplicationId = 0x42727468;  ///< "Brth"
inline constexpr std::uint32_t kFormat = 3;                  ///< of the tables (user_version); see tables.h

/// The expected owner of the database.
struct WantedDatabase {
  Owner owner;
  const char* name = "";  ///< for messages
};

inline constexpr WantedDatabase kWantedJournal{.owner = {.application_id = kApplicationId, .format = kFormat},
                                               .name = "a journal"};

struct Inspection {
  bool is_new = false;  ///< there is no database yet, or one whose creation was interrupted
  std::vector<std::string> notes;
};

/// Errors: kForeign, kNewer, kDamaged, and those of the calls. O(size of the WAL).
[[nodiscard]] StoreResult<Inspection> inspect(const std::string& path, const std::string& vfs,
                                              const WantedDatabase& wanted = kWantedJournal);

/// Whether there is a WAL with anything in it.
[[nodiscard]] StoreResult<bool> has_wal(const std::string& path, const std::string& vfs);

}  // namespace berth::edges::detail
