// The commands that read pictures, in a tool built without OpenCV: they are there and say so.
#include "apps/sdm/commands.h"
#include "sdm/base/error.h"

namespace sdm::app {
namespace {

void add_missing(CLI::App& app, const char* name) {
  CLI::App* command = app.add_subcommand(name, "(needs OpenCV, which this build does not have)");
  command->allow_extras();
  command->callback([] {
    throw Error(
        "this command reads pictures and the tool was built without OpenCV: install Debian's "
        "libopencv-imgcodecs-dev, -objdetect-dev and -videoio-dev, and build again");
  });
}

}  // namespace

void add_adapt(CLI::App& app) { add_missing(app, "adapt"); }
void add_convert(CLI::App& app) { add_missing(app, "convert"); }
void add_detect(CLI::App& app) { add_missing(app, "detect"); }
void add_eval(CLI::App& app) { add_missing(app, "eval"); }
void add_follow(CLI::App& app) { add_missing(app, "follow"); }
void add_render(CLI::App& app) { add_missing(app, "render"); }
void add_track(CLI::App& app) { add_missing(app, "track"); }
void add_train(CLI::App& app) { add_missing(app, "train"); }
void add_train_detector(CLI::App& app) { add_missing(app, "train-detector"); }

}  // namespace sdm::app
