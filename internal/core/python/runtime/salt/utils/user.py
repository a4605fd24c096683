"""Users."""
import grp
import os
import pwd


def get_user():
    return pwd.getpwuid(os.geteuid()).pw_name


def get_uid(user=None):
    try:
        return os.geteuid() if user is None else pwd.getpwnam(user).pw_uid
    except KeyError:
        return None


def get_gid(group=None):
    try:
        return os.getegid() if group is None else grp.getgrnam(group).gr_gid
    except KeyError:
        return None


def get_group_list(user, include_default=True):
    primary = pwd.getpwnam(user).pw_gid
    return sorted({entry.gr_name for entry in grp.getgrall() if user in entry.gr_mem or include_default and entry.gr_gid == primary})


def get_group_dict(user=None, include_default=True):
    return {name: grp.getgrnam(name).gr_gid for name in get_group_list(user or get_user(), include_default)}
