/// The routes of OpenAI's API, served by backends: /v1/models, /v1/chat/completions, /v1/completions, /v1/embeddings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/ports/http_server.h"
#include "domain/ports/http_stream_client.h"
#include "domain/tracing/recorder.h"
#include "serving/config/serve_config.h"
#include "serving/config/tenant_keys.h"
#include "surface/openai_api/proxied_request.h"

namespace berth::openai {

/// A backend with its key.
struct Backend {
  serving::ConfiguredBackend configured;
  std::optional<std::string> key = std::nullopt;  ///< sent to it, without line ends
};

/// The key in the text of a key file: its one line. Errors: no key, or one that no header can hold.
[[nodiscard]] Result<std::string> backend_key(std::string_view text, std::string_view file);

struct OpenAiOptions {
  std::vector<Backend> backends;  ///< no model is in two of them
  serving::TenantKeys keys{{}};
  std::int64_t created_seconds = 0;                         ///< of all models, since 1970: when the server began
  Micros answer_timeout = Micros::seconds(600);             ///< until the head of a backend's answer
  std::size_t body_bytes_max = std::size_t{64} << 20U;      ///< of a request
  std::function<Instant()> now = [] { return Instant(); };  ///< any thread may call it
  std::function<void(const ProxiedRequest&)> on_end = {};   ///< each request to a known model; any thread
  SpanRecorder spans = {};                                  ///< empty: no request is traced
};

/// All of an OpenAI-compatible server, or the part of one with paths that begin with /v1. Any thread may call its
/// functions.
class OpenAiApi final : public HttpHandler {
 public:
  /// `client` is borrowed. It must outlive this, and this must outlive the server's threads.
  OpenAiApi(OpenAiOptions options, HttpStreamClient& client);
  OpenAiApi(const OpenAiApi&) = delete;
  OpenAiApi& operator=(const OpenAiApi&) = delete;
  ~OpenAiApi() override;

  /// Whether a request is for these routes.
  [[nodiscard]] static bool is_for(const HttpRequest& request);

  [[nodiscard]] HttpAnswer answer(const HttpRequest& request) override;
  [[nodiscard]] std::optional<std::size_t> body_bytes_max(const HttpRequest& request) override;
  [[nodiscard]] HttpResponse render(const HttpRefusal& refusal) override;

  /// The models of all backends, in the byte order of their names.
  [[nodiscard]] std::vector<std::string> models() const;
  [[nodiscard]] std::size_t open_count() const;

  /// From now on requests get 503; those under way go on.
  void refuse_new();
  /// Ends the requests under way: those without answer get 503, streams an event with the error. Waits for their end.
  void close();

 private:
  struct ServingBackend;
  struct Model;

  [[nodiscard]] const Model* find(std::string_view model) const;
  [[nodiscard]] HttpAnswer forward(const HttpRequest& request, const std::string& route, serving::TenantIndex tenant);
  [[nodiscard]] HttpResponse list_models() const;
  [[nodiscard]] HttpResponse show_model(const std::string& id) const;
  void record(ProxiedRequest request);
  /// The span of a request to a forwarded route; nothing: it is not recorded.
  [[nodiscard]] std::optional<Span> begin_span(const HttpRequest& request, const std::string& route) const;
  void end_span(Span span, int status) const;
  /// The span of a request to a forwarded route that goes to no backend.
  void trace_refused(const HttpRequest& request, const std::string& route, int status) const;
  /// Likewise, of one that the server itself refuses, if it is for such a route and has a key.
  void note_refused(const HttpRequest& request, int status) const;

  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace berth::openai
