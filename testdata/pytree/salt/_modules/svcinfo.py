# -*- coding: utf-8 -*-
'''
Facts about programs, in the shape of modules of 2014.
'''
from __future__ import absolute_import

import logging

import salt.utils

log = logging.getLogger(__name__)

__virtualname__ = 'programs'


def __virtual__():
    '''
    Only where there is a shell.
    '''
    if salt.utils.which('sh'):
        return __virtualname__
    return False


def path(name):
    '''
    Return where a program is.

    CLI Example:

    .. code-block:: bash

        salt '*' programs.path sh
    '''
    cmd = 'command -v {0}'.format(name)
    out = __salt__['cmd.run_all'](cmd, python_shell=True)
    if out['retcode']:
        log.debug('no %s: %s', name, out['stderr'])
        return None
    return out['stdout'].strip()


def known(*names):
    return dict((name, bool(path(name))) for name in names)
