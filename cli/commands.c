/* commands.c - the table of commands: what each is for and which options it takes. */
#include "cli.h"

/* Every command takes these. */
#define COMMON "report general "
/* Commands that learn take these as well: from what, and how. */
#define LEARN "input prepare train methods constraints "

static const cli_command commands[] = {
    {"train", "DATA", "[-o MODEL] [--method NAME]", "learn a metric from labelled data",
     "Reads labelled points, prepares them as asked (--scale, --pca), learns a metric by --method "
     "and writes it with everything needed to apply it to new data. Without -o the model goes to "
     "the current folder under the name of the data with the ending .bdml. When the constraints "
     "are proven to contradict each other no model is written, the proof goes to MODEL.proof and "
     "the exit status is 3. With --checkpoint what is done so far is kept, and --resume goes on "
     "from "
     "there to the same model.",
     COMMON "output " LEARN "neighbors", "bdml train wine.csv -o wine.bdml --scale zscore",
     cli_train, CLI_EVERYDAY},
    {"predict", "MODEL DATA", "[-o FILE] [-k K] [--train FILE]", "classify new points by k-NN",
     "Classifies each row of DATA by the vote of its nearest training points under the model's "
     "metric and writes one class name a line, under the heading 'class'. If DATA has labels, the "
     "error, the recall of each class and the confusion matrix are reported as well. DATA is read "
     "in blocks and may be of any length. With --pairs it answers for pairs of rows instead: their "
     "score "
     "(larger = more alike) and whether that reaches the model's threshold, as a table "
     "i,j,score,same.",
     COMMON "output write input neighbors predict",
     "bdml predict wine.bdml new.csv -o classes.csv\n"
     "bdml predict wine.bdml labelled.csv --json\n"
     "bdml predict faces.bdml faces.npz --pairs pairs.csv -o answers.csv",
     cli_predict, CLI_EVERYDAY},
    {"transform", "MODEL DATA", "-o FILE", "map points so that Euclidean distance is the metric",
     "Writes L p(x) for every row x of DATA, p being the model's preparation: squared Euclidean "
     "distances between the rows written are the learned distances, so any nearest-neighbour "
     "index can take them. The ending of FILE says the format: .csv, .tsv, .svmlight (.svm, "
     ".libsvm) or .npy; '-', the default, is CSV on standard output. An .npy file of float32 gives "
     "one of float32 unless --type says otherwise. Memory does not grow with the rows, but for "
     "labels, and those of svmlight. With --from, DATA are rows that another model has mapped, and "
     "whose originals are not at hand: they become those of MODEL, where the other can be undone.",
     COMMON "output write input npy mapped",
     "bdml transform wine.bdml wine.csv -o mapped.npy\n"
     "bdml transform new.bdml mapped-by-old.npy --from old.bdml -o mapped.npy",
     cli_transform, CLI_EVERYDAY},
    {"neighbors", "DATA [QUERY]", "[-k K] [--model MODEL] [-o FILE]",
     "list exact nearest neighbours",
     "Lists the K nearest rows of DATA for each row of QUERY, or of DATA itself (each row without "
     "itself), with their squared distances, as a table row,rank,neighbor,distance. Row numbers "
     "start at 0; ties go to the lower number.",
     COMMON "output input prepare neighbors query",
     "bdml neighbors iris.csv -k 5 --which other -o impostors.csv", cli_neighbors, CLI_MORE},
    {"drift", "MODEL CORPUS [QUERIES]", "", "how far a model moves the neighbours of a corpus",
     "For an index of vectors that a model is about to replace: the most by which a ratio of two "
     "distances can change, and of the 1, 5, 10 and 50 nearest rows of CORPUS for each of QUERIES "
     "(or of up to 1000 rows of CORPUS itself) the share that stays: at least, proven from the "
     "model's condition number, and as counted. Compared with the rows as they are; with the "
     "prepared rows, where the model scales them or takes PCA; and with the rows under the "
     "reference, which is where the cap K holds: there ratios change by sqrt(K) at most.",
     COMMON "input neighbors", "bdml drift adapter.bdml vectors.npy", cli_drift, CLI_MORE},
    {"eval", "DATA", "[--method NAME | --methods A,B,C]", "measure the k-NN error of methods",
     "Trains and tests one method, or several side by side on the same splits of DATA, and "
     "reports mean and standard deviation of the k-NN error in percent, the difference to the best "
     "of the others with its significance, the condition number of M and the time to fit. Whatever "
     "is "
     "chosen (distortion, softness, reference; --scale auto; --neighbors auto) is chosen inside "
     "the training rows of each split. With --json the result also has the errors and choices "
     "split by split and the confusion matrix. With --task retrieve it is 'bdml retrieve', with "
     "--task cluster the same with groups by k-means for its table.",
     COMMON LEARN "neighbors evaluate retrieve",
     "bdml eval wine.csv --methods euclidean,whiten --scale zscore\n"
     "bdml eval wine.csv --methods all --jobs 2 --json >wine-run.json",
     cli_eval, CLI_EVERYDAY},
    {"adapt", "", "--source FILE --target FILE [--semi] [--methods A,B,C]",
     "learn on one domain, classify another",
     "For vectors that an index serves see train --task retrieve. Learns from labelled rows of "
     "--source and classifies the rows of --target, one method or "
     "several side by side, over fixed (--splits-file) or random splits, and reports mean accuracy "
     "and standard error in percent. Unsupervised: trained on the split's source rows, tested on "
     "every target row. With --semi the split's few labelled target rows join in and its test rows "
     "are tested. Both domains are brought into one space without looking at target labels: "
     "--rows, "
     "--column-scale, --dimensions (PCA), --unit; then the nearest labelled rows vote (--votes).",
     COMMON "domains adapt input train methods constraints --methods --jobs --search --candidates",
     "bdml adapt --source amazon.mat --target webcam.mat --methods gfk,bdml\n"
     "bdml adapt --source a.csv --target b.csv --semi --json",
     cli_adapt, CLI_MORE},
    {"path", "DATA", "[--grid K,K,...] [-o FILE.csv] [--plot FILE.svg]",
     "follow the metric and its error along the distortion cap K",
     "Learns a metric for each K of --grid, each from the one before. Only K changes: the "
     "reference (--reference auto: zscore), the constraints (--kind, --rule, --targets, "
     "--impostors) and the weight of missed margins (--softness, here over the threshold of K = 1) "
     "stay. Reports per K the bracket on the optimum and the distortion reached (kappa) on all "
     "rows, and the "
     "k-NN error on training rows, in cross-validation and on the test rows of random splits; "
     "picks K by cross-validation inside the training rows (--se-rule), and says whether the test "
     "error falls and then rises as K grows.",
     COMMON "output plot path input prepare train constraints neighbors --splits --test-fraction "
            "--stratify",
     "bdml path segment.csv --plot segment.svg\n"
     "bdml path iris.csv --grid 1,10,100 --se-rule 0 -o iris-path.csv",
     cli_path, CLI_MORE},
    {"retrieve", "[DATA]",
     "[--queries FILE --corpus FILE --relevant FILE] [--methods A,B,C] [--grid K,K,... [--plot "
     "FILE.svg]]",
     "measure retrieval of what was not trained on",
     "What does a metric do to classes that it has not seen? Each split keeps a share of the "
     "classes "
     "(--unseen-share) from training, and of the others some rows (--test-fraction). Methods are "
     "trained "
     "on the rest; then every row that is left looks for rows of its class, among the unseen "
     "classes and, by itself, among the seen ones. Reports recall@1 (that the nearest row is of "
     "the "
     "class) and mAP@R in percent against the space as it is (method euclidean on the same "
     "preparation), paired by split; --json has all measures. What method bdml chooses, it chooses "
     "by classes left "
     "out of its training rows (--task). With --grid it is learned "
     "at each distortion K relative to the prepared points, and --plot draws both "
     "against K. With --unseen rows each split keeps rows of every class from training instead, "
     "which look for their class among those trained on. Without DATA, queries look for documents: "
     "each split learns from some queries of "
     "--queries and the documents of --corpus that --relevant says belong to them, and the other "
     "queries (--test-fraction) look among all documents; methods that learn from pairs or "
     "triplets take part.",
     COMMON "plot documents retrieve path " LEARN "--search --candidates "
            "--methods --splits --test-fraction --jobs",
     "bdml retrieve vectors.npz --methods whiten,lda,bdml --splits 10\n"
     "bdml retrieve segment.csv --scale zscore --grid 1,3,10,100,1e4,1e6 --plot unseen.svg\n"
     "bdml retrieve --queries q.npy --corpus docs.npy --relevant clicks.csv --methods "
     "whiten,kissme "
     "--grid 1,3,10",
     cli_retrieve, CLI_MORE},
    {"verify", "DATA", "--pairs-file PAIRS [--methods A,B,C]",
     "measure how well methods tell same pairs from different ones",
     "Are two rows of DATA the same person, product, text? PAIRS has lines fold,i,j,same (or "
     "i,j,same, "
     "and --folds random folds). Each fold is tested with a metric and a threshold that are "
     "learned "
     "on the pairs of the other folds; scaling and PCA see no labels (--pca-on says which rows). "
     "Reports accuracy with its standard error over the folds, the area under the ROC curve, the "
     "equal error rate, the condition number of M and the time to fit, and compares the methods "
     "fold by "
     "fold.",
     COMMON "plot verify input prepare train methods --pairs-file --methods --folds --jobs",
     "bdml verify faces.npz --pairs-file pairs.csv --pca 100 --plot roc.svg", cli_verify, CLI_MORE},
    {"convert", "IN [OUT]", "[-o OUT] [--label COLUMN]", "rewrite data in another format",
     "Reads any supported format (CSV, TSV, svmlight, NPY, NPZ, MAT v5, ARFF, IDX, all but NPZ "
     "and MAT also gzipped) and writes the one that the ending of OUT says: .csv, .tsv, .svmlight "
     "(.svm, .libsvm) or .npy, the labels beside it in NAME.labels.npy.",
     COMMON "output write input", "bdml convert iris.arff iris.csv", cli_convert, CLI_MORE},
    {"info", "FILE", "", "describe a data file or a model",
     "For data, a dry look: points, features, the label column and why it was taken, classes with "
     "their "
     "counts, missing values, constant and duplicate columns, the scale of each feature, and what "
     "to "
     "expect of training. For a model, one screen: what it was learned from, what was chosen and "
     "proven, which features matter, what to do next; --all tells the rest.",
     COMMON "more input", "bdml info wine.csv\nbdml info wine.bdml", cli_info, CLI_EVERYDAY},
    {"certify", "MODEL DATA", "[--level NAME]", "check what a model claims, independently",
     "Reads the model (or MODEL.proof) and the data it was learned from, and checks its claim by "
     "plain "
     "loops and a prover that share no code with the solver. Level numbers: distortion, margins "
     "and the "
     "bracket on the optimum, or the proof that the constraints cannot be met, hold for the "
     "problem in "
     "the file; problem: preparation, reference, weights and constraints are what the data and the "
     "model's settings give; repeat (--retrain): the same model comes out again. The highest of "
     "the "
     "first two that holds is told, and what is not checked. Constraint files are looked for where "
     "they "
     "were; --pairs-file and its like say where they are now. Exit status 0: confirmed; 1: "
     "refuted, or "
     "not at the level asked for.",
     COMMON "certify input --targets-file --impostors-file --pairs-file --triplets-file",
     "bdml certify wine.bdml wine.csv\nbdml certify wine.bdml wine.csv --level problem --json",
     cli_certify, CLI_EVERYDAY},
    {"bound", "KIND [MODEL] [DATA]", "[--distortion K --trace R ...]",
     "evaluate the bounds that the paper proves",
     "KIND is stability (how much the loss can change when one example is replaced), "
     "generalization "
     "(true risk by the empirical one) or tail (probability that Gaussian samples of the relaxed "
     "problem for Q are good). The numbers come from the options, or from MODEL and the DATA it "
     "was "
     "learned from. Without options tail evaluates the example of the paper beside the figure that "
     "it prints. These bounds are loose: docs/bounds.md says how loose.",
     COMMON "input bound --distortion --trace",
     "bdml bound stability --distortion 10 --trace 100 --radius 1 --dimension 20\n"
     "bdml bound generalization wine.bdml wine.csv --failure 0.1\n"
     "bdml bound tail",
     cli_bound, CLI_PAPER},
    {"compare-solvers", "DATA", "[--distortion K] [--delta D]",
     "run engine and paper's algorithm on one problem",
     "Solves the problem with hard margins that the settings state by the certified engine, by the "
     "paper's bisection with multiplicative weights (mwu; its literal form too when --trace is "
     "given) and by the same with the distortion cap held in every round (mwu-cone), and prints "
     "for each the distortion reached, the margin and the row of any kind missed most, the "
     "objective and by how much it lies outside the engine's bracket (of gap 1e-4 or less), the "
     "proven lower end of the optimum, rounds and seconds.",
     COMMON "input prepare train constraints neighbors",
     "bdml compare-solvers wine.csv --scale zscore --kind pair --distortion 10",
     cli_compare_solvers, CLI_PAPER},
    {"reproduce", "STUDY [DATA]", "[--quick] [--page FILE.md] [-o FILE.svg]",
     "run the paper's experiments, ours beside its figures",
     "STUDY is table1 (classification), small (the small sets over 100 splits), claim (does a cap "
     "help, all else equal), figure2 (error against "
     "distortion), adaptation, faces, distortion, trace-width, runtime (the appendix), geometry "
     "(Figure "
     "1), unseen (not in the paper: retrieval among classes not trained on), or all. Each cell is "
     "kept in the folder --results as soon as it is done: the same "
     "command "
     "goes on where it was stopped. table1 and small run entrants whose fits take minutes on fewer "
     "splits and say so; --splits N runs N for all. DATA replaces the data of distortion, "
     "trace-width and runtime. "
     "Data "
     "that are not bundled are looked for in $BDML_DATA, else in ../shared/data; what cannot be "
     "run "
     "without them says so. With -o the picture of one study is drawn.",
     COMMON "output reproduce --splits --rounds --rho-negative --row-scaling --distortion-weight "
            "--weight-floor",
     "bdml reproduce all --quick --page results.md\nbdml reproduce table1", cli_reproduce,
     CLI_PAPER},
    {"report", "RUN [RUN] [RUN] [RUN] [RUN] [RUN]", "[-o PAGE.html]",
     "make one page to look at of results, or of data",
     "RUN: what eval, path, train, retrieve, verify or adapt printed with --json; one page is made "
     "of all "
     "that "
     "are given: what was asked and found, errors, error against distortion, spectrum, "
     "convergence, "
     "confusions, the points before and after, the certificate, and hints where something looks "
     "wrong. Or RUN is a model: its certificate, spectrum and the features that matter. Or RUN is "
     "a labelled data file: then eval, path and train are run first, with the settings given and "
     "with --scale zscore unless another is given, so that no method suffers from the units of "
     "columns; with --task retrieve classes not trained on are retrieved, along K. The model is "
     "kept beside the page, as PAGE.report.bdml. The page is one file that "
     "needs "
     "no network and no other program: K moves under a slider, marks tell their values, points "
     "their neighbours.",
     COMMON "output page " LEARN "neighbors evaluate retrieve path",
     "bdml eval wine.csv --methods euclidean,bdml --json >wine.json\nbdml report wine.json -o "
     "wine.html\nbdml report wine.csv -o wine.html",
     cli_report, CLI_EVERYDAY},
    {"plot", "[RUN] [RUN] [RUN]", "--figure NAME -o FILE", "draw one figure of a result",
     "Draws one of the pictures of 'bdml report' alone, as .svg, .png or .pdf by the ending of "
     "FILE: "
     "errors, path, walk, unseen, roc, view, spectrum, features, convergence, or ellipsoids (the "
     "paper's Figure 1, which needs no result). RUN: what a command printed with --json.",
     COMMON "output figure", "bdml plot wine.json --figure errors -o errors.pdf", cli_plot,
     CLI_MORE},
    {"export", "MODEL [DATA]", "-o FILE | --format NAME [--what L|M|inverse] [--certificate]",
     "write the map for other programs, or the certificate",
     "By --format, or the ending of FILE: .npy, .csv or .mat is the matrix L, M or the inverse of "
     "L, which "
     "brings "
     "mapped points back; L and M act on prepared "
     "points ('bdml info MODEL' says how they are prepared); .faiss (a LinearTransform), .onnx "
     "(one "
     "Gemm) and .safetensors (weight and bias) hold the whole model, preparation included, as a "
     "map "
     "of raw points in single precision. With --certificate the claim of a "
     "model "
     "or a proof (MODEL.proof) is written as text, with the rows of DATA that it is about: the "
     "program bdml-check proves it, with bounds on every rounding error.",
     COMMON "output map serve certificate input",
     "bdml export wine.bdml --what M -o metric.npy\nbdml export wine.bdml --format onnx\nbdml "
     "export wine.bdml wine.csv --certificate "
     "-o "
     "wine.cert",
     cli_export, CLI_MORE},
    {"import", "MAP", "-o MODEL [--what L|M]", "make a model of a matrix from elsewhere",
     "Reads a matrix from any supported data format, one row a line, and wraps it as a model: the "
     "linear map L (rows are output dimensions), or with --what M a symmetric positive "
     "semidefinite metric.",
     COMMON "output map --format --header --variable", "bdml import L.npy -o mine.bdml", cli_import,
     CLI_MORE},
    {"generate", "NAME", "[-n N] -o FILE", "make data whose law is known",
     "NAME is waveform or waveform-noise (Breiman et al. 1984; 21 and 40 features, 3 classes), "
     "twonorm, threenorm or ringnorm (Breiman 1996; 20 features, 2 classes), or one where the "
     "plain distance looks in the wrong directions: stretched, needle, clusters. All from --seed.",
     COMMON "output generate", "bdml generate waveform -n 5000 -o waveform.csv", cli_generate,
     CLI_PAPER},
    {"help", "[TOPIC]", "", "explain a command or an option, formats, methods",
     "TOPIC is a command, an option ('--drop' or 'drop'), 'formats', 'settings' or 'methods'. With "
     "--json the whole table of "
     "commands, "
     "options and methods is printed for programs.",
     COMMON "help more", "bdml help train\nbdml help settings --markdown", cli_help, CLI_ABOUT},
    {"version", "", "", "print the version", "Prints the version.", COMMON, NULL, cli_version,
     CLI_ABOUT},
    {"completion", "SHELL", "", "print a completion script for bash, zsh or fish",
     "SHELL is bash, zsh or fish.", COMMON, "bdml completion bash >/etc/bash_completion.d/bdml",
     cli_completion, CLI_ABOUT},
    {"man", "", "", "print the manual page", "Prints the manual page in roff.", COMMON,
     "bdml man | man -l -", cli_man, CLI_ABOUT},
};

int cli_command_count(void)
{
    return (int)(sizeof commands / sizeof *commands);
}

const cli_command *cli_command_at(int i)
{
    return i >= 0 && i < cli_command_count() ? &commands[i] : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    for (int i = 0; i < cli_command_count(); i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

/* By its group, or alone by its name: of two of one name that is the library's. */
static bool lists(const cli_command *command, const bdml_option *o)
{
    bool by_name = cli_option_find(o->name, strlen(o->name)) == o;
    for (const char *p = command->takes; *p;) {
        size_t n = strcspn(p, " ");
        bool single = n > 2 && p[0] == '-';
        const char *word = single ? p + 2 : p, *name = single ? o->name : o->group;
        size_t length = single ? n - 2 : n;
        bool same = strlen(name) == length && memcmp(name, word, length) == 0;
        if (same && (!single || by_name)) return true;
        p += n;
        p += strspn(p, " ");
    }
    return false;
}

/* An option of the command's own hides that of the library which has the same name. */
bool cli_command_takes(const cli_command *command, const bdml_option *o)
{
    for (int id = 0; id < CLI_OPT_COUNT; id++) {
        const bdml_option *own = cli_option_own(id);
        if (own != o && strcmp(own->name, o->name) == 0 && lists(command, own)) return false;
    }
    return lists(command, o);
}
