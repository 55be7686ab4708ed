/// Shared by all verbs: where they print, how they read files, and their exit status.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "domain/ports/http_client.h"
#include "surface/cli/shared/progress_output.h"

namespace berth::cli {

struct UpCall;
/// Runs `berth up` until it is asked to stop; returns the exit status.
using UpRunner = std::function<int(const UpCall&)>;

struct ServeCall;
/// Runs `berth serve`, likewise.
using ServeRunner = std::function<int(const ServeCall&)>;

struct GatewayCall;
/// Runs `berth gateway`, likewise.
using GatewayRunner = std::function<int(const GatewayCall&)>;
struct OperatorCall;
/// Runs `berth operator`, likewise.
using OperatorRunner = std::function<int(const OperatorCall&)>;

struct WhyCall;
/// Explains a pod for `berth why`, likewise.
using PodExplainer = std::function<Result<std::string>(const WhyCall&)>;

/// What `berth optimize` needs of the program.
struct OptimizeOutside;

/// What `berth profile` needs of it.
struct ProfileOutside;

/// Makes the HTTP client of a verb that talks to a server.
using HttpClientMaker = std::function<std::unique_ptr<HttpClient>()>;

/// The environment of a verb.
struct VerbContext {
  std::FILE* in = stdin;  ///< for `-f -` only
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  int status = 0;
  const Files* files = nullptr;                ///< borrowed; required
  UpRunner run_up = nullptr;                   ///< for `up` only
  ServeRunner run_serve = nullptr;             ///< for `serve` only
  GatewayRunner run_gateway = nullptr;         ///< for `gateway` only
  OperatorRunner run_operator = nullptr;       ///< for `operator` only
  PodExplainer explain_pod = nullptr;          ///< for `why` only
  const OptimizeOutside* optimize = nullptr;   ///< for `optimize` only; borrowed
  const ProfileOutside* profile = nullptr;     ///< for `profile` only; borrowed
  HttpClientMaker make_http_client = nullptr;  ///< for the verbs in client/ only

  /// Progress is shown on `err`, also if it is no terminal.
  [[nodiscard]] ProgressOutput progress() const;
  /// Whether tables have colours: `out` is a terminal that understands them, and NO_COLOR is not set.
  [[nodiscard]] bool has_colour() const;
  /// Whether `out` is a terminal that understands cursor movement, on which a screen can be redrawn.
  [[nodiscard]] bool is_live_terminal() const;
};

/// For people, or for programs.
enum class OutputFormat { kTable, kJson };

/// The exit status of a failure: 2 for bad or missing input, 1 for a failure of the environment, 130 for an interrupt,
/// 6 if a server did not answer in time, 7 if there is none.
[[nodiscard]] int exit_status(ErrorCode code);

/// Prints "berth: warning: TEXT", a line on `err` for each.
void print_warnings(const std::vector<std::string>& warnings, std::FILE* err);

/// Ends a verb: its text goes to `out`, or "berth: message" to `err`, and the status is set.
void finish(VerbContext& context, const Result<std::string>& outcome);

}  // namespace berth::cli
