#include "apps/up/times_reader.h"

#include <string>
#include <utility>

#include "edges/http_client/curl_client.h"
#include "live/local/local_programs.h"
#include "serving/replica_proof/replica_proof.h"

namespace berth::up {
namespace {

constexpr std::chrono::seconds kTimesEvery{10};
constexpr Micros kTimesPatience = Micros::seconds(2);
constexpr std::size_t kTimesBytesMax = std::size_t{256} << 10U;

}  // namespace

TimesReader::TimesReader(live::LocalPrograms& programs)
    : programs_(programs), http_(std::make_unique<edges::CurlClient>()), thread_([this] { run(); }) {}

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
      HttpCall call{.url = server.url + "/berth/v1/times", .headers = {}, .body = {}};
      if (!server.key.empty())
        call.headers.push_back({std::string(serving::kKeyHeader), serving::request_token(server.key)});
      call.headers.push_back({std::string(serving::kSliceHeader), server.program.first});
      call.headers.push_back({std::string(serving::kGenerationHeader), std::to_string(server.program.second)});
      call.timeout = kTimesPatience;
      call.bytes_max = kTimesBytesMax;
      call.is_stopped = [this] { return is_stopping(); };
      auto reply = http_->send(call);
      if (is_stopping()) return;
      constexpr int kOk = 200;
      if (reply && reply->status == kOk) programs_.take_times(server.program, std::move(reply->body));
    }
  }
}

}  // namespace berth::up
