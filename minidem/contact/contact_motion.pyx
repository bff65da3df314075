"""Geometry and motion of eight contacts, for a contact law with history (contact.h).

Velocities are those half a step before the pose: the displacement of a body in the step, divided by the step. So they
do not depend on the rotation scheme, and a spring that is stretched by them is of second order. They are taken at the
contact point, and split along the normal, half a step before the pose as well. All formulas are symmetric in i and j:
exchanging them changes signs and no other bit.
"""
from libc.math cimport sqrt
from libc.string cimport memset

from minidem.contact.contact cimport OwnContact, store3
from minidem.contact.law cimport Law
from minidem.core.lanes cimport LANES
from minidem.core.transpose cimport rows_from_lines, rows_from_records
from minidem.core.vec3 cimport Vec3, add, add_scaled, cross, dot, scale, sub, vec3
from minidem.state.periodic_box cimport BoxPose, box_moves, image_velocities, nearest_differences
from minidem.state.rows cimport load, store
from minidem.state.state cimport StateView
from minidem.walls.surface cimport Touch, WallPose, touch_wall, velocity_at

cdef struct Bodies:                     # of eight contacts: one of their two sides
    double sphere[4 * LANES]            # centre [m] and radius [m]
    double motion[8 * LANES]            # as in StateView: half a step before the pose


cdef struct Geometry:                   # of eight contacts at the pose
    double normal[3 * LANES]
    double overlap[LANES]               # [m]
    double radius[LANES]                # effective [m]
    double curvature[LANES]             # change of the normal per displacement: 1 / distance of the centres [1/m]
    double straight[3 * LANES]          # of walls: direction in which there is none; see Touch


cdef inline void load_side(const StateView *state, const int *spheres, Bodies *side) noexcept nogil:
    rows_from_records(state.spheres, spheres, side.sphere)
    rows_from_lines(state.motions, spheres, side.motion)


cdef inline void pair_geometry(const BoxPose *box, const Bodies *a, const Bodies *b, Geometry *g) noexcept nogil:
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
        g.curvature[lane] = inverse * reach
        store(g.normal + lane, scale(inverse * reach, between))
        g.overlap[lane] = reach - distance
        g.radius[lane] = a.sphere[3 * LANES + lane] * b.sphere[3 * LANES + lane] * (inverse * distance)


cdef inline void move_wall(const WallPose *pose, Vec3 centre, Vec3 velocity, double half, Bodies *b,
                           int lane) noexcept nogil:
    """Motion of a wall at the centre of a sphere, half a step before the pose; arguments : those of the sphere."""
    cdef Vec3 before = sub(vec3(pose.position[0], pose.position[1], pose.position[2]),
                           scale(half, vec3(pose.velocity[0], pose.velocity[1], pose.velocity[2])))
    store(b.motion + lane, velocity_at(pose.velocity, pose.turning, sub(add_scaled(centre, -half, velocity), before)))
    store(b.motion + 4 * LANES + lane, vec3(pose.turning[0], pose.turning[1], pose.turning[2]))


cdef inline void wall_geometry(const Law *law, const int *elements, const Bodies *a, double half, Bodies *b,
                               Geometry *g) noexcept nogil:
    """Of contacts with walls. half : of the step.  b : set to the walls, as bodies whose centres are those of i."""
    cdef Touch touch
    cdef double sphere[4]
    cdef int lane, k, element, wall
    memset(b, 0, sizeof(Bodies))
    for lane in range(LANES):
        element = -1 - elements[lane]
        wall = law.walls.wall_of[element]
        for k in range(4):
            sphere[k] = a.sphere[k * LANES + lane]
        touch = touch_wall(law.walls, element, sphere)
        store(g.normal + lane, touch.normal)
        store(g.straight + lane, touch.straight)
        g.overlap[lane] = sphere[3] - touch.height
        g.radius[lane] = sphere[3]
        g.curvature[lane] = touch.curvature
        if law.walls.moves[wall]:
            move_wall(law.walls.now + wall, load(a.sphere + lane), load(a.motion + lane), half, b, lane)


cdef inline void write_contacts(bint walls, const Bodies *a, const Bodies *b, const Geometry *g, double step,
                                const double *images, OwnContact contact, Side *i, Side *j) noexcept nogil:
    """All of the contacts up to the step but mass and rolling inertia, and their two sides.

    images : velocities (3, LANES) of the images of the second bodies; a constant NULL where all are zero.
    """
    cdef double half = 0.5 * step, share = 1.0 if walls else 0.5        # of the overlap on the side of i
    cdef double overlap, middle_overlap, approach, lever_i, lever_j
    cdef Vec3 normal, middle, relative, tangential, straight, w_i, w_j
    cdef int lane
    for lane in range(LANES):
        normal, w_i, w_j = load(g.normal + lane), load(a.motion + 4 * LANES + lane), load(b.motion + 4 * LANES + lane)
        relative = sub(load(a.motion + lane), load(b.motion + lane))
        if images != NULL:
            relative = sub(relative, load(images + lane))
        approach = dot(relative, normal)
        tangential = add_scaled(relative, -approach, normal)
        if walls:                                       # the curved part of the motion, and the rotation of the wall
            straight = load(g.straight + lane)
            tangential = add_scaled(tangential, -dot(tangential, straight), straight)
        middle = add_scaled(normal, -half * g.curvature[lane], tangential)
        if walls:
            middle = add_scaled(middle, -half, cross(w_j, normal))
        overlap = g.overlap[lane]
        middle_overlap = overlap + half * approach
        lever_i = a.sphere[3 * LANES + lane] - share * middle_overlap
        lever_j = -lever_i if walls else b.sphere[3 * LANES + lane] - share * middle_overlap
        store3(contact.normal, lane, normal)
        contact.overlap[lane], contact.radius[lane], contact.step[lane] = overlap, g.radius[lane], step
        i.arm[lane], j.arm[lane] = a.sphere[3 * LANES + lane] - share * overlap, b.sphere[3 * LANES + lane] \
            - share * overlap
        i.per_force[lane], i.per_moment[lane] = a.motion[3 * LANES + lane], a.motion[7 * LANES + lane]
        j.per_force[lane], j.per_moment[lane] = b.motion[3 * LANES + lane], b.motion[7 * LANES + lane]
        store3(contact.middle_normal, lane, middle)
        store3(contact.velocity, lane, sub(relative, cross(add(scale(lever_i, w_i), scale(lever_j, w_j)), middle)))
        store3(contact.angular_velocity, lane, sub(w_i, w_j))
        contact.spin[lane] = 0.5 * dot(add(w_i, w_j), normal)


cdef void write_points(bint walls, const Bodies *a, const Bodies *b, const Geometry *g, double *points) noexcept nogil:
    """Contact points at the pose (3, LANES)."""
    cdef double radius_i, radius_j
    cdef int lane
    for lane in range(LANES):
        radius_i, radius_j = a.sphere[3 * LANES + lane], b.sphere[3 * LANES + lane]
        if walls:
            store(points + lane, add_scaled(load(a.sphere + lane), g.overlap[lane] - radius_i, load(g.normal + lane)))
        else:
            store(points + lane, scale(0.5, add_scaled(add(load(a.sphere + lane), load(b.sphere + lane)),
                                                       radius_j - radius_i, load(g.normal + lane))))


cdef bint gather_contacts(const Law *law, const StateView *state, const int *i, const int *j, bint walls,
                          Contact *contact, Side *sides, double *points, double *images) noexcept nogil:
    """Eight contacts up to their step, but for mass and rolling inertia.

    i, j : (LANES,) their bodies.  walls : all are contacts with walls.
    sides : (2,), of each body.
    points : (3, LANES), contact points, lab [m]; may be NULL.
    images : (6, LANES), where the function returns True: velocities of those images of the second bodies that touch, in
        the step that ends here and in the one that begins [m/s]. False: they are zero.
    """
    cdef Bodies a, b
    cdef Geometry geometry
    cdef bint crosses = False
    load_side(state, i, &a)
    if walls:
        wall_geometry(law, j, &a, state.half_step, &b, &geometry)
        write_contacts(True, &a, &b, &geometry, 2.0 * state.half_step, NULL, contact, sides, sides + 1)
    else:
        load_side(state, j, &b)
        if law.box != NULL:
            pair_geometry(law.box, &a, &b, &geometry)
            crosses = box_moves(law.box) and image_velocities(law.box, a.sphere, b.sphere, images, images + 3 * LANES)
        else:
            pair_geometry(NULL, &a, &b, &geometry)
        if crosses:
            write_contacts(False, &a, &b, &geometry, 2.0 * state.half_step, images, contact, sides, sides + 1)
        else:
            write_contacts(False, &a, &b, &geometry, 2.0 * state.half_step, NULL, contact, sides, sides + 1)
    if points != NULL:
        write_points(walls, &a, &b, &geometry, points)
    return crosses
