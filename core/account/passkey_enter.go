package account

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
func (s *Service) AskPasskey(ctx context.Context, session, ip string) (options []byte, err error) {
	library, err := s.webauthn()
	if err != nil {
		return nil, err
	}
	if err := s.countMinute(ctx, s.addressKey(ip), perAddress); err != nil {
		return nil, err
	}
	assertion, asked, err := library.BeginDiscoverableLogin()
	if err != nil {
		return nil, err
	}
	if err := s.writeChallenge(ctx, models.PasskeyChallenge{Session: session, Kind: challengeEnter},
		challenge{Asked: *asked}); err != nil {
		return nil, err
	}
	return json.Marshal(assertion)
}

// EnterPasskey finds whom a browser's answer signs in: it stands for the
// password and the second factor. Conflict (passkey_over) when the session was
// asked nothing within five minutes, or answered already; Unauthenticated:
// passkey_refused, or passkey_copied when the passkey's count of its uses went backwards.
func (s *Service) EnterPasskey(ctx context.Context, session string, answer []byte, ip string) (User, error) {
	library, err := s.webauthn()
	if err != nil {
		return User{}, err
	}
	asked, err := s.takeChallenge(ctx, session, challengeEnter, 0)
	if err != nil {
		return User{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(bounded(answer))
	if err != nil {
		return User{}, errPasskey.Because(err)
	}
	row, user, err := s.passkeyOwner(ctx, parsed.RawID)
	if err != nil {
		return User{}, err
	}
	owner := func(_, _ []byte) (webauthn.User, error) { return s.holder(user, row), nil }
	_, used, err := library.ValidatePasskeyLogin(owner, asked.Asked, parsed)
	if err != nil {
		return User{}, errors.Join(s.passkeyRefused(ctx, user, row), errPasskey.Because(err))
	}
	if used.Authenticator.CloneWarning {
		return User{}, s.passkeyCopied(ctx, user, row)
	}
	if err := s.usePasskey(ctx, user, row, used); err != nil {
		return User{}, err
	}
	s.forgive(ctx, s.addressKey(ip), "")
	return user, nil
}

// passkeyOwner finds a passkey by its id, with whose it is.
func (s *Service) passkeyOwner(ctx context.Context, id []byte) (row models.Passkey, user User, err error) {
	var rows []models.Passkey
	if err := s.db.Read(ctx).Where("credential = ?", ident.Encode(id)).Limit(1).Find(&rows).Error; err != nil {
		return row, user, err
	}
	if len(rows) == 0 {
		return row, user, errPasskey
	}
	var owner models.User
	err = s.db.Read(ctx).Where("id = ?", rows[0].UserID).Take(&owner).Error
	return rows[0], known(owner), fault.MissingRow(err, "user")
}

// usePasskey notes a use. Of two at the same moment with the same count, one counts.
func (s *Service) usePasskey(ctx context.Context, user User, row models.Passkey, used *webauthn.Credential) error {
	return s.db.Write(ctx, func(tx *models.Tx) error {
		noted := tx.Model(&models.Passkey{}).Where("id = ? AND sign_count = ?", row.ID, row.SignCount).
			Updates(map[string]any{"sign_count": int64(used.Authenticator.SignCount), "used_at": s.now()})
		if noted.Error == nil && noted.RowsAffected == 0 { // removed meanwhile, or used by a twin
			return errPasskey
		}
		if noted.Error != nil {
			return noted.Error
		}
		return s.auditUser(tx, user.ID, "user.passkey_used", map[string]string{"passkey": row.Name})
	})
}

// passkeyRefused records that a passkey was refused.
func (s *Service) passkeyRefused(ctx context.Context, user User, row models.Passkey) error {
	return s.db.Write(ctx, func(tx *models.Tx) error {
		return s.auditAct(tx, user.ID,
			audit.Act{Action: "user.passkey_refused", Detail: map[string]string{"passkey": row.Name}, Refused: true})
	})
}

// passkeyCopied refuses a passkey whose count went backwards, and tells its owner.
func (s *Service) passkeyCopied(ctx context.Context, user User, row models.Passkey) error {
	err := s.db.Write(ctx, func(tx *models.Tx) error {
		if err := tx.Model(&models.Passkey{}).Where("id = ?", row.ID).Update("copied_at", s.now()).Error; err != nil {
			return err
		}
		if err := s.auditAct(tx, user.ID,
			audit.Act{Action: "user.passkey_copied", Detail: map[string]string{"passkey": row.Name},
				Refused: true}); err != nil {
			return err
		}
		return s.queueLetter(tx, Letter{Kind: PasskeyCopied, To: user, Passkey: row.Name, URL: s.Base + accountPath})
	})
	if s.wake(err); err != nil {
		return err
	}
	return errPasskeyCopied
}
