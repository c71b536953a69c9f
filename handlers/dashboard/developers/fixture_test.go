package developers

import "time"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
