package kb

import (
	"bytes"
	"context"
	"encoding/json"
)

// everyPage is the number of items that Every reads at once.
const everyPage = 200

// Every passes all items to give, complete, with their former references and in the
// order of their ids, until give fails. Each item is passed in its state at the time
// it is read. Items that are created or deleted meanwhile may be left out.
func (b *Base) Every(ctx context.Context, give func(item Item, former []Ref) error) (err error) {
	defer b.stamp(&err)
	for after := int64(0); ; {
		// These items lack their neighbours, which are read with each item.
		page, err := b.store.Items(ctx, after, everyPage)
		if err != nil || len(page) == 0 {
			return err
		}
		ids := make([]int64, len(page))
		for i := range page {
			ids[i] = page[i].ID
		}
		former, err := b.store.Former(ctx, ids)
		if err != nil {
			return err
		}
		for i := range page {
			after = page[i].ID
			found, ok, err := b.store.Item(ctx, after)
			if err != nil {
				return err
			}
			if !ok || found.Item.ID != after { // the item was deleted or has a new id
				continue
			}
			if err := give(found.Item, former[after]); err != nil {
				return err
			}
		}
	}
}

// EncodeItem encodes an item as get_item_detail does, with its former references, on
// one line.
func EncodeItem(item Item, former []Ref) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	answer := newItemAnswer(Found{Item: item})
	if len(former) > 0 {
		answer.Former = refTexts(former)
	}
	err := e.Encode(answer)
	return b.Bytes(), err
}
