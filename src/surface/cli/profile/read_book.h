/// What the database of profiles has, read at once.
#pragma once

#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/profile_store.h"
#include "domain/profile_book/in_force.h"

namespace berth::cli {

struct ProfileBook {
  std::vector<ProfileRun> runs;
  std::vector<ObservedSum> observed;
  std::vector<ObservedMemorySum> memory;
  std::vector<profile_book::ModelInForce> models;
};

/// Errors: as of edges::open_profile_store, and of its store.
[[nodiscard]] Result<ProfileBook> read_profile_book(const std::string& db);

/// The model of that name. kNotFound, with the names that there are.
[[nodiscard]] Result<profile_book::ModelInForce> find_profiled(const ProfileBook& book, const std::string& db,
                                                               const std::string& name);

}  // namespace berth::cli
