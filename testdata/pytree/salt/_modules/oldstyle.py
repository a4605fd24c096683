# -*- coding: utf-8 -*-
from __future__ import absolute_import, print_function, unicode_literals

import salt.modules.cmdmod
from salt.ext import six
from salt.ext.six.moves import range
from salt.ext.six.moves.urllib.parse import urlparse

__outputter__ = {'numbers': 'txt'}


def numbers(count=3):
    print('this goes nowhere')
    return [six.text_type(n) for n in range(int(count))]


def keys(data):
    return sorted(key for key, _ in six.iteritems(data))


def host(url):
    return urlparse(url).netloc


def quiet():
    return salt.modules.cmdmod._run_quiet('echo quiet')
