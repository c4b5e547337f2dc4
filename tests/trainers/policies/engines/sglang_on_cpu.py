"""Makes SGLang start on a CPU, in the environment whose Python runs this: docs/engines.md.

A stand-in for `sgl_kernel`, which comes for CUDA only: whatever is imported from it is there and raises when called.
"""

import sysconfig
from pathlib import Path

STAND_IN = '''"""A stand-in for kernels that a CPU does not have: everything is there, and raises when called."""

import importlib.abc
import importlib.machinery
import sys
import types

__version__ = "99.0.0"


class _Missing:
    def __init__(self, name):
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"sgl_kernel is a stand-in: {self.__name__}")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing(f"{self.__name__}.{name}")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Missing(name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname, path=None, target=None):
        if fullname.startswith("sgl_kernel."):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__, module.__getattr__ = [], __getattr__
        return module

    def exec_module(self, module):
        """Nothing to run."""


sys.meta_path.append(_Finder())
'''


def main() -> None:
    """Write the stand-in, and empty the module of torchvision that asks for compiled operators."""
    packages = Path(sysconfig.get_path("purelib"))
    (packages / "sgl_kernel").mkdir(exist_ok=True)
    (packages / "sgl_kernel" / "__init__.py").write_text(STAND_IN)
    (packages / "torchvision" / "_meta_registrations.py").write_text("")


if __name__ == "__main__":
    main()
