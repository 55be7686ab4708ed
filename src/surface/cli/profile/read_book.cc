#include "surface/cli/profile/read_book.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/core/text.h"
#include "edges/sqlite_store/profile_file.h"

namespace berth::cli {

Result<ProfileBook> read_profile_book(const std::string& db) {
  const auto store = edges::open_profile_store(db, edges::ProfileFileMode::kRead);
  if (!store) return pass_on(store.error());
  auto runs = (*store)->runs();
  if (!runs) return pass_on(runs.error());
  auto observed = (*store)->observed();
  if (!observed) return pass_on(observed.error());
  auto memory = (*store)->observed_memory();
  if (!memory) return pass_on(memory.error());
  ProfileBook book{
      .runs = *std::move(runs), .observed = *std::move(observed), .memory = *std::move(memory), .models = {}};
  book.models = profile_book::points_in_force(book.runs, book.observed);
  return book;
}

Result<profile_book::ModelInForce> find_profiled(const ProfileBook& book, const std::string& db,
                                                 const std::string& name) {
  constexpr std::size_t kNamesMax = 20;
  const auto found = std::ranges::find(book.models, name, &profile_book::ModelInForce::name);
  if (found != book.models.end()) return *found;
  std::vector<std::string> names;
  for (const auto& model : book.models) {
    if (names.size() < kNamesMax) names.push_back(model.name);
  }
  return fail(ErrorCode::kNotFound, fmt::format("{}: wanted a model that was profiled ({}), found {}", db,
                                                fmt::join(names, ", "), in_quotes(name)));
}

}  // namespace berth::cli
