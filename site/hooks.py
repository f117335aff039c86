"""Links out of docs/, to sources and to pages of the repository, lead to the repository's site."""

import posixpath
import re

REPOSITORY = "https://github.com/highwater-go/highwater/blob/main/"


def on_page_markdown(markdown, page, **kwargs):
    """Rewrites each relative link whose target is not in docs/."""
    folder = posixpath.dirname(posixpath.join("docs", page.file.src_uri))

    def outward(match):
        target = posixpath.normpath(posixpath.join(folder, match[1]))
        if "://" in match[1] or match[1].startswith(("#", "mailto:")) or target.startswith("docs/"):
            return match[0]
        return "](" + REPOSITORY + target + ")"

    return re.sub(r"\]\(([^)\s]+)\)", outward, markdown)
