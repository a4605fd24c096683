"""The role of a machine by its id."""


def role(grains=None):
    seen = (grains or {}).get("id") or __opts__.get("id", "")
    return {"role": "web" if seen else None}
