base:
  '*':
    - nginx
    - jobs
    - accounts
