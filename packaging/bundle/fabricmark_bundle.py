"""One archive that runs on another x86-64 Linux, without network and root: `make bundle`.

It holds programs, libraries, kernels and the command with its Python; PoCL with the compiler of its kernels;
Open MPI under a prefix of its own; a C library and a shell for where there is none; and the licences of all
that is others'. What starts from bin/ is `launcher.c`; docs/install.md says how it is used.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import re
import shutil
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path[:0] = [str(REPOSITORY / "python"), str(REPOSITORY / "tools")]

import archive  # noqa: E402
import install_command  # noqa: E402
import smaller  # noqa: E402
from binaries import (  # noqa: E402
    OF_GCC,
    OF_LIBC,
    Fault,
    check_machine,
    is_elf,
    libraries,
    library,
    licence,
    packages,
    run,
)  # fmt: skip
from fabricmark.base.errors import FabricmarkError  # noqa: E402

LIBRARIES = "lib/x86_64-linux-gnu"
POCL_ICD = Path("/etc/OpenCL/vendors/pocl.icd")
PROGRAMS = ("fm_*", "fabricmark-describe", "fabricmark-mesh")
OWN_LIBRARIES = ("libfabricmark_codec.so*", "libfabricmark_messages.so*", "libfabricmark-record.so")
# What `run` calls besides the command; on a machine that has them its own come first.
TOOLS = ("sh", "mkdir", "rmdir", "date")
# Of PoCL's library of functions processors before AVX2 (2013) take that of the oldest: each is 9 MB.
OLDER_KINDS = dict.fromkeys(("avx", "avx_f16c", "avx_fma4", "sse41", "ssse3", "GENERIC"), "sse2")
# Packages of the command that measuring and reporting go without (jsonschema does what jsonschema_rs does).
LEFT_OUT = {"scipy", "jsonschema_rs", "fonttools", "tzdata"}
# Files of packages that are for those who test, compile or draw on screens.
UNUSED = re.compile(
    r"(^|/)(tests|__pycache__|f2py|distutils|_pyinstaller|include|sample_data|afm|pdfcorefonts|images)/"
    r"|\.(pyi|pxd|pyx|h|a|typed)$|numpy/_core/_simd\."
    r"|fonts/ttf/(STIX|cm|DejaVuSerif|DejaVuSansMono|DejaVuSansDisplay|DejaVuSans-\w*Oblique)"
    r"|PIL/_(avif|webp|imagingtk|imagingcms|imagingft)\."
    r"|^(matplotlib/backends/(web_backend|qt_editor|_backend_tk)|mpl_toolkits|pylab|pillow\.libs)"
)
UNUSED_MODULES = re.compile(
    r"(^|/)(test|tests|idlelib|tkinter|turtledemo|ensurepip|lib2to3|pydoc_data|curses|dbm|venv|"
    r"unittest|distutils|xmlrpc|wsgiref|config-3.*|__pycache__|dist-packages|site-packages)/"
    r"|(_codecs_(cn|hk|jp|kr|tw|iso2022)|_asyncio|_ssl|_hashlib|_curses\w*|_dbm|_gdbm|readline|nis|ossaudiodev|_test\w*|xx\w*|_tkinter)\.cpython"
    r"|^(turtle|pydoc|antigravity|this|imaplib|nntplib|smtpd)\.py"
)
# Parts of Open MPI for networks of others' libraries, and what programs of the suite do not call.
OF_OTHER_NETWORKS = re.compile(
    r"ucx|ofi|psm|openib|verbs|flux|jsm|monitoring|portals|sshmem_|spml|memheap|scoll|mca_atomic"
    r"|mca_(io|fs|fbtl|fcoll|sharedfp)_"
    r"|romio|gridengine|pt2pt|libompi_dbg"
)
OF_LAUNCHER = {  # what the suite's launcher says always, as lines of Open MPI's own file
    ("--oversubscribe",): "rmaps_base_oversubscribe = 1",
    ("--bind-to", "none"): "hwloc_base_binding_policy = none",
}
COMMAND = """import sys
from pathlib import Path

sys.argv[0] = str(Path(__file__).resolve().parents[1] / "bin" / "fabricmark")

from fabricmark.cli import app

app(prog_name="fabricmark")
"""
README = """Fabricmark {version}, for x86-64 Linux with nothing else.

  ./run                 measure every device found, and print the report, as `make run` does
  bin/fabricmark, bin/fm_*, bin/mpirun    the command, its programs, and the Open MPI that they run under

manifest.json names what is others', with versions; share/licenses/ has the licences. The sources are Debian's
(https://snapshot.debian.org, by package and version) and PyPI's. docs/install.md of the repository says more.
"""


def base_python() -> Path:
    """The interpreter, not that of the clone's environment."""
    return Path(getattr(sys, "_base_executable", "") or sys.executable).resolve()


@cache
def packages_folder() -> str:
    """Where that interpreter looks for packages, below its prefix: Debian's has a name of its own."""
    said = run(base_python(), "-c", "import site; print(site.getsitepackages(['/x'])[-1])")
    return said.strip().removeprefix("/x/")


class Bundle:
    """A folder that becomes one, with notes of where each file came from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sources: dict[str, Path] = {}  # of files of others, by their place
        self.changed: dict[str, str] = {}

    def place(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def copy(self, source: Path, name: str) -> Path:
        """One file of others, without names for debuggers where it still has them."""
        target = self.place(name)
        shutil.copyfile(source, target)
        self.sources[name] = source
        if is_elf(target):
            target.chmod(0o755)
            if b".symtab" in target.read_bytes()[-10000:]:
                run("strip", "--strip-unneeded", target)
        return target

    def program(self, source: Path, name: str, *, also: Iterable[str] = ()) -> None:
        """A program in libexec/, which `launcher` starts from bin/ or the folders of `also`."""
        if not is_elf(self.copy(source.resolve(), f"libexec/{name}")):
            raise Fault(f"{source} is a script, where a program was to be carried; install Debian's own")
        for folder in also or ("bin",):
            self.link(f"{folder}/{name}", "libexec/launcher")

    def link(self, name: str, target: str) -> None:
        path = self.place(name)
        path.symlink_to(os.path.relpath(self.folder / target, path.parent))


def put_programs(bundle: Bundle, build: Path) -> list[Path]:
    """The suite's own, stripped; returns them as they were built."""
    found = sorted({file for pattern in PROGRAMS for file in (build / "bin").glob(pattern)})
    if not found:
        raise Fault(f"{build} has no programs; run `make programs`")
    for file in (file for file in found if not file.is_symlink()):
        check_machine(file)
        run("strip", "-s", "-o", bundle.place(f"libexec/{file.name}"), file)
    for file in found:
        if file.is_symlink():
            bundle.link(f"libexec/{file.name}", f"libexec/{file.resolve().name}")
        bundle.link(f"bin/{file.name}", "libexec/launcher")
    for file in (file for pattern in OWN_LIBRARIES for file in sorted((build / "lib").glob(pattern))):
        if file.is_symlink():
            bundle.place(f"lib/{file.name}").symlink_to(os.readlink(file))
        else:
            run("strip", "--strip-unneeded", "-o", bundle.place(f"lib/{file.name}"), file)
            found.append(file)
    return [file for file in found if not file.is_symlink()]


def put_share(bundle: Bundle, build: Path) -> None:
    """What programs and command read, as `make install` places it, and the script of `run`."""
    share = bundle.folder / "share" / "fabricmark"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("kernels", "systems", "data"):
        shutil.copytree(REPOSITORY / name, share / name, ignore=ignored)
    shutil.copytree(REPOSITORY / "python" / "fabricmark", share / "python" / "fabricmark", ignore=ignored)
    (share / "rtl").mkdir()
    shutil.copy(REPOSITORY / "rtl" / "resources.toml", share / "rtl")
    (share / "micro").mkdir()
    for file in sorted((build / "micro").glob("*.json")):
        shutil.copy(file, share / "micro")
    usual = re.search(r"^RUN_OPTIONS \?= (.*)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    if usual is None:
        raise Fault("the Makefile has no line RUN_OPTIONS ?=; repair it")
    first = f"FABRICMARK=fabricmark LOGS=${{LOGS:-logs}} RUN_OPTIONS=${{RUN_OPTIONS-{usual.group(1)}}}\n"
    (share / "run.sh").write_text(first + (REPOSITORY / "tools" / "run.sh").read_text())
    for name in ("LICENSE", "CHANGELOG.md"):
        shutil.copy(REPOSITORY / name, bundle.folder)


def put_python(bundle: Bundle) -> list[Path]:
    """The interpreter, its modules, and the packages that the command needs; returns what is to be loaded."""
    python = base_python()
    bundle.program(python, "python3")
    loaded = [python]
    modules = Path(sysconfig.get_path("stdlib"))
    for file in sorted(modules.rglob("*")):
        name = file.relative_to(modules).as_posix()
        if file.is_file() and not UNUSED_MODULES.search(f"{name}"):
            bundle.copy(file, f"lib/{modules.name}/{name}")
            loaded += [file] if file.suffix == ".so" else []
    for file, name in package_files():
        bundle.copy(file, f"{packages_folder()}/{name}")
        # Others of a package load these from its own folder, as they say themselves.
        loaded += [file] if file.suffix == ".so" and ".libs/" not in name else []
    bundle.place(f"{packages_folder()}/fabricmark.pth").write_text("../../../share/fabricmark/python\n")
    bundle.place("libexec/command.py").write_text(COMMAND)
    bundle.link("bin/fabricmark", "libexec/launcher")
    return loaded


def package_files() -> list[tuple[Path, str]]:
    """Each file of the packages of the command that it uses, with its name below them."""
    found: dict[str, Path] = {}
    for package in install_command.needed_packages():
        if package in LEFT_OUT:
            continue
        try:
            files = importlib.metadata.files(package) or []
        except importlib.metadata.PackageNotFoundError:
            raise Fault(f"the Python package {package} is missing; run `make setup` first") from None
        for file in files:
            source = Path(str(file.locate()))
            if ".." not in file.parts and source.is_file() and not UNUSED.search(file.as_posix()):
                found[file.as_posix()] = source
    # Of Pillow's libraries those that what is left of it asks for.
    for name, file in libraries(
        f for n, f in found.items() if n.startswith("PIL/") and f.suffix == ".so"
    ).items():
        if "pillow.libs" in file.parts:
            found[f"pillow.libs/{name}"] = file
    return [(file, name) for name, file in sorted(found.items())]


def put_pocl(bundle: Bundle) -> list[Path]:
    """PoCL, the compiler of its kernels and its library of functions; returns what is to be loaded."""
    remedy = "install it (Debian: pocl-opencl-icd)"
    if not POCL_ICD.is_file():
        raise Fault(f"PoCL is not here (no {POCL_ICD}); {remedy}")
    name = POCL_ICD.read_text().strip()
    pocl = Path(name) if name.startswith("/") else library(name, remedy)
    bundle.copy(pocl.resolve(), f"{LIBRARIES}/{pocl.name}")
    if (short := re.sub(r"(\.so\.\d+).*", r"\1", pocl.name)) != pocl.name:
        bundle.link(f"{LIBRARIES}/{short}", f"{LIBRARIES}/{pocl.name}")
    devices = sorted((pocl.parent / "pocl").glob("*.so"))
    for file in devices:
        bundle.copy(file, f"{LIBRARIES}/pocl/{file.name}")
    share = (pocl.parent / "../../share/pocl").resolve()  # where PoCL looks from its own place
    for file in sorted(file for file in share.rglob("*") if file.is_file()):
        kind = file.stem.rpartition("-")[2]
        older = file.with_name(file.name.replace(f"-{kind}.", f"-{OLDER_KINDS.get(kind, kind)}."))
        inside = f"share/pocl/{file.relative_to(share).as_posix()}"
        if older != file and older.is_file():
            bundle.link(inside, f"share/pocl/{older.name}")
        else:
            bundle.copy(file, inside)
    bundle.place("etc/OpenCL/vendors/pocl.icd").write_text(f"{pocl.name}\n")
    bundle.program(Path(shutil.which("ld") or "/usr/bin/ld"), "ld", also=("libexec/link",))
    return [pocl, *devices, Path(shutil.which("ld") or "/usr/bin/ld")]


def put_mpi(bundle: Bundle) -> list[Path]:
    """Open MPI below mpi/, its own file of parameters, mpirun; returns what is to be loaded."""
    said = run("ompi_info", "--path", "all", "--parsable")
    places = dict(line.split(":", 2)[1:] for line in said.splitlines() if line.startswith("path:"))
    parts = sorted(Path(places["pkglibdir"]).glob("mca_*.so"))
    parts = [part for part in parts if not OF_OTHER_NETWORKS.search(part.name)]
    for file in parts:
        bundle.copy(file, f"mpi/lib/openmpi3/{file.name}")
    helps = Path(places["pkgdatadir"])
    for file in sorted(helps.rglob("*.txt")):
        bundle.copy(file, f"mpi/share/openmpi/{file.relative_to(helps)}")
    pmix = library("libpmix.so.2", "install it (Debian: libpmix2)").parent / "pmix2"
    for file in sorted(pmix.glob("lib/pmix/*.so")):
        parts.append(file)
        bundle.copy(file, f"mpi/lib/pmix/{file.name}")
    for file in sorted(pmix.glob("share/pmix/*.txt")):
        bundle.copy(file, f"mpi/share/pmix/{file.name}")
    theirs = Path(places["sysconfdir"], "openmpi-mca-params.conf")
    lines = theirs.read_text().splitlines() if theirs.is_file() else []
    own = "\n".join(
        [*(line for line in lines if line.strip() and not line.startswith("#")), *launcher_lines()]
    )
    bundle.place("mpi/etc/openmpi-mca-params.conf").write_text(own + "\n")
    programs = [Path(places["bindir"], name) for name in ("orterun", "orted")]
    for file in programs:
        bundle.program(file, file.name)
    for name in ("mpirun", "mpiexec"):
        bundle.link(f"libexec/{name}", "libexec/orterun")
        bundle.link(f"bin/{name}", "libexec/launcher")
    return [*parts, *programs]


def launcher_lines() -> list[str]:
    """What launchers/openmpi.toml gives mpirun always, for a bare one. Raises Fault for an unknown word."""
    file = REPOSITORY / "python" / "fabricmark" / "launchers" / "openmpi.toml"
    words = tuple(tomllib.loads(file.read_text())["arguments"]["always"])
    lines = []
    while words:
        known = next((option for option in OF_LAUNCHER if words[: len(option)] == option), None)
        if known is None:
            raise Fault(f"{file.name} has {words[0]}, which no line of Open MPI's file is known for; add it")
        lines.append(OF_LAUNCHER[known])
        words = words[len(known) :]
    return lines


def put_libraries(bundle: Bundle, loaded: list[Path], programs: list[Path], archives: Path | None) -> None:
    """All that was asked for, sorted by where the launcher names it: C library, compiler's, MPI's, others."""
    found = libraries([*loaded, *programs])
    place = bundle.place(f"{LIBRARIES}/x").parent
    pocl = next(file for file in loaded if file.name.startswith("libpocl."))
    if smaller.llvm(pocl, found, archives, place / "libLLVM.made"):
        rest = [file for file in loaded if not file.name.startswith("libpocl")]
        llvm = next(name for name in found if name.startswith("libLLVM"))
        clang = next(name for name in found if name.startswith("libclang-cpp"))
        sources = found
        (place / "libLLVM.made").rename(place / llvm)
        found = libraries([*rest, *programs, place / llvm])
        found |= {name: file for name, file in sources.items() if name.startswith("libhwloc")}
        bundle.sources[f"{LIBRARIES}/{llvm}"] = sources[llvm]
        bundle.changed[f"{LIBRARIES}/{llvm}"] = "linked again from its archives, with what PoCL calls alone"
        bundle.link(f"{LIBRARIES}/{clang}", f"{LIBRARIES}/{llvm}")
    if smaller.blas(programs, bundle.folder / packages_folder() / "numpy.libs", place / "libopenblas.so.0"):
        unasked = of_blas(found, loaded, programs)
        found = {name: file for name, file in found.items() if name not in unasked}
        bundle.changed[f"{LIBRARIES}/libopenblas.so.0"] = "calls NumPy's OpenBLAS"
    for name, file in sorted(found.items()):
        if "site-packages" in file.parts or (place / name).exists():
            continue
        if OF_LIBC.fullmatch(name):
            continue
        folder = "lib/gcc" if OF_GCC.fullmatch(name) else LIBRARIES
        folder = "mpi/lib" if re.match(r"lib(mpi|open-|pmix|mca_common)", name) else folder
        bundle.copy(file.resolve(), f"{folder}/{name}")
    put_libc(bundle, found)


def of_blas(found: dict[str, Path], loaded: list[Path], programs: list[Path]) -> set[str]:
    """Libraries that nothing but Debian's OpenBLAS asks for."""
    own = libraries([found["libopenblas.so.0"]]) | {"libopenblas.so.0": Path()}
    asked: set[str] = set()
    for file in [*loaded, *programs, *(file for name, file in found.items() if name not in own)]:
        said = run("readelf", "-d", file.resolve())
        asked |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", said))
    gone = {"libopenblas.so.0"}
    return gone | {name for name in own if name not in asked and re.match(r"lib(gfortran|quadmath)", name)}


def put_libc(bundle: Bundle, found: dict[str, Path]) -> None:
    """The C library, whole, with its loader: for machines that have an older one or none."""
    libc = found["libc.so.6"].resolve()
    loader = Path("/lib64/ld-linux-x86-64.so.2").resolve()
    bundle.copy(loader, "lib/libc/ld-linux-x86-64.so.2").chmod(0o755)
    for file in sorted(libc.parent.glob("lib*.so.*")):
        if OF_LIBC.fullmatch(file.name):
            bundle.copy(file.resolve(), f"lib/libc/{file.name}")


def put_tools(bundle: Bundle) -> list[Path]:
    """The shell and the few programs that `run` is written for."""
    found = []
    for name in TOOLS:
        path = shutil.which("dash" if name == "sh" else name) or shutil.which(name)
        if path is None:
            raise Fault(f"{name} is missing; install it")
        found.append(Path(path))
        bundle.program(found[-1], name, also=("libexec/tools",))
    bundle.link("run", "libexec/launcher")
    return found


def newest(file: Path, before: str) -> int:
    """The largest number that follows a word in a file."""
    return max(map(int, re.findall(re.escape(before).encode() + rb"(\d+)", file.read_bytes())), default=-1)


def put_launcher(bundle: Bundle) -> None:
    """Compiled for the C library and PoCL that the bundle has."""
    values = {
        "GLIBC_MINOR": newest(bundle.folder / "lib/libc/ld-linux-x86-64.so.2", "stable release version 2."),
        "GLIBCXX_MINOR": newest(bundle.folder / "lib/gcc/libstdc++.so.6", "GLIBCXX_3.4."),
        "POCL": f'"{LIBRARIES}/{(bundle.folder / "etc/OpenCL/vendors/pocl.icd").read_text().strip()}"',
    }
    if -1 in values.values():
        raise Fault("the C library or libstdc++ does not say its version; bundles are made with GNU's")
    defined = [f"-D{name}={value}" for name, value in values.items()]
    target = bundle.place("libexec/launcher")
    run("cc", "-static", "-O2", "-s", *defined, "-o", target, HERE / "launcher.c")


def put_manifest(bundle: Bundle, version: str) -> None:
    """What is others', with version and licence, and the texts of these."""
    others = {name: file for name, file in bundle.sources.items() if not name.startswith(packages_folder())}
    owners = packages(others.values())
    of_python = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"  # of one that was compiled by its user
    if of_python.is_file():
        prefix = str(base_python().parents[1])
        own = {file for file in others.values() if file not in owners and str(file).startswith(prefix)}
        owners |= dict.fromkeys(own, ("python", platform.python_version()))
    licenses = bundle.folder / "share" / "licenses"
    licenses.mkdir(parents=True)
    parts: dict[str, dict] = {}
    for name, file in sorted(others.items()):
        package, its_version = owners.get(file, ("", ""))
        if not package:
            print(f"bundle: the licence of {file} was not found; add it before you publish", file=sys.stderr)
        part = parts.setdefault(package or str(file), {"version": its_version, "licence": "", "files": []})
        part["files"].append(name)
        text = of_python if package == "python" else licence(package) if package else None
        if not part["licence"] and text is not None:
            part["licence"] = f"share/licenses/{package}.txt"
            shutil.copyfile(text, bundle.folder / part["licence"])
    of_packages = {
        name: importlib.metadata.version(name)
        for name in install_command.needed_packages()
        if name not in LEFT_OUT
    }
    said = {
        "format": "fabricmark-bundle-1", "version": version, "system": "x86_64 Linux",
        "parts": parts, "python_packages": of_packages, "changed": bundle.changed,
    }  # fmt: skip
    bundle.place("manifest.json").write_text(json.dumps(said, indent=1) + "\n")
    bundle.place("README").write_text(README.format(version=version))


def stage(folder: Path, build: Path, archives: Path | None, version: str) -> None:
    """Everything in a folder. Raises Fault where something is missing."""
    bundle = Bundle(folder)
    programs = put_programs(bundle, build)
    put_share(bundle, build)
    loaded = [*put_python(bundle), *put_pocl(bundle), *put_mpi(bundle), *put_tools(bundle)]
    loaded.append(library("libOpenCL.so.1", "install it (Debian: ocl-icd-libopencl1)"))
    put_libraries(bundle, loaded, programs, archives)
    put_launcher(bundle)
    put_manifest(bundle, version)


def make(output: Path, build: Path, archives: Path | None) -> Path:
    """The archive. Raises Fault, or FabricmarkError where it cannot be written."""
    if platform.machine() != "x86_64" or sys.platform != "linux":
        raise Fault(f"this is {platform.machine()} {sys.platform}; bundles are made on x86-64 Linux alone")
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    name = f"fabricmark-{version}-linux-x86_64"
    target = output / f"{name}.tar.xz"
    archive.check_writable(target)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / name
        folder.mkdir()
        stage(folder, build, archives, version)
        archive.write(folder, target)
    return target


def built() -> Path:
    """The folder of the build that the environment names, as base/paths.py has it."""
    return REPOSITORY / "build" / os.environ.get("FABRICMARK_PRESET", "release")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=REPOSITORY / "build" / "bundle", help="folder of it")
    parser.add_argument("--build", type=Path, default=built(), help="where programs are")
    llvm = os.environ.get("FABRICMARK_LLVM")
    parser.add_argument(
        "--llvm",
        type=Path,
        default=Path(llvm) if llvm else None,
        help="where the archives of PoCL's LLVM and clang are (FABRICMARK_LLVM)",
    )
    options = parser.parse_args()
    try:
        target = make(options.output, options.build, options.llvm)
    except (Fault, FabricmarkError) as error:
        sys.exit(f"bundle: error: {error}")
    print(f"bundle: {target} ({target.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
