box succeeds with changes:
  test.succeed_with_changes: []
