#include "apps/up/times_reader.h"

#include <utility>

#include "domain/values/endpoints.h"
#include "edges/http_client/curl_stream_client.h"
#include "edges/replica_peer/replica_reader.h"
#include "live/local/local_programs.h"

namespace berth::up {
namespace {

constexpr std::chrono::seconds kTimesEvery{10};
constexpr Micros kTimesPatience = Micros::seconds(2);
constexpr std::size_t kTimesBytesMax = std::size_t{256} << 10U;

}  // namespace

TimesReader::TimesReader(live::LocalPrograms& programs)
    : programs_(programs), client_(std::make_unique<edges::CurlStreamClient>()), thread_([this] { run(); }) {}

TimesReader::~TimesReader() {
  {
    const std::scoped_lock hold(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool TimesReader::is_stopping() {
  const std::scoped_lock hold(mutex_);
  return is_stopping_;
}

void TimesReader::run() {
  while (true) {
    {
      std::unique_lock hold(mutex_);
      if (changed_.wait_for(hold, kTimesEvery, [this] { return is_stopping_; })) return;
    }
    for (const live::LocalPrograms::Server& server : programs_.servers()) {
      const Endpoint replica{
          .slice = server.program.first, .generation = server.program.second, .url = server.url, .key = server.key};
      auto reply = edges::get_from_replica(
          *client_, replica, "/berth/v1/times",
          {.patience = kTimesPatience, .bytes_max = kTimesBytesMax, .is_stopped = [this] { return is_stopping(); }});
      if (is_stopping()) return;
      constexpr int kOk = 200;
      if (reply && reply->status == kOk) programs_.take_times(server.program, std::move(reply->body));
    }
  }
}

}  // namespace berth::up
