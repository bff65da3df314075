/* What a compiled user force reads and writes: eight clumps, lab frame, SI units (sim.forces.add).
 *
 *     void f(const double *time, const minidem_clumps *clumps, minidem_wrenches *wrenches, const double *parameters)
 *
 * The three numbers of a vector are eight doubles apart: position[8 * axis + lane]. */
#ifndef MINIDEM_USER_FORCE_H
#define MINIDEM_USER_FORCE_H

#include "contact/contact.h"            /* MINIDEM_MAX_COMPONENTS of all fields of a clump */

#define MINIDEM_MAX_RANDOM 8            /* random numbers of a force */

typedef struct {
    double position[3 * 8];             /* centre of mass, in unbounded space [m] */
    double velocity[3 * 8];             /* predicted for the instant of the pose [m/s] */
    double orientation[4 * 8];          /* w x y z, template frame -> lab */
    double angular_velocity[3 * 8];     /* [rad/s] */
    double mass[8];                     /* [kg] */
    double id[8];                       /* of sim.ids */
    double values[(MINIDEM_MAX_COMPONENTS + MINIDEM_MAX_RANDOM) * 8];   /* of the fields, then random numbers */
} minidem_clumps;

typedef struct {                        /* zero before the call */
    double force[3 * 8];                /* [N] */
    double torque[3 * 8];               /* about the centre of mass [N m] */
    double rates[MINIDEM_MAX_COMPONENTS * 8];   /* of the fields, times capacity */
} minidem_wrenches;
#endif
