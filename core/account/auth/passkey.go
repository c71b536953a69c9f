package auth

import (
	"context"
	"encoding/json"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"gorm.io/gorm/clause"

	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/models"
)

// Passkeys is the passkeys of users. Make one with NewPasskeys.
type Passkeys struct{ users *Service }

// NewPasskeys makes it.
func NewPasskeys(users *Service) *Passkeys { return &Passkeys{users} }

const (
	challengeTime = 5 * time.Minute
	mostPasskeys  = 20
	maxCredential = 16 << 10 // bytes of what a browser answers

	challengeAdd   = "add"
	challengeEnter = "enter"
)

var (
	errNoPasskeys = fault.New(fault.Conflict, "passkeys_unavailable",
		"Passkeys need a host name, and this server has only an IP address. Ask the operator of this server to set "+
			"COINTILL_BASE_URL.")
	errPasskeyOver = fault.New(fault.Conflict, "passkey_over",
		"The request has expired, or was started in another window. Start again.")
	errPasskeyMade = fault.New(fault.Conflict, "passkey_not_made",
		"This passkey was not accepted: create it on this page, and confirm it with a PIN, a fingerprint or a face. "+
			"Start again.")
	errPasskeyKnown = fault.New(fault.Conflict, "passkey_known", "This passkey was already added.")
	errPasskeyMany  = fault.New(fault.Conflict, "too_many_passkeys", "You have 20 passkeys. Remove one first.")
)

// Passkey is a passkey as its user sees it.
type Passkey struct {
	ID   int64
	Name string
	// Synced means that it may be on several devices, like passkeys of password managers.
	Synced bool
	Added  time.Time
	Used   *time.Time // nil before the first sign-in
	// Copied is when it was refused because its count went backwards; nil for never.
	Copied *time.Time
}

func passkey(row models.Passkey) Passkey {
	return Passkey{ID: row.ID, Name: row.Name, Synced: row.Synced, Added: row.CreatedAt, Used: row.UsedAt,
		Copied: row.CopiedAt}
}

// PasskeyOrigin is the one origin at which passkeys work; "" when there is none,
// because a passkey belongs to a name and Base has only a number. This machine's
// own numbers are all called localhost.
func (k *Passkeys) PasskeyOrigin() string {
	_, origin := relyingParty(k.users.Base)
	return origin
}

// relyingParty is whom a server's passkeys belong to, and the origin of its pages.
func relyingParty(base string) (id, origin string) {
	at, err := url.Parse(base)
	if err != nil || at.Host == "" {
		return "", ""
	}
	id = strings.ToLower(at.Hostname())
	if address, err := netip.ParseAddr(id); err == nil {
		if !address.IsLoopback() {
			return "", ""
		}
		id = "localhost"
	}
	origin = at.Scheme + "://" + id
	if port := at.Port(); port != "" && (at.Scheme != "https" || port != "443") &&
		(at.Scheme != "http" || port != "80") {
		origin += ":" + port
	}
	return id, origin
}

// newLibrary returns the library, set so that a passkey stands for both factors: it is
// found without a user's name, and its owner is verified each time. The library
// keeps no time: challenges end by our clock.
func (k *Passkeys) newLibrary() (*webauthn.WebAuthn, error) {
	id, origin := relyingParty(k.users.Base)
	if id == "" {
		return nil, errNoPasskeys
	}
	shown := webauthn.TimeoutConfig{Timeout: challengeTime, TimeoutUVD: challengeTime}
	return webauthn.New(&webauthn.Config{RPID: id, RPDisplayName: "Cointill", RPOrigins: []string{origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementRequired,
			RequireResidentKey: protocol.ResidentKeyRequired(), UserVerification: protocol.VerificationRequired},
		Timeouts: webauthn.TimeoutsConfig{Login: shown, Registration: shown}})
}

// holder is a user with their passkeys, as the library asks for it.
type holder struct {
	user   User
	handle []byte
	keys   []webauthn.Credential
}

var _ webauthn.User = holder{}

// WebAuthnID is the handle that authenticators store for a user. It reveals nothing about the
// user.
func (h holder) WebAuthnID() []byte { return h.handle }

// WebAuthnName is what authenticators show of the user.
func (h holder) WebAuthnName() string { return h.user.Email }

// WebAuthnDisplayName likewise.
func (h holder) WebAuthnDisplayName() string { return h.user.Name }

// WebAuthnCredentials are the passkeys.
func (h holder) WebAuthnCredentials() []webauthn.Credential { return h.keys }

func (k *Passkeys) newHolder(user User, rows ...models.Passkey) holder {
	h := holder{user: user, handle: []byte(k.users.secret.Derive("passkey user", strconv.FormatInt(user.ID, 10)))}
	for _, row := range rows {
		h.keys = append(h.keys, credential(row))
	}
	return h
}

// credential is a row as the library takes it.
func credential(row models.Passkey) webauthn.Credential {
	id, _ := ident.Decode(row.Credential) // we wrote it
	c := webauthn.Credential{ID: id, PublicKey: row.PublicKey,
		Flags:         webauthn.CredentialFlags{BackupEligible: row.Synced},
		Authenticator: webauthn.Authenticator{SignCount: uint32(row.SignCount)}} // it came from one
	for name := range strings.SplitSeq(row.Transports, ",") {
		if name != "" {
			c.Transport = append(c.Transport, protocol.AuthenticatorTransport(name))
		}
	}
	return c
}

// Passkeys lists the passkeys of the scope's user, the latest first.
func (k *Passkeys) Passkeys(ctx context.Context, sc scope.Scope) ([]Passkey, error) {
	userID, err := FindActor(sc)
	if err != nil {
		return nil, err
	}
	rows, err := passkeysOf(k.users.db.Read(ctx), userID)
	var list []Passkey
	for _, row := range rows {
		list = append(list, passkey(row))
	}
	return list, err
}

func passkeysOf(tx *models.Tx, userID int64) (rows []models.Passkey, err error) {
	err = tx.Where("user_id = ?", userID).Order("id DESC").Limit(mostPasskeys).Find(&rows).Error
	return rows, err
}

// HasPasskey reports whether a user has a passkey.
func HasPasskey(tx *models.Tx, userID int64) (bool, error) {
	rows, err := passkeysOf(tx, userID)
	return len(rows) > 0, err
}

// Passkey is one of the user of a scope; NotFound for another's.
func (k *Passkeys) Passkey(ctx context.Context, sc scope.Scope, id int64) (Passkey, error) {
	userID, err := FindActor(sc)
	if err != nil {
		return Passkey{}, err
	}
	row, err := ownPasskey(k.users.db.Read(ctx), userID, id)
	return passkey(row), err
}

func ownPasskey(tx *models.Tx, userID, id int64) (row models.Passkey, err error) {
	err = fault.MissingRow(tx.Where("id = ? AND user_id = ?", id, userID).Take(&row).Error, "passkey")
	return row, err
}

// BeginPasskey asks the user of a scope to prove who they are, and gives what
// their browser needs to make a passkey, as JSON. session is the key of the one
// session that may confirm it, within five minutes. Invalid (name), Conflict
// (too_many_passkeys, passkeys_unavailable), and as Reauthenticate.
func (k *Passkeys) BeginPasskey(ctx context.Context, sc scope.Scope, p Proof, name, session string) (options []byte,
	err error) {
	library, err := k.newLibrary()
	if err != nil {
		return nil, err
	}
	if sentence := contact.CheckLabel(name); !sentence.IsZero() {
		return nil, fault.Validation(fault.Fields{"name": {sentence}})
	}
	user, err := k.users.Reauthenticate(ctx, sc, p)
	if err != nil {
		return nil, err
	}
	rows, err := passkeysOf(k.users.db.Read(ctx), user.ID)
	if err != nil {
		return nil, err
	}
	if len(rows) >= mostPasskeys {
		return nil, errPasskeyMany
	}
	h := k.newHolder(user, rows...)
	creation, asked, err := library.BeginRegistration(h, webauthn.WithExclusions(webauthn.Credentials(h.keys).
		CredentialDescriptors()))
	if err != nil {
		return nil, err
	}
	if err := k.writeChallenge(ctx, models.PasskeyChallenge{Session: session, Kind: challengeAdd, UserID: user.ID},
		challenge{Name: name, Asked: *asked}); err != nil {
		return nil, err
	}
	return json.Marshal(creation)
}

// ConfirmPasskey stores the passkey that a browser made, and mails its user. Conflict:
// passkey_over when nothing was begun in this session within five minutes, or it was confirmed
// already; passkey_not_made for an answer to another challenge; passkey_known;
// too_many_passkeys.
func (k *Passkeys) ConfirmPasskey(ctx context.Context, sc scope.Scope, session string, answer []byte) (Passkey, error) {
	userID, err := FindActor(sc)
	if err != nil {
		return Passkey{}, err
	}
	library, err := k.newLibrary()
	if err != nil {
		return Passkey{}, err
	}
	asked, err := k.takeChallenge(ctx, session, challengeAdd, userID)
	if err != nil {
		return Passkey{}, err
	}
	var row models.User
	if err := k.users.db.Read(ctx).Where("id = ?", userID).Take(&row).Error; err != nil {
		return Passkey{}, fault.MissingRow(err, "user")
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(bounded(answer))
	if err != nil {
		return Passkey{}, errPasskeyMade.Because(err)
	}
	made, err := library.CreateCredential(k.newHolder(DescribeUser(row)), asked.Asked, parsed)
	if err != nil {
		return Passkey{}, errPasskeyMade.Because(err)
	}
	return k.storePasskey(ctx, DescribeUser(row), asked.Name, made)
}

func (k *Passkeys) storePasskey(ctx context.Context, user User, name string, made *webauthn.Credential) (Passkey,
	error) {
	var transports []string
	for _, way := range made.Transport {
		transports = append(transports, string(way))
	}
	row := models.Passkey{UserID: user.ID, Credential: ident.Encode(made.ID), PublicKey: made.PublicKey,
		SignCount:  int64(made.Authenticator.SignCount),
		Transports: strings.Join(transports, ","), Synced: made.Flags.BackupEligible, Name: name,
		CreatedAt: k.users.now()}
	err := k.users.db.Write(ctx, func(tx *models.Tx) error {
		row.ID = 0 // Write may run this again
		rows, err := passkeysOf(tx, user.ID)
		if err != nil {
			return err
		}
		if len(rows) >= mostPasskeys {
			return errPasskeyMany
		}
		stored := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		if stored.Error == nil && stored.RowsAffected == 0 {
			return errPasskeyKnown
		}
		if stored.Error != nil {
			return stored.Error
		}
		return k.passkeyChanged(tx, user, PasskeyAdded, name)
	})
	k.users.WakeMailer(err)
	return passkey(row), err
}

// passkeyChanged records a change of a passkey and mails its user.
func (k *Passkeys) passkeyChanged(tx *models.Tx, user User, kind LetterKind, name string) error {
	if err := k.users.auditUser(tx, user.ID, "user."+string(kind), map[string]string{"passkey": name}); err != nil {
		return err
	}
	return k.users.queueLetter(tx, Letter{Kind: kind, To: user, Passkey: name, URL: k.users.Base + accountPath})
}

// RenamePasskey gives a passkey of the user of a scope another name. Invalid (name), NotFound.
func (k *Passkeys) RenamePasskey(ctx context.Context, sc scope.Scope, id int64, name string) error {
	userID, err := FindActor(sc)
	if err != nil {
		return err
	}
	if sentence := contact.CheckLabel(name); !sentence.IsZero() {
		return fault.Validation(fault.Fields{"name": {sentence}})
	}
	return k.users.db.Write(ctx, func(tx *models.Tx) error {
		row, err := ownPasskey(tx, userID, id)
		if err != nil || row.Name == name {
			return err
		}
		if err := tx.Model(&models.Passkey{}).Where("id = ?", row.ID).Update("name", name).Error; err != nil {
			return err
		}
		return k.users.auditUser(tx, userID, "user.passkey_renamed", map[string]string{"before": row.Name,
			"after": name})
	})
}

// RemovePasskey makes a passkey of the user of a scope worth nothing, ends their
// other sessions, which may have been opened with it, and tells them by mail.
// session is the key of the one that stays. NotFound, and as Reauthenticate.
func (k *Passkeys) RemovePasskey(ctx context.Context, sc scope.Scope, id int64, p Proof, session string) error {
	if _, err := k.Passkey(ctx, sc, id); err != nil {
		return err
	}
	user, err := k.users.Reauthenticate(ctx, sc, p)
	if err != nil {
		return err
	}
	err = k.users.db.Write(ctx, func(tx *models.Tx) error {
		row, err := ownPasskey(tx, user.ID, id)
		if err != nil {
			return err
		}
		if err := tx.Where("id = ?", row.ID).Delete(&models.Passkey{}).Error; err != nil {
			return err
		}
		if err := endOthers(tx, user.ID, session); err != nil {
			return err
		}
		return k.passkeyChanged(tx, user, PasskeyRemoved, row.Name)
	})
	k.users.WakeMailer(err)
	return err
}

// challenge is the stored form of a browser's challenge.
type challenge struct {
	Name  string // of the passkey to be made
	Asked webauthn.SessionData
}

// writeChallenge stores a session's challenge in place of the previous one.
func (k *Passkeys) writeChallenge(ctx context.Context, row models.PasskeyChallenge, c challenge) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	row.Data, row.ExpiresAt = string(text), k.users.now().Add(challengeTime)
	return k.users.db.Exec(ctx).Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "session"}, {Name: "kind"}},
		DoUpdates: clause.AssignmentColumns([]string{"user_id", "data", "expires_at"})}).Create(&row).Error
}

// takeChallenge takes what a session was asked out of the world: whatever comes
// of it, it is answered once. Conflict (passkey_over) when there is nothing any more.
func (k *Passkeys) takeChallenge(ctx context.Context, session, kind string, userID int64) (c challenge, err error) {
	var row models.PasskeyChallenge
	err = k.users.db.Write(ctx, func(tx *models.Tx) error {
		var rows []models.PasskeyChallenge
		if err := tx.Where("session = ? AND kind = ?", session, kind).Limit(1).Find(&rows).Error; err != nil {
			return err
		}
		if len(rows) == 0 {
			return errPasskeyOver
		}
		row = rows[0]
		taken := tx.Where("id = ? AND data = ?", row.ID, row.Data).Delete(&models.PasskeyChallenge{})
		if taken.Error == nil && taken.RowsAffected == 0 {
			return errPasskeyOver
		}
		return taken.Error
	})
	if err != nil {
		return c, err
	}
	if row.UserID != userID || !row.ExpiresAt.After(k.users.now()) {
		return c, errPasskeyOver
	}
	return c, json.Unmarshal([]byte(row.Data), &c)
}

// bounded is an answer of a length that an authenticator's can have; nothing for a longer one.
func bounded(answer []byte) []byte {
	if len(answer) > maxCredential {
		return nil
	}
	return answer
}
