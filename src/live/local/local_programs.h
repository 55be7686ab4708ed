/// Programs on the slices of this machine, and the gateway: between a session, the hands that run programs, and the
/// routes of the gateway.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/ports/process_hands.h"
#include "domain/values/endpoints.h"
#include "domain/values/request_record.h"
#include "live/local/device_source.h"
#include "live/programs/batch_reports.h"
#include "live/programs/program_book.h"
#include "live/programs/wanted_programs.h"

namespace berth::live {

class Session;

struct LocalProgramsOptions {
  std::int64_t epoch_us = 0;      ///< second 0 of the world, since 1970
  bool measures_load = false;     ///< the world takes what gateways count
  std::uint64_t first_table = 0;  ///< numbers of tables are greater
  DeviceUuid uuid_of = {};
  /// Writes the file of a simulated device of that name, before its program is started. Returns why it cannot. Empty:
  /// devices are real.
  std::function<std::optional<std::string>(const std::string& name, const std::string& text)> write_device = {};
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  std::function<void()> wake = [] {};  ///< `serve` has something to do; any thread
};

/// Where a gateway gets lines. Returns false once it is gone.
using LineSink = std::function<bool(std::string_view)>;

class LocalPrograms {
 public:
  /// `hands` is borrowed.
  LocalPrograms(ProcessHands& hands, LocalProgramsOptions options);
  LocalPrograms(const LocalPrograms&) = delete;
  LocalPrograms& operator=(const LocalPrograms&) = delete;

  /// Passes news between all of them. Called under the session's lock, at least several times per second.
  void serve(Session& session);

  /// Ends the program of a slice, by the slice's name, so that it is started again. Returns why it cannot, or nothing.
  /// Called under the session's lock.
  [[nodiscard]] std::string restart(const std::string& slice_name);

  // Any thread may call these.
  /// A `berth serve` that is ready, to be asked for the times of its batches.
  struct Server {
    ProgramKey program;
    std::string url;
    std::string key;
  };
  [[nodiscard]] std::vector<Server> servers() const;
  /// What one of them answered to `GET /berth/v1/times`.
  void take_times(const ProgramKey& program, std::string text);
  /// From now on the sink gets each table as a line, the present one first, and an empty line every five seconds.
  void follow(LineSink sink);
  /// Takes a report of a gateway. Returns up to which number its records are stored; nothing: too many reports wait.
  [[nodiscard]] std::optional<std::uint64_t> take_report(RequestReport report);
  [[nodiscard]] ServicePrograms programs_of(const std::string& tenant, const std::string& service) const;
  /// Why the hands would refuse the order; nothing: they would take it, or cannot be asked now.
  [[nodiscard]] std::optional<std::string> why_refused(const ProcessOrder& order) const;
  [[nodiscard]] bool separates_users() const { return hands_.separates_users(); }
  [[nodiscard]] std::optional<std::string> read_log(const std::string& slice, std::uint64_t generation,
                                                    std::size_t bytes_max);
  [[nodiscard]] EndpointTable table() const;

 private:
  void take_reports(Session& session);
  void add_batch_times(Session& session);
  void carry_out(Session& session, const ProgramOrders& orders);
  void start(const Session& session, const ProcessOrder& order, const std::vector<WantedProgram>& wanted);
  void send(const std::string& line);

  const LocalProgramsOptions options_;
  ProcessHands& hands_;
  ProgramBook book_;
  std::vector<WantedProgram> wanted_;  ///< in the present step
  bool knew_all_ = false;
  std::map<std::string, std::int64_t> looping_since_;  ///< by slice and generation: second of the world

  BatchReports batches_;
  std::int64_t batches_second_ = -1;  ///< of the world, when they were last added

  mutable std::mutex mutex_;                 ///< of all that follows
  std::map<ProgramKey, std::string> times_;  ///< answers that were not read yet
  std::mutex log_mutex_;                     ///< of calls that wait for the hands
  EndpointTable table_;
  std::map<std::pair<std::string, std::string>, ServicePrograms> views_;
  std::vector<LineSink> sinks_;
  std::vector<LineSink> new_sinks_;
  Micros sent_at_ = {};
  std::vector<RequestReport> reports_;
  std::map<std::string, std::uint64_t> stored_;  ///< by gateway
  std::uint64_t acknowledged_ = 0;
};

}  // namespace berth::live
