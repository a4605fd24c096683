firewall:
  strict: true
  services:
    ssh: {ips_allow: [10.0.0.0/8, 192.168.1.1]}
    http: {protos: [tcp], port: 80}
    dns: {protos: [tcp, udp], port: 53, ips_allow: [127.0.0.0/8]}
