"""Checks the module table of CMakeLists.txt against the sources:
- a module includes headers only of the modules that its line names, and of every one of them at least one;
- a module that writes the namespace of another, such as `ops::`, includes a header of it;
- headers of third-party libraries stay behind their fences;
- public headers, with everything that they include, reach no header of a third-party library.
Prints every fault and exits non-zero if there is one."""
import pathlib
import re
import sys

# Headers of third-party libraries, and the files or modules that may include them.
FENCES = {
    "dnnl": ["kernels/gemm/onednn.cc"],
    "hwy/": ["kernels/"],
    "immintrin.h": ["kernels/", "cpu/"],
    "hwloc": ["cpu/topology.cc"],
    "omp.h": ["cpu/"],
    "nlohmann/": ["io/"],
    "yaml-cpp/": ["io/"],
    "zlib.h": ["io/"],
    "zstd.h": ["io/"],
    "snappy.h": ["io/"],
    "lz4.h": ["io/"],
    "mpi.h": [],
    "oneapi/": [],
    "gloo/": [],
    "curl/": ["hub/http.cc"],
    "histedit.h": ["apps/line_editor.cc"],
}

# Public headers of a tree without include/hearth.
PUBLIC = ["hearth/train/callbacks.h", "hearth/train/evaluation.h", "hearth/train/trainer.h",
          "hearth/train/training_arguments.h"]
THIRD_PARTY = ("fmt/", *FENCES)

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
COMMENT_OR_STRING = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')


def module_table(root):
    table = {}
    for call in re.findall(r"hearth_module\(([^)]*)\)", (root / "CMakeLists.txt").read_text()):
        words = call.split()
        uses = words[words.index("USES") + 1:] if "USES" in words else []
        if "LIBRARIES" in uses:
            uses = uses[:uses.index("LIBRARIES")]
        table[words[0]] = set(uses)
    return table


def sources(root):
    """Path below hearth/, module and text of every source."""
    for file in sorted((root / "hearth").rglob("*")):
        if file.suffix in (".h", ".cc"):
            place = file.relative_to(root / "hearth").as_posix()
            yield place, place.split("/")[0], file.read_text()


def broken_fences(place, header):
    return [f"{place} includes {header}, which only {' and '.join(homes) or 'a plug-in'} may include"
            for library, homes in FENCES.items()
            if header.startswith(library) and not any(place.startswith(home) for home in homes)]


def check(root):
    """The faults, and the number of #include lines."""
    table, faults, lines = module_table(root), [], 0
    included, named = set(), {}  # pairs (module, other module); for the names: the first source
    own_namespaces = set()
    for place, module, text in sources(root):
        if module not in table:
            faults.append(f"{place}: the module {module} is not in CMakeLists.txt: add hearth_module({module} USES ...)")
            continue
        for header in INCLUDE.findall(text):
            lines += 1
            faults += broken_fences(place, header)
            other = header.split("/")[1] if header.startswith("hearth/") else module
            if other == module:
                continue
            included.add((module, other))
            if other not in table[module]:
                faults.append(f"{place} includes {header}: if {module} is to use {other}, add {other} to the line "
                              f"hearth_module({module} USES ...) of CMakeLists.txt")
        if f"namespace hearth::{module} {{" in text:
            own_namespaces.add(module)
        for other in set(re.findall(r"(?<![\w:])(\w+)::", COMMENT_OR_STRING.sub("", text))):
            named.setdefault((module, other), place)
    for (module, other), place in sorted(named.items()):
        if other in own_namespaces and other != module and (module, other) not in included:
            faults.append(f"{place} uses {other}:: and {module} includes no header of {other}: include the one that "
                          f"declares it, and add {other} to the line hearth_module({module} USES ...)")
    for module, uses in table.items():
        unused = sorted(other for other in uses if (module, other) not in included)
        if unused:
            faults.append(f"CMakeLists.txt: {module} includes nothing of {', '.join(unused)}: take that out of the line "
                          f"hearth_module({module} USES ...)")
    return faults, lines


def public_headers(root):
    umbrella = sorted(root.glob("include/hearth/*.h"))
    return umbrella or [root / name for name in PUBLIC]


def public_faults(root, headers):
    """The ways from a public header to one of a third-party library."""
    faults, seen = [], set()
    ways = [(header, header.relative_to(root).as_posix()) for header in headers]
    while ways:
        file, way = ways.pop()
        if file in seen:
            continue
        seen.add(file)
        if not file.exists():
            faults.append(f"{way}: there is no such header")
            continue
        for header in INCLUDE.findall(file.read_text()):
            if header.startswith(THIRD_PARTY):
                faults.append(f"a user's program would need {header}, by way of {way}: move what needs it to a source "
                              f"or to a header that is not public")
            elif header.startswith("hearth/"):
                inner = root / "include" / header
                ways.append((inner if inner.exists() else root / header, f"{way} -> {header}"))
    return faults


def main(root):
    faults, lines = check(root)
    faults += public_faults(root, public_headers(root))
    print("\n".join(faults) if faults else f"{len(module_table(root))} modules, {lines} includes, every edge in use")
    return 1 if faults or lines == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
