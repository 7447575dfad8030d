// An experiment of a paper: what it claims, what we measured, the curves, and a verdict per claim.
//
//   experiment_begin(argc, argv, id, title, paper)   --json FILE writes everything for the report,
//   --short runs a shorter form experiment_claim(...)                             one line of the
//   table experiment_figure(...), experiment_series(...)    curves of one picture return
//   experiment_end();                          prints the table; 1 if a claim failed
#ifndef ABUT_EXPERIMENT_H
#define ABUT_EXPERIMENT_H

#include <stdbool.h>

void experiment_begin(int argc, char** argv, const char* id, const char* title, const char* paper);
bool experiment_is_short(void);
// `theirs`: the paper's figure or a closed form, in words; the rest is ours, as printf.
void experiment_claim(bool pass, const char* text, const char* theirs, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
// A measured value against an expected one, with a relative tolerance.
void experiment_number(const char* text, const char* theirs, double expected, double measured,
                       double tolerance, const char* unit);
void experiment_note(const char* format, ...) __attribute__((format(printf, 1, 2)));
void experiment_figure(const char* title, const char* xlabel, const char* ylabel);
// style: "line", "points", "dash"; the arrays are copied.
void experiment_series(const char* name, const char* style, int n, const double* x,
                       const double* y);
// Logarithmic axes for the present figure.
void experiment_log_axes(bool x, bool y);
int experiment_end(void);
// A file that belongs to the experiments: "scenes/..." or "experiments/..." of the sources, or of
// share/abut where abut was installed. Valid until the next call.
const char* experiment_file(const char* name);

#endif
