/// What a client of the agent knows of programs, and what it has to say about them. Its caller locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/hands/protocol.h"

namespace berth::edges::detail {

class ProgramNews {
 public:
  static constexpr std::size_t kMailMax = 1024;

  /// By what the hands offer.
  [[nodiscard]] Result<void> check(const ProcessOrder& order) const;
  /// Whether the order was refused at once: `gone` says that there is no agent, or too much waits.
  [[nodiscard]] bool start(const ProcessOrder& order, const std::optional<std::string>& gone);
  void stop(const std::string& slice, std::uint64_t generation);
  /// A question for a log: a ticket for its answer.
  [[nodiscard]] std::uint64_t ask_for_log(const ReadProgramLog& question);
  [[nodiscard]] bool has_log(std::uint64_t ticket) const { return logs_.contains(ticket); }
  [[nodiscard]] std::optional<std::string> take_log_of(std::uint64_t ticket);

  /// After each hello.
  void ask_for_all();
  void take(const ProcessReport& report);
  void take_listed() { knows_all_ = true; }
  /// False: it cannot be read.
  [[nodiscard]] bool take_offer(const programs::ProgramOffer& offer);
  void take_log(const ProgramLog& log);
  /// The connection is lost: orders that were not sent are reported as failed.
  void lose(const std::string& why);

  [[nodiscard]] std::vector<ProcessReport> take_reports();
  [[nodiscard]] bool knows_all() const { return knows_all_; }
  [[nodiscard]] bool has_mail() const { return !mail_.empty(); }
  /// Sends until `send` returns false.
  void send_mail(const std::function<bool(const ClientPacket&)>& send);

 private:
  struct LogQuestion {
    std::uint64_t ticket = 0;
    std::string slice;
    std::uint64_t generation = 0;
  };

  void refuse_order(const ProcessOrder& order, const std::string& why);

  std::deque<ClientPacket> mail_;
  std::map<std::pair<std::string, std::uint64_t>, ProcessReport> reports_;  ///< not taken yet
  bool knows_all_ = false;
  programs::ProgramRules offered_;  ///< over this connection
  std::uint64_t tickets_ = 0;
  std::deque<LogQuestion> asked_;                             ///< in the order of the questions
  std::map<std::uint64_t, std::optional<std::string>> logs_;  ///< answers that wait for their caller
};

}  // namespace berth::edges::detail
