/* sub_itml.c - Sub-ITML (Cao, Ying and Li 2013): information-theoretic metric learning in the whitened
 * intra-personal subspace (intra.c). */
#include "baselines/pairwise.h"

bdml_status bdml_fit_sub_itml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                              bdml_model *model)
{
    return bdml_fit_in_subspace(h, o, t, "sub-itml", bdml_fit_itml, model);
}
