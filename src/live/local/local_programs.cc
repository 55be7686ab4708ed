#include "live/local/local_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "domain/values/serve_template.h"
#include "live/programs/device_file.h"
#include "live/session/session.h"
#include "serving/gateway_wire/gateway_wire.h"

namespace berth::live {
namespace {

constexpr std::size_t kReportsMax = 64;
constexpr std::size_t kGatewaysMax = 64;
constexpr std::size_t kSinksMax = 8;
constexpr Micros kHeartbeat = Micros::seconds(5);

Micros steady_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return Micros(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace

LocalPrograms::LocalPrograms(ProcessHands& hands, LocalProgramsOptions options)
    : options_(std::move(options)), hands_(hands), book_(options_.first_table), table_(book_.table()) {}

void LocalPrograms::serve(Session& session) {
  take_reports(session);
  const bool knows_all = hands_.knows_all();  // before the reports: then all are among them
  const std::vector<ProcessReport> reports = hands_.take_reports();
  book_.note(reports, knows_all && !std::exchange(knew_all_, knows_all));
  ProgramSight sight{.now = steady_now(),
                     .services = program_services(session.scenario()),
                     .wanted = wanted_programs(session.scenario(), session.program_slices(), options_.uuid_of)};
  {
    const std::scoped_lock hold(mutex_);
    sight.has_gateway = !sinks_.empty() || !new_sinks_.empty();
    sight.acknowledged_table = acknowledged_;
  }
  wanted_ = sight.wanted;
  add_batch_times(session);
  carry_out(session, book_.step(sight));
}

std::string LocalPrograms::restart(const std::string& slice_name) {
  const auto found = std::ranges::find_if(wanted_, [&](const WantedProgram& each) {
    return fmt::format("{}-{}", each.order.slice, each.order.generation) == slice_name;
  });
  if (found == wanted_.end() || !found->is_startable) return "no program of this engine runs there";
  hands_.stop(found->order.slice, found->order.generation);
  return "";
}

void LocalPrograms::take_reports(Session& session) {
  std::vector<RequestReport> reports;
  {
    const std::scoped_lock hold(mutex_);
    reports = std::exchange(reports_, {});
  }
  for (const RequestReport& report : reports) {
    if (options_.measures_load) session.count_requests(report, options_.epoch_us);
  }
  if (options_.measures_load) session.see_requests();
  const std::scoped_lock hold(mutex_);
  for (const RequestReport& report : reports) {
    acknowledged_ = std::max(acknowledged_, report.table);
    if (!options_.measures_load && !report.records.empty()) stored_[report.gateway] = report.records.back().number;
  }
  if (stored_.size() > kGatewaysMax) stored_.clear();
  for (const RequestReport& report : reports) stored_.try_emplace(report.gateway, 0);
  if (!options_.measures_load) return;
  for (auto& [gateway, number] : stored_) number = session.counted_until(gateway);
}

void LocalPrograms::add_batch_times(Session& session) {
  std::map<ProgramKey, std::string> times;
  {
    const std::scoped_lock hold(mutex_);
    if (times_.empty() || session.now().second() <= batches_second_) return;
    times = std::exchange(times_, {});
  }
  const auto find = [&](const ProgramKey& program) {
    return std::ranges::find_if(wanted_, [&](const WantedProgram& each) {
      return each.order.slice == program.first && each.order.generation == program.second;
    });
  };
  for (const auto& [program, text] : times) {
    const auto wanted = find(program);
    const auto read = read_server_times(text);
    if (wanted == wanted_.end() || !read) continue;
    const GpuModel& model = session.scenario().model_of(wanted->on.slice.gpu);
    batches_.add(
        program,
        {.service = wanted->on.service, .gpu = model.name, .profile = profile_name(model, wanted->on.slice.profile)},
        wanted->batch_us, *read);
  }
  batches_.keep([&](const ProgramKey& program) { return find(program) != wanted_.end(); });
  batches_second_ = session.now().second();
  for (const sim::BatchTimes& each : batches_.take(batches_second_)) session.add_batch_times(each);
}

std::vector<LocalPrograms::Server> LocalPrograms::servers() const {
  const std::scoped_lock hold(mutex_);
  std::vector<Server> servers;
  for (const ServiceEndpoints& service : table_.services) {
    for (const Endpoint& each : service.replicas) {
      if (!each.says_who_it_is) continue;
      servers.push_back({.program = {each.slice, each.generation}, .url = each.url, .key = each.key});
    }
  }
  return servers;
}

void LocalPrograms::take_times(const ProgramKey& program, std::string text) {
  const std::scoped_lock hold(mutex_);
  times_[program] = std::move(text);
}

void LocalPrograms::carry_out(Session& session, const ProgramOrders& orders) {
  for (const ProcessOrder& order : orders.starts) start(session, order, wanted_);
  for (const auto& [slice, generation] : orders.stops) hands_.stop(slice, generation);
  for (const ProgramNoted& noted : orders.notes) session.on_program_note(noted);
  for (const auto& [on, took] : orders.ready) session.program_ready(on, took);
  for (const world::ProgramSlice& on : orders.gone) session.program_gone(on);
  const Micros now = steady_now();
  const std::scoped_lock hold(mutex_);
  const bool is_sent = orders.table || !new_sinks_.empty();
  const std::string line = is_sent ? serving::endpoint_table_json(book_.table()) + "\n" : "";
  if (orders.table) send(line);
  for (LineSink& sink : std::exchange(new_sinks_, {})) {
    if (sink(line)) sinks_.push_back(std::move(sink));
  }
  if (now - sent_at_ >= kHeartbeat) send("\n");
  table_ = book_.table();
  views_.clear();
  for (const auto& [service, programs] : book_.views()) {
    ServicePrograms& view = views_[service];
    view.programs = programs;
    for (const ProgramView& each : programs) {
      const std::string name = fmt::format("{}-{}", each.slice, each.generation);
      if (!each.is_looping) looping_since_.erase(name);
      if (!each.is_looping || view.looping) continue;
      const std::int64_t since = looping_since_.try_emplace(name, session.now().micros()).first->second;
      view.looping =
          ProgramLoop{.slice = name, .failures = each.failures, .message = each.message, .since = Instant(since)};
    }
  }
}

void LocalPrograms::start(const Session& session, const ProcessOrder& order, const std::vector<WantedProgram>& wanted) {
  const auto is_it = [&](const WantedProgram& each) {
    return each.order.slice == order.slice && each.order.generation == order.generation;
  };
  const auto found = std::ranges::find_if(wanted, is_it);
  if (options_.write_device && order.template_name == kServeTemplate && found != wanted.end()) {
    const Scenario& scenario = session.scenario();
    const auto text =
        device_file(scenario.services[found->on.service.index], scenario.model_of(found->on.slice.gpu), found->on);
    const std::string name = fmt::format("{}-{}", order.slice, order.generation);
    if (const auto why = text ? options_.write_device(name, *text) : std::nullopt) options_.warn(*why);
  }
  hands_.start(order);
}

void LocalPrograms::send(const std::string& line) {
  sent_at_ = steady_now();
  std::erase_if(sinks_, [&](const LineSink& sink) { return !sink(line); });
}

void LocalPrograms::follow(LineSink sink) {
  {
    const std::scoped_lock hold(mutex_);
    if (sinks_.size() + new_sinks_.size() >= kSinksMax) {  // the oldest is probably gone
      std::vector<LineSink>& oldest = sinks_.empty() ? new_sinks_ : sinks_;
      oldest.erase(oldest.begin());
    }
    new_sinks_.push_back(std::move(sink));
  }
  options_.wake();
}

std::optional<std::uint64_t> LocalPrograms::take_report(RequestReport report) {
  const std::string gateway = report.gateway;
  std::uint64_t stored = 0;
  {
    const std::scoped_lock hold(mutex_);
    if (reports_.size() >= kReportsMax) return std::nullopt;
    const auto found = stored_.find(gateway);
    if (found != stored_.end()) stored = found->second;
    reports_.push_back(std::move(report));
  }
  options_.wake();
  return stored;
}

ServicePrograms LocalPrograms::programs_of(const std::string& tenant, const std::string& service) const {
  const std::scoped_lock hold(mutex_);
  const auto found = views_.find({tenant, service});
  ServicePrograms programs = found == views_.end() ? ServicePrograms() : found->second;
  for (const ServiceEndpoints& each : table_.services) {
    if (each.tenant == tenant && each.service == service) programs.endpoints = each.replicas;
  }
  return programs;
}

std::optional<std::string> LocalPrograms::why_refused(const ProcessOrder& order) const {
  const auto checked = hands_.check(order);
  if (checked || checked.error().code != ErrorCode::kInvalidInput) return std::nullopt;
  return checked.error().message;
}

std::optional<std::string> LocalPrograms::read_log(const std::string& slice, std::uint64_t generation,
                                                   std::size_t bytes_max) {
  const std::scoped_lock hold(log_mutex_);
  return hands_.read_log(slice, generation, bytes_max);
}

EndpointTable LocalPrograms::table() const {
  const std::scoped_lock hold(mutex_);
  return table_;
}

}  // namespace berth::live
