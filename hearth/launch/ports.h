#pragma once

namespace hearth::launch {

int free_port();

// Whether the port is free, and no launcher that still lives has claimed it for a job that has yet to listen there; now
// this one has.
bool claim_port(int port);

}  // namespace hearth::launch
