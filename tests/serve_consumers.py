"""Exported models, read by their consumers: the same vectors as `bdml transform` to 1e-6. COMMAND WINE.CSV"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

command, data = sys.argv[1:]
passed = failed = 0


def run(*arguments):
    subprocess.run([command, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def same(what, z, expected, most=1e-6):
    """Relative to the largest coordinate: single precision has 24 bits, and sums of 13 products."""
    global passed, failed
    error = np.abs(z - expected).max() / np.abs(expected).max()
    if error < most:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {what}: vectors differ by {error:.2g} of the largest coordinate")


def skip(what):
    print(f"skipped: no {what} for {sys.executable}")


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def evaluate_onnx(model, x):
    """The two operators that occur, as the specification of ONNX defines them."""
    from onnx import numpy_helper

    values = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    values[model.graph.input[0].name] = x
    for node in model.graph.node:
        given = [values[name] for name in node.input]
        attribute = {a.name: a.i for a in node.attribute}
        if node.op_type == "Gemm":
            assert attribute == {"transB": 1}
            values[node.output[0]] = given[0] @ given[1].T + given[2]
        else:
            assert node.op_type == "LpNormalization" and attribute == {"axis": -1, "p": 2}
            values[node.output[0]] = unit(given[0])
    return values[model.graph.output[0].name]


os.chdir(tempfile.mkdtemp())
run("convert", data, "x.npy", "--label", "none", "--drop", "class")
x = np.load("x.npy")
for scale, pca in ("none", 0), ("zscore", 0), ("minmax", 6), ("unit", 4):
    name = f"scale {scale}, pca {pca}"
    run("train", data, "--method", "whiten", "--scale", scale, "--pca", str(pca), "-o", "m.bdml")
    run("transform", "m.bdml", data, "-o", "z.npy")
    expected = np.load("z.npy")
    run("export", "m.bdml", "-o", "m.onnx")
    run("export", "m.bdml", "-o", "u.onnx", "--normalize")
    try:
        import onnx

        lengths = np.linalg.norm(expected, axis=1)
        short = lengths.max() / lengths.min()  # rounding of a short row grows with it to length 1
        for file, wanted, most in ("m.onnx", expected, 1e-6), ("u.onnx", unit(expected), 1e-6 * short):
            model = onnx.load(file)
            onnx.checker.check_model(model, full_check=True)
            same(f"onnx, {name}, {file}", evaluate_onnx(model, x), wanted, most)
    except ImportError:
        skip("onnx")
    if scale == "unit":
        continue
    run("export", "m.bdml", "-o", "m.faiss")
    run("export", "m.bdml", "-o", "m.safetensors")
    try:
        import faiss

        transform = faiss.read_VectorTransform("m.faiss")
        same(f"faiss, {name}", transform.apply(x.astype(np.float32)), expected)
    except ImportError:
        skip("faiss")
    raw = open("m.safetensors", "rb").read()
    size = int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8 : 8 + size])
    tensors = {}
    for key in "weight", "bias":
        begin, end = head[key]["data_offsets"]
        tensors[key] = np.frombuffer(raw[8 + size + begin : 8 + size + end], "<f4").reshape(head[key]["shape"])
    same(f"safetensors, {name}", x @ tensors["weight"].T.astype(float) + tensors["bias"], expected)
    try:
        import torch

        layer = torch.nn.Linear(x.shape[1], expected.shape[1], dtype=torch.float64)
        layer.load_state_dict({key: torch.tensor(v.astype(float)) for key, v in tensors.items()})
        same(f"torch, {name}", layer(torch.tensor(x)).detach().numpy(), expected)
    except ImportError:
        skip("torch")
print(f"cases: {passed} passed, {failed} failed")
sys.exit(failed > 0)
