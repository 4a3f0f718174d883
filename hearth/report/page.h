#pragma once

#include <string>
#include <vector>

#include "hearth/io/json.h"

namespace hearth::report {

// A page of HTML about runs, given as RunRecord::to_json writes them: one run with everything that is known of it, or
// several beside each other. The page needs nothing but itself. No text of a run can become markup or script.
std::string page_of(const std::vector<io::Json>& runs);

// The parts of the page, from the files below page/.
extern const char kPageHtml[], kPageStyle[], kPageScript[];

}  // namespace hearth::report
