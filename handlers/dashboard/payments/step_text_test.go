package payments

import (
	"context"

	"cointill/core/payment"
	"cointill/core/payment/timeline"
	"cointill/models"
)

// StepText is how the catalogue of a context's language tells a step.
func StepText(ctx context.Context, v payment.View, s models.Step) string {
	return stepText(ctx, v, s, timeline.ReadFacts(s))
}
