/// What every verb of the program shares: where it prints, how it reads files and draws reports, and the exit status
/// that it leaves.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "domain/ports/http_client.h"

// Only named here: a verb includes what it draws, the others do not.
namespace berth {
struct PackingProblem;
struct Scenario;
}  // namespace berth
namespace berth::forecast {
struct BacktestResult;
}  // namespace berth::forecast
namespace berth::ledger {
struct CostOverview;
struct Invoice;
}  // namespace berth::ledger
namespace berth::packing {
struct PackResult;
}  // namespace berth::packing
namespace berth::placement {
struct StudyPage;
}  // namespace berth::placement
namespace berth::purchase {
struct CommitComparison;
struct SpotScore;
struct SpotStudy;
}  // namespace berth::purchase
namespace berth::purchase::advise {
struct AdviceCase;
}  // namespace berth::purchase::advise
namespace berth::scale {
struct Comparison;
}  // namespace berth::scale
namespace berth::sched {
struct Comparison;
}  // namespace berth::sched
namespace berth::study {
struct CaseResult;
struct PackingReplay;
struct ReplayResult;
struct SizeResult;
}  // namespace berth::study

namespace berth::cli {

using ReplayReportRenderer = std::function<std::string(const Scenario&, const study::ReplayResult&)>;
using SizeReportRenderer = std::function<std::string(const study::SizeResult&)>;
/// The replay may be absent.
using PackReportRenderer =
    std::function<std::string(const PackingProblem&, const packing::PackResult&, const study::PackingReplay*)>;
/// Of a trace with that name.
using ForecastReportRenderer = std::function<std::string(const std::string& trace, const forecast::BacktestResult&)>;
/// Of a file of windows with that name.
using SpotReportRenderer = std::function<std::string(const std::string& windows, const purchase::SpotStudy&,
                                                     const std::vector<purchase::SpotScore>&)>;
using CommitReportRenderer = std::function<std::string(const purchase::CommitComparison&)>;
using ScaleReportRenderer = std::function<std::string(const scale::Comparison&)>;
using AdviseReportRenderer = std::function<std::string(const purchase::advise::AdviceCase&)>;
/// Of a ledger with that name.
using CostReportRenderer = std::function<std::string(const std::string& ledger, const ledger::CostOverview&)>;
using InvoiceRenderer = std::function<std::string(const ledger::Invoice&)>;
using PlaceReportRenderer = std::function<std::string(const placement::StudyPage&)>;
using CaseReportRenderer = std::function<std::string(const Scenario&, const study::CaseResult&)>;
using ScheduleReportRenderer = std::function<std::string(const sched::Comparison&)>;

/// What draws the page of --report, by verb; each is needed for --report only.
struct ReportRenderers {
  ReplayReportRenderer replay;
  SizeReportRenderer size;
  PackReportRenderer pack;
  ForecastReportRenderer forecast;
  SpotReportRenderer spot;
  CommitReportRenderer commit;
  ScaleReportRenderer scale;
  AdviseReportRenderer advise;
  CaseReportRenderer cases;
  CostReportRenderer cost = {};
  PlaceReportRenderer place = {};
  InvoiceRenderer invoice = {};
  ScheduleReportRenderer schedule = {};
};

struct UpCall;
/// Runs `berth up` until it is asked to stop; returns the exit status.
using UpRunner = std::function<int(const UpCall&)>;

/// Makes the HTTP client of a verb that talks to a server.
using HttpClientMaker = std::function<std::unique_ptr<HttpClient>()>;

/// What a verb works with.
struct VerbContext {
  std::FILE* in = stdin;  ///< for `-f -` only
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  int status = 0;
  const Files* files = nullptr;  ///< borrowed; required
  ReportRenderers reports = {};
  UpRunner run_up = nullptr;                   ///< for `up` only
  HttpClientMaker make_http_client = nullptr;  ///< for the verbs in client/ only

  /// Where progress is shown: `err` if it is a terminal that understands colours and cursor movement, else nothing.
  [[nodiscard]] std::FILE* progress() const;
  /// Whether tables have colours: `out` is such a terminal, and NO_COLOR is not set.
  [[nodiscard]] bool has_colour() const;
  /// Whether `out` is such a terminal: then a screen can be drawn again and again.
  [[nodiscard]] bool is_live_terminal() const;
};

/// How a verb prints: for people, or for programs.
enum class OutputFormat { kTable, kJson };

/// The exit status of a failure: 2 for bad or missing input, 1 for trouble of the outside world, 130 for an interrupt,
/// 6 if a server did not answer in time, 7 if there is none.
[[nodiscard]] int exit_status(ErrorCode code);

/// Ends a verb: its text goes to `out`, or "berth: message" to `err`, and the status is set.
void finish(VerbContext& context, const Result<std::string>& outcome);

}  // namespace berth::cli
