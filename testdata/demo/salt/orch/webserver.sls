# The whole site: database, web hosts, load balancer, one after the other.

reach_all:
  salt.function:
    - name: test.ping
    - tgt: '*'

database:
  salt.state:
    - tgt: 'role:database'
    - tgt_type: grain
    - sls: database
    - require:
      - salt: reach_all

web_hosts:
  salt.state:
    - tgt: 'web*'
    - highstate: True
    - require:
      - salt: database

load_balancer:
  salt.state:
    - tgt: 'lb*'
    - sls:
      - common
      - balancer
    - require:
      - salt: web_hosts

# An orchestration within the orchestration; it runs states on the controller.
smoke_test:
  salt.runner:
    - name: state.orchestrate
    - mods: orch.smoke
    - require:
      - salt: load_balancer
