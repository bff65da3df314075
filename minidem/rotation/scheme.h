/* What a compiled rotation scheme reads and writes, eight bodies at a time (md.rotation.register):

       void move(minidem_bodies *bodies, const minidem_wrench *wrench, const minidem_constants *constants,
                 const minidem_step *step)

   Rows of eight doubles, one per body: angular_velocity[8 * axis + k] of body k. Vectors are in the principal body
   frame. A scheme changes orientation, angular_velocity, predicted, and what it stores itself: number n of body k is
   minidem_scratch(bodies)[8 * n + k]. */
#ifndef MINIDEM_SCHEME_H
#define MINIDEM_SCHEME_H

#define MINIDEM_MAX_PARAMETERS 8

typedef struct {
    double orientation[4 * 8];          /* w x y z, principal body frame -> lab */
    double angular_velocity[3 * 8];     /* as the scheme stores it [rad/s] */
    double of_loop[7 * 8];              /* not for schemes */
    double predicted[3 * 8];            /* angular velocity at the instant of the pose [rad/s] */
    double also_of_loop[3 * 8];
} minidem_bodies;

typedef struct {
    double torque[3 * 8];               /* at the pose [N m] */
    double of_loop[3 * 8];
} minidem_wrench;

typedef struct {
    double inertia[3 * 8];              /* principal moments [kg m2] */
    double inverse_inertia[3 * 8];      /* their reciprocals [1/(kg m2)] */
} minidem_constants;

typedef struct {
    double dt;                          /* [s] */
    double stage;
    double parameters[MINIDEM_MAX_PARAMETERS];      /* in the order of the description; of a word its index */
} minidem_step;

static inline double *minidem_scratch(minidem_bodies *bodies) {
    return (double *) (bodies + 1);
}

#endif
