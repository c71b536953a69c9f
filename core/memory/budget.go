package memory

import (
	"context"
	"sync"
)

// Budget is memory that several kinds of work share. The sizes are estimates; nothing is
// allocated here.
type Budget struct {
	mu    sync.Mutex
	free  int64
	given chan struct{} // closed when some is given back
}

// NewBudget makes a budget of so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{free: bytes, given: make(chan struct{})} }

// Part is what one kind of work may take of a budget. A nil part has no bound.
type Part struct {
	budget *Budget
	most   int64
	free   int64
}

// Part makes a part of at most so many bytes. All parts together may be more than the budget.
func (b *Budget) Part(most int64) *Part { return &Part{budget: b, most: most, free: most} }

// Most returns how much the part may have in all.
func (p *Part) Most() int64 {
	if p == nil {
		return Unlimited
	}
	return p.most
}

// Take takes so many bytes and reports whether there were so many.
func (p *Part) Take(bytes int64) bool {
	if p == nil {
		return true
	}
	p.budget.mu.Lock()
	defer p.budget.mu.Unlock()
	return p.take(bytes)
}

func (p *Part) take(bytes int64) bool {
	if bytes > p.free || bytes > p.budget.free {
		return false
	}
	p.free -= bytes
	p.budget.free -= bytes
	return true
}

// Wait is Take that waits until there are so many bytes, or until ctx ends.
func (p *Part) Wait(ctx context.Context, bytes int64) bool {
	if p == nil {
		return true
	}
	for {
		p.budget.mu.Lock()
		taken, given := p.take(bytes), p.budget.given
		p.budget.mu.Unlock()
		if taken {
			return true
		}
		select {
		case <-given:
		case <-ctx.Done():
			return false
		}
	}
}

// Give returns taken bytes to the budget.
func (p *Part) Give(bytes int64) {
	if p == nil || bytes == 0 {
		return
	}
	p.budget.mu.Lock()
	defer p.budget.mu.Unlock()
	p.free += bytes
	p.budget.free += bytes
	close(p.budget.given)
	p.budget.given = make(chan struct{})
}
