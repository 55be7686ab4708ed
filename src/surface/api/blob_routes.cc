#include "surface/api/blob_routes.h"

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/json/writer.h"
#include "live/chain/field_hash.h"
#include "surface/api/api_context.h"

namespace berth::api {
namespace {

constexpr std::size_t kBlobBytesMax = std::size_t{64} << 20U;
constexpr const char* kParameter = "sha256";

ApiError no_blob(const std::string& name) {
  return {.status = 404, .code = "not_found", .message = "there is no blob " + name};
}

ApiError wrong_name(const std::string& wanted, const std::string& found) {
  return {.status = 422,
          .code = "invalid",
          .message = fmt::format("the SHA-256 of the body: wanted {}, found {}", wanted, found),
          .field = kParameter,
          .wanted = wanted,
          .found = found};
}

/// Checks that the bytes have the SHA-256 of the path, and stores them.
ApiResult<void> store_ahead(const ApiContext& context, const Call& call) {
  const std::string& name = call.parameter(kParameter);
  const auto blob = chain::sha256_of_hex(name);
  if (!blob) return tl::unexpected(wrong_name("64 digits and letters a-f", name));
  const Sha256 found = chain::sha256(call.request.body);
  if (found != *blob) return tl::unexpected(wrong_name(name, chain::hex_of(found)));
  if (const auto failure = context.blobs.store(*blob, call.request.body)) {
    return tl::unexpected(read_only_error(*failure));
  }
  return {};
}

live::WriteAnswer stored_answer(const Call& call, bool was_whole) {
  json::Writer body;
  body.open_object().member("sha256", call.parameter(kParameter)).member("bytes", call.request.body.size());
  return {.status = was_whole ? 200 : 201, .body = body.close_object().take_line()};
}

/// Predicted, so that a repeat need not read the blob.
live::WriteAnswer foretell_blob(const ApiContext& context, const Call& call) {
  const auto is_whole = context.blobs.has(*chain::sha256_of_hex(call.parameter(kParameter)));
  return stored_answer(call, is_whole.value_or(false));
}

/// Marks what `store_ahead` has stored as complete.
ApiResult<HttpAnswer> put_blob(const ApiContext& context, const Call& call) {
  const auto was_whole =
      context.blobs.finish(*chain::sha256_of_hex(call.parameter(kParameter)), call.request.body.size());
  if (!was_whole) return tl::unexpected(read_only_error(was_whole.error()));
  live::WriteAnswer answer = stored_answer(call, *was_whole);
  return HttpResponse{
      .status = answer.status, .content_type = "application/json", .headers = {}, .body = std::move(answer.body)};
}

ApiError unreadable(const StoreError& error) { return {.status = 500, .code = "internal", .message = error.message}; }

/// Yields `first`, then the parts after it. The caller reads the first part, so that it can still answer an error.
std::function<std::string()> parts_of(const ApiContext& context, const Sha256& blob, std::string first) {
  return [&context, blob, first = std::move(first), index = std::uint32_t{0}]() mutable {
    if (index++ == 0) return std::exchange(first, {});
    auto part = context.blobs.read_part(blob, index - 1);
    return part && *part ? std::move(**part) : std::string();  // damaged, or removed meanwhile
  };
}

/// The blob is read at the client's pace: each slow client costs one part in memory, and none delays the writes.
ApiResult<HttpAnswer> get_blob(const ApiContext& context, const Call& call) {
  constexpr const char* kType = "application/octet-stream";
  const std::string& name = call.parameter(kParameter);
  const auto blob = chain::sha256_of_hex(name);
  if (!blob || !context.blobs.find) return tl::unexpected(no_blob(name));
  const auto row = context.blobs.find(*blob);
  if (!row) return tl::unexpected(unreadable(row.error()));
  if (!*row) return tl::unexpected(no_blob(name));
  if ((*row)->bytes == 0) return HttpResponse{.status = 200, .content_type = kType, .headers = {}, .body = {}};
  auto first = context.blobs.read_part(*blob, 0);
  if (!first) return tl::unexpected(unreadable(first.error()));
  if (!*first) return tl::unexpected(no_blob(name));  // it was removed meanwhile
  return HttpParts{.content_type = kType,
                   .headers = {},
                   .bytes = (*row)->bytes,
                   .next = parts_of(context, *blob, std::move(**first))};
}

}  // namespace

std::vector<Route> blob_routes() {
  return {{.method = "GET", .path = "/v1/blobs/{sha256}", .answer = get_blob},
          {.method = "PUT",
           .path = "/v1/blobs/{sha256}",
           .answer = put_blob,
           .success_status = 201,
           .foretell = foretell_blob,
           .ahead = store_ahead,
           .body_bytes_max = kBlobBytesMax}};
}

}  // namespace berth::api
