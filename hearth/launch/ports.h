#pragma once

namespace hearth::launch {

bool port_is_free(int port);
int free_port();

}  // namespace hearth::launch
