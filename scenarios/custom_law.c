/* The law of custom_law.py in C, compiled by it. The history of a contact is its largest overlap. */
#include "contact/contact.h"

enum { LOADING, UNLOADING, LARGEST = 3 };       /* coefficients: both stiffnesses; number of the history */

static double larger(double a, double b) { return a > b ? a : b; }

static double magnitude(double overlap, double largest, double loading, double unloading) {
    return larger(unloading * overlap - (unloading - loading) * largest, 0.0);
}
void force(const minidem_contact *contact, minidem_history *history, minidem_result *result, const double *parameters) {
    for (int k = 0; k < 8; k++) {
        double overlap = contact->overlap[k], loading = contact->coefficients[LOADING][k];
        double unloading = contact->coefficients[UNLOADING][k], before = history[0][LARGEST][k];
        double largest = larger(before, overlap), size = magnitude(overlap, largest, loading, unloading);
        for (int m = 0; m < 3; m++) {
            result->force[m][k] = size * contact->normal[m][k];
            result->couple[m][k] = result->dissipated[m + 1][k] = 0.0;
        }
        result->dissipated[0][k] = contact->step[k] > 0.0
            ? 0.5 * loading * (1.0 - loading / unloading) * (largest * largest - before * before) : 0.0;
        history[0][LARGEST][k] = largest;
    }
}
void describe(const minidem_contact *contact, minidem_history *history, minidem_energies *energies,
              const double *parameters) {
    for (int k = 0; k < 8; k++) {
        double loading = contact->coefficients[LOADING][k], unloading = contact->coefficients[UNLOADING][k];
        double size = magnitude(contact->overlap[k], history[0][LARGEST][k], loading, unloading);
        energies->normal_energy[k] = 0.5 * size * size / unloading;
        energies->tangential_energy[k] = energies->rolling_energy[k] = energies->sliding[k] = 0.0;
    }
}
