"""SLS by the role of a machine."""


def __virtual__():
    return "classes"


def top(**kwargs):
    if not kwargs["opts"]["id"]:
        return {}
    return {"base": ["site", kwargs["grains"]["role"]]}
