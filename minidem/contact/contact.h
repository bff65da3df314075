/* What contact laws and fluxes read and write: eight contacts at a time, an array of eight numbers for each quantity.

   A law is       void force(const minidem_contact *contact, minidem_history *history, minidem_result *result,
                             const double *parameters);
   its energies   void describe(const minidem_contact *contact, minidem_history *history, minidem_energies *energies,
                                const double *parameters);
   a flux is      void flux(const minidem_contact *contact, const minidem_result *result, minidem_lanes *rates,
                            const double *parameters);

   Of two spheres, i is the one with the lower number of the user as long as the contact lasts. Vectors are in the lab
   frame. The history of the last step, zero in a new contact, is replaced by the history of this step. A contact
   with goes_on zero ends in this step: its force is zero, and what its springs hold is dissipated. This is what
   `describe` returns for its new history, and an overlap of zero or, of a law that acts across gaps, the gap. What is
   not finite counts as zero, and nothing is added if the law has dissipated as much in this step itself. */
#ifndef MINIDEM_CONTACT_H
#define MINIDEM_CONTACT_H

#define MINIDEM_MAX_COMPONENTS 8      /* of all fields of a clump */

typedef double minidem_lanes[8];
typedef minidem_lanes minidem_history[4];          /* four numbers of a history, as many as the law says */

typedef struct {
    minidem_lanes normal[3];              /* unit, from j to i, at the pose */
    minidem_lanes middle_normal[3];       /* along the normal half a step before the pose; its product with normal is 1 */
    minidem_lanes velocity[3];            /* of i relative to j at the contact point, half a step before the pose [m/s] */
    minidem_lanes angular_velocity[3];    /* of i relative to j half a step before the pose [rad/s] */
    minidem_lanes spin;                   /* mean angular velocity of i and j about the normal [rad/s] */
    minidem_lanes overlap;                /* at the pose [m] */
    minidem_lanes radius;                 /* effective: R_i R_j / (R_i + R_j), at a plane R [m] */
    minidem_lanes mass;                   /* effective, when the contact began [kg] */
    minidem_lanes rolling_inertia;        /* of spheres of the clumps' masses about the contact point [kg m2] */
    minidem_lanes step;                   /* [s]; 0 where forces are evaluated between two steps */
    minidem_lanes coefficients[64];       /* as many as the law has, of the pair of materials */
    minidem_lanes ids[2];                 /* of i and j; -1 - number of a wall */
    minidem_lanes values[2 * MINIDEM_MAX_COMPONENTS];   /* of fields with n components: n of i, then n of j */
} minidem_contact;

typedef struct {
    minidem_lanes force[3];               /* on i [N] */
    minidem_lanes couple[3];              /* on i, in addition to the moment of the force [N m] */
    minidem_lanes dissipated[4];          /* energy by damping, tangential damping, sliding, rolling in this step [J] */
    minidem_lanes goes_on;                /* 1 or 0; before the call 1 where the overlap is positive */
    minidem_lanes fracture;               /* energy of what broke in this contact at this pose [J]; 0 before the call */
    minidem_lanes rates[4 * MINIDEM_MAX_COMPONENTS];    /* times capacity: n of i, n of j; 0 before the call;
                                                          then n amounts of i, n of j */
} minidem_result;

typedef struct {
    minidem_lanes normal_energy;          /* elastic [J] */
    minidem_lanes tangential_energy;
    minidem_lanes rolling_energy;
    minidem_lanes sliding;                /* 1 if the limit of friction is reached, else 0 */
} minidem_energies;

#endif
