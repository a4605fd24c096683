"""Pillar from the id."""


def ext_pillar(minion_id, pillar, prefix="", **kwargs):
    return {"derived": "{}{}".format(prefix, __utils__["naming.slug"]("Of " + str(pillar.get("colour"))))}
