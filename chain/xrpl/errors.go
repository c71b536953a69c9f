package xrpl

import (
	"net/http"

	"cointill/chain/node"
)

func overloadedError(cause error) error {
	return node.NewFailure(cause,
		"is overloaded, or limits how often it is asked. Use a server of your own, or one more.")
}

// invalidAnswerError returns the error for an answer that no server of the XRP Ledger gives.
func invalidAnswerError(cause error) error {
	return node.NewFailure(cause, "answers, but not as a server of the XRP Ledger does. Check that host, port and "+
		"path in its URL lead to rippled or Clio.")
}

// statusError returns the error for an HTTP status other than 200.
func statusError(status int, cause error) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return node.NewFailure(cause,
			"refuses to answer (HTTP %d). Check user and password in its URL, and which clients it accepts.", status)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return overloadedError(cause)
	}
	return invalidAnswerError(cause)
}
