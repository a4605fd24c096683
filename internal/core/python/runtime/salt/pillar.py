"""Pillar, as brine compiles it."""
from salt import _brine


class Pillar:
    """The pillar of a machine."""

    def __init__(self, opts=None, grains=None, minion_id=None, saltenv="base", **kwargs):
        self.opts = opts or {}
        self.grains = grains or {}
        self.minion_id = minion_id
        self.saltenv = saltenv
        self.pillarenv = kwargs.get("pillarenv")
        self.override = kwargs.get("pillar_override")

    def compile_pillar(self, ext=True):
        """Returns the pillar; that of another machine is known on the controller."""
        if self.minion_id in (None, _brine.options().get("id")):
            return _brine.call("pillar.items", pillar=self.override, pillarenv=self.pillarenv)
        return _brine.run("pillar.show_pillar", self.minion_id, pillar=self.override, pillarenv=self.pillarenv)


RemotePillar = PillarCache = Pillar


def get_pillar(opts=None, grains=None, minion_id=None, saltenv=None, ext=None, funcs=None, pillar_override=None, pillarenv=None, **kwargs):
    return Pillar(opts, grains, minion_id, saltenv, pillar_override=pillar_override, pillarenv=pillarenv)
