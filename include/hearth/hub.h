// Models and data sets of the Hub, downloaded where they are not in its cache.
#pragma once

#include "hearth/hub/dataset.h"
#include "hearth/hub/model.h"
