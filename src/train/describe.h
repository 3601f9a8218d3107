/* describe.h - what was done and found, as JSON in the description of a model. Private to train.
 *
 * Each says BDML_ERR_MEMORY when there is no room for all of it: a description is whole or there is none. */
#ifndef BDML_DESCRIBE_H
#define BDML_DESCRIBE_H

#include "lowrank/lowrank.h"
#include "train/plan.h"

/* "certificate", "history" and the time of the solve. */
bdml_status bdml_describe_claim(bdml_handle *h, const bdml_solved *s, bdml_model *model);
/* The same for a claim that there was no time to prove: the objective, as the solver reckons it. */
bdml_status bdml_describe_unproven(bdml_handle *h, bdml_model *model);
/* What was proven of the claim takes the place of what the solver said: status, ends and gap, or what the proof
 * is about. rounding: that is what keeps it from being optimal; help: what would help, or "". */
bdml_status bdml_describe_proven(bdml_handle *h, bool rounding, const char *help,
                                 bdml_model *model);
/* "selection": what was tried and what was chosen; or what was taken over from the model that training started from. */
bdml_status bdml_describe_selection(bdml_handle *h, const bdml_plan *plan, const bdml_selection *s,
                                    bdml_model *model);
bdml_status bdml_describe_taken(bdml_handle *h, const bdml_plan *plan, bdml_candidate c, int votes,
                                bdml_model *model);
/* "warm": the model that the training started from. */
bdml_status bdml_describe_warm(bdml_handle *h, bdml_model *model);
/* "passes_done", where clock or user cut the others short: said in a warning too. */
bdml_status bdml_describe_cut(bdml_handle *h, int done, int wanted, bdml_model *model);
/* "low_rank": what was learned, and the bracket [joint lower bound, achieved] where there is a report; kappa: of M on
 * its range, measured, or NaN. */
bdml_status bdml_describe_rank(bdml_handle *h, const bdml_lowrank_settings *s, const char *start,
                               const bdml_lowrank_report *r, double kappa, bdml_model *model);
/* Scale, main parameter and neighbours that were asked to be chosen, into "selection", where bdml_predict finds the
 * last. */
bdml_status bdml_describe_auto(bdml_handle *h, const bdml_options *asked,
                               const bdml_options *chosen, const char *method, bdml_model *model);
/* Method, data and the settings that were changed: enough to train the same model again. What differs from run to
 * run stands under "times" alone. */
bdml_status bdml_describe_training(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                                   const bdml_dataset *data, double seconds, bdml_model *model);

#endif
