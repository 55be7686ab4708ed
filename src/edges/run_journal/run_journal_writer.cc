#include "edges/run_journal/run_journal_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/core/overloaded.h"
#include "base/json/writer.h"
#include "tier/enforce/choice_json.h"

namespace berth::edges {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} * 1024;

std::string_view event_name(world::SliceEvent event) {
  switch (event) {
    case world::SliceEvent::kCreated:
      return "slice_created";
    case world::SliceEvent::kDestroyed:
      return "slice_destroyed";
    case world::SliceEvent::kLost:
      return "slice_lost";
    case world::SliceEvent::kDraining:
      return "draining";
    case world::SliceEvent::kServing:
      return "serving";
    case world::SliceEvent::kRetrainingStarted:
      return "retraining_started";
    case world::SliceEvent::kRetrainingDone:
      return "retraining_done";
  }
  return "";
}

void append_number(std::string& text, std::string_view key, std::int64_t value) {
  const fmt::format_int digits(value);
  text.append(key).append(digits.data(), digits.size());
}

}  // namespace

RunJournalWriter::RunJournalWriter(const Scenario& scenario, ByteSink sink)
    : scenario_(scenario), sink_(std::move(sink)) {
  for (const ServiceSpec& service : scenario.services) service_names_.push_back(json::text_of(service.name));
  buffer_.reserve(kBufferBytes + 1024);
}

void RunJournalWriter::write(std::string_view policy, const sim::JournalRecord& record) {
  if (error_) return;
  if (policy != policy_ || policy_part_.empty()) begin_policy(policy);
  std::visit(Overloaded{[this](const sim::SecondRecord& second) { write_second(second); },
                        [this](const world::SliceRecord& slice) { write_slice(slice); },
                        [this](const sim::GpuRecord& gpu) { write_gpu(gpu); }, [](const world::PointRecord&) {},
                        [this](const sim::TierRecord& tier) { write_tier(tier); },
                        [this](const sim::WarmRecord& warm) { write_warm(warm); }},
             record);
  if (buffer_.size() >= kBufferBytes) hand_on();
}

void RunJournalWriter::read_name(ServiceId service) {
  service_names_.resize(std::max(service_names_.size(), std::size_t{service.index} + 1));
  service_names_[service.index] = json::text_of(scenario_.services[service.index].name);
  policy_part_.clear();  // the parts of lines are rebuilt
}

void RunJournalWriter::begin_policy(std::string_view policy) {
  policy_ = policy;
  policy_part_ = ",\"policy\":" + json::text_of(policy) + ",\"type\":\"";
  second_parts_.clear();
  for (const std::string& service : service_names_) {
    second_parts_.push_back(policy_part_ + "second\",\"service\":" + service + ",\"second\":");
  }
}

void RunJournalWriter::write_second(const sim::SecondRecord& record) {
  append_number(buffer_, "{\"t_us\":", record.at.micros());
  append_number(buffer_, second_parts_[record.service.index], record.second);
  append_number(buffer_, ",\"requests\":", record.requests);
  append_number(buffer_, ",\"in_time\":", record.in_time);
  append_number(buffer_, ",\"late\":", record.late);
  append_number(buffer_, ",\"dropped\":", record.dropped);
  append_number(buffer_, ",\"unfinished\":", record.unfinished);
  append_number(buffer_, ",\"accuracy_sum_micro\":", record.accuracy_sum_micro);
  buffer_ += "}\n";
}

void RunJournalWriter::write_slice(const world::SliceRecord& record) {
  append_number(buffer_, "{\"t_us\":", record.at.micros());
  buffer_.append(policy_part_).append(event_name(record.event));
  append_number(buffer_, "\",\"gpu\":", record.slice.gpu.index);
  const GpuModel& model = scenario_.model_of(record.slice.gpu);
  buffer_.append(",\"profile\":").append(json::text_of(profile_name(model, record.slice.profile)));
  append_number(buffer_, ",\"start\":", record.slice.start);
  if (record.services.size() == 1) buffer_.append(",\"service\":").append(service_names_[record.services[0].index]);
  buffer_ += record.role == Role::kInference ? ",\"role\":\"inference\"}\n" : ",\"role\":\"retraining\"}\n";
}

void RunJournalWriter::write_tier(const sim::TierRecord& record) {
  append_number(buffer_, "{\"t_us\":", record.at.micros());
  const bool is_measured = !record.measured_gpu.empty();
  buffer_.append(policy_part_).append(is_measured ? "tier_measured" : "tier_chosen").append("\",\"service\":");
  buffer_.append(service_names_[record.service.index]);
  json::Writer json;
  json.open_object();
  if (is_measured) json.member("model", record.measured_gpu);
  if (!is_measured) tier::put_choice(json, record.choice);
  // The members of the object, without its opening brace.
  buffer_.append(",").append(json.close_object().take().substr(1)).append("\n");
}

void RunJournalWriter::write_warm(const sim::WarmRecord& record) {
  append_number(buffer_, "{\"t_us\":", record.at.micros());
  buffer_.append(policy_part_).append("warm_decided\",\"service\":");
  buffer_.append(service_names_[record.decision.service.index]);
  json::Writer json;
  json.open_object().member("phase", phase_name(record.decision.phase)).member("slices", record.decision.slices);
  json.member("preload", record.decision.is_preload).member("reason", record.decision.reason);
  // The members of the object, without its opening brace.
  buffer_.append(",").append(json.close_object().take().substr(1)).append("\n");
}

void RunJournalWriter::write_gpu(const sim::GpuRecord& record) {
  append_number(buffer_, "{\"t_us\":", record.at.micros());
  buffer_.append(policy_part_).append(record.is_on ? "gpu_on" : "gpu_off");
  append_number(buffer_, "\",\"gpu\":", record.gpu.index);
  buffer_ += "}\n";
}

void RunJournalWriter::hand_on() {
  const Result<void> outcome = sink_(buffer_);
  if (!outcome) error_ = outcome.error();
  buffer_.clear();
}

Result<void> RunJournalWriter::finish() {
  if (!error_ && !buffer_.empty()) hand_on();
  if (error_) return pass_on(*error_);
  return {};
}

}  // namespace berth::edges
