#pragma once

namespace sdm::report {

/// The files of this folder, compiled in so that the program finds them wherever it is.
extern const char* const page_html;
extern const char* const page_css;
extern const char* const page_js;

}  // namespace sdm::report
