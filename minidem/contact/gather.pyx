"""Eight contacts at the present pose, as laws and fluxes see them (contact.h).

Velocities are those half a step before the pose: the displacement of a body in the step, divided by the step. So they
do not depend on the rotation scheme, and a spring that is stretched by them is of second order. They are taken at the
contact point, and split along the normal, half a step before the pose as well.
"""
from libc.math cimport sqrt
from libc.string cimport memcpy, memset

from minidem.contact.contact cimport OwnContact, load3, store3
from minidem.core.eight cimport eight_of, store_eight
from minidem.core.lanes cimport LANES
from minidem.core.transpose cimport rows_from_lines, rows_from_records
from minidem.core.vec3 cimport Vec3, add, add_scaled, cross, dot, scale, sub
from minidem.state.periodic_box cimport BoxPose, box_moves, image_velocities, nearest_differences
from minidem.state.rows cimport load, store
from minidem.walls.surface cimport Sliding, Touch, WallPose, arm_at, sliding_at, touch_wall, vector, velocity_at

cdef struct Bending:                    # of eight contacts: how the normal changes with the tangential displacement
    double curvature[LANES]             # 1 / distance of the centres [1/m]
    double straight[3 * LANES]          # of walls: direction in which there is none; see Touch


cdef inline void pair_geometry(const BoxPose *box, const SideBlock *a, const SideBlock *b, OwnContact contact,
                               Bending *bending) noexcept nogil:
    """Of contacts of two spheres. box : a constant NULL where no axis is periodic, so that the loop vectorises."""
    cdef double nearest[3 * LANES]
    cdef Vec3 between
    cdef double distance, reach, inverse
    cdef int lane
    if box != NULL:
        nearest_differences(box, a.sphere, b.sphere, nearest)
    for lane in range(LANES):
        between = load(nearest + lane) if box != NULL else sub(load(a.sphere + lane), load(b.sphere + lane))
        distance = sqrt(dot(between, between))
        reach = a.sphere[3 * LANES + lane] + b.sphere[3 * LANES + lane]
        inverse = 1.0 / (distance * reach)              # one division instead of two
        inverse = inverse if distance > 0.0 else 0.0    # coincident centres: no direction, no force
        bending.curvature[lane] = inverse * reach
        store3(contact.normal, lane, scale(inverse * reach, between))
        contact.overlap[lane] = reach - distance
        contact.radius[lane] = a.sphere[3 * LANES + lane] * b.sphere[3 * LANES + lane] * (inverse * distance)


cdef inline Vec3 arm_before(const Law *law, int primitive, const SideBlock *a, double half, int lane) noexcept nogil:
    """From the centre of a wall that moves to the centre of a sphere, half a step before the pose."""
    cdef const WallPose *pose = law.walls.now + law.walls.wall_of[primitive]
    return add_scaled(arm_at(law.walls, primitive, load(a.sphere + lane)), -half,
                      sub(load(a.motion + lane), vector(pose.velocity)))


cdef void slide_walls(const Law *law, const int *primitives, double half, int n, OwnContact contact,
                      const SideBlock *a, const SideBlock *b) noexcept nogil:
    """Add the motion of the surfaces to the first n contacts, with walls; the normals do not turn with it."""
    cdef Sliding sliding
    cdef Vec3 arm, normal
    cdef double approach
    cdef int lane, primitive
    for lane in range(n):
        primitive, normal = -1 - primitives[lane], load3(contact.middle_normal, lane)
        approach = dot(sub(load(a.motion + lane), load(b.motion + lane)), load3(contact.normal, lane))
        arm = add_scaled(arm_before(law, primitive, a, half, lane), contact.overlap[lane] + half * approach
                         - a.sphere[3 * LANES + lane], normal)
        sliding = sliding_at(law.walls, law.walls.wall_of[primitive], arm, normal, half)
        store3(contact.velocity, lane, sub(load3(contact.velocity, lane), sliding.velocity))
        store3(contact.angular_velocity, lane, sub(load3(contact.angular_velocity, lane), sliding.turning))
        contact.spin[lane] += 0.5 * dot(sliding.turning, load3(contact.normal, lane))


cdef inline void wall_geometry(bint moves, const Law *law, const int *i, const int *primitives, const SideBlock *a,
                               double half, SideBlock *b, OwnContact contact, Bending *bending, int n) noexcept nogil:
    """Of the first n contacts, with walls. half : of the step.

    b : with `moves`, set to the walls, as bodies at the centres of i.
    """
    cdef const WallPose *pose
    cdef Touch touch
    cdef double sphere[4]
    cdef int lane, k, primitive, wall
    if moves:
        memset(b, 0, sizeof(SideBlock))
    for lane in range(n):
        if lane == 0 or i[lane] != i[lane - 1] or primitives[lane] != primitives[lane - 1]:     # not one more free lane
            primitive = -1 - primitives[lane]
            wall = law.walls.wall_of[primitive]
            for k in range(4):
                sphere[k] = a.sphere[k * LANES + lane]
            touch = touch_wall(law.walls, primitive, sphere)
        store3(contact.normal, lane, touch.normal)
        store(bending.straight + lane, touch.straight)
        contact.overlap[lane] = sphere[3] - touch.height
        contact.radius[lane] = sphere[3]
        bending.curvature[lane] = touch.curvature
        if moves and law.walls.moves[wall]:
            pose = law.walls.now + wall
            store(b.motion + lane, velocity_at(pose.velocity, pose.turning, arm_before(law, primitive, a, half, lane)))
            store(b.motion + 4 * LANES + lane, vector(pose.turning))


cdef inline void write_motion(bint walls, const Bending *bending, double step, const double *images, OwnContact contact,
                              SideBlock *a, SideBlock *b) noexcept nogil:
    """Motion of the contacts.

    images : velocities (3, LANES) of the images of the second bodies; a constant NULL where all are zero.
    """
    cdef double half = 0.5 * step, share = 1.0 if walls else 0.5        # of the overlap on the side of i
    cdef double overlap, middle_overlap, approach, lever_i, lever_j
    cdef Vec3 normal, middle, relative, tangential, straight, w_i, w_j
    cdef int lane
    for lane in range(LANES):
        normal, overlap = load3(contact.normal, lane), contact.overlap[lane]
        w_i, w_j = load(a.motion + 4 * LANES + lane), load(b.motion + 4 * LANES + lane)
        relative = sub(load(a.motion + lane), load(b.motion + lane))
        if images != NULL:
            relative = sub(relative, load(images + lane))
        approach = dot(relative, normal)
        tangential = add_scaled(relative, -approach, normal)
        if walls:                                       # the curved part of the motion, and the rotation of the wall
            straight = load(bending.straight + lane)
            tangential = add_scaled(tangential, -dot(tangential, straight), straight)
        middle = add_scaled(normal, -half * bending.curvature[lane], tangential)
        if walls:
            middle = add_scaled(middle, -half, cross(w_j, normal))
        middle_overlap = overlap + half * approach
        lever_i = a.sphere[3 * LANES + lane] - share * middle_overlap
        lever_j = -lever_i if walls else b.sphere[3 * LANES + lane] - share * middle_overlap
        contact.step[lane] = step
        store3(contact.middle_normal, lane, middle)
        store3(contact.velocity, lane, sub(relative, cross(add(scale(lever_i, w_i), scale(lever_j, w_j)), middle)))
        store3(contact.angular_velocity, lane, sub(w_i, w_j))
        contact.spin[lane] = 0.5 * dot(add(w_i, w_j), normal)


cdef bint gather_contacts(bint moves, const Law *law, const StateView *state, const int *i, const int *j, bint walls,
                          int n, Contact *contact, SideBlock *sides, double *images) noexcept nogil:
    """Geometry of eight contacts, and with `moves` their motion: all up to their step without mass and rolling inertia.

    i, j : (LANES,) their bodies.  walls : all are contacts with walls.  n : the results of the first n are wanted.
    sides : (2,), of each body.
    images : (6, LANES), where the function returns True: velocities of those images of the second bodies that touch, in
        the step that ends here and in the one that begins [m/s]. False: they are zero.
    """
    cdef SideBlock *a = sides
    cdef SideBlock *b = sides + 1
    cdef Bending bending
    cdef bint crosses = False
    cdef double step = 2.0 * state.half_step
    rows_from_records(state.spheres, i, a.sphere)
    if moves:
        rows_from_lines(state.motions, i, a.motion)
    if walls:
        wall_geometry(moves, law, i, j, a, state.half_step, b, contact, &bending, n)
        if moves:
            write_motion(True, &bending, step, NULL, contact, a, b)
            if law.walls.any_slides:
                slide_walls(law, j, state.half_step, n, contact, a, b)
        return False
    rows_from_records(state.spheres, j, b.sphere)
    if moves:
        rows_from_lines(state.motions, j, b.motion)
    if law.box != NULL:
        pair_geometry(law.box, a, b, contact, &bending)
        crosses = box_moves(law.box) and image_velocities(law.box, a.sphere, b.sphere, images, images + 3 * LANES)
    else:
        pair_geometry(NULL, a, b, contact, &bending)
    if moves and crosses:
        write_motion(False, &bending, step, images, contact, a, b)
    elif moves:
        write_motion(False, &bending, step, NULL, contact, a, b)
    return crosses


cdef void load_only_pair(const Law *law, Contact *contact) noexcept nogil:
    """Coefficients for all blocks, where there is one material."""
    cdef int lane, k
    for k in range(law.n_coefficients if law.log_materials == 0 else 0):
        for lane in range(LANES):
            contact.coefficients[k][lane] = law.coefficients[k]


cdef void load_coefficients(const Law *law, const int *pairs, Contact *contact) noexcept nogil:
    """Coefficients of pairs of materials (LANES,)."""
    cdef int records[LANES]
    cdef int lane, k
    for k in range(law.n_coefficients // 4):
        for lane in range(LANES):
            records[lane] = pairs[lane] * (law.n_coefficients // 4) + k
        rows_from_records(law.coefficients, records, contact.coefficients[4 * k])


cdef void load_known_results(const Law *law, const ContactBlock *block, Result *result) noexcept nogil:
    """Results of contacts whose forces are known, all but the rates."""
    memset(result, 0, <size_t> (<char *> result.rates - <char *> result))
    memcpy(result.force, block.force, sizeof(block.force))
    if law.has_couples:
        memcpy(result.couple, couples_of(law, block), sizeof(result.couple))
    store_eight(result.goes_on, eight_of(1.0))
