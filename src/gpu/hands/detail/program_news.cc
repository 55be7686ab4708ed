#include "gpu/hands/detail/program_news.h"

#include <fmt/format.h>

#include <variant>

#include "gpu/programs/program_plan.h"

namespace berth::edges::detail {

bool ProgramNews::start(const ProcessOrder& order, const std::optional<std::string>& gone) {
  if (gone) {
    refuse_order(order, *gone);
  } else if (mail_.size() >= kMailMax) {
    refuse_order(order, fmt::format("{} messages wait for the GPU agent", kMailMax));
  } else {
    mail_.emplace_back(StartProgram{order});
    return false;
  }
  return true;
}

void ProgramNews::stop(const std::string& slice, std::uint64_t generation) {
  // What is not sent here is seen in the next list, and stopped then.
  if (mail_.size() < kMailMax) mail_.emplace_back(StopProgram{.slice = slice, .generation = generation});
}

std::uint64_t ProgramNews::ask_for_log(const ReadProgramLog& question) {
  const std::uint64_t ticket = ++tickets_;
  if (mail_.size() >= kMailMax) {
    logs_.emplace(ticket, std::nullopt);
    return ticket;
  }
  mail_.emplace_back(question);
  asked_.push_back({.ticket = ticket, .slice = question.slice, .generation = question.generation});
  return ticket;
}

std::optional<std::string> ProgramNews::take_log_of(std::uint64_t ticket) {
  const auto found = logs_.find(ticket);
  if (found == logs_.end()) {
    for (LogQuestion& question : asked_) {
      if (question.ticket == ticket) question.ticket = 0;  // its caller waits no more
    }
    return std::nullopt;
  }
  std::optional<std::string> text = std::move(found->second);
  logs_.erase(found);
  return text;
}

Result<void> ProgramNews::check(const ProcessOrder& order) const {
  if (!knows_all_) return fail(ErrorCode::kUnavailable, "no GPU agent is connected that says what may run");
  return programs::check_order(order, offered_);
}

bool ProgramNews::take_offer(const programs::ProgramOffer& offer) {
  return programs::add_offer(offered_, offer).has_value();
}

void ProgramNews::ask_for_all() {
  knows_all_ = false;
  offered_ = {};
  mail_.emplace_front(ListPrograms{});
}

void ProgramNews::take(const ProcessReport& report) {
  reports_.insert_or_assign({report.order.slice, report.order.generation}, report);
}

void ProgramNews::take_log(const ProgramLog& log) {
  // Answers come in the order of the questions.
  if (asked_.empty() || asked_.front().slice != log.slice || asked_.front().generation != log.generation) return;
  if (asked_.front().ticket != 0) logs_.emplace(asked_.front().ticket, log.text);
  asked_.pop_front();
}

void ProgramNews::lose(const std::string& why) {
  knows_all_ = false;
  for (const ClientPacket& packet : mail_) {
    if (const auto* start = std::get_if<StartProgram>(&packet)) refuse_order(start->order, why);
  }
  mail_.clear();
  for (const LogQuestion& question : asked_) {
    if (question.ticket != 0) logs_.emplace(question.ticket, std::nullopt);
  }
  asked_.clear();
}

std::vector<ProcessReport> ProgramNews::take_reports() {
  std::vector<ProcessReport> taken;
  taken.reserve(reports_.size());
  for (auto& [place, report] : reports_) taken.push_back(std::move(report));
  reports_.clear();
  return taken;
}

void ProgramNews::send_mail(const std::function<bool(const ClientPacket&)>& send) {
  while (!mail_.empty() && send(mail_.front())) mail_.pop_front();
}

void ProgramNews::refuse_order(const ProcessOrder& order, const std::string& why) {
  ProcessReport report{.order = order, .phase = ProcessPhase::kFailed};
  report.message = why;
  take(report);
}

}  // namespace berth::edges::detail
