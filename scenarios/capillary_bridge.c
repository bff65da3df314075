/* The law of capillary_bridge.py in C, compiled by it. Rows of eight doubles, one per contact: of the contact 0-2 normal,
   13 overlap, 14 radius, 17 step, 18-21 coefficients; of the history 3, whether there is a bridge; of the result of
   force 0-2 force, 3-5 couple, 6-9 dissipated energies, 10 whether the contact goes on; of that of describe 0 energy. */
#include <math.h>

static double capillary_energy(double gap, double pull, double width, double rupture) {
    return -pull * (rupture - gap - (sqrt(rupture * rupture + width) - sqrt(gap * gap + width)));
}
void force(const double *contact, double *history, double *result, const double *parameters) {
    for (int k = 0; k < 8; k++, contact++, history++, result++) {
        double overlap = contact[8 * 13], radius = contact[8 * 14], rupture = contact[8 * 21];
        double pull = contact[8 * 19] * radius, width = contact[8 * 20] / radius, before = history[8 * 3];
        double deep = overlap > 0.0 ? overlap : 0.0, gap = overlap < 0.0 ? -overlap : 0.0;
        double bridge = overlap > 0.0 || (before > 0.0 && gap < rupture) ? 1.0 : 0.0;
        double elastic = contact[8 * 18] * sqrt(radius * deep) * deep;
        double size = elastic - bridge * pull * (1.0 - gap / sqrt(gap * gap + width));
        for (int m = 0; m < 10; m++)
            result[8 * m] = m < 3 ? size * contact[8 * m] : 0.0;
        if (contact[8 * 17] > 0.0 && before == 0.0)
            result[8 * 6] = -bridge * capillary_energy(0.0, pull, width, rupture);
        result[8 * 10] = history[8 * 3] = bridge;
    }
}
void describe(const double *contact, double *history, double *result, const double *parameters) {
    for (int k = 0; k < 8; k++, contact++, history++, result++) {
        double overlap = contact[8 * 13], radius = contact[8 * 14], rupture = contact[8 * 21];
        double pull = contact[8 * 19] * radius, width = contact[8 * 20] / radius;
        double deep = overlap > 0.0 ? overlap : 0.0, gap = overlap < 0.0 ? -overlap : 0.0;
        double bridge = overlap > 0.0 || (history[8 * 3] > 0.0 && gap < rupture) ? 1.0 : 0.0;
        result[0] = 0.4 * contact[8 * 18] * sqrt(radius * deep) * deep * deep
                    + bridge * (capillary_energy(gap, pull, width, rupture) - pull * deep);
        result[8] = result[16] = result[24] = 0.0;
    }
}
