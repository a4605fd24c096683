base:
  '*':
    - base
  'os_family:Debian':
    - match: grain
    - base.debian
  'minion1 and not G@os:Windows':
    - match: compound
    - base.extra
  'roles:db':
    - match: pillar
    - base.never
