"""Interface between a contact law and the narrow phase: compiled functions over pairs of spheres.

A law's file (laws/NAME.pyx) writes its formula once, as an inline function of one overlap. `over_pairs` and
`over_contact` apply it: `many` evaluates many contacts, in a loop that the compiler vectorises; `many_moving`
likewise, for laws that need velocities: it reads the twists of the clumps (state/layout.pxd), and lists the contacts
that may begin or end within a step (onset.pxd). `many_mixed` and `many_mixed_moving` are the same for clumps with
different elastic constants, of a law that reads them. `one` evaluates one contact, `forces` eight overlaps. A formula
must read its parameters unconditionally: a loop with a conditional read is not vectorised.

A contact is evaluated from its two bodies alone; exchanging i and j changes the sign of the normal and no other bit. So
contacts are not stored: where one is needed again at the same pose, it is evaluated again.
"""
from libc.math cimport sqrt
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

from minidem.contact.rows cimport Fields, HistoryFunction
from minidem.contact.force_sums cimport force_record, force_records, round_force
from minidem.contact.part cimport PartCall, PartFunction
from minidem.contact.twists cimport relative_velocities, sphere_velocity, twist_of
from minidem.core.external cimport External
from minidem.core.lanes cimport LANES
from minidem.core.transpose cimport rows_from_records
from minidem.core.vec3 cimport Vec3, dot, scale, sub, vec3
from minidem.core.vectors cimport IntVector, reserve
from minidem.state.periodic_box cimport (
    BoxPose, box_moves, crossing, image_velocities, image_velocity, nearest_differences, nearest_image,
)
from minidem.state.rows cimport load, store
from minidem.state.state cimport StateView, clump_of
from minidem.walls.surface cimport Touch, Walls, touch_wall
from minidem.walls.wall_table cimport WallTable

cdef enum:
    # Ints of the inner list that are tested before their contacts are evaluated. evaluate_pairs has 37 kB of forces for
    # them on its stack, which OMP_STACKSIZE may limit to 64 kB.
    PAIRS_AT_ONCE = 1024
    MAX_PARTS = 4

cpdef enum LawLimits:
    MAX_LAW_PARAMETERS = 16
    ZETA_TERMS = 12                     # of the two polynomials of the onset correction

cdef struct Contact:
    double overlap                      # [m]
    double force                        # magnitude [N], along the normal
    Vec3 normal                         # unit, from j to i

ctypedef double (*Force)(double overlap, double radius, double modulus, const double *parameters) noexcept nogil
ctypedef bint (*PairsFunction)(const Law *law, const StateView *state, const int *pairs, Py_ssize_t first,
                               Py_ssize_t n, bint walls, int64_t *forces, IntVector *ends) noexcept nogil
ctypedef void (*ForcesFunction)(const double *overlap, const double *radius, const double *modulus,
                                const double *parameters, double *force) noexcept nogil
ctypedef Contact (*ContactFunction)(const Law *law, const StateView *state, int i, int j) noexcept nogil

cdef struct Law:                        # all that a force depends on, in addition to the spheres
    PairsFunction evaluate              # `many`, or one of the three others
    ContactFunction one
    ForcesFunction forces               # of LANES overlaps
    const Walls *walls
    const BoxPose *box                  # periodic, at the pose of this thread: see periodic_box.pxd; NULL: none
    const BoxPose *boxes                # of a run, one for each half step, if the box moves
    Py_ssize_t box_stride               # 1, or 0: the box does not move
    IntVector *crossing                 # of a law without records: first indices of contacts across faces that move
    double modulus                      # effective modulus between two clumps, if all have one compliance [Pa]
    double parameters[MAX_LAW_PARAMETERS]       # in the order of the record
    void *context                       # behind the parameters: the LawKernels, for external_law.pyx
    PartCall parts[MAX_PARTS + 1]       # behind the context: of a law that is composed of them (part.pxd)
    double power                        # p of the force k d^p
    double energy_factor                # elastic energy / (force * overlap)
    double dt                           # [s]
    double begins, ends                 # overlap / normal speed below which a contact may begin, end within a step [s]
    double zeta[2][ZETA_TERMS]          # -zeta(-p, 1 + a), -zeta(-p - 1, 1 + a) by powers of a
    const double *compliance            # (n_clumps,) by the user's number: (1 - nu^2) / E [1/Pa]; NULL: all the same
    HistoryFunction history             # of a law with history (rows.pxd); NULL: none of what follows is used
    HistoryFunction describe            # likewise, results are DescriptionRows
    int n_records                       # of its history
    int touch_records                   # the first ones, zero where the fourth number of the first one is zero
    int rare_records                    # the last ones, which few contacts have
    bint has_couples                    # it exerts couples
    double reach                        # largest gap at which a contact may exist [m]
    bint begins_at_reach                # a contact begins there, else at touch
    bint mass_of_clumps                 # the effective mass is that of the clumps without their rotation
    int n_materials
    int n_coefficients                  # a multiple of 4
    const double *coefficients          # (n_materials, n_materials, n_coefficients)
    double energy_unit, per_energy      # of the sums of energies, a power of two [J], and its inverse
    double force_unit                   # of those of the forces on walls, likewise [N]
    uint64_t unit_key                   # of the sums of the forces on spheres, and their shift: see force_sums.pxd
    int unit_shift
    const uint64_t *unit_keys           # (n_clumps,) where clumps differ in compliance; else NULL
    Fields fields                       # of a law with history


cdef class Part:
    cdef PartFunction forces, describe
    cdef readonly int n_records, rare_records
    cdef readonly bint has_couples


cdef class LawKernels(External):
    cdef PairsFunction many, many_moving, many_mixed, many_mixed_moving
    cdef ContactFunction one
    cdef ForcesFunction forces
    cdef HistoryFunction history, describe
    cdef readonly tuple parts
    cdef readonly int n_records, touch_records
    cdef public int n_coefficients      # of the law with its materials, known when it is used
    cdef readonly bint has_couples
    cdef public bint sees_bodies        # it is a user's own
    cdef public object fields           # (name, first component, components) of each field; None: not in a time loop
    cdef public int n_components        # of all fields
    cdef object fill(self, Law *law, values)
    cdef object mix_materials(self, Law *law, const double *compliance)
    cdef object correct_onsets(self, Law *law, double power, zeta, double dt)


cdef inline Contact sphere_contact(Force force, double modulus, const double *parameters, Vec3 between,
                                   double radius_i, double radius_j) noexcept nogil:
    """modulus, parameters : as in Law.
    between : from the centre of j to that of i [m]. Coincident centres: no direction, no force.
    """
    cdef Contact contact
    cdef double touching = radius_i + radius_j
    cdef double distance = sqrt(between.x * between.x + between.y * between.y + between.z * between.z)
    contact.normal = scale(1.0 / distance if distance > 0.0 else 0.0, between)
    contact.overlap = touching - distance
    contact.force = force(contact.overlap, radius_i * radius_j / touching, modulus, parameters)
    return contact


cdef inline Contact wall_contact(Force force, double modulus, const Law *law, const double *sphere,
                                 Py_ssize_t element) noexcept nogil:
    cdef Touch touch = touch_wall(law.walls, element, sphere)
    cdef Contact contact
    contact.normal = touch.normal
    contact.overlap = sphere[3] - touch.height
    contact.force = force(contact.overlap, sphere[3], modulus, law.parameters)
    return contact


cdef inline double compliance_of(const Law *law, const StateView *state, int sphere) noexcept nogil:
    """Compliance of the clump of a sphere."""
    return law.compliance[state.clump_number[clump_of(state, sphere)]]


cdef inline double modulus_of(bint mixed, const Law *law, const StateView *state, int i, int j) noexcept nogil:
    """Effective modulus of a contact [Pa]; mixed : clumps differ in compliance; i, j : as for over_contact."""
    if mixed:
        return 1.0 / (compliance_of(law, state, i)
                      + (compliance_of(law, state, j) if j >= 0 else law.walls.compliance[law.walls.wall_of[-1 - j]]))
    return law.modulus if j >= 0 else law.walls.modulus[law.walls.wall_of[-1 - j]]


cdef inline Contact over_contact(Force force, bint mixed, const Law *law, const StateView *state, int i,
                                 int j) noexcept nogil:
    """i : slot of a sphere; j : likewise, or -1 - element of a wall; mixed : clumps differ in compliance."""
    cdef const double *a = state.spheres + 4 * <Py_ssize_t> i
    cdef const double *b = state.spheres + 4 * <Py_ssize_t> j
    cdef double modulus = modulus_of(mixed, law, state, i, j)
    if j < 0:
        return wall_contact(force, modulus, law, a, -1 - <Py_ssize_t> j)
    return sphere_contact(force, modulus, law.parameters, nearest_image(
        law.box, sub(vec3(a[0], a[1], a[2]), vec3(b[0], b[1], b[2]))), a[3], b[3])


cdef inline uint64_t unit_key(const Law *law, const StateView *state, Py_ssize_t clump) noexcept nogil:
    """Key of the units of the spheres of the clump in a slot, which may be empty."""
    cdef int number = 0 if law.unit_keys == NULL else state.clump_number[clump]
    return law.unit_key if law.unit_keys == NULL or number < 0 else law.unit_keys[number]


cdef inline uint64_t unit_key_of(bint mixed, const Law *law, const StateView *state, int sphere) noexcept nogil:
    return unit_key(law, state, clump_of(state, sphere)) if mixed else law.unit_key


cdef inline void record_force(bint mixed, const Law *law, const StateView *state, int sphere, const double *force,
                              double sign, int64_t *record) noexcept nogil:
    """The record of a force (3,) times `sign` on a sphere; force[3] is its magnitude [N]."""
    force_record(force, sign, unit_key_of(mixed, law, state, sphere), law.unit_shift,
                 state.spheres[4 * <Py_ssize_t> sphere + 3], record)


cdef inline Vec3 rounded_force(const Law *law, const StateView *state, int sphere, Vec3 force) noexcept nogil:
    """A force on a sphere in multiples of its unit, as its sum has it."""
    cdef double rows[3]
    rows[0], rows[1], rows[2] = force.x, force.y, force.z
    round_force(rows, unit_key_of(law.unit_keys != NULL, law, state, sphere), law.unit_shift,
                state.spheres[4 * <Py_ssize_t> sphere + 3])
    return vec3(rows[0], rows[1], rows[2])


cdef inline double margin(double begins, double ends, const Contact *contact, Vec3 relative) noexcept nogil:
    """Positive if a contact may begin or end within a step, by the velocity of i relative to j; see Law."""
    cdef double speed = dot(contact.normal, relative)
    return (ends * speed if speed > 0.0 else -begins * speed) - contact.overlap


cdef inline void set_force(double *force, Py_ssize_t stride, const Contact *contact) noexcept nogil:
    """Force on the first sphere of a contact, and its magnitude; components are `stride` doubles apart."""
    force[0] = contact.force * contact.normal.x
    force[stride] = contact.force * contact.normal.y
    force[2 * stride] = contact.force * contact.normal.z
    force[3 * stride] = contact.force


cdef inline void list_crossing(const Law *law, int bits, Py_ssize_t number) noexcept nogil:
    """List those of eight contacts, from the int `number` on, that may cross a face; bits 1 << lane."""
    cdef int lane
    for lane in range(LANES if bits else 0):
        law.crossing.data[law.crossing.size] = <int> number + 2 * lane
        law.crossing.size += bits >> lane & 1


cdef inline void evaluate_eight(Force force, bint moving, bint mixed, const BoxPose *box, const Law *law,
                                const StateView *state, const int *pairs, const int *twists, Py_ssize_t number,
                                int64_t *on_i, int64_t *on_j, double *margins) noexcept nogil:
    """Evaluate eight contacts of two spheres each, into records (LANES, 4) of forces (force_sums.pxd).

    box : that of the law.  number : of the first int of `pairs` in the list of the thread.
    twists, margins : (2 LANES,), (LANES,) with `moving`: see relative_velocities; margin of each.
    """
    cdef double a[4][LANES]
    cdef double b[4][LANES]
    cdef double rows[4][LANES]
    cdef double relative[3 * LANES]
    cdef double images[6 * LANES]
    cdef double moduli[LANES]
    cdef uint64_t keys_i[LANES]
    cdef uint64_t keys_j[LANES]
    cdef int i[LANES]
    cdef int j[LANES]
    cdef double modulus = law.modulus, begins = law.begins, ends = law.ends
    cdef Contact contact
    cdef int lane
    for lane in range(LANES):
        i[lane] = pairs[2 * lane]
        j[lane] = pairs[2 * lane + 1]
    rows_from_records(state.spheres, i, a[0])
    rows_from_records(state.spheres, j, b[0])
    if moving and state.twists != NULL:
        relative_velocities(state, twists, a[0], b[0], relative)
    elif moving:
        for lane in range(LANES):
            store(relative + lane, sub(sphere_velocity(state, i[lane]), sphere_velocity(state, j[lane])))
    if moving and box_moves(box) and image_velocities(box, a[0], b[0], images, images + 3 * LANES):
        for lane in range(3 * LANES):
            relative[lane] -= images[lane]
    if box_moves(box):
        list_crossing(law, crossing(box, a[0], b[0]), number)
    if box != NULL:
        nearest_differences(box, a[0], b[0], a[0])
        memset(b[0], 0, 3 * LANES * sizeof(double))
    if mixed:
        for lane in range(LANES):
            moduli[lane] = modulus_of(True, law, state, i[lane], j[lane])
    for lane in range(LANES):
        contact = sphere_contact(force, moduli[lane] if mixed else modulus, law.parameters, vec3(
            a[0][lane] - b[0][lane], a[1][lane] - b[1][lane], a[2][lane] - b[2][lane]), a[3][lane], b[3][lane])
        set_force(rows[0] + lane, LANES, &contact)
        if moving:
            margins[lane] = margin(begins, ends, &contact, load(relative + lane))
    for lane in range(LANES):
        keys_i[lane] = unit_key_of(mixed, law, state, i[lane])
        keys_j[lane] = unit_key_of(mixed, law, state, j[lane])
    force_records(rows[0], 1.0, keys_i, law.unit_shift, a[3], on_i)
    force_records(rows[0], -1.0, keys_j, law.unit_shift, b[3], on_j)


cdef inline int64_t *record_of(int64_t *forces, Py_ssize_t k) noexcept nogil:
    """The record of the force on the first sphere of pair k / 2; that on the second is LANES records behind it.

    forces : records of eight pairs on their first spheres, on their second spheres, of the next eight pairs, ...
    """
    return forces + 2 * (k + k // (2 * LANES) * (2 * LANES))


cdef inline void over_lanes(Force force, const double *overlap, const double *radius, const double *modulus,
                            const double *parameters, double *result) noexcept nogil:
    """Forces (LANES,) of overlaps (LANES,), with effective radii and moduli (LANES,)."""
    cdef double forces[LANES]                           # which `parameters` cannot alias
    cdef int lane
    for lane in range(LANES):
        forces[lane] = force(overlap[lane], radius[lane], modulus[lane], parameters)
    memcpy(result, forces, sizeof(forces))


cdef inline Vec3 relative_velocity(const BoxPose *box, const StateView *state, Vec3 velocity, int i,
                                   int j) noexcept nogil:
    """Velocity of sphere i relative to the nearest image of sphere j; velocity : of i."""
    cdef const double *a = state.spheres + 4 * <Py_ssize_t> i
    cdef const double *b = state.spheres + 4 * <Py_ssize_t> j
    cdef Vec3 behind, ahead, relative = sub(velocity, sphere_velocity(state, j))
    if box_moves(box) and image_velocity(box, vec3(a[0] - b[0], a[1] - b[1], a[2] - b[2]), &behind, &ahead):
        return sub(relative, behind)
    return relative


cdef inline void place_box(Law *law, Py_ssize_t entry) noexcept nogil:
    """Take the box of an entry of `boxes`."""
    law.box = law.boxes + entry * law.box_stride


cdef inline void take_boxes(Law *law, const BoxPose *boxes, Py_ssize_t stride) noexcept nogil:
    """Take the boxes of a run, and the first of them."""
    law.boxes, law.box_stride = boxes, stride
    place_box(law, 0)


cdef inline bint over_pairs_in(const BoxPose *box, Force force, bint moving, bint mixed, const Law *law,
                               const StateView *state, const int *pairs, Py_ssize_t first, Py_ssize_t n, bint walls,
                               int64_t *forces, IntVector *ends) noexcept nogil:
    """See over_pairs. box : of the law; a constant NULL, so that loops are compiled as if there were no boxes."""
    cdef Py_ssize_t eight, k, eights = 0 if walls else n // (2 * LANES)
    cdef int twists[PAIRS_AT_ONCE + 2 * LANES]
    cdef double margins[LANES]
    cdef int lane
    cdef int64_t *on_i
    cdef double on_first[4]
    cdef Contact contact
    cdef Vec3 relative
    if moving and not reserve(ends, ends.size + n // 2 + 1):
        return False
    if box_moves(box) and not reserve(law.crossing, law.crossing.size + n // 2 + 1):
        return False
    if moving:
        for k in range(2 * LANES * eights):
            twists[k] = twist_of(clump_of(state, pairs[k]))
    for eight in range(eights):
        k = 2 * LANES * eight
        on_i = record_of(forces, k)
        evaluate_eight(force, moving, mixed, box, law, state, pairs + k, twists + k, first + k, on_i, on_i + 4 * LANES,
                       margins)
        if moving:
            for lane in range(LANES):
                ends.data[ends.size] = <int> (first + k) + 2 * lane
                ends.size += margins[lane] > 0.0
    for k in range(2 * LANES * eights, n, 2):
        contact = over_contact(force, mixed, law, state, pairs[k], pairs[k + 1])
        on_i = record_of(forces, k)
        set_force(on_first, 1, &contact)
        record_force(mixed, law, state, pairs[k], on_first, 1.0, on_i)
        if pairs[k + 1] >= 0 and box_moves(box):
            list_crossing(law, 1, first + k)
        if pairs[k + 1] >= 0:
            record_force(mixed, law, state, pairs[k + 1], on_first, -1.0, on_i + 4 * LANES)
        if moving:
            relative = sphere_velocity(state, pairs[k])
            if pairs[k + 1] >= 0:
                relative = relative_velocity(box, state, relative, pairs[k], pairs[k + 1])
            ends.data[ends.size] = <int> (first + k)
            ends.size += margin(law.begins, law.ends, &contact, relative) > 0.0
    return True


cdef inline bint over_pairs(Force force, bint moving, bint mixed, const Law *law, const StateView *state,
                            const int *pairs, Py_ssize_t first, Py_ssize_t n, bint walls, int64_t *forces,
                            IntVector *ends) noexcept nogil:
    """Evaluate n ints of contacts, two by two, into forces: see record_of. False: memory exhausted.

    moving, mixed : constants at compile time. Append to `ends` the contacts that may begin or end within a step; clumps
        differ in compliance.
    first : number of the first int in the list of the thread.
    walls : some of them are contacts with a wall.
    """
    if law.box != NULL:
        return over_pairs_in(law.box, force, moving, mixed, law, state, pairs, first, n, walls, forces, ends)
    return over_pairs_in(NULL, force, moving, mixed, law, state, pairs, first, n, walls, forces, ends)


cdef object set_units(Law *law, record, values, pair_table, state)
cdef object set_properties(Law *law, WallTable walls, LawKernels kernels, record, values, pair_table, material_index)
