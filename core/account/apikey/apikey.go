// Package apikey owns the API keys of /v1: it makes, rolls and revokes them, and finds the
// scope of a request by the key that it came with. Keys are read at each request, so that
// every replica refuses a revoked one at once.
package apikey

import (
	"context"
	"hash/crc32"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/models"
)

// The shape of a key: prefix, random characters (160 bits), checksum.
const (
	testPrefix = "sk_test_"
	livePrefix = "sk_live_"
	keyRandom  = 32
	keyCheck   = 6

	rollOverlap = 24 * time.Hour // both keys work after a roll
	usedEvery   = time.Minute    // last use is written at most so often
	maxKeys     = 100            // that work, per business and domain
)

// Key is an API key as pages list it; its secret is not kept.
type Key struct {
	ID          int64
	Name        string
	Hint        string // prefix and last four characters
	Permissions []Permission
	CreatedAt   time.Time
	LastUsedAt  *time.Time
	ExpiresAt   *time.Time // end of the overlap after a roll
	RevokedAt   *time.Time
}

// Service keeps the keys. Make one with New.
type Service struct {
	db     *models.DB
	now    clock.Clock
	secret *secret.Box
	read   models.Batcher[struct{}, string, map[string]models.APIKey]
}

// New makes the service.
func New(db *models.DB, now clock.Clock, box *secret.Box) *Service {
	return &Service{db: db, now: now, secret: box}
}

// Made is a key that was just made, with its secret: what idempotency.Do gives.
type Made struct {
	Key    Key
	Secret string
}

// Works reports whether the key authenticates at a time.
func (k Key) Works(now time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || k.ExpiresAt.After(now))
}

// CreateKey makes a key of the scope's domain with the permissions of DefaultPermissions. The
// secret is returned here and never again. Invalid field: name.
func (s *Service) CreateKey(ctx context.Context, sc scope.Scope, name string) (Key, string, error) {
	return s.CreateRestrictedKey(ctx, sc, name, DefaultPermissions(sc.Domain))
}

// CreateRestrictedKey is CreateKey with permissions that the key's maker chose. Invalid fields:
// name, permissions.
func (s *Service) CreateRestrictedKey(ctx context.Context, sc scope.Scope, name string, may []Permission) (Key, string,
	error) {
	if err := sc.CheckAction(scope.ManageKeys); err != nil {
		return Key{}, "", err
	}
	fields := fault.Fields{}
	fields.AddMessage("name", contact.CheckLabel(name))
	checkPermissions(may, fields)
	if err := fault.Validation(fields); err != nil {
		return Key{}, "", err
	}
	made, err := idempotency.Do(ctx, s.db, func(tx *models.Tx) (Made, error) {
		var working int64
		count := sc.Rows(tx.Model(&models.APIKey{})).Where("revoked_at IS NULL AND expires_at IS NULL").Count(&working)
		if count.Error != nil {
			return Made{}, count.Error
		}
		if working >= maxKeys {
			return Made{}, fault.New(fault.Conflict, "too_many_keys",
				"A business may have 100 API keys in a domain. Revoke one that is not used.")
		}
		return s.insertKey(tx, sc, name, formatPermissions(may))
	})
	return made.Key, made.Secret, err
}

func (s *Service) insertKey(tx *models.Tx, sc scope.Scope, name, permissions string) (Made, error) {
	text := newSecret(sc.Domain)
	row := models.APIKey{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Name: name,
		Hash: s.secret.Hash("api key", text),
		Hint: text[:len(testPrefix)] + "…" + text[len(text)-4:], Permissions: permissions, CreatedBy: sc.Actor,
		CreatedAt: s.now()}
	if err := tx.Create(&row).Error; err != nil {
		return Made{}, err
	}
	return Made{describeKey(row), text}, audit.Record(tx, sc, row.CreatedAt, "key.created", keyActor(row.ID),
		map[string]string{"name": name, "hint": row.Hint, "permissions": permissions})
}

// ListKeys lists the scope's keys, the newest first, revoked ones too.
func (s *Service) ListKeys(ctx context.Context, sc scope.Scope) ([]Key, error) {
	if err := sc.CheckAction(scope.ManageKeys); err != nil {
		return nil, err
	}
	var rows []models.APIKey
	err := sc.Rows(s.db.Read(ctx)).Order("id DESC").Limit(10 * maxKeys).Find(&rows).Error
	keys := make([]Key, len(rows))
	for i, row := range rows {
		keys[i] = describeKey(row)
	}
	return keys, err
}

// RollKey makes a key to replace another, which goes on to work for 24 hours. It may do the same.
// Conflict when the old one is revoked or already replaced.
func (s *Service) RollKey(ctx context.Context, sc scope.Scope, id int64) (Key, string, error) {
	if err := sc.CheckAction(scope.ManageKeys); err != nil {
		return Key{}, "", err
	}
	made, err := idempotency.Do(ctx, s.db, func(tx *models.Tx) (Made, error) {
		var old models.APIKey
		if err := sc.Rows(tx).Where("id = ?", id).Take(&old).Error; err != nil {
			return Made{}, fault.MissingRow(err, "API key")
		}
		now := s.now()
		ends := sc.Rows(tx.Model(&models.APIKey{})).Where("id = ? AND revoked_at IS NULL AND expires_at IS NULL", id).
			Update("expires_at", now.Add(rollOverlap))
		if ends.Error == nil && ends.RowsAffected == 0 {
			return Made{}, fault.New(fault.Conflict, "key_not_active",
				"This key is revoked or has been rolled already.")
		}
		if ends.Error != nil {
			return Made{}, ends.Error
		}
		if err := audit.Record(tx, sc, now, "key.rolled", keyActor(id),
			map[string]string{"name": old.Name, "hint": old.Hint}); err != nil {
			return Made{}, err
		}
		return s.insertKey(tx, sc, old.Name, old.Permissions)
	})
	return made.Key, made.Secret, err
}

// RevokeKey ends a key at once. Revoking one twice is no error.
func (s *Service) RevokeKey(ctx context.Context, sc scope.Scope, id int64) error {
	if err := sc.CheckAction(scope.ManageKeys); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *models.Tx) error {
		var row models.APIKey
		if err := sc.Rows(tx).Where("id = ?", id).Take(&row).Error; err != nil {
			return fault.MissingRow(err, "API key")
		}
		now := s.now()
		done := sc.Rows(tx.Model(&models.APIKey{})).Where("id = ? AND revoked_at IS NULL", id).Update("revoked_at", now)
		if done.RowsAffected == 0 { // it was revoked already, or an error
			return done.Error
		}
		return audit.Record(tx, sc, now, "key.revoked", keyActor(id),
			map[string]string{"name": row.Name, "hint": row.Hint})
	})
}

// KeyInfo is what a request learns of the key that it came with.
type KeyInfo struct {
	ID          int64
	Name        string
	Permissions []Permission
}

// CheckPermission refuses what the key has no permission for; "" needs none.
func (k KeyInfo) CheckPermission(p Permission) error {
	if p == "" || slices.Contains(k.Permissions, p) {
		return nil
	}
	return fault.New(fault.Forbidden, "permission_missing", "This API key lacks the permission %s. "+
		"Create a key that has it, under API keys in the dashboard.", p)
}

// Authenticate finds the scope of an Authorization header. Keys are read each
// time and nothing is remembered, so that a revoked key fails at once on every
// replica. Unauthenticated, with a sentence that helps.
func (s *Service) Authenticate(ctx context.Context, authorization string) (scope.Scope, KeyInfo, error) {
	text, err := parseBearer(authorization)
	if err != nil {
		return scope.Scope{}, KeyInfo{}, err
	}
	hash := s.secret.Hash("api key", text)
	known, err := s.read.Get(ctx, struct{}{}, hash, s.readKeys)
	if err != nil {
		return scope.Scope{}, KeyInfo{}, err
	}
	row, found := known[hash]
	if !found {
		return scope.Scope{}, KeyInfo{},
			errUnauthenticated("This server does not know this API key. Check that it was made here, or create a new " +
				"one in the dashboard.")
	}
	now := s.now()
	if row.RevokedAt != nil {
		return scope.Scope{}, KeyInfo{}, errUnauthenticated("This API key was revoked. Create a new one in the dashboard.")
	}
	if !describeKey(row).Works(now) {
		return scope.Scope{}, KeyInfo{},
			errUnauthenticated("This API key was replaced, and the time in which both worked is over. Use the new key.")
	}
	if row.LastUsedAt == nil || now.Sub(*row.LastUsedAt) >= usedEvery {
		s.markUsed(ctx, row.ID, now)
	}
	sc := scope.Scope{BusinessID: row.BusinessID, Domain: scope.Domain(row.Domain), Actor: keyActor(row.ID),
		Role: scope.API}
	return sc, KeyInfo{ID: row.ID, Name: row.Name, Permissions: parsePermissions(row.Permissions)}, nil
}

// readKeys finds keys by their hashes.
func (s *Service) readKeys(ctx context.Context, _ struct{}, hashes []string) (map[string]models.APIKey, error) {
	var row models.APIKey
	found := make(map[string]models.APIKey, len(hashes))
	query := models.Select(models.Among(s.db.Point(ctx).Model(&row), "hash", hashes),
		"hash, id, business_id, domain, name, permissions, last_used_at, expires_at, revoked_at")
	err := models.ScanRows(query, func() { found[row.Hash] = row },
		&row.Hash, &row.ID, &row.BusinessID, &row.Domain, &row.Name, &row.Permissions, &row.LastUsedAt, &row.ExpiresAt,
		&row.RevokedAt)
	return found, err
}

// markUsed writes the last use. Of many requests in one minute one writes; a
// failure is no reason to refuse the request.
func (s *Service) markUsed(ctx context.Context, id int64, now time.Time) {
	err := s.db.Exec(ctx).Model(&models.APIKey{}).Where("id = ? AND (last_used_at IS NULL OR last_used_at <= ?)", id,
		now.Add(-usedEvery)).
		Update("last_used_at", now).Error
	if err != nil {
		slog.WarnContext(ctx, "last use of a key not written", "key", id, "error", err)
	}
}

// parseBearer takes the key out of the header and refuses malformed ones before the database is
// read.
func parseBearer(authorization string) (string, error) {
	scheme, text, _ := strings.Cut(authorization, " ")
	text = strings.TrimSpace(text)
	if !strings.EqualFold(scheme, "Bearer") || text == "" {
		return "", errUnauthenticated("Send your secret key in the header Authorization: Bearer sk_test_… or sk_live_….")
	}
	own, other := testPrefix, livePrefix
	if strings.HasPrefix(text, livePrefix) {
		own, other = livePrefix, testPrefix
	}
	body, found := strings.CutPrefix(text, own)
	if !found {
		return "", errUnauthenticated("This is no secret key of Cointill: those begin with sk_test_ or sk_live_.")
	}
	if len(body) != keyRandom+keyCheck {
		return "", errUnauthenticated("This API key has the wrong length: copy it again as a whole.")
	}
	random, check := body[:keyRandom], body[keyRandom:]
	switch check {
	case keyChecksum(own + random):
		return text, nil
	case keyChecksum(other + random):
		return "", errUnauthenticated("This API key was made with the prefix %s: a key's domain can't be "+
			"changed. Use a key of the other domain.", other)
	}
	return "", errUnauthenticated("This API key holds a typing error: copy it again as a whole.")
}

func errUnauthenticated(text string, args ...any) error {
	return fault.New(fault.Unauthenticated, "invalid_api_key", text, args...)
}

func newSecret(domain scope.Domain) string {
	prefix := testPrefix
	if domain == scope.Live {
		prefix = livePrefix
	}
	text := prefix + ident.RandomText(keyRandom)
	return text + keyChecksum(text)
}

// keyChecksum recognizes a mistyped key, or a leaked one in a log, without a database: CRC-32 in
// base 32, without its two highest bits.
func keyChecksum(text string) string {
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	sum := crc32.ChecksumIEEE([]byte(text))
	out := make([]byte, keyCheck)
	for i := range out {
		out[i] = alphabet[sum>>(5*i)&31]
	}
	return string(out)
}

func describeKey(row models.APIKey) Key {
	return Key{ID: row.ID, Name: row.Name, Hint: row.Hint, Permissions: parsePermissions(row.Permissions),
		CreatedAt: row.CreatedAt, LastUsedAt: row.LastUsedAt, ExpiresAt: row.ExpiresAt, RevokedAt: row.RevokedAt}
}

func keyActor(id int64) string { return "key:" + strconv.FormatInt(id, 10) }
