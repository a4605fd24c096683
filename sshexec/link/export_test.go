package link

// ForgetWants makes the tree as one whose pillars have read no grains yet.
func (t *Tree) ForgetWants() {
	t.wants.mu.Lock()
	defer t.wants.mu.Unlock()
	t.wants.begun, t.wants.keys = false, nil
}
