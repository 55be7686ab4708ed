/// A server for tests of the client's verbs: it answers from a table and records requests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "domain/ports/http_client.h"
#include "edges/files/disk_files.h"
#include "surface/cli/cli.h"

namespace berth::cli::testing {

/// An answer of the API, or no answer.
struct Scripted {
  int status = 200;
  std::string body;
  ErrorCode failure = ErrorCode::kUnavailable;  ///< with status 0
};

/// For each request such as "GET /v1/gpus" its answers in order; the last one repeats. Anything else is a 404.
struct Script {
  std::map<std::string, std::vector<Scripted>> answers;
  std::vector<HttpCall> calls;
};

class ScriptedClient final : public HttpClient {
 public:
  explicit ScriptedClient(Script& script) : script_(script) {}

  [[nodiscard]] Result<HttpReply> send(const HttpCall& call) const override {
    script_.calls.push_back(call);
    const std::size_t host = call.url.find("//") + 2;
    const auto found = script_.answers.find(call.method + " " + call.url.substr(call.url.find('/', host)));
    if (found == script_.answers.end()) {
      return HttpReply{404, {}, R"({"error":{"code":"not_found","message":"there is no such thing"}})"};
    }
    const Scripted answer = found->second.front();
    if (found->second.size() > 1) found->second.erase(found->second.begin());
    if (answer.status == 0) return fail(answer.failure, "no luck with " + call.url);
    return HttpReply{answer.status, {}, answer.body};
  }
  [[nodiscard]] Result<HttpReply> read_lines(const HttpCall& call, const HttpLineReading& /*reading*/) const override {
    return send(call);
  }

 private:
  Script& script_;
};

struct Printed {
  int status = 0;
  std::string out;
  std::string err;
};

/// Runs the program with a scripted server and a temporary folder with a key.
class ClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "berth_client_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    write("address", "http://127.0.0.1:1/\n");
    write("admin.key", "secret\n");
    ::unsetenv("BERTH_SERVER");
    ::unsetenv("BERTH_STATE");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

  /// Adds an answer to a request such as "GET /v1/gpus/gpu-3".
  void answer(const std::string& request, const std::string& body, int status = 200) {
    script_.answers[request].push_back({.status = status, .body = body});
  }
  void fail_with(const std::string& request, ErrorCode failure) {
    script_.answers[request].push_back({.status = 0, .body = "", .failure = failure});
  }
  [[nodiscard]] const std::vector<HttpCall>& calls() const { return script_.calls; }

  /// With --data unless `has_data` is false; `input` is the standard input.
  Printed run(std::vector<std::string> arguments, const std::string& input = "", bool has_data = true) {
    arguments.insert(arguments.begin(), "berth");
    if (has_data) arguments.insert(arguments.end(), {"--data", folder_.string()});
    std::vector<const char*> pointers;
    pointers.reserve(arguments.size());
    for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
    std::FILE* in = std::tmpfile();
    std::fwrite(input.data(), 1, input.size(), in);
    std::fseek(in, 0, SEEK_SET);
    std::FILE* out = std::tmpfile();
    std::FILE* err = std::tmpfile();
    const edges::DiskFiles files;
    CliParts parts{.in = in, .out = out, .err = err, .files = &files};
    parts.make_http_client = [this] { return std::make_unique<ScriptedClient>(script_); };
    const int status = run_cli(static_cast<int>(pointers.size()), pointers.data(), parts);
    std::fclose(in);
    return {status, taken(out), taken(err)};
  }

 private:
  static std::string taken(std::FILE* stream) {
    std::fseek(stream, 0, SEEK_SET);
    std::string text;
    for (int c = std::fgetc(stream); c != EOF; c = std::fgetc(stream)) text += static_cast<char>(c);
    std::fclose(stream);
    return text;
  }

  std::filesystem::path folder_;
  Script script_;
};

}  // namespace berth::cli::testing
