"""Record the names of Salt's options, and where each of them is.

python3 record_names.py SALT DOCS > names.txt

SALT is a checkout of Salt 3006 (salt/config, conf), DOCS a directory with
master.rst, minion.rst and proxy.rst of its documentation. A line has a name and
of these what has it: valid (the table of types), minion and master (defaults),
proxy (defaults), conf-master, conf-minion and conf-proxy (the example files),
doc-master, doc-minion and doc-proxy.
"""
import pathlib
import re
import sys

salt, docs = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(salt))
import salt.config as config  # noqa: E402

found = {
    "valid": set(config.VALID_OPTS),
    "minion": set(config.DEFAULT_MINION_OPTS),
    "master": set(config.DEFAULT_MASTER_OPTS),
    "proxy": set(config.DEFAULT_PROXY_MINION_OPTS),
}
for kind in ("master", "minion", "proxy"):
    text = (salt / "conf" / kind).read_text()
    found["conf-" + kind] = set(re.findall(r"^#? ?([a-z][a-z0-9_.]*):(?=\s|$)", text, re.M))
    text = (docs / (kind + ".rst")).read_text()
    found["doc-" + kind] = set(re.findall(r"^\.\. conf_(?:master|minion|proxy):: *`*([a-z0-9_.]+)", text, re.M))
names = sorted(set().union(*found.values()))
for name in names:
    print(name, *(where for where, have in found.items() if name in have))
