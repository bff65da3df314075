"""Evaluation of contacts of laws without history: see central.pxd."""
from libc.math cimport sqrt
from libc.stdint cimport uint64_t
from libc.string cimport memset

from minidem.contact.contact cimport CENTRAL_COEFFICIENTS, OwnContact, OwnNumbers, load3, store3
from minidem.contact.force_sums cimport force_records
from minidem.contact.law cimport material_of, unit_key_of
from minidem.contact.twists cimport relative_velocities, sphere_velocity, twist_of
from minidem.core.transpose cimport rows_from_records
from minidem.core.vec3 cimport dot, scale, sub, vec3
from minidem.core.vectors cimport reserve
from minidem.state.periodic_box cimport (
    BoxPose, box_moves, crossing, image_velocities, image_velocity, nearest_differences, nearest_image,
)
from minidem.state.rows cimport load, store
from minidem.state.state cimport clump_of
from minidem.walls.surface cimport Touch, touch_wall


cdef inline int pair_of(const Law *law, const StateView *state, int i, int j) noexcept nogil:
    """Number of the pair of materials of a sphere i, and another one or -1 - element of a wall."""
    return material_of(law, state, clump_of(state, i)) * law.n_materials + (
        material_of(law, state, clump_of(state, j)) if j >= 0
        else <int> law.walls.materials[law.walls.wall_of[-1 - j]])


cdef void load_pair(const Law *law, const StateView *state, int i, int j, Row *coefficients, int lane) noexcept nogil:
    """Coefficients of the materials of a contact, as of pair_of."""
    cdef const double *of_pair = law.coefficients + pair_of(law, state, i, j) * law.n_coefficients
    cdef int k
    for k in range(CENTRAL_COEFFICIENTS):
        coefficients[k][lane] = of_pair[k]


cdef inline void touch_spheres(Vec3 between, double radius_i, double radius_j, Contact *contact,
                               int lane) noexcept nogil:
    """between : from the centre of j to that of i [m]. Coincident centres: no direction, no force."""
    cdef double touching = radius_i + radius_j
    cdef double distance = sqrt(between.x * between.x + between.y * between.y + between.z * between.z)
    store3(contact.normal, lane, scale(1.0 / distance if distance > 0.0 else 0.0, between))
    contact.overlap[lane], contact.radius[lane] = touching - distance, radius_i * radius_j / touching


cdef void touch_eight(OwnNumbers a, OwnNumbers b, OwnContact contact) noexcept nogil:
    """Geometry of eight contacts of spheres (4, LANES). In a function of its own: within a loop gcc would unroll this
    one instead of vectorising it."""
    cdef int lane
    for lane in range(LANES):
        touch_spheres(sub(load(a + lane), load(b + lane)), a[3 * LANES + lane], b[3 * LANES + lane], contact, lane)


cdef inline void touch_one(const Law *law, const StateView *state, int i, int j, Contact *contact,
                           int lane) noexcept nogil:
    """Geometry and coefficients of one contact, as of pair_of."""
    cdef const double *a = state.spheres + 4 * <Py_ssize_t> i
    cdef const double *b = state.spheres + 4 * <Py_ssize_t> j
    cdef Touch touch
    load_pair(law, state, i, j, contact.coefficients, lane)
    if j >= 0:
        touch_spheres(nearest_image(law.box, sub(vec3(a[0], a[1], a[2]), vec3(b[0], b[1], b[2]))), a[3], b[3], contact,
                      lane)
    else:
        touch = touch_wall(law.walls, -1 - <Py_ssize_t> j, a)
        store3(contact.normal, lane, touch.normal)
        contact.overlap[lane], contact.radius[lane] = a[3] - touch.height, a[3]


cdef CentralForce central_force(const Law *law, const StateView *state, int i, int j) noexcept nogil:
    """i : slot of a sphere; j : likewise, or -1 - element of a wall."""
    cdef Contact contact
    cdef CentralForce found
    cdef double force[LANES]
    cdef int lane, k
    touch_one(law, state, i, j, &contact, 0)
    for lane in range(1, LANES):
        contact.overlap[lane], contact.radius[lane] = contact.overlap[0], contact.radius[0]
        for k in range(CENTRAL_COEFFICIENTS):
            contact.coefficients[k][lane] = contact.coefficients[k][0]
    force[0] = 0.0
    if law.central != NULL:
        law.central(&contact, force)
    found.overlap, found.force, found.normal = contact.overlap[0], force[0], load3(contact.normal, 0)
    return found


cdef inline double margin(const Law *law, const Contact *contact, Vec3 relative, int lane) noexcept nogil:
    """Positive if a contact may begin or end within a step, by the velocity of i relative to j; see Law."""
    cdef double speed = dot(load3(contact.normal, lane), relative)
    return (law.ends * speed if speed > 0.0 else -law.begins * speed) - contact.overlap[lane]


cdef inline void list_crossing(const Law *law, int bits, Py_ssize_t number) noexcept nogil:
    """List those of eight contacts, from the int `number` on, that may cross a face; bits 1 << lane."""
    cdef int lane
    for lane in range(LANES if bits else 0):
        law.crossing.data[law.crossing.size] = <int> number + 2 * lane
        law.crossing.size += bits >> lane & 1


cdef inline Vec3 relative_velocity(const BoxPose *box, const StateView *state, int i, int j) noexcept nogil:
    """Velocity of sphere i relative to the nearest image of sphere j, or to a wall."""
    cdef const double *a = state.spheres + 4 * <Py_ssize_t> i
    cdef const double *b = state.spheres + 4 * <Py_ssize_t> j
    cdef Vec3 behind, ahead, relative = sphere_velocity(state, i)
    if j >= 0:
        relative = sub(relative, sphere_velocity(state, j))
        if box_moves(box) and image_velocity(box, vec3(a[0] - b[0], a[1] - b[1], a[2] - b[2]), &behind, &ahead):
            relative = sub(relative, behind)
    return relative


cdef inline void evaluate_eight(bint moving, bint few, const BoxPose *box, const Law *law, const StateView *state,
                                const int *pairs, int n, const int *twists, Py_ssize_t number, OwnContact contact,
                                int64_t *records, IntVector *ends) noexcept nogil:
    """Evaluate n contacts, eight of two spheres each, or `few` of any kind, into records of forces (record_of).

    box : that of the law.  number : of the first int of `pairs` in the list of the thread.
    twists : (2 LANES,) with `moving`, of two spheres each: see relative_velocities.
    contact : room, with the coefficients if all clumps are of one material.
    """
    cdef double a[4][LANES]
    cdef double b[4][LANES]
    cdef double rows[4][LANES]
    cdef double relative[3 * LANES]
    cdef double images[6 * LANES]
    cdef double margins[LANES]
    cdef uint64_t keys_i[LANES]
    cdef uint64_t keys_j[LANES]
    cdef int i[LANES]
    cdef int j[LANES]
    cdef int of_pair[LANES]
    cdef int lane, m
    for lane in range(LANES):
        m = 2 * lane if lane < n else 0                 # what is beyond n is not used
        i[lane], j[lane] = pairs[m], pairs[m + 1]
    if few:
        memset(contact.overlap, 0, sizeof(Row))
        memset(contact.radius, 0, sizeof(Row))
        memset(contact.coefficients, 0, CENTRAL_COEFFICIENTS * sizeof(Row))
        for lane in range(n):
            touch_one(law, state, i[lane], j[lane], contact, lane)
            if moving:
                store(relative + lane, relative_velocity(box, state, i[lane], j[lane]))
            if box_moves(box) and j[lane] >= 0:
                list_crossing(law, 1, number + 2 * lane)
        for lane in range(LANES):
            j[lane] = j[lane] if j[lane] >= 0 else i[lane]      # any sphere: walls have no records
        rows_from_records(state.spheres, i, a[0])
        rows_from_records(state.spheres, j, b[0])
    else:
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
        if law.only_material < 0:
            for lane in range(LANES):
                of_pair[lane] = pair_of(law, state, i[lane], j[lane]) * (law.n_coefficients // CENTRAL_COEFFICIENTS)
            rows_from_records(law.coefficients, of_pair, contact.coefficients[0])
        touch_eight(a[0], b[0], contact)
    law.central(contact, rows[3])
    for lane in range(LANES):
        for m in range(3):
            rows[m][lane] = rows[3][lane] * contact.normal[m][lane]
        if moving:
            margins[lane] = margin(law, contact, load(relative + lane), lane)
    if law.only_material >= 0:
        for lane in range(LANES):
            keys_i[lane] = keys_j[lane] = law.unit_keys[law.only_material]
    else:
        for lane in range(LANES):
            keys_i[lane] = unit_key_of(law, state, i[lane])
            keys_j[lane] = unit_key_of(law, state, j[lane])
    force_records(rows[0], 1.0, keys_i, law.unit_shift, a[3], records)
    force_records(rows[0], -1.0, keys_j, law.unit_shift, b[3], records + 4 * LANES)
    for lane in range(n if moving else 0):
        ends.data[ends.size] = <int> number + 2 * lane
        ends.size += margins[lane] > 0.0


cdef inline bint evaluate_in(bint moving, const BoxPose *box, const Law *law, const StateView *state, const int *pairs,
                             Py_ssize_t first, Py_ssize_t n, bint walls, int64_t *forces,
                             IntVector *ends) noexcept nogil:
    """See evaluate_central. moving, box : constants, so that loops are compiled as if there were none."""
    cdef Py_ssize_t eights = 0 if walls else n // (2 * LANES), eight, k
    cdef int twists[PAIRS_AT_ONCE + 2 * LANES]
    cdef Contact contact
    cdef int lane, m
    if moving and not reserve(ends, ends.size + n // 2 + 1):
        return False
    if box_moves(box) and not reserve(law.crossing, law.crossing.size + n // 2 + 1):
        return False
    for m in range(CENTRAL_COEFFICIENTS if law.only_material >= 0 else 0):
        for lane in range(LANES):
            contact.coefficients[m][lane] = law.coefficients[
                law.only_material * (law.n_materials + 1) * law.n_coefficients + m]
    if moving:
        for k in range(2 * LANES * eights):
            twists[k] = twist_of(clump_of(state, pairs[k]))
    for eight in range(eights):
        k = 2 * LANES * eight
        evaluate_eight(moving, False, box, law, state, pairs + k, LANES, twists + k, first + k, &contact,
                       record_of(forces, k), ends)
    for eight in range(eights, (n + 2 * LANES - 1) // (2 * LANES)):
        k = 2 * LANES * eight
        evaluate_eight(moving, True, box, law, state, pairs + k, min(LANES, <int> (n - k) // 2), NULL, first + k,
                       &contact, record_of(forces, k), ends)
    return True


cdef bint evaluate_central(const Law *law, const StateView *state, const int *pairs, Py_ssize_t first, Py_ssize_t n,
                           bint walls, int64_t *forces, IntVector *ends) noexcept nogil:
    """Evaluate n ints of contacts, two by two, into forces: see record_of. False: memory exhausted.

    With onset correction, append to `ends` the contacts that may begin or end within a step.

    first : number of the first int in the list of the thread.
    walls : some of them are contacts with a wall.
    """
    if law.corrects_onsets and law.box != NULL:
        return evaluate_in(True, law.box, law, state, pairs, first, n, walls, forces, ends)
    if law.corrects_onsets:
        return evaluate_in(True, NULL, law, state, pairs, first, n, walls, forces, ends)
    if law.box != NULL:
        return evaluate_in(False, law.box, law, state, pairs, first, n, walls, forces, ends)
    return evaluate_in(False, NULL, law, state, pairs, first, n, walls, forces, ends)
