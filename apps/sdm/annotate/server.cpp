#include "apps/sdm/annotate/server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <random>

#include "apps/sdm/annotate/json_values.h"
#include "apps/sdm/annotate/page_parts.h"
#include "apps/sdm/annotations.h"
#include "apps/sdm/shipped_model.h"
#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/face/train/mean_shape.h"
#include "sdm/io/file.h"
#include "sdm/opencv/image.h"

namespace sdm::app {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
using httplib::Request;
using httplib::Response;

constexpr std::size_t kLargestBody = std::size_t{4} << 20;
constexpr std::size_t kMostForTheMean = 200;

// Not base/random.h, whose numbers are the same every time: this one is a secret.
std::string random_token() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", device());
  return token;
}

// Takes as long for a token that is nearly right.
bool same_secret(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

json to_json(const face::Shape& points) {
  json result = json::array();
  for (const auto& point : points.colwise())
    result.push_back(point.allFinite() ? json{point.x(), point.y()} : json());
  return result;
}

void answer(Response& response, int status, const json& body) {
  response.status = status;
  response.set_content(json_text(body), "application/json");
}

void refuse(Response& response, int status, const std::string& why) {
  answer(response, status, {{"error", why}});
}

// Formats that every browser shows as OpenCV reads them; others are sent as PNG.
std::string browser_type(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (ending == ".jpg" || ending == ".jpeg") return "image/jpeg";
  if (ending == ".webp") return "image/webp";
  if (ending == ".bmp") return "image/bmp";
  return {};  // also .png, which may have 16 bits of which 10 are used
}

// The drawing of the mean shape before there is any: of the points that are known by their numbers.
face::Shape usual_mean(const face::Annotations& markup) {
  try {
    if (markup.names.empty() && markup_of(markup).size() == 68 && !markup_of(markup).mirror.empty())
      if (const auto file = shipped_file_or_none("face68.sdm"); !file.empty())
        return face::Model::load(file).mean;
  } catch (const Error&) {
    // It is a drawing.
  }
  return {};
}

}  // namespace

struct AnnotateServer::State {
  Album& album;
  Proposals& proposals;
  httplib::Server server;
  std::string token = random_token();
  int port = 0;
  std::thread thread;
  std::atomic<bool> ended = false;

  std::mutex mutex;
  struct Visit {
    std::string window;
    Clock::time_point at;
  };
  std::map<std::size_t, Visit> visits;  // who has which picture before him
  std::deque<double> seconds;           // spent on each of the last finished pictures
  face::Shape mean;                     // of the pictures finished at that time
  std::size_t mean_of = 0;

  State(Album& a, Proposals& p) : album(a), proposals(p), mean(usual_mean(a.markup())) {}

  void set_up(int wanted_port) {
    server.set_payload_max_length(kLargestBody);
    server.set_read_timeout(std::chrono::seconds(10));
    server.set_write_timeout(std::chrono::seconds(10));
    server.set_keep_alive_timeout(2);  // as long as ending may take
    server.new_task_queue = [] { return new httplib::ThreadPool(16); };
    server.set_socket_options([](socket_t) {});  // nobody else may listen on the same port
    server.set_default_headers(
        {{"Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
          "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
         {"Referrer-Policy", "no-referrer"},
         {"X-Content-Type-Options", "nosniff"},
         {"Cross-Origin-Resource-Policy", "same-origin"},
         {"Cross-Origin-Opener-Policy", "same-origin"},
         {"Cache-Control", "no-store"}});
    server.set_pre_routing_handler([this](const Request& request, Response& response) {
      const std::string why = why_not(request);
      if (why.empty()) return httplib::Server::HandlerResponse::Unhandled;
      refuse(response, 403, why);
      return httplib::Server::HandlerResponse::Handled;
    });
    server.set_exception_handler(
        [](const Request&, Response& response, const std::exception_ptr& thrown) {
          try {
            std::rethrow_exception(thrown);
          } catch (const std::exception& error) {
            refuse(response, 500, printable(error.what()));
          } catch (...) {
            refuse(response, 500, "something failed");
          }
        });
    server.set_error_handler([](const Request&, Response& response) {
      if (response.body.empty()) refuse(response, response.status, "there is nothing here");
    });
    const auto part = [&](const std::string& path, const char* text, const char* type) {
      server.Get("/[0-9a-f]+/" + path, [text, type](const Request&, Response& response) {
        response.set_content(text, type);
      });
    };
    part("", annotate_html, "text/html; charset=utf-8");
    part("page\\.css", annotate_css, "text/css; charset=utf-8");
    part("page\\.js", annotate_js, "text/javascript; charset=utf-8");
    server.Get("/[0-9a-f]+/album", [this](const Request&, Response& response) {
      answer(response, 200, whole_album());
    });
    server.Get("/[0-9a-f]+/status",
               [this](const Request&, Response& response) { answer(response, 200, status()); });
    server.Get("/[0-9a-f]+/next", [this](const Request& request, Response& response) {
      answer(response, 200, {{"picture", next(request)}});
    });
    const auto of_picture = [this](auto handler) {
      return [this, handler](const Request& request, Response& response) {
        const std::string digits = request.matches[1];
        const std::size_t picture = digits.size() < 10 ? std::stoul(digits) : album.size();
        if (picture >= album.size()) return refuse(response, 404, "there is no such picture");
        (this->*handler)(picture, request, response);
      };
    };
    server.Get("/[0-9a-f]+/picture/(\\d+)", of_picture(&State::give_picture));
    server.Get("/[0-9a-f]+/marks/(\\d+)", of_picture(&State::give_marks));
    server.Post("/[0-9a-f]+/marks/(\\d+)", of_picture(&State::take_marks));
    server.Post("/[0-9a-f]+/proposal/(\\d+)", of_picture(&State::give_proposal));

    port = wanted_port == 0                                ? server.bind_to_any_port("127.0.0.1")
           : server.bind_to_port("127.0.0.1", wanted_port) ? wanted_port
                                                           : -1;
    if (port < 0)
      throw Error(
          wanted_port == 0
              ? std::string("cannot listen on 127.0.0.1")
              : fmt::format("cannot listen on port {} of 127.0.0.1: is it taken?", wanted_port));
    thread = std::thread([this] {
      server.listen_after_bind();
      ended = true;
    });
    // Before that, stopping it would do nothing.
    while (!server.is_running() && !ended)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  // The reason for which a request is not served; empty: it is.
  std::string why_not(const Request& request) const {
    const std::string host = request.get_header_value("Host");
    const auto is_ours = [&](const std::string& name) {
      return name == fmt::format("127.0.0.1:{}", port) || name == fmt::format("localhost:{}", port);
    };
    if (!is_ours(host)) return "this page is served as 127.0.0.1 or localhost only";
    if (request.has_header("Origin") && request.get_header_value("Origin") != "http://" + host)
      return "requests of other pages are refused";
    if (const std::string site = request.get_header_value("Sec-Fetch-Site");
        !site.empty() && site != "same-origin" && site != "none")
      return "requests of other pages are refused";
    const std::size_t end = request.path.find('/', 1);
    if (end == std::string::npos || !same_secret(request.path.substr(1, end - 1), token))
      return "the address lacks its token: open the one that sdm annotate printed";
    return {};
  }

  json whole_album() {
    json names = json::array();
    for (std::size_t i = 0; i < album.size(); ++i) names.push_back(album.file(i));
    const face::Annotations& markup = album.markup();
    const std::vector<std::string> known = markup_of(markup).names;
    json points = json::array();
    for (std::size_t i = 0; i < album.points(); ++i)
      points.push_back(i < known.size() ? known[i] : std::to_string(markup.ids[i]));
    return {{"pictures", std::move(names)},      {"points", std::move(points)},
            {"folder", album.folder().string()}, {"output", album.output().filename().string()},
            {"derived", album.derives_boxes()},  {"status", status()}};
  }

  json status() {
    const Proposals::Status learned = proposals.status();
    json result{{"states", album.states()},
                {"failure", printable(album.failure())},
                {"learning", learned.learning},
                {"learned_from", learned.learned_from},
                {"error", learned.error},
                {"from_boxes", learned.from_boxes},
                {"message", printable(learned.message)}};
    update_mean();
    const std::lock_guard lock(mutex);
    result["mean"] = mean.cols() == 0 ? json() : to_json(mean);
    std::vector<double> times(seconds.begin(), seconds.end());
    std::sort(times.begin(), times.end());
    result["seconds"] = times.empty() ? json() : json(times[times.size() / 2]);
    return result;
  }

  void update_mean() {
    const std::size_t done = album.done();
    {
      const std::lock_guard lock(mutex);
      // The first few move it; then every picture moves it less.
      if (done == 0 || done == mean_of || (done > 20 && done < mean_of + mean_of / 4)) return;
      mean_of = done;
    }
    std::vector<face::Shape> shapes;
    for (const face::Annotation& face : album.finished().faces)
      if (shapes.size() < kMostForTheMean) shapes.push_back(face.points);
    if (shapes.empty()) return;
    try {
      const face::Shape found = face::mean_shape(shapes, {}, {-1, -1});
      const std::lock_guard lock(mutex);
      mean = found;
    } catch (const Error&) {
      // A point was hidden everywhere so far: the last picture is a drawing as well.
      const std::lock_guard lock(mutex);
      mean = shapes.back();
    }
  }

  static std::string window_of(const Request& request) {
    return request.get_param_value("window").substr(0, 40);
  }

  // The picture to do next: the one a model is least sure of, else the next in the order of the
  // folder; none that another window has open.
  json next(const Request& request) {
    const std::string states = album.states(), window = window_of(request);
    const std::string given = request.get_param_value("after");
    const bool is_number = !given.empty() && given.size() < 10 &&
                           given.find_first_not_of("0123456789") == std::string::npos;
    const std::size_t first = is_number ? std::stoul(given) + 1 : 0;
    const std::map<std::size_t, double> doubts = proposals.doubts();
    const std::lock_guard lock(mutex);
    const auto is_free = [&](std::size_t i) {
      const auto visit = visits.find(i);
      return states[i] != 'd' && (visit == visits.end() || visit->second.window == window ||
                                  Clock::now() - visit->second.at > std::chrono::minutes(2));
    };
    json best;
    double most = -1;
    for (const auto& [picture, doubt] : doubts)
      if (doubt > most && picture + 1 != first && states[picture] == 'o' && is_free(picture)) {
        best = picture;
        most = doubt;
      }
    for (std::size_t k = 0; best.is_null() && k < album.size(); ++k)
      if (const std::size_t i = (first + k) % album.size(); is_free(i)) best = i;
    if (!best.is_null()) visits[best.get<std::size_t>()] = {window, Clock::now()};
    return best;
  }

  void give_picture(std::size_t picture, const Request&, Response& response) {
    const std::filesystem::path path = album.path(picture);
    if (const std::string type = browser_type(path); !type.empty()) {
      response.set_content(io::read_text(path), type);
      return;
    }
    std::vector<unsigned char> bytes;
    if (!cv::imencode(".png", opencv::read_colour(path), bytes, {cv::IMWRITE_PNG_COMPRESSION, 1}))
      throw Error(fmt::format("{}: cannot be shown", path.string()));
    response.set_content(reinterpret_cast<const char*>(bytes.data()), bytes.size(), "image/png");
  }

  json marks_of(std::size_t picture) const {
    json result = sdm::app::to_json(album.picture(picture));
    result["proposal"] = nullptr;
    if (const auto proposal = proposals.of(picture); proposal && !album.is_begun(picture))
      result["proposal"] = {{"points", to_json(proposal->points)}, {"doubt", proposal->doubt}};
    return result;
  }

  void give_marks(std::size_t picture, const Request& request, Response& response) {
    {
      const std::lock_guard lock(mutex);
      visits[picture] = {window_of(request), Clock::now()};
    }
    answer(response, 200, marks_of(picture));
  }

  static void require_json(const Request& request) {
    if (request.get_header_value("Content-Type").find("application/json") != 0)
      throw Error("expected application/json");
  }

  void take_marks(std::size_t picture, const Request& request, Response& response) {
    SentMarks sent;
    try {
      require_json(request);
      sent = read_sent_marks(request.body, album.points());
      album.require_whole(sent.picture.objects, sent.picture.done);
    } catch (const Error& error) {
      return refuse(response, 400, error.what());
    }
    const bool done = sent.picture.done;
    const bool was_done = album.picture(picture).done;
    const Album::Change change =
        album.change(picture, sent.picture.revision, std::move(sent.picture.objects), done);
    if (change.conflict) return answer(response, 409, marks_of(picture));
    {
      const std::lock_guard lock(mutex);
      visits[picture] = {window_of(request), Clock::now()};
      if (done && !was_done && sent.seconds > 0) {
        seconds.push_back(sent.seconds);
        if (seconds.size() > 20) seconds.pop_front();
      }
    }
    if (done && !was_done) proposals.wake();
    answer(response, 200, sdm::app::to_json(change.now));
  }

  void give_proposal(std::size_t picture, const Request& request, Response& response) {
    face::Box box;
    try {
      require_json(request);
      box = read_sent_box(request.body);
    } catch (const Error& error) {
      return refuse(response, 400, error.what());
    }
    const auto proposal = proposals.in(picture, box);
    answer(response, 200, {{"points", proposal ? to_json(proposal->points) : json()}});
  }
};

AnnotateServer::AnnotateServer(Album& album, Proposals& proposals, int port)
    : state_(std::make_unique<State>(album, proposals)) {
  state_->set_up(port);
}

AnnotateServer::~AnnotateServer() {
  state_->server.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

std::string AnnotateServer::address() const {
  return fmt::format("http://127.0.0.1:{}/{}/", state_->port, state_->token);
}

}  // namespace sdm::app
