package xrpl

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"cointill/chain/node"
)

// maxSmallResponse bounds every answer except a ledger with its transactions.
const maxSmallResponse = 1 << 20

// transport sends one request to a server and returns the whole answer, of at most limit bytes.
type transport interface {
	roundTrip(ctx context.Context, q request, limit int64) ([]byte, error)
}

// httpTransport sends requests over JSON-RPC.
type httpTransport struct {
	client *node.Client
	header http.Header
}

func (t *httpTransport) roundTrip(ctx context.Context, q request, limit int64) ([]byte, error) {
	body, err := q.encodeHTTP()
	if err != nil {
		return nil, fmt.Errorf("write a question: %w", err)
	}
	reply, err := t.client.Send(ctx, "", t.header, body, limit)
	status, answer := reply.Status, reply.Body
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusOK:
		return answer, nil
	case status == http.StatusBadRequest && bytes.Contains(answer[:min(len(answer), 200)], []byte(codeVersion)):
		return nil, &apiError{Code: codeVersion}
	case status >= 500 && status != http.StatusServiceUnavailable:
		return nil, node.ServerError(status)
	}
	return nil, statusError(status, fmt.Errorf("HTTP %d", status))
}
