package limit

// Held is how many counts of callers and of networks a limiter holds.
func (l *Limiter) Held() (callers, networks int) { return len(l.callers), len(l.addresses) }
