package auth

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/models"
)

var (
	// errPasskey is the one answer to every passkey that is refused but for a copied one.
	errPasskey = fault.New(fault.Unauthenticated, "passkey_refused",
		"This passkey does not sign anybody in here. It may have been removed. Try another one, or use your password.")
	errPasskeyCopied = fault.New(fault.Unauthenticated, "passkey_copied",
		"This passkey was refused: it counts its uses, and its count went backwards, as if there were a copy of it. "+
			"Use your password, then remove the passkey and make a new one.")
)

// AskPasskey gives what a browser needs to sign in with any passkey that it has,
// as JSON. session is the key of the one session that may answer, within five
// minutes, once. It counts as a try of the address to sign in. Conflict
// (passkeys_unavailable), Limited.
func (k *Passkeys) AskPasskey(ctx context.Context, session, ip string) (options []byte, err error) {
	library, err := k.newLibrary()
	if err != nil {
		return nil, err
	}
	if err := k.users.tries.countMinute(ctx, k.users.tries.addressKey(ip), perAddress); err != nil {
		return nil, err
	}
	assertion, asked, err := library.BeginDiscoverableLogin()
	if err != nil {
		return nil, err
	}
	if err := k.writeChallenge(ctx, models.PasskeyChallenge{Session: session, Kind: challengeEnter},
		challenge{Asked: *asked}); err != nil {
		return nil, err
	}
	return json.Marshal(assertion)
}

// EnterPasskey finds whom a browser's answer signs in: it stands for the
// password and the second factor. Conflict (passkey_over) when the session was
// asked nothing within five minutes, or answered already; Unauthenticated:
// passkey_refused, or passkey_copied when the passkey's count of its uses went backwards.
func (k *Passkeys) EnterPasskey(ctx context.Context, session string, answer []byte, ip string) (User, error) {
	library, err := k.newLibrary()
	if err != nil {
		return User{}, err
	}
	asked, err := k.takeChallenge(ctx, session, challengeEnter, 0)
	if err != nil {
		return User{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(bounded(answer))
	if err != nil {
		return User{}, errPasskey.Because(err)
	}
	row, user, err := k.passkeyOwner(ctx, parsed.RawID)
	if err != nil {
		return User{}, err
	}
	owner := func(_, _ []byte) (webauthn.User, error) { return k.newHolder(user, row), nil }
	_, used, err := library.ValidatePasskeyLogin(owner, asked.Asked, parsed)
	if err != nil {
		return User{}, errors.Join(k.passkeyRefused(ctx, user, row), errPasskey.Because(err))
	}
	if used.Authenticator.CloneWarning {
		return User{}, k.passkeyCopied(ctx, user, row)
	}
	if err := k.usePasskey(ctx, user, row, used); err != nil {
		return User{}, err
	}
	k.users.tries.forgetGuess(ctx, k.users.tries.addressKey(ip), "")
	return user, nil
}

// passkeyOwner finds a passkey by its id, with whose it is.
func (k *Passkeys) passkeyOwner(ctx context.Context, id []byte) (row models.Passkey, user User, err error) {
	var rows []models.Passkey
	if err := k.users.db.Read(ctx).Where("credential = ?", ident.Encode(id)).Limit(1).Find(&rows).Error; err != nil {
		return row, user, err
	}
	if len(rows) == 0 {
		return row, user, errPasskey
	}
	var owner models.User
	err = k.users.db.Read(ctx).Where("id = ?", rows[0].UserID).Take(&owner).Error
	return rows[0], DescribeUser(owner), fault.MissingRow(err, "user")
}

// usePasskey notes a use. Of two at the same moment with the same count, one counts.
func (k *Passkeys) usePasskey(ctx context.Context, user User, row models.Passkey, used *webauthn.Credential) error {
	return k.users.db.Write(ctx, func(tx *models.Tx) error {
		noted := tx.Model(&models.Passkey{}).Where("id = ? AND sign_count = ?", row.ID, row.SignCount).
			Updates(map[string]any{"sign_count": int64(used.Authenticator.SignCount), "used_at": k.users.now()})
		if noted.Error == nil && noted.RowsAffected == 0 { // removed meanwhile, or used by another request
			return errPasskey
		}
		if noted.Error != nil {
			return noted.Error
		}
		return k.users.auditUser(tx, user.ID, "user.passkey_used", map[string]string{"passkey": row.Name})
	})
}

// passkeyRefused records that a passkey was refused.
func (k *Passkeys) passkeyRefused(ctx context.Context, user User, row models.Passkey) error {
	return k.users.db.Write(ctx, func(tx *models.Tx) error {
		return auditAct(tx, k.users.now(), user.ID,
			audit.Act{Action: "user.passkey_refused", Detail: map[string]string{"passkey": row.Name}, Refused: true})
	})
}

// passkeyCopied refuses a passkey whose count went backwards, and tells its owner.
func (k *Passkeys) passkeyCopied(ctx context.Context, user User, row models.Passkey) error {
	err := k.users.db.Write(ctx, func(tx *models.Tx) error {
		if err := tx.Model(&models.Passkey{}).Where("id = ?", row.ID).Update("copied_at",
			k.users.now()).Error; err != nil {
			return err
		}
		if err := auditAct(tx, k.users.now(), user.ID,
			audit.Act{Action: "user.passkey_copied", Detail: map[string]string{"passkey": row.Name},
				Refused: true}); err != nil {
			return err
		}
		return k.users.queueLetter(tx, Letter{Kind: PasskeyCopied, To: user, Passkey: row.Name,
			URL: k.users.Base + accountPath})
	})
	if k.users.WakeMailer(err); err != nil {
		return err
	}
	return errPasskeyCopied
}
