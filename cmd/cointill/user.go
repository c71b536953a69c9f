package main

import (
	"cointill/internal/app"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

type userCommand struct {
	Password userPassword `cmd:"" help:"Give a user a new password, where no mail can carry a link."`
}

type userPassword struct {
	Email         string `required:"" help:"E-mail that the user signs in with."`
	PasswordStdin bool   `required:"" help:"Read the new password from standard input."`
	RemoveFactor  bool   `help:"Switch the second factor off and remove passkeys, too: for who lost the app and the recovery codes."`
}

// Run replaces a password and ends the user's sessions; it may run beside a serving instance.
func (c userPassword) Run(ctx context.Context, settings *app.Settings) error {
	password, err := io.ReadAll(io.LimitReader(os.Stdin, 4096))
	if err != nil {
		return err
	}
	accounts, db, err := settings.OpenAccounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := accounts.Auth.ResetPassword(ctx, c.Email, strings.TrimRight(string(password), "\r\n")); err != nil {
		return explainFault(err)
	}
	if c.RemoveFactor {
		if err := accounts.Auth.ResetFactor(ctx, c.Email); err != nil {
			return explainFault(err)
		}
	}
	fmt.Printf("%s signs in with the new password, and is signed out everywhere.\n", c.Email)
	return nil
}
