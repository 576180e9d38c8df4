package jsonrpc

import (
	"strconv"

	"genkan/internal/gateway"
)

// Edit replaces a span of bytes, or inserts where the span is empty.
type Edit struct {
	At   gateway.Span
	With []byte
}

// Splice appends raw to dst with the edits made. Edits must be in order and
// must not overlap.
func Splice(dst, raw []byte, edits ...Edit) []byte {
	from := uint32(0)
	for _, e := range edits {
		dst = append(dst, raw[from:e.At.Start]...)
		dst = append(dst, e.With...)
		from = e.At.End
	}
	return append(dst, raw[from:]...)
}

// AppendRequestHead appends a request up to where the params go. Close it with
// a brace.
func AppendRequestHead(dst []byte, id uint64, method string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = strconv.AppendUint(dst, id, 10)
	dst = append(dst, `,"method":"`...)
	dst = append(dst, method...)
	return append(dst, `","params":`...)
}

// AppendNotification appends a whole notification. Params may be nil.
func AppendNotification(dst []byte, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"`...)
	dst = append(dst, method...)
	dst = append(dst, '"')
	if params != nil {
		dst = append(dst, `,"params":`...)
		dst = append(dst, params...)
	}
	return append(dst, '}')
}

// AppendResultHead appends a response up to where the result goes. Close it
// with a brace.
func AppendResultHead(dst, id []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	return append(dst, `,"result":`...)
}

// AppendResult appends a whole response.
func AppendResult(dst, id, result []byte) []byte {
	return append(append(AppendResultHead(dst, id), result...), '}')
}

// AppendErrorObject appends a whole error response around an error object.
// A nil id is what a request that could not be read gets.
func AppendErrorObject(dst, id, object []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		dst = append(dst, "null"...)
	}
	dst = append(dst, id...)
	dst = append(dst, `,"error":`...)
	return append(append(dst, object...), '}')
}

// ErrorObject encodes an error object. Data may be nil.
func ErrorObject(code int, message string, data []byte) []byte {
	b := append([]byte(nil), `{"code":`...)
	b = strconv.AppendInt(b, int64(code), 10)
	b = append(b, `,"message":`...)
	b = AppendQuoted(b, message)
	if data != nil {
		b = append(b, `,"data":`...)
		b = append(b, data...)
	}
	return append(b, '}')
}

// AppendRequest appends a whole request under an encoded id.
func AppendRequest(dst, id []byte, method string, params []byte) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = append(append(dst, `,"method":"`...), method...)
	return append(append(append(dst, `","params":`...), params...), '}')
}
