"""Writes each return as a line of JSON."""
import json

import salt.returners
import salt.utils.files

__virtualname__ = "jsonlog"


def __virtual__():
    return __virtualname__


def _options(ret=None):
    return salt.returners.get_returner_options(__virtualname__, ret, {"path": "path", "mark": "mark"}, __salt__=__salt__, __opts__=__opts__, defaults={"mark": "-"})


def returner(ret):
    options = _options(ret)
    with salt.utils.files.fopen(options["path"], "a") as handle:
        handle.write(json.dumps([options["mark"], ret["id"], ret["fun"], ret["return"]]) + "\n")
