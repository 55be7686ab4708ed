#include "surface/cli/profile/observe_run.h"

#include <fmt/format.h>

#include <utility>

#include "base/core/figure_text.h"
#include "base/core/text.h"
#include "domain/profile_book/times_report.h"
#include "edges/sqlite_store/profile_file.h"
#include "surface/cli/profile/wall_time.h"

namespace berth::cli {
namespace {

constexpr const char* kTimesPath = "/berth/v1/times";
constexpr const char* kMemoryPath = "/berth/v1/memory";

Result<std::vector<HttpField>> key_headers(const ObserveProfilesRequest& request, const Files& files) {
  if (!request.key_file) return std::vector<HttpField>();
  const auto text = files.read(*request.key_file);
  if (!text) return pass_on(text.error());
  const std::string key = text->substr(0, text->find_first_of("\r\n"));
  return std::vector<HttpField>{{.name = "Authorization", .value = "Bearer " + key}};
}

Result<std::string> ask(const HttpClient& client, const std::string& url, const std::vector<HttpField>& headers) {
  constexpr std::int64_t kStatusOk = 200;
  HttpCall call;
  call.url = url;
  call.headers = headers;
  auto reply = client.send(call);
  if (!reply) {
    // What it answers is no HTTP, too large, or breaks off.
    const bool is_bad = reply.error().code == ErrorCode::kUnavailable;
    return is_bad ? Result<std::string>(invalid(reply.error().message)) : pass_on(reply.error());
  }
  if (reply->status != kStatusOk) {
    return invalid(
        fmt::format("{}: wanted an answer of status 200, found {} {}", url, reply->status, in_quotes(reply->body)));
  }
  return std::move(reply->body);
}

Result<TimesReport> ask_report(const ObserveProfilesRequest& request, const VerbContext& context) {
  const auto headers = key_headers(request, *context.files);
  if (!headers) return pass_on(headers.error());
  const auto client = context.make_http_client();
  const auto times = ask(*client, request.url + kTimesPath, *headers);
  if (!times) return pass_on(times.error());
  const auto memory = ask(*client, request.url + kMemoryPath, *headers);
  if (!memory) return pass_on(memory.error());
  return profile_book::read_times_report({.url = request.url, .times = *times, .memory = *memory});
}

}  // namespace

Result<std::string> run_observe_profiles(const ObserveProfilesRequest& request, const VerbContext& context) {
  const auto report = ask_report(request, context);
  if (!report) return pass_on(report.error());
  const auto store = edges::open_profile_store(request.db, edges::ProfileFileMode::kWrite);
  if (!store) return pass_on(store.error());
  const auto added = (*store)->observe(*report, wall_time_us());
  if (!added) return pass_on(added.error());
  return fmt::format("{}: {} new batches of {}\n", request.db, with_separators(*added), request.url);
}

}  // namespace berth::cli
