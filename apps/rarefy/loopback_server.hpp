// A small server of pages for this machine alone: it listens at 127.0.0.1 and nowhere else.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace rarefy::command {

struct Reply {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::string download_name = {};  ///< a browser saves it by that name instead of showing it
};

struct LoopbackServerOptions {
  std::uint16_t port = 0;  ///< 0: any that is free
  /// Answers a GET of a path (without what follows a question mark). Called by one thread.
  std::function<Reply(std::string_view path)> answer;
  /// The path of the stream of events, and what a new reader of it is sent first.
  std::string events_path = "/events";
  std::function<std::string()> greeting;
};

/// Refuses requests that name another host than this one, so that no page of another site can read
/// ours by a name of its own that leads here (DNS rebinding).
class LoopbackServer {
 public:
  /// Error (io) where the port cannot be had.
  explicit LoopbackServer(LoopbackServerOptions options);
  /// Closes all connections.
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  /// To all that read events. From any thread.
  void send(std::string message);

 private:
  class Service;
  std::unique_ptr<Service> service_;
};

/// An event in the form that browsers read; `data` is a single line.
[[nodiscard]] std::string event_text(std::string_view name, std::string_view data);

}  // namespace rarefy::command
