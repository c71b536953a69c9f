package quote

import (
	"context"
	"sync"
	"time"

	"github.com/shopspring/decimal"
)

// Judge is judge with what it knows of the past spelled out.
func Judge(p Pair, value decimal.Decimal, at, now time.Time, before decimal.Decimal, beforeAt time.Time, day decimal.Decimal) string {
	return refusePrice(p, value, at, now, past{value: before, at: beforeAt, day: day})
}

// Start is the beginning of Run, and Step one turn of it that waits for the answers.
func (k *Keeper) Start(ctx context.Context) error { return k.readLease(ctx) }

// Step waits until all that it began has ended.
func (k *Keeper) Step(ctx context.Context) error {
	var asking sync.WaitGroup
	defer asking.Wait()
	return k.askDue(ctx, &asking)
}
