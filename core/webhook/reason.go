package webhook

// Reason is why a delivery was cancelled without an attempt, or why an endpoint was switched off. Rows keep both the
// code, by which pages find the sentence in the reader's language, and the English sentence, which the API shows.
type Reason struct{ Code, Sentence string }

// The reasons of deliveries that were cancelled.
var (
	EndpointDeleted  = Reason{"endpoint_deleted", "The webhook was deleted."}
	EndpointInactive = Reason{"endpoint_inactive", "The webhook was inactive."}
	EventNotKept     = Reason{"event_not_kept", "The event is no longer kept."}
)

// The reasons of endpoints that were switched off.
var (
	offAfterFailures = Reason{"off_after_failures", "Every delivery failed for 5 days."}
	offAfterGone     = Reason{"off_after_gone", "It answered 410 Gone, which asks for no more events."}
)
