package web

import "time"

// CutAfter sets how long an answer may be unread.
func (s *Server) CutAfter(d time.Duration) { s.unread = d }
