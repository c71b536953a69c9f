package wallet

import (
	"cointill/models"
)

// begins is the index that a key begins with when it is entered now: 0, but in a
// database that was restored and doesn't know the key. It may have been entered
// before, after the backup was made, and have given out as many addresses as every
// other wallet has left out. Invalid for a list then: nobody knows which of its
// addresses were given out, as it need not be in the order that it had.
func begins(tx *models.Tx, k Key) (int64, error) {
	left, err := models.LeftOut(tx)
	if err != nil || left == 0 {
		return 0, err
	}
	var known int64
	err = tx.Model(&models.Wallet{}).Where("network = ? AND fingerprint = ?", string(k.net.Network()), k.Fingerprint()).Count(&known).Error
	if err != nil || known > 0 {
		return 0, err
	}
	if k.list != nil {
		return 0, refuse("This server was restored from a backup and doesn't know whether addresses of a list that it never saw were given to customers before. " +
			"Ask its operator to say that no list is missing (cointill restore --all-entered), or enter a public key instead.")
	}
	return min(left, Indexes), nil
}

// watchBefore leaves out a new wallet's addresses before the one that it begins with.
func (s *Service) watchBefore(tx *models.Tx, w models.Wallet) error {
	left, err := s.leaveOut(w, 0, w.NextIndex)
	if err != nil {
		return err
	}
	return watch(tx, left)
}
