"""The example of every docstring of the package gives what it says."""

import doctest
import importlib
import inspect
import pkgutil
import sys

from need import need

need("numpy")
import sdm


def without_example(module):
    """What a module offers and shows no example of: functions, and classes that one makes."""
    for name, thing in vars(module).items():
        if name.startswith("_") or getattr(thing, "__module__", "") != module.__name__:
            continue
        made = inspect.isclass(thing) and "__init__" in vars(thing) and not hasattr(thing, "__dataclass_fields__")
        if (inspect.isfunction(thing) or made) and name not in NEED_NONE and ">>>" not in (thing.__doc__ or ""):
            yield f"{module.__name__}.{name}"


# What the package's own modules give one another.
NEED_NONE = {"head_pose_of", "is_c_function", "model_of", "png", "folders", "find"}


def main():
    failed = 0
    for found in pkgutil.iter_modules(sdm.__path__):
        if found.name == "__main__" or found.ispkg:
            continue
        module = importlib.import_module(f"sdm.{found.name}")
        result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
        print(f"{module.__name__}: {result.attempted} lines of examples")
        failed += result.failed
        for name in [] if found.name.startswith("_") else without_example(module):
            print(f"{name} has no example")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
