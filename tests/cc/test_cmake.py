# SPDX-License-Identifier: MIT
"""Build systems that look for a CUDA Toolkit find this one: CMake's CUDA language, its CUDAToolkit
targets, find_package(peerlab), pkg-config. In the build tree, and installed to a folder that was
moved; with the CMake of this machine and the newest, where build/cmake-newest has one (.ci/run)."""

import os
import pathlib
import re
import shutil
import subprocess

from rig import CC, CCBIN_NOTE, HERE, Case, main, run

BUILD = CC.parent.parent
CMAKE = pathlib.Path(os.environ.get("CMAKE_COMMAND") or shutil.which("cmake") or "cmake")
NEWEST = HERE.parents[1] / "build/cmake-newest/cmake/data/bin/cmake"
GENERATOR = "Ninja" if shutil.which("ninja") else "Unix Makefiles"
USER = """\
cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES C)
find_package(peerlab REQUIRED)
add_executable(plain plain.c)
target_link_libraries(plain PRIVATE peerlab::vgpurt)
"""
BY_NAME = """\
#include <dlfcn.h>
int main(int count, char **name)
{
    void *library = dlopen(count > 1 ? name[1] : "", RTLD_NOW);
    int (*init)(unsigned) = library ? (int (*)(unsigned))dlsym(library, "cuInit") : 0;
    return init ? init(0) : 99;
}
"""


class CMake(Case):
    def must(self, *command: object, **environment: str) -> str:
        done = run(list(command), self.folder, **environment)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        self.said = done.stderr
        return done.stdout

    def build(
        self, cmake: pathlib.Path, toolkit: pathlib.Path, generator: str, host: str | None = None
    ) -> None:
        """Configured by CUDACXX and CUDAToolkit_ROOT alone, built, and its programs run. `host`:
        CMake names it by -ccbin."""
        at = self.folder / "others"
        places = {"CUDACXX": str(toolkit / "bin/nvcc"), "CUDAToolkit_ROOT": str(toolkit)}
        if host:
            places["CUDAHOSTCXX"] = host
        self.must(cmake, "-S", HERE / "cmake", "-B", at, "-G", generator, **places)
        told = self.must(cmake, "--build", at) + self.said
        self.assertNotIn("warning", told)
        self.assertEqual(CCBIN_NOTE in told, host is not None, told)
        for program in ("kernels", "caller", "single", "plain", "fixed"):
            self.must(at / program, VGPU_NODE="hgx-h200-4")
        # vgpu-cc has the runtime in the program: a second one would come with CUDA::cudart
        self.assertNotIn("libcudart", self.must("readelf", "-d", at / "single"))
        cache = (at / "CMakeCache.txt").read_text()
        found = re.search(r"^CUDA_CUDART:FILEPATH=(.*)$", cache, re.M)[1]
        self.assertEqual(pathlib.Path(found).parents[1], toolkit)

    def installed(self) -> pathlib.Path:
        """Moved since. (CMake's own rules for CUDA do not take a blank in the compiler's path.)"""
        self.must(CMAKE, "--install", BUILD, "--prefix", self.folder / "first")
        return (self.folder / "first").rename(self.folder / "moved")

    def test_in_the_build_tree(self) -> None:
        self.build(CMAKE, BUILD / "toolkit", "Unix Makefiles", host="g++")

    def test_installed_and_moved(self) -> None:
        self.build(NEWEST if NEWEST.exists() else CMAKE, self.installed(), GENERATOR)

    def test_find_package_and_pkg_config(self) -> None:
        toolkit = self.installed()
        (self.folder / "user").mkdir()
        shutil.copy(HERE / "cmake/plain.c", self.folder / "user")
        (self.folder / "user/CMakeLists.txt").write_text(USER)
        prefix = f"-DCMAKE_PREFIX_PATH={toolkit}"
        self.must(CMAKE, "-S", "user", "-B", "built", "-G", GENERATOR, prefix)
        self.must(CMAKE, "--build", "built")
        self.assertIn("from a C file", self.must("built/plain"))
        text = (toolkit / "lib/pkgconfig/peerlab.pc").read_text()
        self.assertIn("prefix=${pcfiledir}/../..\n", text)
        if shutil.which("pkg-config"):
            place = {"PKG_CONFIG_PATH": str(toolkit / "lib/pkgconfig")}
            flags = self.must("pkg-config", "--cflags", "--libs", "peerlab", **place)
            self.assertIn("-lcudart", flags)

    def test_by_name_at_run_time(self) -> None:
        """dlopen("libcuda.so.1"), as programs do that start without a driver."""
        self.write("byname.c", BY_NAME)
        subprocess.run(["cc", "byname.c", "-o", "byname", "-ldl"], cwd=self.folder, check=True)
        for name in ("libcuda.so.1", "libcudart.so.13"):
            self.must("./byname", name, LD_LIBRARY_PATH=str(BUILD / "toolkit/lib64"))


main()
