/* Quantities of eight clumps, in rows of eight doubles, one per clump: position[8 * axis + lane]. See rows.pxd. */
#ifndef MINIDEM_ROWS_H
#define MINIDEM_ROWS_H

typedef struct {                        /* what changes in the time loop; more rows follow, see minidem_scratch */
    double orientation[4 * 8];          /* the pose: w x y z, principal body frame -> lab */
    double angular_velocity[3 * 8];     /* as the rotation scheme stores it, principal body frame [rad/s] */
    double position[3 * 8];             /* centre of mass at the pose, lab [m] */
    double velocity[3 * 8];             /* half a step behind the pose, lab [m/s] */
    double path[8];                     /* bound of the displacement of any sphere since the inner rebuild / half the skin */
    double predicted[3 * 8];            /* angular velocity at the instant of the pose, principal body frame [rad/s] */
    double predicted_velocity[3 * 8];   /* at that instant, lab; for velocity-dependent forces only [m/s] */
} minidem_bodies;

typedef struct {                        /* at the pose */
    double torque[3 * 8];               /* principal body frame [N m] */
    double force[3 * 8];                /* gravity included, lab [N] */
} minidem_wrench;

typedef struct {
    double inertia[3 * 8];              /* principal moments [kg m2] */
    double inverse_inertia[3 * 8];      /* their reciprocals [1/(kg m2)] */
    double mass[8];                     /* [kg] */
    double inverse_mass[8];             /* 0 in empty lanes, which do not move [1/kg] */
    double turn_bound[4 * 8];           /* bound of displacement under rotation: pose.pxd [m2] */
} minidem_constants;

/* Values that the rotation scheme stores: number k of the clump in a lane is minidem_scratch(bodies)[8 * k + lane]. */
static inline double *minidem_scratch(minidem_bodies *bodies) {
    return (double *) (bodies + 1);
}

#endif
