package bitcoin

import (
	"errors"
	"fmt"

	"cointill/chain/node"
)

func loginRefusedError(cookie bool) error {
	if cookie {
		return node.NewFailure(errors.New("HTTP 401"),
			"refuses the cookie. Check that the cookie file in its URL is that of the running node.")
	}
	return node.NewFailure(errors.New("HTTP 401"),
		"refuses the user name and password. Check those in its URL against the node's configuration.")
}

func forbiddenError() error {
	return node.NewFailure(errors.New("HTTP 403"),
		"forbids what was asked. Allow this machine and user in its configuration (rpcallowip, rpcwhitelist).")
}

func overloadedError(status int) error {
	return node.NewFailure(fmt.Errorf("HTTP %d", status),
		"is overloaded (HTTP %d). Raise its work queue (rpcworkqueue), or ask less of it.", status)
}

// vanishedBlockError is the error for a block that the node reported and then doesn't have.
func vanishedBlockError(err error) error {
	return node.NewFailure(err, "names a block and then doesn't have it. Its chain may be changing; if that stays, "+
		"check its disk.")
}
