"""Walls as the time loop sees them: primitives, and the pose of each wall at the present instant.

A plane and a cylinder are one primitive each, a cone has two, a mesh one per triangle. Primitives with a Shape, those
with a formula, come first, in the order of the walls, then the triangles. Planes, cylinders and triangles are computed
here, where the compiler sees them; of another shape a function says how a point is to it (cone_surface.pyx). Primitives
are given in the frame of their wall, which is the lab frame at time zero with its origin in the centre of the wall's
motion.

In a periodic box a wall that is not the same along all its axes has images. A sphere touches the image of a primitive
that is nearest to the primitive's reference; primitives are small enough that no other image can touch it.
"""
from minidem.core.vectors cimport IntVector
from minidem.core.vec3 cimport Vec3, add, add_scaled, cross, dot, norm, scale, sub, vec3
from minidem.walls.triangle cimport Nearest, nearest_of

cdef extern from *:
    """
    #define MINIDEM_FAR 1e30
    """
    const double FAR "MINIDEM_FAR"      # height of what does not count [m]

cdef extern from "core/nearest_image.h" nogil:
    double to_nearest "MINIDEM_NEAREST"(double d, double length, double inverse)

cdef struct WallPose:               # of a wall at one instant, as POSE of motion.py
    double position[3]              # of its centre, lab [m]
    double matrix[9]                # wall frame -> lab, row by row
    double velocity[3]              # of its centre, half a step before [m/s]
    double turning[3]               # angular velocity, half a step before, lab [rad/s]
    double velocity_now[3]          # at the instant itself
    double turning_now[3]

cdef enum Kind:
    PLANE, CYLINDER, OTHER

cdef enum:
    SHAPE_NUMBERS = 12

cdef struct Touch:                  # of a sphere and a primitive
    double height                   # distance of the centre from the surface, positive on the side of the clumps [m]
    Vec3 normal                     # unit, from the surface to the centre, lab
    double curvature                # of the surface of equal height through the centre: change of the normal per length
    Vec3 straight                   # second principal direction t, lab; |t|^2 = 1 - k2/k1, 0 on spheres, 1 on cylinders

cdef struct Shape

# How the point shape.point + d is to a shape; vectors in the frame of the wall. Returns whether the shape counts for a
# sphere there: another primitive of the wall may have the same nearest point. The height changes by no more than d.
ctypedef bint (*TouchFunction)(const Shape *shape, Vec3 d, Touch *touch) noexcept nogil

cdef struct Shape:                  # of a primitive with a formula, in the frame of its wall
    Kind kind
    TouchFunction touch             # of OTHER
    double point[3]                 # of a plane, of the axis of a cylinder [m]
    double axis[3]                  # unit; normal of a plane
    # Of OTHER what its function reads; of a cylinder the radius, and 1 around the clumps, -1 among them.
    double numbers[SHAPE_NUMBERS]

cdef struct TriangleGrid:           # of a mesh, in its frame: the triangles with bounding boxes that overlap each cell
    int wall
    double low[3]                   # [m]
    double cell                     # width of a cell [m]
    int side[3]                     # cells in each direction
    const int *start                # (cells + 1,)
    const int *primitives             # (start[cells],), ascending in each cell

cdef struct Drive:                  # how forces move a wall
    double axis[3]                  # unit, of the line along which it moves, or of its rotation
    double mobility                 # of a `Driven` wall 1 / mass [1/kg] or 1 / inertia [1/(kg m2)]; 0 of others
    bint turns

cdef struct Walls:
    Py_ssize_t count
    Py_ssize_t n_simple             # primitives with a shape
    Py_ssize_t n_primitives
    int n_meshes
    const int *wall_of              # (n_primitives,)
    const Shape *shapes             # (n_simple,)
    const double *corners           # (triangles, 3, 3)
    const double *normal            # (triangles, 3), unit
    const int *triangle_of          # (triangles,): of the user's mesh, of which periodic axes may divide triangles
    const int *vertices             # (triangles, 3): two triangles of a mesh with a common one are neighbours
    const int *around_start         # (points + 1,), in `around`
    const int *around               # primitives of the triangles around each point, ascending
    const double *smooth            # (count,): cosine of the feature angle, of meshes
    const TriangleGrid *grids       # (n_meshes,)
    const double *materials         # (count,): numbers of their materials
    const unsigned char *moves      # (count,)
    const Drive *drives             # (count,); NULL: no wall is a `Driven` one
    const double *surfaces          # (count, 6): velocities and angular velocities beside the wall, in its frame
    bint any_slides                 # one of them is not zero
    double period[3]                # lengths of the periodic box, 0 along open axes [m]
    double inverse_period[3]        # 1 / period, 0 along open axes [1/m]
    const unsigned char *repeats    # (count,): walls with images
    const double *references        # (n_primitives, 3): centres of primitives with images, frame of the wall [m]
    const WallPose *now             # (count,)
    double path                     # bound of the distance that any surface has moved until now [m]

cdef struct Sliding:                # of the surface of a wall beside the wall, lab
    Vec3 velocity                   # at a contact, across its normal [m/s]
    Vec3 turning                    # angular velocity [rad/s]

cdef struct Facet:                  # a triangle near a sphere, in the frame of its wall
    double height
    Vec3 normal
    Vec3 point                      # of the triangle, nearest to the centre
    int primitive
    bint dropped                    # another triangle counts instead: see surface.pyx


cdef inline Vec3 to_wall(const WallPose *pose, Vec3 x) noexcept nogil:
    """A point of the lab in the frame of a wall."""
    cdef const double *m = pose.matrix
    cdef Vec3 d = vec3(x.x - pose.position[0], x.y - pose.position[1], x.z - pose.position[2])
    return vec3(m[0] * d.x + m[3] * d.y + m[6] * d.z, m[1] * d.x + m[4] * d.y + m[7] * d.z,
                m[2] * d.x + m[5] * d.y + m[8] * d.z)


cdef inline Vec3 from_wall(const WallPose *pose, Vec3 v) noexcept nogil:
    """A vector in the frame of a wall in the lab frame."""
    cdef const double *m = pose.matrix
    return vec3(m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                m[6] * v.x + m[7] * v.y + m[8] * v.z)


cdef inline Vec3 vector(const double *v) noexcept nogil:
    return vec3(v[0], v[1], v[2])


cdef inline Vec3 velocity_with(const WallPose *pose, Vec3 x) noexcept nogil:
    """Velocity at the instant of a point of the lab that moves with a wall."""
    return add(vector(pose.velocity_now), cross(vector(pose.turning_now), sub(x, vector(pose.position))))


cdef inline Vec3 point_in_lab(const Walls *walls, int wall, Vec3 x) noexcept nogil:
    """A point in the frame of a wall."""
    return add(vector(walls.now[wall].position), from_wall(walls.now + wall, x)) if walls.moves[wall] else x


cdef inline Vec3 image_near(const Walls *walls, Py_ssize_t primitive, Vec3 x) noexcept nogil:
    """The image of a point of the lab that is nearest to a primitive of a wall with images."""
    cdef Vec3 center = point_in_lab(walls, walls.wall_of[primitive], vector(walls.references + 3 * primitive))
    cdef Vec3 d = sub(x, center)
    return add(center, vec3(
        to_nearest(d.x, walls.period[0], walls.inverse_period[0]),
        to_nearest(d.y, walls.period[1], walls.inverse_period[1]),
        to_nearest(d.z, walls.period[2], walls.inverse_period[2])))


cdef inline Vec3 arm_at(const Walls *walls, Py_ssize_t primitive, Vec3 x) noexcept nogil:
    """From the centre of a wall that moves to a point of the lab, or its image nearest to a primitive, lab."""
    cdef int wall = walls.wall_of[primitive]
    return sub(image_near(walls, primitive, x) if walls.repeats[wall] else x, vector(walls.now[wall].position))


cdef inline Vec3 near_primitive(const Walls *walls, Py_ssize_t primitive, Vec3 x) noexcept nogil:
    """A point of the lab, or its image nearest to a primitive, in the frame of its wall."""
    cdef int wall = walls.wall_of[primitive]
    if walls.repeats[wall]:
        x = image_near(walls, primitive, x)
    return to_wall(walls.now + wall, x) if walls.moves[wall] else x


cdef inline double simple_height(const Walls *walls, Py_ssize_t primitive, const double *sphere) noexcept nogil:
    """Height of a sphere's centre over a primitive with a shape, see Touch.

    It changes by no more than the centre moves.
    """
    cdef const Shape *shape = walls.shapes + primitive
    cdef Vec3 d = sub(near_primitive(walls, primitive, vector(sphere)), vector(shape.point))
    cdef Touch touch
    if shape.kind == PLANE:
        return d.x * shape.axis[0] + d.y * shape.axis[1] + d.z * shape.axis[2]
    if shape.kind == CYLINDER:
        return shape.numbers[1] * (shape.numbers[0] - norm(sub(d, scale(dot(d, vector(shape.axis)),
                                                                        vector(shape.axis)))))
    shape.touch(shape, d, &touch)
    return touch.height


cdef inline bint overlaps_simple(const Walls *walls, Py_ssize_t primitive, const double *sphere,
                                 double reach) noexcept nogil:
    """Whether a primitive with a shape counts for a sphere whose centre is within `reach` of it."""
    if walls.shapes[primitive].kind == OTHER:
        return touch_wall(walls, primitive, sphere).height < reach
    return simple_height(walls, primitive, sphere) < reach


cdef inline Touch touch_cylinder(const Shape *shape, Vec3 d) noexcept nogil:
    """d : from shape.point to the centre, in the frame of the wall, as all vectors of the result."""
    cdef Vec3 axis = vector(shape.axis)
    cdef double distance, side = shape.numbers[1]
    cdef Touch touch
    d = sub(d, scale(dot(d, axis), axis))
    distance = norm(d)
    touch.height = side * (shape.numbers[0] - distance)
    distance = 1.0 / distance if distance > 0.0 else 0.0            # on the axis: no direction, no force
    touch.normal = scale(-side * distance, d)
    touch.curvature, touch.straight = -side * distance, axis
    return touch


cdef inline Touch touch_simple(const Walls *walls, Py_ssize_t primitive, Vec3 x) noexcept nogil:
    """x : the sphere's centre in the frame of the wall, as all vectors of the result."""
    cdef const Shape *shape = walls.shapes + primitive
    cdef Vec3 d = sub(x, vector(shape.point))
    cdef Touch touch
    if shape.kind == CYLINDER:
        return touch_cylinder(shape, d)
    if shape.kind == OTHER:
        if not shape.touch(shape, d, &touch):
            touch.height = FAR
        return touch
    touch.curvature, touch.straight = 0.0, vec3(0.0, 0.0, 0.0)
    touch.height = d.x * shape.axis[0] + d.y * shape.axis[1] + d.z * shape.axis[2]
    touch.normal = vector(shape.axis)
    return touch


cdef inline Touch touch_triangle(const Walls *walls, Py_ssize_t primitive, Vec3 x) noexcept nogil:
    """As touch_simple."""
    cdef Py_ssize_t triangle = primitive - walls.n_simple
    cdef const double *normal = walls.normal + 3 * triangle
    cdef Nearest nearest = nearest_of(walls.corners + 9 * triangle, x)
    cdef Vec3 d = sub(x, nearest.point)
    cdef Touch touch
    cdef double length
    touch.normal, touch.straight = vec3(normal[0], normal[1], normal[2]), vec3(0.0, 0.0, 0.0)
    touch.curvature = 0.0
    if nearest.on_face:
        d = sub(x, vec3(walls.corners[9 * triangle], walls.corners[9 * triangle + 1], walls.corners[9 * triangle + 2]))
        touch.height = dot(d, touch.normal)
        if touch.height < 0.0:                          # from the other side
            touch.height, touch.normal = -touch.height, scale(-1.0, touch.normal)
        return touch
    touch.height = norm(d)
    if touch.height > 0.0:
        touch.curvature = 1.0 / touch.height
        touch.normal = scale(touch.curvature, d)
        length = norm(nearest.edge)
        touch.straight = scale(1.0 / length if length > 0.0 else 0.0, nearest.edge)
    return touch


cdef inline Touch touch_wall(const Walls *walls, Py_ssize_t primitive, const double *sphere) noexcept nogil:
    """How a sphere (centre, radius) is to a primitive."""
    cdef int wall = walls.wall_of[primitive]
    cdef Vec3 x = near_primitive(walls, primitive, vector(sphere))
    cdef Touch touch
    if primitive < walls.n_simple:
        touch = touch_simple(walls, primitive, x)
    else:
        touch = touch_triangle(walls, primitive, x)
    if walls.moves[wall]:
        touch.normal = from_wall(walls.now + wall, touch.normal)
        touch.straight = from_wall(walls.now + wall, touch.straight)
    return touch


cdef inline Vec3 velocity_at(const double *velocity, const double *turning, Vec3 arm) noexcept nogil:
    """Velocity of a point of a wall; arm : from the wall's centre."""
    return add(vec3(velocity[0], velocity[1], velocity[2]), cross(vec3(turning[0], turning[1], turning[2]), arm))


cdef inline Sliding sliding_at(const Walls *walls, int wall, Vec3 arm, Vec3 normal, double before) noexcept nogil:
    """How the surface of a wall moves beside the wall, at a contact, a time `before` the pose.

    arm : from the wall's centre to the contact point;  normal : of the contact
    """
    cdef const WallPose *pose = walls.now + wall
    cdef Vec3 velocity = from_wall(pose, vector(walls.surfaces + 6 * wall))
    cdef Vec3 turning = from_wall(pose, vector(walls.surfaces + 6 * wall + 3))
    cdef Sliding sliding
    velocity = add_scaled(velocity, -before, cross(vector(pose.turning), velocity))
    sliding.turning = add_scaled(turning, -before, cross(vector(pose.turning), turning))
    velocity = add(velocity, cross(sliding.turning, arm))
    sliding.velocity = add_scaled(velocity, -dot(velocity, normal), normal)
    return sliding


cdef void find_triangles(const Walls *walls, const double *sphere, double skin, IntVector *found) noexcept nogil
cdef void find_facets(const Walls *walls, const double *sphere, double radius, Facet *facets, Py_ssize_t n,
                      int *room) noexcept nogil
cdef bint replaces(const Walls *walls, const Facet *near, const Facet *far, double radius) noexcept nogil
