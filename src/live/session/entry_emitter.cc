#include "live/session/entry_emitter.h"

#include <cstddef>
#include <utility>
#include <variant>

#include "base/core/overloaded.h"

namespace berth::live {
namespace {

constexpr std::size_t kBlockSeconds = 60;

}  // namespace

void EntryEmitter::emit(Entry entry) {
  if (is_repeating_) return;
  announce(entry.at);
  listener_.entry(std::move(entry));
}

void EntryEmitter::announce(Instant at) {
  has_news_ = true;
  // An entry implies plain steps only at earlier instants.
  const auto plain_step = std::exchange(plain_step_, std::nullopt);
  if (plain_step == at) listener_.entry({.at = at, .what = Advanced{}});
}

void EntryEmitter::emit_event(const Event& event, Instant now) {
  std::visit(Overloaded{
                 [&](const ServiceSecond& second) { emit_second(second, now); },
                 // Orders are emitted before they are carried out.
                 [](const ServiceSet&) {},
                 [](const ServiceRemoved&) {},
                 [](const GpuScheduled&) {},
                 [](const PlanApproved&) {},
                 [](const PlanExpired&) {},
                 [](const PlanningPaused&) {},
                 [](const PlanningResumed&) {},
                 [](const NoChangesSet&) {},
                 [](const TimesMeasured&) {},
                 [](const SpeedMeasured&) {},
                 [&](const SolveFinished& finished) {
                   if (finished.question == known_question_) {
                     emit({.at = now, .what = SolutionArrived{finished.question}});
                   } else {
                     emit({.at = now, .what = EventSeen{event}});
                   }
                 },
                 [&](const auto&) { emit({.at = now, .what = EventSeen{event}}); },
             },
             event.what);
}

void EntryEmitter::emit_second(const ServiceSecond& second, Instant now) {
  if (is_repeating_ || are_seconds_told_ || second.second < 0) return;
  if (second.service.index >= blocks_.size()) blocks_.resize(second.service.index + std::size_t{1});
  std::optional<SecondsSeen>& block = blocks_[second.service.index];
  const auto next = [&] { return block->from_second + std::ssize(block->arrivals); };
  if (block && (next() != second.second || block->arrivals.size() >= kBlockSeconds)) emit_block(second.service, now);
  if (!block)
    block = SecondsSeen{.service = second.service, .from_second = second.second, .arrivals = {}, .queued = {}};
  block->arrivals.push_back(second.arrivals);
  block->queued.push_back(second.queued);
}

void EntryEmitter::emit_step(const StepAnswer& answer, Instant now) {
  if (is_repeating_) return;
  const bool is_second = now == Instant::at_second(now.second());
  // A second step at one instant is never implied.
  const bool is_first = std::exchange(stepped_at_, now) != now;
  // A step whose plan has actions is emitted before they begin.
  const bool acts = !answer.plan.actions.empty();
  const bool is_plain = is_second && is_first && !acts && !std::exchange(has_news_, false);
  if (is_plain) {
    plain_step_ = now;
  } else {
    emit({.at = now, .what = Stepped{}});
    has_news_ = false;
  }
}

void EntryEmitter::emit_block(ServiceId service, Instant now) {
  if (service.index >= blocks_.size() || !blocks_[service.index]) return;
  listener_.entry({.at = now, .what = std::move(*blocks_[service.index])});
  blocks_[service.index].reset();
}

void EntryEmitter::emit_blocks(Instant now) {
  for (std::uint32_t index = 0; index < blocks_.size(); ++index) emit_block({index}, now);
}

void EntryEmitter::emit_plain_step() {
  const auto plain_step = std::exchange(plain_step_, std::nullopt);
  if (plain_step) listener_.entry({.at = *plain_step, .what = Advanced{}});
}

bool EntryEmitter::record(const std::vector<Entry>& orders) {
  if (!records_first_) {
    for (const Entry& each : orders) emit(each);
    return true;
  }
  announce(orders.front().at);
  why_not_recorded_ = listener_.record(orders);
  if (why_not_recorded_) return false;
  set_recorded();
  return true;
}

void EntryEmitter::record_emitted() {
  if (records_first_ && !listener_.record({})) set_recorded();
}

}  // namespace berth::live
