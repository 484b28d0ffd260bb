// Marks a part of a circuit that occurs many times with the same constraints.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "circuit/boolean.hpp"
#include "circuit/num.hpp"

namespace cuzk {

// Wires that go into a block or come out of it.
template <class CS>
struct BlockWires {
  std::vector<Num<CS>> nums;
  std::vector<Boolean<CS>> bits;
};

namespace gadget {

// Runs body(ports) -> BlockWires (outputs) as one instance of the block `key`.
//
// The Recorder runs the body for the first instance only and repeats what it recorded, so:
//   - the constraints and variables that a body adds depend on nothing but `key` and which ports are constants, negated
//     or the same wire (blocks that differ in these are kept apart);
//   - the body uses no wire from outside but ONE and those that it is handed, in the form in which it is handed them;
//   - wires of the block that are used outside are outputs.
// The Recorder asserts the last two; that the digests of Recorder and Digester agree proves all three. A block inside
// a block is part of the outer one. In every other mode this is body(ports).
template <class CS, class Body>
BlockWires<CS> block(CS& cs, std::string_view key, const BlockWires<CS>& ports, Body&& body) {
  if constexpr (requires { cs.template record_block<Body>(key, ports, std::forward<Body>(body)); }) {
    return cs.template record_block<Body>(key, ports, std::forward<Body>(body));
  } else {
    return body(ports);
  }
}

}  // namespace gadget
}  // namespace cuzk
