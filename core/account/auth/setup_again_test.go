package auth_test

import (
	"testing"

	"cointill/models"
	"cointill/models/modelstest"
)

// TestSetupTokenIsIssuedAgain: a conflict runs the transaction a second time, and the token that it stores is returned.
func TestSetupTokenIsIssuedAgain(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setup(t, db)
		modelstest.ConflictOnce(t, db, "query users")
		if b.issue(t) == "" {
			t.Error("no token is returned although one is stored")
		}
	})
}
