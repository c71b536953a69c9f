package account

// Cheapen makes hashing fast, for tests that are not about its cost.
func (s *Service) Cheapen() { s.cost.Memory, s.cost.Iterations = 64, 1 }

// Dearer changes the cost, as a later release would.
func (s *Service) Dearer() { s.cost.Iterations++ }
