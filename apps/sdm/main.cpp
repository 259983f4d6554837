#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "apps/sdm/commands.h"

namespace {

constexpr int kFailed = 1;  // what was asked could not be done
constexpr int kUsage = 2;   // what was asked makes no sense

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "sdm: nonlinear least squares by learned descent (Supervised Descent Method)\n\n"
      "A model is learned from examples once; solving is then a few small matrix products.\n"
      "Each command explains itself: sdm COMMAND --help"};
  app.name("sdm");
  app.set_version_flag("--version", "sdm " SDM_VERSION);
  app.footer(
      "Examples:\n"
      "  sdm reproduce analytic -o report    the paper's curves on scalar functions\n"
      "  sdm reproduce all --quick           a short run of every experiment\n"
      "  sdm detect photo.jpg --draw out     landmarks of every face\n"
      "  sdm info model.sdm                  what a model file holds\n\n"
      "Exit codes: 0 done, 1 it failed (the message says why), 2 wrong usage.");
  sdm::app::add_describe(app);
  sdm::app::add_detect(app);
  sdm::app::add_eval(app);
  sdm::app::add_follow(app);
  sdm::app::add_info(app);
  sdm::app::add_pose(app);
  sdm::app::add_reproduce(app);
  sdm::app::add_train(app);

  try {
    app.parse(argc, argv);
    if (!app.get_subcommands().empty()) return 0;
    fmt::print(stderr, "{}", app.help());
    return kUsage;
  } catch (const CLI::Success& shown) {  // --help and --version
    return app.exit(shown);
  } catch (const CLI::ParseError& wrong) {
    fmt::print(stderr, "sdm: {}\nTry: sdm --help\n", wrong.what());
    return kUsage;
  } catch (const std::exception& failed) {
    fmt::print(stderr, "sdm: {}\n", failed.what());
    return kFailed;
  }
}
