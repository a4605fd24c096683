"""Facts of the host, with annotations and formatted strings."""
from typing import Any, Dict, List, Optional

import salt.utils.platform
import salt.utils.stringutils
from salt.utils.odict import OrderedDict

TABLE: str = """
Filesystem Size
root 10M
home 2G
"""


def parse(text: Optional[str] = None) -> List[Dict[str, Any]]:
    """Return the rows of a table, with their sizes in bytes."""
    rows = []
    for line in (text or TABLE).strip().splitlines()[1:]:
        name, size = line.split()
        rows.append({"name": name, "size": salt.utils.stringutils.human_to_bytes(size)})
    return rows


def summary() -> Dict[str, Any]:
    total = sum(row["size"] for row in parse())
    return OrderedDict([("id", __grains__["id"]), ("linux", salt.utils.platform.is_linux()), ("total", f"{total / 1024:.0f} KiB")])
