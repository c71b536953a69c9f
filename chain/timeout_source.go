package chain

import (
	"context"
	"time"
)

// timeoutSource limits the time of each question to a source.
type timeoutSource struct {
	source  Source
	timeout time.Duration
}

func (p timeoutSource) Tip(ctx context.Context) (Tip, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.source.Tip(ctx)
}

func (p timeoutSource) Header(ctx context.Context, height int64) (Header, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.source.Header(ctx, height)
}

func (p timeoutSource) Block(ctx context.Context, height int64, watch Watch) (Block, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.source.Block(ctx, height, watch)
}

func (p timeoutSource) Pending(ctx context.Context, watch Watch) (Pending, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.source.Pending(ctx, watch)
}
