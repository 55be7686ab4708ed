/// What a server of the Open Inference Protocol says of itself and of its models, as a client reads it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/values/tensor.h"

namespace berth::serving::protocol {

/// The answer to `GET v2`.
struct ServerSaid {
  std::string name;
  std::string version = {};
  std::string device = {};  ///< of `berth serve`; empty: it does not say
  bool takes_binary = false;

  friend bool operator==(const ServerSaid&, const ServerSaid&) = default;
};

/// The answer to `GET v2/models/NAME`.
struct ModelSaid {
  std::string name;
  std::string version = {};  ///< the last one that it lists; empty: none
  std::vector<TensorSignature> inputs = {};

  friend bool operator==(const ModelSaid&, const ModelSaid&) = default;
};

/// `source` is named in messages. Errors, kInvalidInput: no JSON, or a member that is missing or of another kind.
[[nodiscard]] Result<ServerSaid> read_server_metadata(std::string_view text, std::string_view source);
/// Errors: also a datatype that no tensor has, a size below -1, two inputs of one name, no inputs.
[[nodiscard]] Result<ModelSaid> read_model_metadata(std::string_view text, std::string_view source);

/// The message of an answer `{"error": MESSAGE}`, as one line without control characters; of other texts their first
/// bytes.
[[nodiscard]] std::string read_error_message(std::string_view text);

}  // namespace berth::serving::protocol
