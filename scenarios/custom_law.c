/* The law of custom_law.py in C, compiled by it. Rows of eight doubles, one per contact: of the contact 0-2 normal,
   13 overlap, 17 step, 18 and 19 stiffness of loading and unloading; of the history 3, the largest overlap; of the
   result of force 0-2 force, 3-5 couple, 6-9 dissipated energies, of that of describe 0 elastic energy. */

static double larger(double a, double b) { return a > b ? a : b; }

static double magnitude(double overlap, double largest, double loading, double unloading) {
    return larger(unloading * overlap - (unloading - loading) * largest, 0.0);
}
void force(const double *contact, double *history, double *result, const double *parameters) {
    for (int k = 0; k < 8; k++, contact++, history++, result++) {
        double overlap = contact[8 * 13], step = contact[8 * 17], loading = contact[8 * 18];
        double unloading = contact[8 * 19], before = history[8 * 3], largest = larger(before, overlap);
        double size = magnitude(overlap, largest, loading, unloading);
        for (int m = 0; m < 10; m++)
            result[8 * m] = m < 3 ? size * contact[8 * m] : 0.0;
        if (step > 0.0)
            result[8 * 6] = 0.5 * loading * (1.0 - loading / unloading) * (largest * largest - before * before);
        history[8 * 3] = largest;
    }
}
void describe(const double *contact, double *history, double *result, const double *parameters) {
    for (int k = 0; k < 8; k++, contact++, history++, result++) {
        double size = magnitude(contact[8 * 13], history[8 * 3], contact[8 * 18], contact[8 * 19]);
        result[0] = 0.5 * size * size / contact[8 * 19];
        result[8] = result[16] = result[24] = 0.0;
    }
}
