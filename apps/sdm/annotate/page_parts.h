#pragma once

namespace sdm::app {

/// The files of this folder, compiled in: the page needs nothing but the program.
extern const char* const annotate_html;
extern const char* const annotate_css;
extern const char* const annotate_js;

}  // namespace sdm::app
