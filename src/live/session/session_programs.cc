/// Session: programs on the slices of outside devices.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "domain/values/start_times.h"
#include "live/session/device_changes.h"
#include "live/session/entry_emitter.h"
#include "live/session/object_names.h"
#include "live/session/session.h"
#include "live/session/session_log.h"
#include "live/session/speed_estimator.h"
#include "sim/world/loop.h"

namespace berth::live {
namespace {

EventKind event_of(ProgramNote note) {
  switch (note) {
    case ProgramNote::kReady:
      return EventKind::kProgramReady;
    case ProgramNote::kFailed:
      return EventKind::kProgramFailed;
    case ProgramNote::kLooping:
      return EventKind::kCrashLoop;
  }
  return EventKind::kProgramReady;
}

}  // namespace

std::vector<world::ProgramSlice> Session::program_slices() { return loop_->program_slices(); }

/// The start of a program is a sample of its service's start time. Returns its kind.
std::optional<ChangeKind> Session::add_start(const ProgramNoted& noted) {
  if (noted.note != ProgramNote::kReady || noted.start_us <= 0) return std::nullopt;
  const ServiceSpec& spec = std::as_const(scenario_->services)[noted.service.index];
  if (spec.is_absent) return std::nullopt;
  ChangeKind change = start_kind(spec);
  changes_->samples().add(change, Micros(noted.start_us));
  return change;
}

void Session::program_ready(const world::ProgramSlice& on, std::optional<Micros> took) {
  on_program_note({.service = on.service,
                   .slice = on.slice,
                   .generation = on.generation,
                   .note = ProgramNote::kReady,
                   .start_us = took.value_or(Micros()).count()});
  loop_->program_ready(on.slice, on.generation);
  report_world(false);
}

void Session::program_gone(const world::ProgramSlice& on) {
  loop_->program_gone(on.slice, on.generation);
  report_world(false);
}

void Session::program_failed(const world::ProgramSlice& on, const std::string& why) {
  on_program_note({.service = on.service,
                   .slice = on.slice,
                   .generation = on.generation,
                   .note = ProgramNote::kFailed,
                   .text = why});
  loop_->program_failed(on.slice, on.generation, why);
  report_world(false);
}

void Session::add_batch_times(const sim::BatchTimes& times) { measured_speeds_->add(times); }

void Session::on_program_note(const ProgramNoted& noted) {
  emitter_->emit({.at = now(), .what = noted});
  log_program_note(noted);
  const auto measured = add_start(noted);
  if (measured && changes_->is_due(*measured)) learn_time(*measured);
}

void Session::log_program_note(const ProgramNoted& noted) {
  const Scenario& known = *scenario_;
  std::string text = "on " + slice_name(known, noted.slice, noted.generation);
  if (noted.start_us > 0) text += fmt::format(" after {:.3f} s", Micros(noted.start_us).to_seconds());
  if (!noted.text.empty()) text += ": " + noted.text;
  log_->append(now(), event_of(noted.note), service_object(known.services[noted.service.index]), std::move(text));
}

}  // namespace berth::live
