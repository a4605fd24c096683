jobs:
  lookup:
    logdir: /var/log/jobs
  entries:
    rotate-reports:
      command: /usr/bin/find /var/log/jobs -mtime +30 -delete
      user: root
      special: '@daily'
    count:
      command: /usr/local/bin/jobs-run count
      minute: '*/15'
      env: {LANG: C.UTF-8}
    old-sync:
      command: /usr/local/bin/old-sync
      absent: true
