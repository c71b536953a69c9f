package overview

import (
	"time"

	"cointill/core/scope"
)

var (
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	owner = scope.Scope{BusinessID: 1, Domain: scope.Test, Role: scope.Owner}
)
