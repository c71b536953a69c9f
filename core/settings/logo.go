package settings

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	_ "image/jpeg" // read, not written
	"image/png"
	"time"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // likewise
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
	logoSide  = 512 // the longest side of a stored logo, in pixels
	// pictureWait is how long a picture waits for the memory that others have.
	pictureWait = 5 * time.Second
)

// SetLogo makes a PNG, JPEG or WebP file the logo. It is stored as a new PNG of its pixels, at
// most 512 wide and high: nothing else that stood in the file. Invalid (logo).
func (s *Service) SetLogo(ctx context.Context, sc scope.Scope, file []byte) error {
	if err := sc.CheckAction(scope.ManageBusiness); err != nil {
		return err
	}
	picture, sentence, err := s.redrawLogo(ctx, file)
	if err != nil {
		return err
	}
	if !sentence.IsZero() {
		return fault.Validation(fault.Fields{"logo": {sentence}})
	}
	sum := sha256.Sum256(picture)
	hash := hex.EncodeToString(sum[:16])
	return s.replaceLogo(ctx, sc, "settings.logo_changed", hash, func(tx *models.Tx) error {
		row := models.Logo{BusinessID: sc.BusinessID, Hash: hash, Image: picture, UpdatedAt: s.Clock()}
		return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "business_id"}},
			DoUpdates: clause.AssignmentColumns([]string{"hash", "image", "updated_at"})}).Create(&row).Error
	})
}

// RemoveLogo takes the logo away.
func (s *Service) RemoveLogo(ctx context.Context, sc scope.Scope) error {
	if err := sc.CheckAction(scope.ManageBusiness); err != nil {
		return err
	}
	return s.replaceLogo(ctx, sc, "settings.logo_removed", "", func(tx *models.Tx) error {
		return tx.Where("business_id = ?", sc.BusinessID).Delete(&models.Logo{}).Error
	})
}

func (s *Service) replaceLogo(ctx context.Context, sc scope.Scope, action, hash string,
	write func(*models.Tx) error) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		business, err := lockBusiness(tx, sc)
		if err != nil || business.LogoHash == hash {
			return err
		}
		if err := write(tx); err != nil {
			return err
		}
		changed := tx.Model(&models.Business{}).Where("id = ?", sc.BusinessID).
			Updates(map[string]any{"logo_hash": hash, "updated_at": s.Clock()})
		if changed.Error != nil {
			return changed.Error
		}
		return audit.AppendAct(tx, sc, s.Clock(), audit.Act{Action: action, Subject: business.Code,
			Detail: map[string]string{"before": business.LogoHash, "after": hash}})
	})
}

// redrawLogo makes a picture a PNG of ours, or says in a sentence why it is none. Unavailable when
// others have the memory for it.
func (s *Service) redrawLogo(ctx context.Context, file []byte) (picture []byte, sentence fault.Message, err error) {
	width, height, sentence := measurePicture(file)
	if !sentence.IsZero() {
		return nil, sentence, nil
	}
	need := memoryOf(width, height)
	if need > s.Pictures.Most() {
		return nil, fault.NewMessage("The picture has more pixels than this server has memory for. Make it smaller " +
			"first: 512 on its longer side are enough."), nil
	}
	ctx, cancel := context.WithTimeout(ctx, pictureWait)
	defer cancel()
	if !s.Pictures.Wait(ctx, need) {
		return nil, fault.Message{}, fault.Retry("busy", pictureWait,
			"The server reads other pictures. Try again in a moment.")
	}
	defer s.Pictures.Give(need)
	picture, sentence = redrawPicture(file)
	return picture, sentence, nil
}

// memoryOf bounds what redrawing a picture allocates, in bytes: a progressive JPEG takes 15 for
// each pixel, and making it smaller a row of 16 KiB for each on its shorter side.
func memoryOf(width, height int) int64 {
	return 16*int64(width)*int64(height) + 16<<10*int64(min(width, height))
}

// measurePicture reads how large a picture is, or says in a sentence why it can't be a logo.
func measurePicture(file []byte) (width, height int, sentence fault.Message) {
	if len(file) > MaxLogo {
		return 0, 0, fault.NewMessage("The file is larger than 512 KB. Choose a smaller one.")
	}
	head, _, err := image.DecodeConfig(bytes.NewReader(file))
	switch {
	case err != nil:
		return 0, 0, fault.NewMessage("This is no PNG, JPEG or WebP picture.")
	case head.Width < minSide || head.Height < minSide:
		return 0, 0, fault.NewMessage("The picture is too small: it needs 32 pixels on each side.")
	case head.Width > maxPixels/head.Height:
		return 0, 0, fault.NewMessage("The picture has more than 8 million pixels. Make it smaller first: 512 on " +
			"its longer side are enough.")
	}
	return head.Width, head.Height, fault.Message{}
}

// redrawPicture returns a picture that was measured as a PNG of ours.
func redrawPicture(file []byte) (picture []byte, sentence fault.Message) {
	full, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, fault.NewMessage("The picture is damaged and can't be read.")
	}
	size := full.Bounds().Size()
	if longest := max(size.X, size.Y); longest > logoSide {
		size.X, size.Y = max(size.X*logoSide/longest, 1), max(size.Y*logoSide/longest, 1)
	}
	small := image.NewNRGBA(image.Rectangle{Max: size})
	draw.CatmullRom.Scale(small, small.Bounds(), full, full.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	if err := png.Encode(&out, small); err != nil {
		return nil, fault.NewMessage("The picture can't be redrawn.")
	}
	return out.Bytes(), fault.Message{}
}

// ReadLogo reads the picture of a business by its code and the picture's name. NotFound
// also when it was replaced meanwhile.
func (s *Service) ReadLogo(ctx context.Context, code, hash string) ([]byte, error) {
	var row models.Logo
	err := s.DB.Read(ctx).Joins("JOIN businesses ON businesses.id = logos.business_id").
		Where("businesses.code = ? AND logos.hash = ?", code, hash).Take(&row).Error
	return row.Image, fault.MissingRow(err, "logo")
}

// LogoPath is where a business's logo is served; empty without one.
func LogoPath(b models.Business) string {
	if b.LogoHash == "" {
		return ""
	}
	return "/logo/" + b.Code + "/" + b.LogoHash + ".png"
}
