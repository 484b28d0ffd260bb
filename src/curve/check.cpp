#include "curve/check.hpp"

#include "curve/subgroup.hpp"

namespace cuzk {

G1Affine endomorphism_phi(const G1Affine& p) { return subgroup_detail::phi(p); }
G2Affine endomorphism_psi(const G2Affine& p) { return subgroup_detail::psi(p); }
bool is_in_subgroup(const G1Affine& p) { return subgroup_detail::contains(p); }
bool is_in_subgroup(const G2Affine& p) { return subgroup_detail::contains(p); }

}  // namespace cuzk
