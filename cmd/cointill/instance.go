package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cointill/core/fault"
	"cointill/core/secret"
	"cointill/models"
)

// checkKey refuses to run with another master key than the one that this
// database was first used with: sealed rows would not open.
func checkKey(ctx context.Context, db *models.DB, box *secret.Box) error {
	stored, err := db.Once(ctx, "secret_key_check", box.Check())
	if err != nil {
		return err
	}
	if stored != box.Check() {
		return fmt.Errorf("the master key is not the one that this database was made with: set %s_SECRET_KEY, or "+
			"bring back secret.key in the data folder", prefix)
	}
	return nil
}

// explainFault writes a fault with its fields for a terminal.
func explainFault(err error) error {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return err
	}
	lines := []string{f.Sentence}
	for field, sentences := range f.Fields {
		for _, sentence := range sentences {
			lines = append(lines, "  "+field+": "+sentence)
		}
	}
	return errors.New(strings.Join(lines, "\n"))
}
