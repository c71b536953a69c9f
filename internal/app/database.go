package app

import (
	"context"
	"errors"
	"fmt"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/secret"
	"cointill/models"
)

// OpenDatabase opens the database, whose rows are stamped by a clock, and brings its schema up to date.
func (s *Settings) OpenDatabase(ctx context.Context, now clock.Clock) (*models.DB, error) {
	db, err := models.Open(s.DatabaseURL, s.DataDir, now)
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate the database: %w", err), db.Close())
	}
	return db, nil
}

// OpenAccounts opens an existing database for the commands that manage keys and users.
func (s *Settings) OpenAccounts(ctx context.Context) (*account.Service, *models.DB, error) {
	if err := models.Exists(s.DatabaseURL, s.DataDir); err != nil {
		return nil, nil, err
	}
	return s.NewAccounts(ctx)
}

// NewAccounts is OpenAccounts, but makes the database where there is none.
func (s *Settings) NewAccounts(ctx context.Context) (*account.Service, *models.DB, error) {
	box, err := s.OpenMasterKey()
	if err != nil {
		return nil, nil, err
	}
	db, err := s.OpenDatabase(ctx, clock.Real())
	if err != nil {
		return nil, nil, err
	}
	if err := checkKey(ctx, db, box); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return account.New(db, clock.Real(), auth.New(db, clock.Real(), box)), db, nil
}

// checkKey refuses to run with another master key than the one that this
// database was first used with: sealed rows would not open.
func checkKey(ctx context.Context, db *models.DB, box *secret.Box) error {
	stored, err := db.Once(ctx, "secret_key_check", box.Check())
	if err != nil {
		return err
	}
	if stored != box.Check() {
		return fmt.Errorf("the master key is not the one that this database was made with: set %s_SECRET_KEY, or "+
			"bring back secret.key in the data folder", EnvPrefix)
	}
	return nil
}
