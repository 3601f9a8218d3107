/* tables.h - tables that the paper prints, as data, and the runs that stand beside them. */
#ifndef BDML_STUDIES_TABLES_H
#define BDML_STUDIES_TABLES_H

#include "client.h"

/* ---- faces (faces.c) -------------------------------------------------------------------------------------- */

typedef struct study_face_row {
    const char *name;                /* as the paper prints it */
    const char *method;              /* ours; NULL: quoted only */
    double accuracy, standard_error; /* the paper's, in percent */
    double kappa;                    /* the paper's mean condition number, or NaN */
} study_face_row;
extern const study_face_row study_face_rows[];
extern const int study_face_row_count;
/* bdml_verify with every method of the table that the library has (or those of the setting
 * "methods"), and a list "table" of the paper's rows with ours beside. */
bdml_status study_verify_faces(bdml_handle *h, const bdml_dataset *data, char **json);

/* ---- domain adaptation (adaptation.c) ------------------------------------------------------------------------ */

/* One method on one task as the paper's appendix prints it: accuracy and standard error in percent. */
typedef struct study_adapt_figure {
    const char *method;  /* of this library: "bdml", "gfk", ... */
    const char *printed; /* as the paper calls it: "t-BDML", "GFK(PCA)", ... */
    double accuracy, error;
} study_adapt_figure;

enum { STUDY_ADAPT_TASKS = 12, STUDY_ADAPT_FIGURES = 8 };
/* "AC", "AD", ... in the paper's order; NULL when out of range. Letters: Amazon, Caltech, Dslr, Webcam. */
const char *study_adapt_task(int i);
/* Figure m of the paper for a task; false when there is no such task or figure. */
bool study_adapt_printed(const char *task, bool semi, int m, study_adapt_figure *out);
/* Run a task on the Office-Caltech files in `folder` (SURF histograms, splits/) with the settings of the
 * handle, on which semi and splits-file are set. *json: as of bdml_adapt. */
bdml_status study_adapt_cell(bdml_handle *h, const char *folder, const char *task, bool semi,
                             char **json);

#endif
