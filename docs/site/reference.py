"""What the reference shows of annotations: names that readers know."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
from docutils import nodes

# Arrays, which autodoc would write out at length.
_ARRAYS = ("Doubles", "Integers")
# Short names of types; where one cannot be looked up when pages are made, all of a signature stay as they are written.
_WRITTEN_OUT = {
    "Evaluate": "Callable[[Any], Any]",
    "Shown": "Search | Archive | RunResult | str | os.PathLike[str]",
    "Line": "tuple[float, float, float, float]",
    "Place": "tuple[float, float]",
    "_Density": "KernelDensity | FlowDensity",
}
_PRIVATE = re.compile(r",\s*_\w+: [^,]*(?=[,)])")
# Classes of the native module that the package offers by itself, and others that plain names mean.
_OFFERED = re.compile(r"(?:rarefy\.)?_core\.(Problem|Team|Grid|Cvt)|(Archive|FlowDensity|KernelDensity|RunResult|Search)")


def shorten_arrays(app: Any) -> None:
    """Annotations are looked up only now, as texts in their modules."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "rarefy":
            for array in _ARRAYS:
                if array in vars(module):
                    setattr(module, array, np.ndarray)


def tidy_signature(app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, result: str | None) -> Any:
    if not signature:
        return None
    for short, long in _WRITTEN_OUT.items():
        signature = re.sub(rf"(?<![\w.]){short}\b", long, signature)
    return _PRIVATE.sub("", signature), result


def find_offered(app: Any, env: Any, node: Any, content: nodes.Node) -> Any:
    """Leads from the native module to what the reference has."""
    if node.get("refdomain") == "py" and (found := _OFFERED.fullmatch(node["reftarget"])):
        name = f"rarefy.{found[1] or found[2]}"
        return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, "class", name, node, content)
    return None


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", shorten_arrays)
    app.connect("autodoc-process-signature", tidy_signature)
    app.connect("missing-reference", find_offered)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
