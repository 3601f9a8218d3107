/* same_bits.c - a program of the library: learn from a file with the settings given, write the map L as raw doubles.
 *
 *     same_bits DATA MAP [SETTING VALUE]... */
#include <bdml/bdml.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    bdml_handle *h;
    bdml_dataset *data = NULL;
    bdml_model *model = NULL;
    if (argc < 3 || bdml_create(&h) != BDML_OK) return 2;
    bdml_status status = BDML_OK;
    for (int i = 3; !status && i + 1 < argc; i += 2) status = bdml_set(h, argv[i], argv[i + 1]);
    if (!status) status = bdml_read_dataset(h, argv[1], &data);
    if (!status) status = bdml_train(h, data, NULL, &model);
    size_t size = 0, wrote = 0;
    double *map = NULL;
    if (!status) {
        size =
            (size_t)bdml_model_output_dimension(model) * (size_t)bdml_model_metric_dimension(model);
        map = malloc(size * sizeof *map);
        status = map ? bdml_model_get_map(h, model, map) : BDML_ERR_MEMORY;
    }
    FILE *f = status ? NULL : fopen(argv[2], "wb");
    if (f) wrote = fwrite(map, sizeof *map, size, f);
    if (f && fclose(f) != 0) wrote = 0;
    if (status) fprintf(stderr, "%s\n", bdml_last_error(h));
    free(map);
    bdml_free_model(model);
    bdml_free_dataset(data);
    bdml_free(h);
    return size > 0 && wrote == size ? 0 : 1;
}
