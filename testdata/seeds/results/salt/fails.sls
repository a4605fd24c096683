box fails with changes:
  test.fail_with_changes: []
