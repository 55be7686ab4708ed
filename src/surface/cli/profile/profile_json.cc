#include "surface/cli/profile/profile_json.h"

#include <optional>

namespace berth::cli {
namespace {

std::optional<std::string> text_or_null(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

void write_profiled_model(json::Writer& out, const ProfiledModel& model) {
  out.open_object("model")
      .member("name", model.name)
      .member("sha256", text_or_null(model.sha256))
      .member("url", text_or_null(model.url))
      .member("file_bytes", model.file_bytes > 0 ? std::optional(model.file_bytes) : std::nullopt)
      .member("flops", model.flops)
      .member("activation_bytes", model.activation_bytes)
      .member("parameters", model.parameters)
      .member("weight_bytes", model.weight_bytes)
      .close_object();
}

void write_profiling_machine(json::Writer& out, const ProfilingMachine& machine) {
  out.open_object("machine")
      .member("device", machine.device)
      .member("processor", text_or_null(machine.processor))
      .member("flags", text_or_null(machine.flags))
      .member("memory_bytes", machine.memory_bytes > 0 ? std::optional(machine.memory_bytes) : std::nullopt)
      .member("driver", text_or_null(machine.driver))
      .member("engine", text_or_null(machine.engine))
      .member("threads", machine.threads)
      .close_object();
}

void write_profile_point(json::Writer& out, const ProfilePoint& point) {
  const auto figure = [&point](double value) { return point.fits ? std::optional(value) : std::nullopt; };
  out.open_object()
      .member("batch", point.batch)
      .member("processes", point.processes)
      .member("fits", point.fits)
      .member("rows_per_second", figure(point.rows_per_second))
      .member("mean_us", figure(point.mean_us))
      .member("mean_us_low", figure(point.mean_us_low))
      .member("mean_us_high", figure(point.mean_us_high))
      .member("p50_us", figure(point.p50_us))
      .member("p99_us", figure(point.p99_us))
      .member("batches", point.batches)
      .member("is_short", point.is_short)
      .member("memory_bytes", point.memory_bytes)
      .close_object();
}

}  // namespace

void write_profile_run(json::Writer& out, const ProfileRun& run) {
  out.open_object()
      .member("id", run.id)
      .member("started_us", run.started_us)
      .member("berth_version", run.berth_version)
      .member("as", text_or_null(run.label));
  write_profiled_model(out, run.model);
  write_profiling_machine(out, run.machine);
  out.member("memory_at_load_bytes", run.memory_at_load_bytes)
      .member("fixed_batch", run.fixed_batch > 0 ? std::optional(run.fixed_batch) : std::nullopt)
      .list("points", run.points, write_profile_point)
      .close_object();
}

std::string profile_json(const ProfileRun& run, const std::string& database) {
  json::Writer out(2);
  out.open_object().member("berth", 1).member("database", database).key("run");
  write_profile_run(out, run);
  out.close_object();
  return out.take_line();
}

}  // namespace berth::cli
