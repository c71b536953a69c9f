package display

import (
	"context"

	"cointill/core/sandbox"
	"cointill/views/words"
)

// ScenarioLabel returns what one of the sandbox's scenarios is called, for pages that quote it.
func ScenarioLabel(ctx context.Context, code string) string {
	for _, s := range sandbox.Scenarios() {
		if s.Code == code {
			return words.ScenarioLabel(ctx, s.Code, s.Label)
		}
	}
	return code
}
