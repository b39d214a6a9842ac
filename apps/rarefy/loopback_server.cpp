#include "loopback_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "rarefy/core/error.hpp"

namespace rarefy::command {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using Failure = beast::error_code;
using Message = std::shared_ptr<const std::string>;

constexpr std::chrono::seconds kRequestTime{20};  // to send a whole request, or nothing at all
constexpr std::chrono::seconds kWriteTime{30};    // to take what is sent
constexpr std::chrono::seconds kSignOfLife{15};   // between comments to those that read events
constexpr std::size_t kMostConnections = 200;
constexpr std::size_t kMostWaiting = 64;  // messages that a slow reader may be behind
constexpr std::uint32_t kMostHeader = 16 * 1024;

// What stands in every answer: nothing is to be kept, guessed or shown inside other pages.
template <typename Response>
void add_headers(Response& response) {
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("X-Frame-Options", "DENY");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  response.set("Referrer-Policy", "no-referrer");
}

bool same_letters(beast::string_view a, std::string_view b) {
  return beast::iequals(a, beast::string_view(b.data(), b.size()));
}

}  // namespace

class LoopbackServer::Service {
 public:
  explicit Service(LoopbackServerOptions options) : options_(std::move(options)) {}

  void listen();
  void run() {
    accept();
    give_sign_of_life();
    thread_ = std::thread([this] { context_.run(); });
  }
  void end();
  void send(Message message);

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Whether a request that names this host is meant for us.
  [[nodiscard]] bool is_ours(beast::string_view host) const {
    const auto here = port_ == 80 ? std::string() : fmt::format(":{}", port_);
    return same_letters(host, "127.0.0.1" + here) || same_letters(host, "localhost" + here);
  }
  [[nodiscard]] const LoopbackServerOptions& options() const { return options_; }

  class Connection;

 private:
  void accept();
  void give_sign_of_life();

  LoopbackServerOptions options_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  std::uint16_t port_ = 0;
  asio::steady_timer timer_{context_};                 // of the signs of life
  asio::steady_timer pause_{context_};                 // before accepting again
  std::set<std::shared_ptr<Connection>> connections_;  // of the thread below alone
  std::thread thread_;
};

// One client. Everything happens in the service's thread.
class LoopbackServer::Service::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Service& service)
      : stream_(std::move(socket)), service_(service) {}

  void read_request() {
    parser_.emplace();
    parser_->header_limit(kMostHeader);
    parser_->body_limit(kMostHeader);
    stream_.expires_after(kRequestTime);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](Failure failure, std::size_t) { self->request_read(failure); });
  }

  void refuse_for_number() { reply(plain(503, "too many connections; try again later"), false); }

  /// To one that reads events; others are left alone.
  void push(const Message& message) {
    if (!reads_events_) return;
    if (waiting_.size() >= kMostWaiting) return close();  // it comes back and is told everything
    waiting_.push_back(message);
    if (waiting_.size() == 1) write_next();
  }

  void close() {
    Failure ignored;
    // NOLINTNEXTLINE(bugprone-unused-return-value): it may be closed already
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
    reads_events_ = false;
    service_.connections_.erase(shared_from_this());
  }

 private:
  static Reply plain(unsigned status, std::string text) {
    return {.status = status, .body = std::move(text) + "\n"};
  }

  void request_read(Failure failure) {
    if (failure == http::error::end_of_stream || failure == beast::error::timeout) return close();
    if (failure == http::error::header_limit) return reply(plain(431, "the header is too long"));
    if (failure == http::error::body_limit) return reply(plain(413, "the body is too long"));
    if (failure &&
        failure.category() == http::make_error_code(http::error::bad_method).category()) {
      return reply(plain(400, "this is no request of HTTP: " + failure.message()));
    }
    if (failure) return close();
    const auto& request = parser_->get();
    const bool again = request.keep_alive();
    const auto host = request.find(http::field::host);
    if (host == request.end()) return reply(plain(400, "the request names no host"), again);
    if (!service_.is_ours(host->value())) {
      return reply(plain(403, "this server answers to 127.0.0.1 and localhost alone"), again);
    }
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      return reply(plain(405, "GET and HEAD are all there is"), again);
    }
    const auto target = request.target();
    const std::string path(target.substr(0, std::min(target.find('?'), target.size())));
    if (path == service_.options().events_path && request.method() == http::verb::get) {
      return begin_events();
    }
    try {
      reply(service_.options().answer(path), again);
    } catch (const std::exception& error) {
      reply(plain(500, error.what()), again);
    }
  }

  void reply(Reply answer, bool keep_alive = false) {
    const bool head =
        parser_ && parser_->is_header_done() && parser_->get().method() == http::verb::head;
    auto response = std::make_shared<http::response<http::string_body>>();
    response->result(answer.status);
    response->version(11);
    add_headers(*response);
    response->set(http::field::content_type, answer.type);
    if (answer.status == 405) response->set(http::field::allow, "GET, HEAD");
    if (!answer.download_name.empty()) {
      response->set(http::field::content_disposition,
                    fmt::format("attachment; filename=\"{}\"", answer.download_name));
    }
    response->keep_alive(keep_alive);
    const auto size = answer.body.size();
    if (!head) response->body() = std::move(answer.body);
    response->content_length(size);  // of a HEAD, too: what a GET would get
    stream_.expires_after(kWriteTime);
    const auto done = [self = shared_from_this(), response, keep_alive](Failure failure,
                                                                        std::size_t) {
      if (failure || !keep_alive) return self->close();
      self->read_request();
    };
    if (!head) return http::async_write(stream_, *response, done);
    auto serializer = std::make_shared<http::response_serializer<http::string_body>>(*response);
    http::async_write_header(
        stream_, *serializer,
        [serializer, done](Failure failure, std::size_t size_sent) { done(failure, size_sent); });
  }

  void begin_events() {
    http::response<http::empty_body> response(http::status::ok, 11);
    add_headers(response);
    response.set(http::field::content_type, "text/event-stream");
    response.set(http::field::connection, "close");  // it ends when the connection does
    std::ostringstream begin;
    begin << response.base();
    reads_events_ = true;
    push(std::make_shared<const std::string>(begin.str() + service_.options().greeting()));
    wait_for_the_end();
  }

  // A reader of events says nothing more: whatever comes from it, most likely it has gone.
  void wait_for_the_end() {
    stream_.socket().async_read_some(asio::buffer(ignored_),
                                     [self = shared_from_this()](Failure failure, std::size_t) {
                                       if (failure) return self->close();
                                       self->wait_for_the_end();
                                     });
  }

  void write_next() {
    stream_.expires_after(kWriteTime);
    asio::async_write(stream_, asio::buffer(*waiting_.front()),
                      [self = shared_from_this()](Failure failure, std::size_t) {
                        if (failure) return self->close();
                        self->stream_.expires_never();
                        self->waiting_.pop_front();
                        if (!self->waiting_.empty()) self->write_next();
                      });
  }

  beast::tcp_stream stream_;
  Service& service_;
  beast::flat_buffer buffer_{2 * kMostHeader};
  std::optional<http::request_parser<http::string_body>> parser_;
  bool reads_events_ = false;
  std::deque<Message> waiting_;
  char ignored_[256] = {};
};

void LoopbackServer::Service::listen() {
  const tcp::endpoint here(asio::ip::address_v4::loopback(), options_.port);
  Failure failure;
  // NOLINTBEGIN(bugprone-unused-return-value): the failure is looked at below
  acceptor_.open(here.protocol(), failure);
  if (!failure) acceptor_.set_option(asio::socket_base::reuse_address(true), failure);
  if (!failure) acceptor_.bind(here, failure);
  if (!failure) acceptor_.listen(asio::socket_base::max_listen_connections, failure);
  // NOLINTEND(bugprone-unused-return-value)
  if (failure) {
    throw Error(ErrorKind::io, fmt::format("cannot listen at 127.0.0.1, port {}: {}", options_.port,
                                           failure.message()));
  }
  port_ = acceptor_.local_endpoint().port();
}

void LoopbackServer::Service::accept() {
  acceptor_.async_accept(context_, [this](Failure failure, tcp::socket socket) {
    if (failure == asio::error::operation_aborted) return;
    if (failure) {  // no more descriptors, say: they come back
      pause_.expires_after(std::chrono::milliseconds(200));
      pause_.async_wait([this](Failure cancelled) {
        if (!cancelled) accept();
      });
      return;
    }
    const bool full = connections_.size() >= kMostConnections;
    auto connection = std::make_shared<Connection>(std::move(socket), *this);
    connections_.insert(connection);
    if (full) {
      connection->refuse_for_number();
    } else {
      connection->read_request();
    }
    accept();
  });
}

void LoopbackServer::Service::give_sign_of_life() {
  timer_.expires_after(kSignOfLife);
  timer_.async_wait([this](Failure failure) {
    if (failure) return;
    send(std::make_shared<const std::string>(": still here\n\n"));
    give_sign_of_life();
  });
}

void LoopbackServer::Service::send(Message message) {
  asio::post(context_, [this, message = std::move(message)] {
    const auto all = connections_;  // one that is closed leaves the set
    for (const auto& connection : all) connection->push(message);
  });
}

void LoopbackServer::Service::end() {
  asio::post(context_, [this] {
    Failure ignored;
    acceptor_.close(ignored);  // NOLINT(bugprone-unused-return-value): it ends either way
    timer_.cancel();
    pause_.cancel();
    const auto all = connections_;
    for (const auto& connection : all) connection->close();
  });
  if (thread_.joinable()) thread_.join();
}

LoopbackServer::LoopbackServer(LoopbackServerOptions options)
    : service_(std::make_unique<Service>(std::move(options))) {
  service_->listen();
  service_->run();
}

LoopbackServer::~LoopbackServer() { service_->end(); }

std::uint16_t LoopbackServer::port() const { return service_->port(); }

void LoopbackServer::send(std::string message) {
  service_->send(std::make_shared<const std::string>(std::move(message)));
}

std::string event_text(std::string_view name, std::string_view data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}

}  // namespace rarefy::command
