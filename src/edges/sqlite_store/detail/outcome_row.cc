#include "edges/sqlite_store/detail/outcome_row.h"

#include <fmt/format.h>

#include <utility>

#include "edges/sqlite_store/detail/narrow.h"
#include "live/chain/chain.h"
#include "live/chain/field_hash.h"

namespace berth::edges::detail {

StoreResult<KeyedOutcome> checked_outcome(StatementRun& run, const std::string& path) {
  KeyedOutcome outcome;
  outcome.key = run.digest(0);
  outcome.request = run.digest(1);
  outcome.wall_us = run.integer(2);
  outcome.status = narrow(run.integer(3));
  outcome.body = run.text(4);
  if (run.digest(5) == chain::outcome_hash(outcome) && run.is_well_typed()) return outcome;
  return damaged(path, fmt::format("outcome of key {}: not what was written", chain::hex_of(outcome.key)));
}

StoreResult<std::optional<KeyedOutcome>> find_outcome(Statement& select, const Sha256& key, const std::string& path) {
  StatementRun run = select.run();
  const auto stepped = run.bind(key).step();
  if (!stepped) return tl::unexpected(stepped.error());
  if (!*stepped) return std::nullopt;
  auto outcome = checked_outcome(run, path);
  if (!outcome) return tl::unexpected(outcome.error());
  return *std::move(outcome);
}

}  // namespace berth::edges::detail
