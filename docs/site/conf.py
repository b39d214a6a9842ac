"""How Sphinx makes the site: `make docs`. The tree of sources is the repository itself, so that
links between its pages are the same here and on a code host."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import rarefy  # noqa: E402
import rarefy.executors  # noqa: E402
import rarefy.plot  # noqa: E402
import rarefy.ribs.schedulers  # noqa: E402

project = "rarefy"
author = "the authors of rarefy"
release = version = rarefy.__version__
project_copyright = "the authors of rarefy; MIT licence"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_copybutton", "mathml", "parameter_table", "reference"]

# ---- which pages there are ---------------------------------------------------------------------
root_doc = "docs/index"
include_patterns = [
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*.md", "docs/reproduction/*.md", "docs/python/**",
    "examples/python/README.md", "examples/python/notebooks/*.ipynb",
]  # fmt: skip
exclude_patterns = ["build", "dist", "env", "runs", ".*", "**/.ipynb_checkpoints"]
source_suffix = {".md": "myst-nb", ".rst": "restructuredtext", ".ipynb": "myst-nb"}

# ---- Markdown ----------------------------------------------------------------------------------
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
myst_dmath_allow_digits = False
nb_execution_mode = "off"  # notebooks come with their output; pages are run by run_pages.py
nb_ipywidgets_js: dict[str, Any] = {}  # they would come from elsewhere

# ---- the reference -----------------------------------------------------------------------------
nitpicky = True
# Of other packages we have no list of names: that would take a network.
nitpick_ignore_regex = [
    ("py:.*", r"(numpy|np|npt|pd|pandas|matplotlib|concurrent|os|collections|ribs|array_api_compat)\..*"),
    ("py:.*", r"(Axes|Colormap|Executor|Any|Callable|Sequence|Mapping|dict\[str)"),
]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_class_signature = "mixed"
autoclass_content = "both"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False

# ---- the look ----------------------------------------------------------------------------------
html_theme = "furo"
html_title = f"rarefy {release}"
html_static_path = ["static"]
html_extra_path = ["extra"]  # index.html, which leads to docs/
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "default"
pygments_dark_style = "monokai"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#31688e", "color-brand-content": "#26608a"},
    "dark_css_variables": {"color-brand-primary": "#5ec8d8", "color-brand-content": "#5ec8d8"},
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# ---- links -------------------------------------------------------------------------------------
linkcheck_anchors = False


def use_fresh_pictures(app: Any, problem: Exception | None) -> None:
    """The pictures are those that the examples drew in this build, where they ran."""
    fresh = Path(app.outdir).parent / "pictures"
    if problem is not None or app.builder.format != "html":
        return
    for source, (_, name) in app.env.images.items():
        if Path(source).parent.as_posix() == "docs/python/images" and (fresh / Path(source).name).exists():
            shutil.copyfile(fresh / Path(source).name, Path(app.outdir) / "_images" / name)


def leave_out_empty_lists(app: Any, page: str, source: list[str]) -> None:
    """A list of pages that finds none is an error elsewhere; notebooks need not be there."""
    if page == "docs/gallery" and not any(app.srcdir.glob("examples/python/notebooks/*.ipynb")):
        source[0] = source[0].partition("Notebooks, as they came out:")[0]


def always_anew(app: Any, env: Any, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Pages that are made of more than their text: of notebooks that are there, and of the installed package."""
    return [page for page in env.found_docs if page == "docs/gallery" or page.startswith(("docs/python/api/", "docs/python/parameters"))]


def setup(app: Any) -> None:
    app.connect("env-get-outdated", always_anew)
    app.connect("source-read", leave_out_empty_lists)
    app.connect("build-finished", use_fresh_pictures)
