/* corpus_text.h - bad CSV, TSV, svmlight and ARFF files, and labels that do not fit. */
#ifndef BDML_TESTS_CORPUS_TEXT_H
#define BDML_TESTS_CORPUS_TEXT_H

#include "corpus.h"

static inline void build_csv(void)
{
    expect_text("empty.csv", "", DATA, "empty");
    expect_text("blank.csv", "\n\n   \n", DATA, "no rows of data");
    expect_text("header-only.csv", "a,b,class\n", DATA, "no rows of data");
    expect_text("ragged-short.csv", "a,b,class\n1,2,x\n3,4\n", DATA,
                "line 3 has 2 fields, but line 1 has 3");
    expect_text("ragged-long.csv", "a,b,class\n1,2,x\n3,4,5,y\n", DATA,
                "line 3 has 4 fields, but line 1 has 3");
    expect_text("text-for-number.csv", "a,b,class\n1,2,x\n3,four,y\n", DATA,
                "line 3, column 2 (b): 'four' is not a number");
    expect_text("half-number.csv", "a,b,class\n1,2,x\n3,4.5.6,y\n", DATA,
                "'4.5.6' is not a number");
    expect_text("hex-number.csv", "a,b,class\n1,2,x\n0x1F,4,y\n", DATA,
                "column 1 (a): '0x1F' is not a number");
    expect_text("comma-decimal.csv", "a;b;class\n1,5;2;x\n3;4;y\n", DATA, "'1,5' is not a number");
    expect_text("nan.csv", "a,b,class\n1,2,x\nnan,4,y\n", DATA,
                "line 3, column 1 (a): a value is missing");
    expect_text("inf.csv", "a,b,class\n1,2,x\n3,inf,y\n", DATA,
                "line 3, column 2 (b): an infinite value");
    expect_text("minus-inf.csv", "a,b,class\n1,2,x\n-Infinity,4,y\n", DATA,
                "line 3, column 1 (a): an infinite value");
    expect_text("overflow.csv", "a,b,class\n1,-1e999,x\n3,4,y\n", DATA,
                "line 2, column 2 (b): an infinite value");
    expect_text("missing.csv", "a,b,class\n1,,x\n3,4,y\n", DATA,
                "line 2, column 2 (b): a value is missing");
    expect_text("missing-na.csv", "a,b,class\nNA,2,x\n3,4,y\n", DATA,
                "line 2, column 1 (a): a value is missing");
    expect_text("missing-label.csv", "a,b,class\n1,2,\n3,4,y\n", DATA, "the label is missing");
    with(expect_text("all-dropped.csv", "a,b,class\n1,,x\n,4,y\n", DATA,
                     "all 2 rows have a missing value"),
         "missing=drop");
    with(expect_text("no-mean.csv", "a,b,class\n1,,x\n2,?,y\n", DATA,
                     "column 2 (b) has no value at all"),
         "missing=mean");
    expect_text("open-quote.csv", "a,b,class\n1,2,\"x\n3,4,y\n", FORMAT,
                "opened here and never closed");
    expect_text("after-quote.csv", "a,b,class\n1,2,\"x\"z\n3,4,y\n", FORMAT,
                "behind a closing quote");
    with(expect_text("no-such-column.csv", "a,b,class\n1,2,x\n", DATA,
                     "no column is called 'species'; there are: a, b, class"),
         "label=species");
    with(expect_text("no-such-number.csv", "a,b,class\n1,2,x\n", DATA,
                     "label column 4 is not among the 3 columns"),
         "label=4");
    with(expect_text("name-without-header.csv", "1,2,3\n4,5,6\n", DATA, "there is no header"),
         "label=class header=no");
    with(expect_text("only-label.csv", "class\nx\ny\n", DATA,
                     "no column of numbers beside the label"),
         "label=class");
    with(expect_text("header-is-data.csv", "a,b,class\n1,2,x\n", DATA,
                     "line 1, column 1: 'a' is not a number"),
         "header=no");
    bytes b = {0};
    put(&b, "a,b,class\n1,\0,x\n", 16);
    expect(save("nul.csv", &b), FORMAT, "line 2: a NUL byte");
    put(&b,
        "\xFF\xFE"
        "a\0,\0b\0\n\0"
        "1\0,\0"
        "2\0\n\0",
        18);
    expect(save("utf16.csv", &b), FORMAT, "line 1: a NUL byte");
    with(expect_text("not-tabs.tsv", "a b class\n1 2 x\n", DATA, "there are: a b class"),
         "label=class");
}

static inline void build_labels(void)
{
    static char setting[3][600];
    static const char *const fragment[] = {"holds 2 labels, but", "holds 4 labels, but",
                                           "holds no labels"};
    static const char *const labels[] = {"x\ny\n", "x\ny\nx\ny\n", ""};
    static const char *const name[] = {"few.labels", "many.labels", "none.labels"};
    static const char *const file[] = {"few-labels.csv", "many-labels.csv", "no-labels.csv"};
    for (int i = 0; i < 3; i++) {
        snprintf(setting[i], sizeof setting[i], "labels-file=%s", save_text(name[i], labels[i]));
        with(expect_text(file[i], "1,2\n3,4\n5,6\n", DATA, fragment[i]), setting[i]);
    }
    with(expect_text("labels-lost.csv", "1,2\n3,4\n", BDML_ERR_IO,
                     "/nonexistent/labels: cannot be read"),
         "labels-file=/nonexistent/labels");
    with(expect_text("labels-twice.csv", "1,2\n3,4\n", BDML_ERR_ARGUMENT,
                     "labels come from one place"),
         "labels-file=/nonexistent/labels label=last");
    needs_classes(expect_text("one-class.csv", "a,class\n1,x\n2,x\n3,x\n", DATA,
                              "all 3 rows are of one class, 'x'"));
    bad *b = expect_text("no-class.csv", "a,b\n1,2\n2,3\n", DATA, "there are no labels");
    with(b, "label=none");
    needs_classes(b);
    expect(in_folder("not-there.csv"), BDML_ERR_IO, "cannot be read: No such file");
    expect(folder, BDML_ERR_IO, "directory");
}

static inline void build_svmlight(void)
{
    expect_text("no-colon.svm", "1 1:2 3\n", DATA, "'3' should be index:value");
    expect_text("index-zero.svm", "1 0:2\n2 -1:3\n", DATA, "'-1:3' should begin with an index");
    expect_text("descending.svm", "1 3:1 2:5\n", DATA, "indices must increase");
    expect_text("twice.svm", "1 2:1 2:5\n", DATA, "'2:5' follows index 2");
    expect_text("bad-value.svm", "1 1:2 2:abc\n", DATA, "'2:abc' has no number");
    expect_text("bad-index.svm", "1 x:2\n", DATA, "'x:2' should begin with an index");
    expect_text("huge-index.svm", "1 99999999999999999999:2\n", DATA, "99999999999999999999:2");
    expect_text("wide.svm", "1 2147483646:2\n2 1:1\n", DATA, "above the limit");
    expect_text("bad-label.svm", "1 1:2\n: 1:3\n", DATA, "where the label should be");
    expect_text("inf.svm", "1 1:2\n2 1:inf\n", DATA, "line 2, column 1: an infinite value");
    expect_text("labels-only.svm", "1\n2\n", DATA, "no row has an index:value pair");
}

static inline void build_arff(void)
{
#define HEAD "@relation r\n@attribute a numeric\n"
    expect_text("no-data.arff", HEAD, FORMAT, "ends before @data");
    expect_text("no-rows.arff", HEAD "@attribute class {x,y}\n@data\n", DATA, "no rows of data");
    expect_text("no-attributes.arff", "@relation r\n@data\n1,2\n", FORMAT,
                "@data comes before any @attribute");
    expect_text("bad-type.arff", "@relation r\n@attribute a fancy\n@data\n1\n", FORMAT,
                "unknown type 'fancy'");
    expect_text("bad-nominal.arff", HEAD "@attribute class {x,y}\n@data\n1,z\n", DATA,
                "'z' is not among the declared values");
    expect_text("open-brace.arff", HEAD "@attribute class {x,y\n@data\n1,x\n", FORMAT,
                "no closing brace");
    expect_text("ragged.arff", HEAD "@attribute class {x,y}\n@data\n1,x\n1\n", DATA,
                "line 6: there are 1 values, but 2 attributes");
    expect_text("text.arff", HEAD "@attribute class {x,y}\n@data\none,x\n", DATA,
                "line 5, column 1 (a): 'one' is not a number");
    expect_text("missing.arff", HEAD "@attribute class {x,y}\n@data\n?,x\n", DATA,
                "line 5, column 1 (a): a value is missing");
    expect_text("sparse-index.arff", HEAD "@attribute class {x,y}\n@data\n{7 1, 1 x}\n", DATA,
                "line 5: a sparse row needs increasing indices");
    expect_text("string.arff", HEAD "@attribute s string\n@attribute class {x,y}\n@data\n1,hi,x\n",
                DATA, "is of type string");
    expect_text("unknown-word.arff", "@relation r\n@atribute a numeric\n@data\n1\n", FORMAT,
                "'@atribute' is not");
#undef HEAD
}

static inline void build_text_corpus(void)
{
    build_csv();
    build_labels();
    build_svmlight();
    build_arff();
}

#endif
