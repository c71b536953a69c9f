// Package list searches, counts and exports payments, and lists the customers who paid.
// It reads what package payment writes; it changes nothing.
package list

import "cointill/models"

// Service reads lists of payments. Its calls see one business in one domain: their scope's.
type Service struct{ DB *models.DB }
