#pragma once

namespace hearth::launch {

int free_port();

// Claims the port for this launcher. False if it is in use, or if another living launcher has claimed it for a job that
// does not listen there yet.
bool claim_port(int port);

}  // namespace hearth::launch
