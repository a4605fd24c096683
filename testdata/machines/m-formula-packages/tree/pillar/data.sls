packages:
  pkgs:
    wanted: [brine-b, brine-all]
    versions: {brine-a: '1.1'}
    unwanted: [brine-prov1]
    held: [brine-hold]
  repos:
    two: {line: 'deb [signed-by=/etc/apt/keyrings/two.gpg] file:/srv/repo/two stable main'}
  answers:
    brine-conf: {'brine-conf/port': [string, '9090']}
