"""Checks the module table of CMakeLists.txt against the #include lines: a module includes only what it names there,
and third-party headers stay behind their fences. Exits non-zero and names every other edge."""
import pathlib
import re
import sys

# Headers of third-party libraries, and the files or modules that may include them.
FENCES = {
    "dnnl": ["kernels/gemm_onednn.cc"],
    "hwy/": ["kernels/"],
    "immintrin.h": ["kernels/", "cpu/"],
    "hwloc": ["cpu/topology.cc"],
    "omp.h": ["cpu/"],
    "nlohmann/": ["io/"],
    "yaml-cpp/": ["io/"],
    "mpi.h": [],
    "oneapi/": [],
    "gloo/": [],
    "utf8proc": ["tokenizer/"],
    "histedit.h": ["apps/line_editor.cc"],
}


def module_table(root):
    table = {}
    for call in re.findall(r"hearth_module\(([^)]*)\)", (root / "CMakeLists.txt").read_text()):
        words = call.split()
        uses = words[words.index("USES") + 1:] if "USES" in words else []
        if "LIBRARIES" in uses:
            uses = uses[:uses.index("LIBRARIES")]
        table[words[0]] = set(uses)
    return table


def main(root):
    table = module_table(root)
    faults, edges = [], 0
    for file in sorted((root / "hearth").rglob("*")):
        if file.suffix not in (".h", ".cc"):
            continue
        place = file.relative_to(root / "hearth").as_posix()
        module = place.split("/")[0]
        if module not in table:
            faults.append(f"{place}: the module {module} is not in CMakeLists.txt")
            continue
        for header in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', file.read_text(), re.M):
            edges += 1
            if header.startswith("hearth/"):
                other = header.split("/")[1]
                if other != module and other not in table[module]:
                    faults.append(f"{place} includes {header}: {module} may not use {other}")
            for library, homes in FENCES.items():
                if header.startswith(library) and not any(place.startswith(home) for home in homes):
                    faults.append(f"{place} includes {header}, which is fenced into {', '.join(homes)}")
    print("\n".join(faults) if faults else f"{len(table)} modules, {edges} includes, every edge in the table")
    return 1 if faults or edges == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
