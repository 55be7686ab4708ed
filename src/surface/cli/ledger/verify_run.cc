#include "surface/cli/ledger/verify_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/json/writer.h"
#include "ledger/recount/recount.h"
#include "live/chain/field_hash.h"
#include "surface/cli/shared/ledger_folder.h"
#include "surface/cli/shared/progress_bar.h"

namespace berth::cli {
namespace {

using edges::LedgerHead;

/// The result of the comparison.
struct Verification {
  ledger::Report report;
  std::optional<LedgerHead> head;         ///< of a ledger on disk
  std::optional<std::string> difference;  ///< between the two ways, if any
};

Result<ledger::Report> count_again(const LedgerRequest& request, const VerbContext& context) {
  const auto text = open_ledger_text(request, context);
  if (!text) return pass_on(text.error());
  // About 200 bytes per line.
  const auto line_count = static_cast<double>(text->text().size()) / 200;
  ProgressBar bar(context.progress(), 1, steady_now);
  return ledger::recount(text->text(), text->name, [&](std::uint64_t lines) {
    bar.show("counting again", 0, std::min(1.0, static_cast<double>(lines) / (line_count + 1)));
  });
}

Result<Verification> verify(const LedgerRequest& request, const VerbContext& context) {
  Verification found;
  if (request.is_folder) {
    const auto file = open_ledger_file(request.path);
    if (!file) return pass_on(file.error());
    const auto head = (*file)->verify();
    if (!head) return ledger_failure(head.error());
    found.head = *head;
  }
  auto opened = open_ledger(request, context);
  if (!opened) return pass_on(opened.error());
  found.report = opened->books().report();
  const auto again = count_again(request, context);
  if (!again) return pass_on(again.error());
  found.difference = ledger::find_difference(found.report, *again);
  return found;
}

std::string verification_text(const Verification& found) {
  std::string text;
  if (found.head) {
    text += fmt::format("{} lines and {} batches match their hashes; hash of the last batch: {}\n", found.head->lines,
                        found.head->batches, chain::hex_of(found.head->hash));
  }
  text += fmt::format("{} lines, {} grains, {} months counted again by a second method: ", found.report.counts.lines,
                      found.report.grains, found.report.months.size());
  return text + (found.difference ? "they differ. " + *found.difference : "0 differences") + "\n";
}

std::string verification_json(const Verification& found) {
  json::Writer json;
  json.open_object().member("berth", 1).member("lines", found.report.counts.lines);
  json.member("grains", fmt::format("{}", found.report.grains));
  json.member("differences", found.difference ? 1 : 0).member("difference", found.difference);
  if (found.head) {
    json.member("batches", found.head->batches);
    json.member("hash", chain::hex_of(found.head->hash));
  }
  json.close_object();
  return json.take_line();
}

}  // namespace

Result<std::string> run_ledger_verify(const LedgerReportRequest& request, const VerbContext& context) {
  const auto found = verify(request.ledger, context);
  if (!found) return pass_on(found.error());
  std::string text = request.format == OutputFormat::kJson ? verification_json(*found) : verification_text(*found);
  if (!found->difference) return text;
  std::fwrite(text.data(), 1, text.size(), context.out);
  return fail(ErrorCode::kUnavailable, "the two counts differ: " + *found->difference);
}

}  // namespace berth::cli
