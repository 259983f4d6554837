#pragma once

#include <memory>
#include <string>

#include "apps/sdm/annotate/album.h"
#include "apps/sdm/annotate/proposals.h"

namespace sdm::app {

/// Serves the page that marks an album's pictures, to this machine alone: it listens on 127.0.0.1,
/// its address has a random token that nobody can guess, and requests that another page makes or
/// that reach it by another name (DNS rebinding) are refused. Pictures are asked for by number, so
/// that no path comes from outside.
class AnnotateServer {
 public:
  /// `port` 0: any that is free. Throws Error where it cannot listen.
  AnnotateServer(Album& album, Proposals& proposals, int port);
  ~AnnotateServer();
  AnnotateServer(const AnnotateServer&) = delete;
  AnnotateServer& operator=(const AnnotateServer&) = delete;

  /// What to open in a browser, token and all.
  std::string address() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sdm::app
