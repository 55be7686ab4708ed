/// The API server of a cluster, over HTTPS.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/core/instant.h"
#include "base/core/rng.h"
#include "domain/ports/files.h"
#include "domain/ports/http_client.h"
#include "domain/ports/kube_api.h"
#include "kube/access/access.h"
#include "kube/client/pace.h"

namespace berth::edges {

/// Who asks: the token, read from its file again when it may have changed. Any thread may call.
class KubeIdentity {
 public:
  /// The files are borrowed.
  KubeIdentity(kube::Access access, const Files& files);

  [[nodiscard]] const kube::Access& access() const { return access_; }
  /// The token as of now; empty: none. A file that cannot be read keeps the token that was read last.
  [[nodiscard]] std::string token(Instant now);
  /// The server refused a token. Reads the file at once; whether it has another one now.
  [[nodiscard]] bool renew(Instant now, const std::string& refused);

 private:
  void read(Instant now);

  const kube::Access access_;
  const Files& files_;
  std::mutex lock_;
  std::string token_;
  std::optional<Instant> read_at_;
};

/// The limit on requests that all clients of one identity share. Any thread may call.
class SharedPace {
 public:
  explicit SharedPace(std::int64_t per_second = 200, std::int64_t burst = 400) : pace_(per_second, burst) {}
  [[nodiscard]] Instant reserve(Instant now);

 private:
  std::mutex lock_;
  kube::Pace pace_;
};

struct KubeClientOptions {
  Micros patience = Micros::seconds(60);  ///< for how long a request is repeated, the waits between included
  std::string user_agent = "berth";
  std::uint64_t seed = 1;  ///< of the jitter
  std::function<bool()> is_stopped = {};
  std::optional<Micros> timeout_max = std::nullopt;  ///< of each attempt, whatever the request says
  /// Asked before each attempt of a request that writes: false refuses it with kInterrupted. May be empty.
  std::function<bool()> may_write = {};
};

/// One thread at a time.
class KubeClient : public KubeApi {
 public:
  KubeClient(std::shared_ptr<KubeIdentity> identity, std::shared_ptr<SharedPace> pace, KubeClientOptions options = {});
  KubeClient(const KubeClient&) = delete;
  KubeClient& operator=(const KubeClient&) = delete;
  ~KubeClient() override;

  [[nodiscard]] Result<KubeAnswer> ask(const KubeCall& call) override;
  [[nodiscard]] Result<KubeAnswer> watch(const KubeCall& call, const KubeReading& reading) override;

 private:
  [[nodiscard]] HttpCall http_call(const KubeCall& call, const std::string& token) const;
  [[nodiscard]] Result<HttpReply> send_known(const KubeCall& call);
  [[nodiscard]] bool rest_until(Instant until) const;

  std::shared_ptr<KubeIdentity> identity_;
  std::shared_ptr<SharedPace> pace_;
  KubeClientOptions options_;
  Rng rng_;
  std::string base_;  ///< the scheme and authority of URLs
  std::string host_;  ///< the header, where the URL names what the certificate must name
  std::unique_ptr<HttpClient> http_;
};

/// Microseconds on a clock that never goes back.
[[nodiscard]] Instant steady_now();
/// The wall clock in RFC 3339 with microseconds: "2026-01-01T00:00:00.000000Z".
[[nodiscard]] std::string wall_text();

}  // namespace berth::edges
