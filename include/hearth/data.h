// Datasets, loaders, and readers of data files.
#pragma once

#include "hearth/data/data_loader.h"
#include "hearth/data/dataset.h"
#include "hearth/data/glue_file.h"
#include "hearth/data/table.h"
#include "hearth/data/token_dataset.h"
