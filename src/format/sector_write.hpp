// Writes the sectors of the development sealer as lotus and Curio keep them.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "filecoin/porep_dev_sealer.hpp"
#include "filecoin/snap_dev_update.hpp"
#include "format/sector_files.hpp"

namespace cuzk {

// Replica, layers, trees D, C and R (its upper rows), p_aux and t_aux. Folders are made, files replaced. Errors: kIo,
// kNotFound with the path.
Status write_sealed_sector(const PorepSealed& sealed, const SectorPaths& paths);

// The new replica, trees D and R, p_aux with the old comm_c, and t_aux. `layers` are those of the sealed sector.
Status write_updated_sector(const SnapUpdated& updated, uint32_t layers, const SectorPaths& paths);

}  // namespace cuzk
