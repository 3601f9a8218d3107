/* store.h - what saving (store.c) and loading (load.c) of models share. Private to them. */
#ifndef BDML_STORE_H
#define BDML_STORE_H

#include "model/model.h"

/* "kind" in the header of a model's file, and of a proof that there is none. */
extern const char bdml_model_kind[], bdml_proof_kind[];
/* Take the keys that describe the model's shape out of a header; what is left is model->info. */
void bdml_model_strip(json_t *header);
/* `count` names of a list, stored as text or byte by byte. *out may be half full on failure. */
bdml_status bdml_model_read_names(bdml_handle *h, const json_t *list, int count, bool bytes,
                                  char ***out);

#endif
