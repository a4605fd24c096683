# What a job did can be looked up afterwards.
uptime_kept:
  test.succeed_with_changes: []
