/* The law of capillary_bridge.py in C, compiled by it. The history of a contact is whether there is a bridge. */
#include <math.h>
#include "contact/contact.h"

enum { STIFFNESS, PULL, WIDTH, RUPTURE, BRIDGE = 3 };           /* coefficients; number of the history */

static double capillary_energy(double gap, double pull, double width, double rupture) {
    return -pull * (rupture - gap - (sqrt(rupture * rupture + width) - sqrt(gap * gap + width)));
}
void force(const minidem_contact *contact, minidem_history *history, minidem_result *result, const double *parameters) {
    for (int k = 0; k < 8; k++) {
        double overlap = contact->overlap[k], radius = contact->radius[k], rupture = contact->coefficients[RUPTURE][k];
        double pull = contact->coefficients[PULL][k] * radius, width = contact->coefficients[WIDTH][k] / radius;
        double deep = overlap > 0.0 ? overlap : 0.0, gap = overlap < 0.0 ? -overlap : 0.0, before = history[0][BRIDGE][k];
        double bridge = overlap > 0.0 || (before > 0.0 && gap < rupture) ? 1.0 : 0.0;
        double elastic = contact->coefficients[STIFFNESS][k] * sqrt(radius * deep) * deep;
        double size = elastic - bridge * pull * (1.0 - gap / sqrt(gap * gap + width));
        for (int m = 0; m < 3; m++) {
            result->force[m][k] = size * contact->normal[m][k];
            result->couple[m][k] = result->dissipated[m + 1][k] = 0.0;
        }
        result->dissipated[0][k] = contact->step[k] > 0.0 && before == 0.0
            ? -bridge * capillary_energy(0.0, pull, width, rupture) : 0.0;
        result->goes_on[k] = history[0][BRIDGE][k] = bridge;
    }
}
void describe(const minidem_contact *contact, minidem_history *history, minidem_energies *energies,
              const double *parameters) {
    for (int k = 0; k < 8; k++) {
        double overlap = contact->overlap[k], radius = contact->radius[k], rupture = contact->coefficients[RUPTURE][k];
        double pull = contact->coefficients[PULL][k] * radius, width = contact->coefficients[WIDTH][k] / radius;
        double deep = overlap > 0.0 ? overlap : 0.0, gap = overlap < 0.0 ? -overlap : 0.0;
        double bridge = overlap > 0.0 || (history[0][BRIDGE][k] > 0.0 && gap < rupture) ? 1.0 : 0.0;
        energies->normal_energy[k] = 0.4 * contact->coefficients[STIFFNESS][k] * sqrt(radius * deep) * deep * deep
            + bridge * (capillary_energy(gap, pull, width, rupture) - pull * deep);
        energies->tangential_energy[k] = energies->rolling_energy[k] = energies->sliding[k] = 0.0;
    }
}
