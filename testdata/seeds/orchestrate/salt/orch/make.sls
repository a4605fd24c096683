make_machine:
  salt.runner:
    - name: cloud.profile
    - prof: cloud-debian
    - provider: cloud
    - instances:
      - machine1
    - opts:
        minion:
          master: master1
