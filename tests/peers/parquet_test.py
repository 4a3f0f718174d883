"""Random tables that pyarrow writes are read by Hearth as pyarrow reads them, whatever the encodings, codecs and page
sizes. Run by scripts/test_peers: parquet_test.py READER, where READER prints the records of a file as JSON lines."""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq

TYPES = {
    "text": (pa.string(), lambda rng: "".join(rng.choices("abc äß\U0001F642\n", k=rng.randint(0, 40)))),
    "word": (pa.large_string(), lambda rng: rng.choice(["yes", "no", ""])),
    "flag": (pa.bool_(), lambda rng: rng.random() < 0.3),
    "i8": (pa.int8(), lambda rng: rng.randint(-128, 127)),
    "i32": (pa.int32(), lambda rng: rng.randint(-2**31, 2**31 - 1)),
    "i64": (pa.int64(), lambda rng: rng.choice([0, 1, rng.randint(-2**63, 2**63 - 1)])),
    "u64": (pa.uint64(), lambda rng: rng.randint(0, 2**64 - 1)),
    "f32": (pa.float32(), lambda rng: rng.randint(-1000, 1000) / 8),
    "f64": (pa.float64(), lambda rng: rng.uniform(-1e9, 1e9)),
}
ENCODINGS = {"text": ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"],
             "word": ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"], "flag": ["PLAIN", "RLE"],
             "i8": ["PLAIN", "DELTA_BINARY_PACKED"], "i32": ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"],
             "i64": ["PLAIN", "DELTA_BINARY_PACKED"], "u64": ["PLAIN", "DELTA_BINARY_PACKED"],
             "f32": ["PLAIN", "BYTE_STREAM_SPLIT"], "f64": ["PLAIN", "BYTE_STREAM_SPLIT"]}


def random_type(rng, depth=0):
    """A type, and a function that makes values of it."""
    kind = rng.choice(["leaf"] * (2 + depth) + ["list", "struct"]) if depth < 3 else "leaf"
    if kind == "leaf":
        leaf, make = TYPES[rng.choice(list(TYPES))]
        nulls = rng.choice([0, 0.1, 0.9])
        return leaf, lambda: None if rng.random() < nulls else make(rng)
    if kind == "list":
        item, make = random_type(rng, depth + 1)
        return pa.list_(item), lambda: None if rng.random() < 0.1 else [make() for _ in range(rng.randint(0, 4))]
    fields = {name: random_type(rng, depth + 1) for name in ("x", "y")[:rng.randint(1, 2)]}
    struct = pa.struct([(name, field) for name, (field, _) in fields.items()])
    return struct, lambda: None if rng.random() < 0.1 else {name: make() for name, (_, make) in fields.items()}


def random_table(rng):
    rows = rng.choice([0, 1, 7, 300, 3000])
    columns, options = {}, {}
    if rng.random() < 0.5:
        for name, (leaf, make) in TYPES.items():
            nulls = rng.choice([0, 0.1, 1])
            columns[name] = pa.array([None if rng.random() < nulls else make(rng) for _ in range(rows)], leaf)
        if rng.random() < 0.6:
            options = {"use_dictionary": False, "column_encoding": {n: rng.choice(e) for n, e in ENCODINGS.items()}}
    else:
        for i in range(rng.randint(1, 4)):
            kind, make = random_type(rng)
            columns[f"c{i}"] = pa.array([make() for _ in range(rows)], kind)
    options.update(compression=rng.choice(["none", "snappy", "gzip", "zstd", "lz4"]),
                   data_page_version=rng.choice(["1.0", "2.0"]), data_page_size=rng.choice([64, 1000, 1 << 20]),
                   row_group_size=rng.choice([1, 50, 1000, 1 << 20]), write_page_checksum=rng.random() < 0.3,
                   dictionary_pagesize_limit=rng.choice([64, 1 << 20]))
    return pa.table(columns), options


def main():
    reader, cases = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(cases):
            table, options = random_table(random.Random(seed))
            file = pathlib.Path(folder) / "f.parquet"
            pq.write_table(table, file, **options)
            run = subprocess.run([reader, file], capture_output=True, text=True)
            assert run.returncode == 0, f"case {seed}: {run.stderr}"
            read = [json.loads(line) for line in run.stdout.split("\n")[:-1]]
            assert read == table.to_pylist(), f"case {seed} differs: {options} {table.schema}"
    print(f"{cases} random Parquet files are read as pyarrow reads them")


if __name__ == "__main__":
    main()
