/* What a compiled rotation scheme reads and writes, eight bodies at a time (md.rotation.register):

       void move(minidem_bodies *bodies, const minidem_wrench *wrench, const minidem_constants *constants,
                 const minidem_step *step)

   It changes orientation, angular_velocity, predicted and its own minidem_scratch(bodies) of the bodies, and reads
   torque, inertia and inverse_inertia: bodies->angular_velocity[8 * axis + lane]. The rest is not for schemes. */
#ifndef MINIDEM_SCHEME_H
#define MINIDEM_SCHEME_H

#include "state/rows.h"

#define MINIDEM_MAX_PARAMETERS 8

typedef struct {
    double dt;                          /* [s] */
    double stage;
    double parameters[MINIDEM_MAX_PARAMETERS];      /* in the order of the description; of a word its index */
} minidem_step;

#endif
