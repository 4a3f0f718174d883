// Pretrained models by folder or name.
#pragma once

#include "hearth/models/auto_model.h"
