"""Check a built site: every internal link and anchor exists, and reading it needs no network.

python scripts/tools/check_site.py docs/_build/html

Prints the number of pages and links and the size of the site; exit status 1 and one line for each fault.
"""

import argparse
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

_LOADED = {"script": "src", "img": "src", "video": "src", "source": "src", "iframe": "src"}
"""Tags that load something, and the attribute that says what."""


class _Page(HTMLParser):
    """The links, loaded files and anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") in ("stylesheet", "preload", "icon"):
            self.loaded.append(values["href"])
        elif tag in _LOADED and _LOADED[tag] in values:
            self.loaded.append(values[_LOADED[tag]])


def find_faults(site: Path) -> tuple[list[str], int, int]:
    """Find links to what does not exist, and what would be loaded from elsewhere.

    Parameters
    ----------
    site : Path
        Folder of the built site.

    Returns
    -------
    faults : list of str
        One line each.
    pages, links : int
        Numbers of pages and of internal links.
    """
    parsed = {}
    for path in sorted(site.rglob("*.html")):
        parsed[path.resolve()] = _Page()
        parsed[path.resolve()].feed(path.read_text(encoding="utf-8"))
    faults, links = [], 0
    for path, page in parsed.items():
        for target in (*page.links, *page.loaded):
            if urlsplit(target).scheme or target.startswith("//"):
                if target in page.loaded and urlsplit(target).scheme != "data":
                    faults.append(f"{path.relative_to(site.resolve())}: loads {target} from elsewhere")
                continue
            links += 1
            file, anchor = urldefrag(target)
            found = (path.parent / unquote(urlsplit(file).path)).resolve() if file else path
            found = found / "index.html" if found.is_dir() else found
            if not found.is_file():
                faults.append(f"{path.relative_to(site.resolve())}: {target} does not exist")
            elif anchor and found in parsed and unquote(anchor) not in parsed[found].anchors:
                faults.append(f"{path.relative_to(site.resolve())}: {target} has no such anchor")
    return faults, len(parsed), links


def main() -> int:
    """Print what was checked and what is wrong.

    Returns
    -------
    int
        0 if nothing is wrong, else 1.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("site", type=Path, metavar="DIR")
    site = parser.parse_args().site
    faults, pages, links = find_faults(site)
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{pages} pages, {links} internal links, {len(faults)} faults, {size / 1e6:.1f} MB")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
