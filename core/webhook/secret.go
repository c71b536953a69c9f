package webhook

import (
	"strings"
	"time"

	"cointill/models"
)

// mostFormer bounds how many secrets from before sign beside the present one.
const mostFormer = 3

// Key is a signing secret and whose it is.
type Key struct {
	Endpoint string // name
	Secret   string // whsec_…
	Until    *time.Time
}

// OpenSecrets opens an endpoint's secrets: the present one, and those from before that sign until
// OldSecretUntil, the latest first. An unreadable secret is left out and is the error.
func (s *Service) OpenSecrets(row models.Endpoint) (list []Key, problem error) {
	plain, problem := s.Secrets.Open(secretPlace(row.ID), row.Secret)
	if problem == nil {
		list = append(list, Key{Endpoint: row.Name, Secret: string(plain)})
	}
	if len(row.OldSecret) == 0 || row.OldSecretUntil == nil {
		return list, problem
	}
	former, err := s.Secrets.Open(secretPlace(row.ID), row.OldSecret)
	if err != nil {
		return list, err
	}
	for _, secret := range strings.Fields(string(former)) {
		list = append(list, Key{Endpoint: row.Name, Secret: secret, Until: row.OldSecretUntil})
	}
	return list, problem
}

// rotateColumns returns the columns of an endpoint that gets a new secret. All secrets that may be
// in use stay valid for a day: a second rotation, because the first answer was lost or by a
// colleague, must not cut off a server that has an earlier one.
func (s *Service) rotateColumns(found models.Endpoint, secret string) map[string]any {
	now := s.Clock()
	var former []string
	known, _ := s.OpenSecrets(found) // a secret that can't be read signs nothing already
	for _, k := range known {
		if (k.Until == nil || k.Until.After(now)) && len(former) < mostFormer {
			former = append(former, k.Secret)
		}
	}
	return map[string]any{
		"secret":           s.Secrets.Seal(secretPlace(found.ID), []byte(secret)),
		"old_secret":       s.Secrets.Seal(secretPlace(found.ID), []byte(strings.Join(former, " "))),
		"old_secret_until": now.Add(Overlap),
	}
}
