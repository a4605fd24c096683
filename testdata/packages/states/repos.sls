three:
  pkgrepo.managed:
    - humanname: Number three
    - baseurl: dir:///srv/rpm/three
    - gpgcheck: 0
    - enabled: 1
four:
  pkgrepo.absent: []
