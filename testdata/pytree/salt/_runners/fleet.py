"""What is known of the targets."""
import salt.client
import salt.pillar


def ids(tgt="*"):
    """Return the ids that answer."""
    client = salt.client.get_local_client(__opts__["conf_file"])
    return sorted(client.cmd(tgt, "test.ping"))


def values(tgt, function, *args):
    with salt.client.LocalClient() as client:
        return client.cmd(tgt, function, args, kwarg={})
