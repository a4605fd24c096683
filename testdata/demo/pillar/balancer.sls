balancer:
  port: 80
  algorithm: roundrobin
