"""greycard: the colour of the light in a photograph, and how sure that is, without a grey card in the frame.

>>> import greycard
>>> estimator = greycard.load()
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greycard.errors import GreycardError
    from greycard.estimator import Alternative, Estimate, Estimator, load
    from greycard.series import Tracker

__all__ = ["Alternative", "Estimate", "Estimator", "GreycardError", "Tracker", "__version__", "load"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `greycard --help` does not wait for NumPy."""
    import importlib

    if name not in __all__:
        raise AttributeError(f"module 'greycard' has no attribute {name!r}")
    modules = {"GreycardError": "greycard.errors", "Tracker": "greycard.series"}
    module = modules.get(name, "greycard.estimator")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value
