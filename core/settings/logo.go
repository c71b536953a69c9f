package settings

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	_ "image/jpeg" // read, not written
	"image/png"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // likewise
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// The bounds of a logo. Pixels are counted before a picture is unpacked: a small
// file may hold a huge one.
const (
	MaxLogo   = 512 << 10 // bytes of the file
	maxPixels = 8 << 20
	minSide   = 32
	logoSide  = 512 // of what is kept, at most
)

// SetLogo makes a PNG, JPEG or WebP file the logo. What is kept is a new PNG of
// its pixels, at most 512 wide and high: nothing else that stood in the file.
// Invalid (logo).
func (s *Service) SetLogo(ctx context.Context, sc scope.Scope, file []byte) error {
	if err := sc.Can(scope.ManageBusiness); err != nil {
		return err
	}
	picture, sentence := redrawn(file)
	if sentence != "" {
		return fault.Validation(fault.Fields{"logo": {sentence}})
	}
	sum := sha256.Sum256(picture)
	hash := hex.EncodeToString(sum[:16])
	return s.replaceLogo(ctx, sc, "settings.logo_changed", hash, func(tx *models.Tx) error {
		row := models.Logo{BusinessID: sc.BusinessID, Hash: hash, Image: picture, UpdatedAt: s.Clock()}
		return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "business_id"}}, DoUpdates: clause.AssignmentColumns([]string{"hash", "image", "updated_at"})}).Create(&row).Error
	})
}

// RemoveLogo takes the logo away.
func (s *Service) RemoveLogo(ctx context.Context, sc scope.Scope) error {
	if err := sc.Can(scope.ManageBusiness); err != nil {
		return err
	}
	return s.replaceLogo(ctx, sc, "settings.logo_removed", "", func(tx *models.Tx) error {
		return tx.Where("business_id = ?", sc.BusinessID).Delete(&models.Logo{}).Error
	})
}

func (s *Service) replaceLogo(ctx context.Context, sc scope.Scope, action, hash string, write func(*models.Tx) error) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		business, err := locked(tx, sc)
		if err != nil || business.LogoHash == hash {
			return err
		}
		if err := write(tx); err != nil {
			return err
		}
		changed := tx.Model(&models.Business{}).Where("id = ?", sc.BusinessID).Updates(map[string]any{"logo_hash": hash, "updated_at": s.Clock()})
		if changed.Error != nil {
			return changed.Error
		}
		return audit.Append(tx, sc, s.Clock(), audit.Act{Action: action, Subject: business.Code, Detail: map[string]string{"before": business.LogoHash, "after": hash}})
	})
}

// redrawn is a picture as a PNG of ours, or a sentence that says why it is none.
func redrawn(file []byte) (picture []byte, sentence string) {
	if len(file) > MaxLogo {
		return nil, "The file has more than 512 KB. Choose a smaller one."
	}
	head, _, err := image.DecodeConfig(bytes.NewReader(file))
	switch {
	case err != nil:
		return nil, "This is no PNG, JPEG or WebP picture."
	case head.Width < minSide || head.Height < minSide:
		return nil, "The picture is too small: it needs 32 pixels on each side."
	case head.Width > maxPixels/head.Height:
		return nil, "The picture has more than 8 million pixels. Make it smaller first: 512 on its longer side are enough."
	}
	full, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, "The picture is damaged and can't be read."
	}
	size := full.Bounds().Size()
	if longest := max(size.X, size.Y); longest > logoSide {
		size.X, size.Y = max(size.X*logoSide/longest, 1), max(size.Y*logoSide/longest, 1)
	}
	small := image.NewNRGBA(image.Rectangle{Max: size})
	draw.CatmullRom.Scale(small, small.Bounds(), full, full.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	if err := png.Encode(&out, small); err != nil {
		return nil, "The picture can't be redrawn."
	}
	return out.Bytes(), ""
}

// Logo is the picture of a business by its code and the picture's name. NotFound
// also when it was replaced meanwhile.
func (s *Service) Logo(ctx context.Context, code, hash string) ([]byte, error) {
	var row models.Logo
	err := s.DB.Read(ctx).Joins("JOIN businesses ON businesses.id = logos.business_id").
		Where("businesses.code = ? AND logos.hash = ?", code, hash).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, fault.Missing("logo")
	}
	return row.Image, err
}

// LogoPath is where a business's logo is served; empty without one.
func LogoPath(b models.Business) string {
	if b.LogoHash == "" {
		return ""
	}
	return "/logo/" + b.Code + "/" + b.LogoHash + ".png"
}
