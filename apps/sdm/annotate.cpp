#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "apps/sdm/annotate/album.h"
#include "apps/sdm/annotate/proposals.h"
#include "apps/sdm/annotate/server.h"
#include "apps/sdm/commands.h"
#include "apps/sdm/numbers.h"
#include "apps/sdm/platform.h"
#include "apps/sdm/tell.h"
#include "sdm/base/error.h"
#include "sdm/face/data/annotations.h"

namespace sdm::app {
namespace {

struct AnnotateArguments {
  AlbumOptions album;
  ProposalOptions proposals;
  std::vector<std::string> points;
  std::string boxes = "drawn";
  int port = 0;
};

// A single number is how many there are.
std::vector<std::string> names_of(const std::vector<std::string>& given) {
  if (given.size() != 1 || given[0].find_first_not_of("0123456789") != std::string::npos)
    return given;
  const int count = given[0].size() < 6 ? std::stoi(given[0]) : 0;
  if (count < 1 || count > 10000)
    throw Error("--points " + given[0] + ": expected 1 to 10000 points");
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

void annotate(AnnotateArguments& a) {
  using namespace std::chrono_literals;
  a.album.points = names_of(a.points);
  if (a.boxes == "derived") a.album.derived_margin = 0.1;
  const StopSignals signals;
  Album album(a.album);
  Proposals proposals(album, a.proposals);
  {
    const AnnotateServer server(album, proposals, a.port);
    say("{} pictures, {} of them done, {} points each\n"
        "open this in a browser on this machine:\n\n  {}\n\nCtrl-C ends it; everything is saved at "
        "every moment\n",
        album.size(), album.done(), album.points(), server.address());
    std::fflush(stdout);
    while (!StopSignals::asked()) std::this_thread::sleep_for(100ms);
  }
  album.settle();
  if (!album.failure().empty()) throw Error(album.failure());
  say("\n{} of {} pictures done, in {}\n", album.done(), album.size(), a.album.output.string());
}

}  // namespace

void add_annotate(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("annotate", "Mark points in pictures, in a browser on this machine");
  auto a = std::make_shared<AnnotateArguments>();
  command->add_option("PICTURES", a->album.pictures, "The folder of the pictures")->required();
  command
      ->add_option("-o,--output", a->album.output,
                   "Landmarks: .csv, .tps, .xml, list, or a folder for .pts; goes on where it is "
                   "there")
      ->required();
  command
      ->add_option("--points", a->points,
                   "How many points, or their names: tip,left,right. Not needed to go on")
      ->delimiter(',')
      ->check(kUtf8);
  command
      ->add_option("--boxes", a->boxes,
                   "drawn: objects have the boxes that are drawn, if any; derived: those without "
                   "get one around their points")
      ->check(CLI::IsMember({"drawn", "derived"}))
      ->capture_default_str();
  command
      ->add_option("--propose-after", a->proposals.after,
                   "Pictures that are done before a model proposes the points of the others; 0: "
                   "never")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  command
      ->add_option("--budget", a->proposals.budget,
                   "Seconds of one core in which that model's recipe is chosen")
      ->check(kPositive)
      ->capture_default_str();
  command->add_option("--port", a->port, "Of the page; 0: any that is free")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command->add_option("--seed", a->proposals.seed, "Seed of every random draw")
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  sdm annotate wings/ --points 12 -o wings.csv\n"
      "  sdm annotate leaves/ --points tip,base,left,right -o leaves.tps\n\n"
      "The page needs no network and is for this machine alone. A change is in a journal beside "
      "the output before it is answered; a picture that is done goes to the output.");
  command->callback([a] { annotate(*a); });
}

}  // namespace sdm::app
