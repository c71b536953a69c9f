package payer

import (
	"context"
	"errors"
	"log/slog"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/send/outputs"
)

// NameFault adds a send's reference to the sentence of a fault about it; other errors stay as they are.
func NameFault(reference string, err error) error {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return err
	}
	named := *f
	named.Sentence = fault.NewMessage("%s: %s", reference, f.Sentence)
	return &named
}

// DescribeFilling turns an error of outputs.FillOrder into a fault where it is the node's. Others stay as they are.
func DescribeFilling(ctx context.Context, err error) error {
	if node := (outputs.NodeError{}); errors.As(err, &node) {
		return DescribeProblem(ctx, err)
	}
	return err
}

// DescribeProblem turns an adapter's error into a fault. A fault stays as it is.
func DescribeProblem(ctx context.Context, err error) error {
	var said chain.Refusal
	if err == nil || fault.KindOf(err) == fault.Invalid || fault.KindOf(err) == fault.Conflict {
		return err
	}
	if errors.As(err, &said) {
		return fault.New(fault.Conflict, "send_unavailable", "%s", said.Error())
	}
	if ctx.Err() == nil {
		slog.WarnContext(ctx, "a send can't be prepared or broadcast", "error", err)
	}
	return fault.New(fault.Unavailable, "node_unavailable",
		"The network's node doesn't answer now. Try again in a moment.")
}
