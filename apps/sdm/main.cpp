#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>

#include "apps/sdm/commands.h"
#include "apps/sdm/numbers.h"
#include "apps/sdm/platform.h"
#include "apps/sdm/tell.h"

#ifdef SDM_WITH_OPENCV
#include <opencv2/core/utils/logger.hpp>
#endif

namespace {

constexpr int kFailed = 1;  // what was asked could not be done
constexpr int kUsage = 2;   // what was asked makes no sense

// A conversion to unsigned would silently turn them into others.
void forbid_negative_seeds(CLI::App& app) {
  if (CLI::Option* seed = app.get_option_no_throw("--seed")) seed->check(sdm::app::kNotNegative);
  for (CLI::App* command : app.get_subcommands({})) forbid_negative_seeds(*command);
}

// The command that was being read when the line turned out wrong: "sdm pose train".
std::string command_path(const CLI::App& app) {
  const auto inner = app.get_subcommands();
  return app.get_name() + (inner.empty() ? "" : " " + command_path(*inner.front()));
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& wrong) {
  std::string message = wrong.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&wrong) && app.get_subcommands().empty()) {
    std::string names;
    for (const CLI::App* command : app.get_subcommands({}))
      if (!command->get_group().empty()) names += (names.empty() ? "" : ", ") + command->get_name();
    message += " (commands: " + names + ")";
  }
  return message;
}

}  // namespace

// Before the try only a wrong declaration of ours can throw.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  sdm::app::keep_standard_streams();
  CLI::App app{
      "sdm: nonlinear least squares by learned descent (Supervised Descent Method)\n\n"
      "A model is learned from examples once; solving is then a few small matrix products.\n"
      "Each command explains itself: sdm COMMAND --help"};
  app.name("sdm");
  app.fallthrough();  // its options may stand after the command too
  app.set_version_flag("--version", "sdm " SDM_VERSION);
  app.footer(
      "Examples:\n"
      "  sdm reproduce analytic -o results   the paper's curves on scalar functions\n"
      "  sdm reproduce all --quick           a short run of every experiment\n"
      "  sdm detect photo.jpg --draw out     landmarks of every face\n"
      "  sdm track clip.mp4 -o out.mp4       landmarks and head pose through a video\n"
      "  sdm info model.sdm                  what a model file holds\n\n"
      "Exit codes: 0 done, 1 it failed (the message says why), 2 wrong usage.");
  sdm::app::add_adapt(app);
#ifdef SDM_WITH_ANNOTATE
  sdm::app::add_annotate(app);
#endif
  sdm::app::add_convert(app);
  sdm::app::add_describe(app);
  sdm::app::add_detect(app);
  sdm::app::add_eval(app);
  sdm::app::add_follow(app);
  sdm::app::add_info(app);
  sdm::app::add_models(app);
  sdm::app::add_pose(app);
  sdm::app::add_render(app);
  sdm::app::add_reproduce(app);
  sdm::app::add_track(app);
  sdm::app::add_train(app);
  sdm::app::add_train_detector(app);

  forbid_negative_seeds(app);
#ifdef SDM_WITH_OPENCV
  sdm::app::add_root(app);
#endif

  // Our own messages name the file; those of the libraries beneath would only stand between them.
#ifdef SDM_WITH_OPENCV
  if (std::getenv("OPENCV_LOG_LEVEL") == nullptr)
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
#endif
  setenv("OPENCV_FFMPEG_LOGLEVEL", "-8", 0);
  try {
    try {
      app.parse(argc, argv);
      if (app.get_subcommands().empty()) {
        sdm::app::tell("{}", app.help());
        return kUsage;
      }
    } catch (const CLI::Success& shown) {  // --help and --version
      app.exit(shown);
    }
    sdm::app::flush_stdout();
    return 0;
  } catch (const CLI::ParseError& wrong) {
    sdm::app::tell("sdm: {}\nTry: {} --help\n", usage_message(app, wrong), command_path(app));
    return kUsage;
  } catch (const std::bad_alloc&) {
    sdm::app::tell_text("sdm: out of memory\n");
    return kFailed;
  } catch (const std::exception& failed) {
    sdm::app::tell("sdm: {}\n", failed.what());
    return kFailed;
  }
}
