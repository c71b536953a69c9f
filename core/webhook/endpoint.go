package webhook

import (
	"context"
	"encoding/base64"
	"reflect"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/core/webhook/paging"
	"cointill/models"
)

// Endpoint is a webhook as callers see it: everything but its secret.
type Endpoint struct {
	ID     string // whk_…
	Domain scope.Domain
	Name   string // "type" in the interface
	URL    string
	Active bool
	// Types are the types of events that it receives; empty for all. A
	// webhook.test is always received.
	Types []string
	// Headers are what its deliveries carry beside ours, with Mask for their values.
	Headers []Header
	// OffReason says why Cointill switched it off, and OffCode is its code; "" when it is on, or a person did.
	OffReason, OffCode string
	// FailingSince is the first of the failures that no success has interrupted.
	FailingSince *time.Time
	// OverlapUntil is until when the secret before the last rotation signs too.
	OverlapUntil *time.Time
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Status is the word of the interface: active or inactive.
func (e Endpoint) Status() string {
	if e.Active {
		return "active"
	}
	return "inactive"
}

// Create is what a new endpoint is made of.
type Create struct {
	Name    string
	URL     string
	Active  bool
	Types   []string // empty for all
	Headers []Header
}

// Change is what to change of an endpoint; nil leaves a field as it is.
type Change struct {
	Name    *string
	URL     *string
	Active  *bool
	Types   *[]string // empty for all
	Headers *[]Header // in place of all that there were; a Mask keeps a value
}

// WithSecret is an endpoint with its signing secret: what Create and
// RotateSecret make, and what the renderer of an idempotent answer is given.
type WithSecret struct {
	Endpoint Endpoint
	Secret   string // whsec_…
}

// Create registers an endpoint and returns it with its secret, which is shown
// only here and on rotation. Faults: Invalid, Forbidden, Conflict (too many).
func (s *Service) Create(ctx context.Context, sc scope.Scope, c Create) (Endpoint, string, error) {
	if err := sc.CheckAction(scope.ManageWebhooks); err != nil {
		return Endpoint{}, "", err
	}
	if err := fault.Validation(c.Check(sc.Domain)); err != nil {
		return Endpoint{}, "", err
	}
	now, id, plain := s.Clock(), ident.New("whk_"), newSecret()
	headers, err := s.sealHeaders(id, c.Headers, nil)
	if err != nil {
		return Endpoint{}, "", err
	}
	row := models.Endpoint{
		ID: id, BusinessID: sc.BusinessID, Domain: string(sc.Domain), Name: c.Name, URL: c.URL, Host: HostOf(c.URL),
		Active: c.Active,
		Types:  strings.Join(c.Types, ","), Headers: headers, Secret: s.Secrets.Seal(secretPlace(id), []byte(plain)),
		CreatedAt: now, UpdatedAt: now,
	}
	made, err := idempotency.Do(ctx, s.DB, func(tx *models.Tx) (WithSecret, error) {
		if err := s.insertEndpoint(tx, sc, row); err != nil {
			return WithSecret{}, err
		}
		return WithSecret{Endpoint: s.describeEndpoint(row), Secret: plain}, audit.Record(tx, sc, now, "webhook.created", id,
			map[string]string{"type": row.Name, "url": row.URL})
	})
	return made.Endpoint, made.Secret, err
}

// insertEndpoint stores an endpoint unless there are too many.
func (s *Service) insertEndpoint(tx *models.Tx, sc scope.Scope, row models.Endpoint) error {
	if err := LockBusiness(tx, sc); err != nil {
		return err
	}
	var count int64
	if err := sc.Rows(tx).Model(&models.Endpoint{}).Count(&count).Error; err != nil {
		return err
	}
	if count >= MaxEndpoints {
		return fault.New(fault.Conflict, "too_many_webhooks",
			"There are %d webhooks already. Delete one that is no longer needed.", MaxEndpoints)
	}
	if err := tx.Create(&row).Error; err != nil || row.Active {
		return err
	}
	return s.pauseEndpoint(tx, row.ID, row.CreatedAt)
}

// LockBusiness holds the business's row, so that two at once can't pass a limit together.
func LockBusiness(tx *models.Tx, sc scope.Scope) error {
	return tx.Model(&models.Business{}).Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", sc.BusinessID).
		Pluck("id", new([]int64)).Error
}

// List gives a page of the endpoints, newest first, and the cursor of the next
// page, "" after the last. limit is 1–100, 0 means 25.
func (s *Service) List(ctx context.Context, sc scope.Scope, after string, limit int) ([]Endpoint, string, error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return nil, "", err
	}
	return paging.ReadRows(sc.Rows(s.DB.Read(ctx)), after, limit, func(r models.Endpoint) paging.Cursor {
		return paging.Cursor{At: r.CreatedAt.UnixMicro(), ID: r.ID}
	}, s.describeEndpoint)
}

// Find gives one endpoint. Faults: NotFound, Forbidden.
func (s *Service) Find(ctx context.Context, sc scope.Scope, id string) (Endpoint, error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return Endpoint{}, err
	}
	row, err := FindEndpoint(s.DB.Read(ctx), sc, id)
	return s.describeEndpoint(row), err
}

// Update changes the given fields. Switching an endpoint on resets its failures. Faults:
// Invalid, NotFound, Forbidden.
func (s *Service) Update(ctx context.Context, sc scope.Scope, id string, c Change) (Endpoint, error) {
	if err := sc.CheckAction(scope.ManageWebhooks); err != nil {
		return Endpoint{}, err
	}
	defer s.edits.Add(1)
	var changed Endpoint
	err := s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		var before models.Endpoint
		changed, err = s.changeEndpoint(tx, sc, id, func(found models.Endpoint) (map[string]any, error) {
			before = found
			if err := fault.Validation(c.Check(sc.Domain)); err != nil {
				return nil, err
			}
			if err := s.pauseOrResume(tx, found, c.Active); err != nil {
				return nil, err
			}
			return s.changedColumns(c, found)
		})
		if err != nil {
			return err
		}
		told := c.describeChange(s.describeEndpoint(before))
		if c.Headers == nil && reflect.DeepEqual(told["before"], told["after"]) {
			return nil // the same form again
		}
		return audit.Record(tx, sc, s.Clock(), "webhook.changed", id, told)
	})
	return changed, err
}

// describeChange returns what the audit log says of a change: never the values of headers.
func (c Change) describeChange(found Endpoint) map[string]any {
	before, after := map[string]any{}, map[string]any{}
	if c.Name != nil {
		before["type"], after["type"] = found.Name, *c.Name
	}
	if c.URL != nil {
		before["url"], after["url"] = found.URL, *c.URL
	}
	if c.Active != nil {
		before["active"], after["active"] = found.Active, *c.Active
	}
	if c.Types != nil {
		before["events"], after["events"] = found.Types, *c.Types
	}
	if c.Headers != nil {
		before["headers"], after["headers"] = headerNames(found.Headers), headerNames(*c.Headers)
	}
	return map[string]any{"before": before, "after": after}
}

func headerNames(headers []Header) []string {
	names := []string{}
	for _, h := range headers {
		names = append(names, h.Name)
	}
	return names
}

// changedColumns returns the columns that the change writes.
func (s *Service) changedColumns(c Change, found models.Endpoint) (map[string]any, error) {
	set := map[string]any{}
	if c.Name != nil {
		set["name"] = *c.Name
	}
	if c.URL != nil {
		set["url"], set["host"] = *c.URL, HostOf(*c.URL)
		if *c.URL != found.URL {
			set["failing_since"] = nil
		}
		if err := c.keepsFrom(found); err != nil {
			return nil, err
		}
	}
	if c.Types != nil {
		set["types"] = strings.Join(*c.Types, ",")
	}
	if c.Headers != nil {
		before, _ := s.OpenHeaders(found) // none when they can't be read: they have to be given again
		var err error
		if set["headers"], err = s.sealHeaders(found.ID, *c.Headers, before); err != nil {
			return nil, err
		}
	}
	if c.Active != nil {
		set["active"], set["off_reason"], set["off_code"] = *c.Active, "", ""
		if *c.Active {
			set["failing_since"] = nil
		}
	}
	return set, nil
}

// Delete removes an endpoint and cancels its pending deliveries. Faults: NotFound, Forbidden.
func (s *Service) Delete(ctx context.Context, sc scope.Scope, id string) error {
	if err := sc.CheckAction(scope.ManageWebhooks); err != nil {
		return err
	}
	defer s.edits.Add(1)
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		found, err := FindEndpoint(tx, sc, id)
		if err != nil {
			return err
		}
		if err := sc.Rows(tx).Where("id = ?", id).Delete(&models.Endpoint{}).Error; err != nil {
			return err
		}
		if err := tx.Where("endpoint_id = ?", id).Delete(&models.EndpointPause{}).Error; err != nil {
			return err
		}
		if err := s.cancelWaiting(tx, id, EndpointDeleted); err != nil {
			return err
		}
		return audit.Record(tx, sc, s.Clock(), "webhook.deleted", id,
			map[string]string{"type": found.Name, "url": found.URL})
	})
}

// RotateSecret gives the endpoint a new secret and returns it. The one before
// signs too for 24 hours, with those that did so already. Faults: NotFound, Forbidden.
func (s *Service) RotateSecret(ctx context.Context, sc scope.Scope, id string) (Endpoint, string, error) {
	if err := sc.CheckAction(scope.ManageWebhooks); err != nil {
		return Endpoint{}, "", err
	}
	defer s.edits.Add(1)
	plain := newSecret()
	made, err := idempotency.Do(ctx, s.DB, func(tx *models.Tx) (WithSecret, error) {
		rotated, err := s.changeEndpoint(tx, sc, id, func(found models.Endpoint) (map[string]any, error) {
			return s.rotateColumns(found, plain), nil
		})
		if err != nil {
			return WithSecret{}, err
		}
		return WithSecret{Endpoint: rotated, Secret: plain}, audit.Record(tx, sc, s.Clock(), "webhook.secret_rotated",
			id, nil)
	})
	return made.Endpoint, made.Secret, err
}

// changeEndpoint reads an endpoint, lets decide say which columns change, and writes them.
func (s *Service) changeEndpoint(tx *models.Tx, sc scope.Scope, id string,
	decide func(found models.Endpoint) (map[string]any, error)) (Endpoint, error) {
	row, err := FindEndpoint(tx.Clauses(clause.Locking{Strength: "UPDATE"}), sc, id)
	if err != nil {
		return Endpoint{}, err
	}
	set, err := decide(row)
	if err != nil {
		return Endpoint{}, err
	}
	if len(set) > 0 {
		set["updated_at"] = s.Clock()
		if err := sc.Rows(tx).Model(&models.Endpoint{}).Where("id = ?", id).Updates(set).Error; err != nil {
			return Endpoint{}, err
		}
	}
	row, err = FindEndpoint(tx, sc, id)
	return s.describeEndpoint(row), err
}

// FindEndpoint reads an endpoint of the scope.
func FindEndpoint(db *models.Tx, sc scope.Scope, id string) (models.Endpoint, error) {
	var row models.Endpoint
	if !paging.IsPlainID(id) {
		return row, fault.Missing("webhook")
	}
	err := sc.Rows(db).Where("id = ?", id).Take(&row).Error
	return row, fault.MissingRow(err, "webhook")
}

func (s *Service) describeEndpoint(row models.Endpoint) Endpoint {
	return Endpoint{
		ID: row.ID, Domain: scope.Domain(row.Domain), Name: row.Name, URL: row.URL, Active: row.Active,
		OffReason: row.OffReason, OffCode: row.OffCode,
		Types: SplitTypes(row.Types), Headers: s.maskHeaders(row),
		FailingSince: row.FailingSince, OverlapUntil: row.OldSecretUntil, CreatedAt: row.CreatedAt,
		UpdatedAt: row.UpdatedAt,
	}
}

// newSecret makes a signing secret as Standard Webhooks writes it.
func newSecret() string { return "whsec_" + base64.StdEncoding.EncodeToString(ident.RandomBytes(32)) }

// secretPlace binds a sealed secret to its endpoint.
func secretPlace(id string) string { return "endpoints/" + id }

// SplitTypes reads a column of words with commas between them.
func SplitTypes(column string) []string {
	if column == "" {
		return nil
	}
	return strings.Split(column, ",")
}
