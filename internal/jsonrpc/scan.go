package jsonrpc

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"genkan/internal/gateway"
)

// scanner walks one message. It is a plain recursive descent over the few
// objects that we look into, and an iterative skip over everything else.
type scanner struct {
	data []byte
	msg  Message
	// breaks is set when a CR or LF stands between tokens.
	breaks bool
}

func (s *scanner) fail(at int, reason string) error {
	return &ScanError{Code: CodeParse, Reason: gateway.Text{Format: reason}, At: at}
}

func (s *scanner) refuse(at int, reason string, values ...any) error {
	return &ScanError{Code: CodeInvalidRequest, Reason: gateway.Textf(reason, values...), At: at}
}

// invalidUTF8 refuses text that servers read in different ways, and that some
// die of.
func (s *scanner) invalidUTF8() error { return s.fail(0, "the message is not valid UTF-8") }

// message scans the envelope and decides what kind of message it is.
func (s *scanner) message() error {
	if len(s.data) > MaxMessage {
		return s.refuse(0, "the message is larger than %d MiB", MaxMessage>>20)
	}
	if !utf8.Valid(s.data) {
		return s.invalidUTF8()
	}
	i := s.space(0)
	if i < len(s.data) && s.data[i] == '[' {
		return s.refuse(i, "batches are not supported: send each message by itself")
	}
	var seen keySet
	var version, method, params, result gateway.Span
	var hasParams, hasResult, hasID bool
	end, err := s.object(i, 1, func(key []byte, at, vi int) (int, error) {
		if err := seen.add(s, key, at, envelopeKeys); err != nil {
			return 0, err
		}
		switch string(key) {
		case "params":
			hasParams = true
			end, err := s.params(vi)
			params = span(vi, end)
			return end, err
		case "result":
			hasResult = true
			end, err := s.result(vi)
			result = span(vi, end)
			return end, err
		}
		end, err := s.skip(vi, 1)
		if err != nil {
			return 0, err
		}
		switch string(key) {
		case "jsonrpc":
			version = span(vi, end)
		case "id":
			s.msg.ID = s.data[vi:end:end]
			hasID = true
		case "method":
			method = span(vi, end)
		case "error":
			if s.data[vi] != '{' {
				return 0, s.refuse(vi, "error must be an object")
			}
			s.msg.Error = s.data[vi:end:end]
		}
		return end, nil
	})
	if err != nil {
		return err
	}
	if end = s.space(end); end != len(s.data) {
		return s.fail(end, "there is more after the end of the message")
	}
	if s.breaks {
		blankLineBreaks(s.data)
	}
	if hasID && !idIsValid(s.msg.ID) {
		// A null id is what an error answer to an unreadable request carries.
		if !(s.msg.Error != nil && string(s.msg.ID) == "null") {
			s.msg.ID = nil
			return s.refuse(0, "id must be a string or a number")
		}
		s.msg.ID = nil
	}
	if string(s.data[version.Start:version.End]) != `"2.0"` {
		return s.refuse(0, `jsonrpc must be "2.0"`)
	}
	kinds := 0
	if method.Present() {
		kinds++
		name, ok := Unquote(s.data[method.Start:method.End])
		if !ok {
			return s.refuse(int(method.Start), "method must be a string")
		}
		s.msg.Method = methodName(name)
		s.msg.Kind = Notification
		if hasID {
			s.msg.Kind = Request
		}
		if hasParams {
			if s.data[params.Start] != '{' {
				return s.refuse(int(params.Start), "params must be an object")
			}
			s.msg.Params.Raw = s.data[params.Start:params.End:params.End]
			s.msg.Params = rebase(s.msg.Params, params.Start)
		}
	}
	if hasResult {
		kinds++
		if s.data[result.Start] != '{' {
			return s.refuse(int(result.Start), "result must be an object")
		}
		s.msg.Kind = Response
		s.msg.Result.Raw = s.data[result.Start:result.End:result.End]
	}
	if s.msg.Error != nil {
		kinds++
		s.msg.Kind = ErrorResponse
	}
	if kinds != 1 {
		return s.refuse(0, "a message has exactly one of method, result and error")
	}
	if s.msg.Kind == Response && !hasID {
		return s.refuse(0, "a response needs an id")
	}
	return nil
}

// params scans a params value; spans are relative to the whole message until
// rebase.
func (s *scanner) params(i int) (int, error) {
	if i >= len(s.data) || s.data[i] != '{' {
		return s.skip(i, 1)
	}
	var seen keySet
	p := &s.msg.Params
	return s.object(i, 2, func(key []byte, at, vi int) (int, error) {
		if err := seen.add(s, key, at, paramsKeys); err != nil {
			return 0, err
		}
		if string(key) == "_meta" {
			end, err := s.meta(vi)
			p.Meta = span(vi, end)
			return end, err
		}
		end, err := s.skip(vi, 2)
		if err != nil {
			return 0, err
		}
		switch string(key) {
		case "name":
			p.Name = span(vi, end)
		case "arguments":
			p.Arguments = span(vi, end)
		case "uri":
			p.URI = span(vi, end)
		case "cursor":
			p.Cursor = span(vi, end)
		case "inputResponses":
			p.InputResponses = span(vi, end)
		case "requestState":
			p.RequestState = span(vi, end)
		case "task":
			p.Task = span(vi, end)
		}
		return end, nil
	})
}

func (s *scanner) meta(i int) (int, error) {
	if i >= len(s.data) || s.data[i] != '{' {
		return 0, s.refuse(i, "_meta must be an object")
	}
	var seen keySet
	p := &s.msg.Params
	return s.object(i, 3, func(key []byte, at, vi int) (int, error) {
		if err := seen.add(s, key, at, metaKeys); err != nil {
			return 0, err
		}
		end, err := s.skip(vi, 3)
		if err != nil {
			return 0, err
		}
		switch string(key) {
		case "progressToken":
			p.ProgressToken = span(vi, end)
		case MetaVersion:
			p.Version = span(vi, end)
		case MetaClientInfo:
			p.ClientInfo = span(vi, end)
		case MetaClientCapabilities:
			p.ClientCapabilities = span(vi, end)
		case MetaLogLevel:
			p.LogLevel = span(vi, end)
		}
		return end, nil
	})
}

// result scans a result value for what the house decides by.
func (s *scanner) result(i int) (int, error) {
	if i >= len(s.data) || s.data[i] != '{' {
		return s.skip(i, 1)
	}
	var seenType, seenError bool
	r := &s.msg.Result
	return s.object(i, 2, func(key []byte, at, vi int) (int, error) {
		end, err := s.skip(vi, 2)
		if err != nil {
			return 0, err
		}
		switch string(key) {
		case "resultType":
			if seenType {
				return 0, s.refuse(at, `"resultType" stands twice`)
			}
			seenType = true
			r.Type = resultType(s.data[vi:end])
		case "isError":
			if seenError {
				return 0, s.refuse(at, `"isError" stands twice`)
			}
			seenError = true
			r.IsError = string(s.data[vi:end]) == "true"
		case "_meta":
			if r.HasMeta {
				return 0, s.refuse(at, `"_meta" stands twice`)
			}
			r.HasMeta = true
		}
		return end, nil
	})
}

func resultType(raw []byte) gateway.ResultType {
	switch name, _ := Unquote(raw); string(name) {
	case "complete":
		return gateway.ResultComplete
	case "input_required":
		return gateway.ResultInputRequired
	default:
		return gateway.ResultOther
	}
}

// object walks the members of the object at i. The visitor gets the unescaped
// key, where it stands, and where the value begins; it returns the value's end.
func (s *scanner) object(i, depth int, visit func(key []byte, at, vi int) (int, error)) (int, error) {
	d := s.data
	if i >= len(d) {
		return 0, s.fail(i, "the message ends too early")
	}
	if d[i] != '{' {
		return 0, s.fail(i, "an object was expected")
	}
	if depth > MaxDepth {
		return 0, s.refuse(i, "the message nests too deep")
	}
	i = s.space(i + 1)
	if i < len(d) && d[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(d) || d[i] != '"' {
			return 0, s.fail(i, "a key was expected")
		}
		end, escaped, err := s.str(i)
		if err != nil {
			return 0, err
		}
		key := d[i+1 : end-1]
		if escaped {
			key, _ = Unquote(d[i:end])
		}
		vi := s.space(end)
		if vi >= len(d) || d[vi] != ':' {
			return 0, s.fail(vi, "a colon was expected")
		}
		vi = s.space(vi + 1)
		if vi >= len(d) {
			return 0, s.fail(vi, "the message ends too early")
		}
		next, err := visit(key, i, vi)
		if err != nil {
			return 0, err
		}
		i = s.space(next)
		if i >= len(d) {
			return 0, s.fail(i, "the message ends too early")
		}
		switch d[i] {
		case ',':
			i = s.space(i + 1)
		case '}':
			return i + 1, nil
		default:
			return 0, s.fail(i, "a comma or the end of an object was expected")
		}
	}
}

// skip checks the value at i and returns where it ends. depth is how many
// objects and arrays are open around it.
func (s *scanner) skip(i, depth int) (int, error) {
	d := s.data
	var objects [MaxDepth/64 + 1]uint64 // a bit per open container: 1 is an object
	open := 0
	for {
		if i >= len(d) {
			return 0, s.fail(i, "the message ends too early")
		}
		var err error
		switch c := d[i]; c {
		case '"':
			i, _, err = s.str(i)
		case '{', '[':
			if depth+open >= MaxDepth {
				return 0, s.refuse(i, "the message nests too deep")
			}
			word, bit := open>>6, uint64(1)<<(open&63)
			open++
			i = s.space(i + 1)
			if c == '{' {
				objects[word] |= bit
				if i < len(d) && d[i] != '}' {
					if i, err = s.key(i); err != nil {
						return 0, err
					}
					continue
				}
			} else {
				objects[word] &^= bit
				if i < len(d) && d[i] != ']' {
					continue
				}
			}
		case 't':
			i, err = s.literal(i, "true")
		case 'f':
			i, err = s.literal(i, "false")
		case 'n':
			i, err = s.literal(i, "null")
		default:
			i, err = s.number(i)
		}
		if err != nil {
			return 0, err
		}
		// After a value, or at the end of an empty container: close what ends
		// here, until a comma asks for another value.
		for {
			if open == 0 {
				return i, nil
			}
			i = s.space(i)
			if i >= len(d) {
				return 0, s.fail(i, "the message ends too early")
			}
			top := open - 1
			isObject := objects[top>>6]&(1<<(top&63)) != 0
			switch c := d[i]; {
			case c == ',':
				i = s.space(i + 1)
				if isObject {
					if i, err = s.key(i); err != nil {
						return 0, err
					}
				}
			case c == '}' && isObject, c == ']' && !isObject:
				open--
				i++
				continue
			default:
				return 0, s.fail(i, "a comma or the end of a container was expected")
			}
			break
		}
	}
}

// key checks a key and its colon, and returns where the value begins.
func (s *scanner) key(i int) (int, error) {
	d := s.data
	if i >= len(d) || d[i] != '"' {
		return 0, s.fail(i, "a key was expected")
	}
	i, _, err := s.str(i)
	if err != nil {
		return 0, err
	}
	if i = s.space(i); i >= len(d) || d[i] != ':' {
		return 0, s.fail(i, "a colon was expected")
	}
	return s.space(i + 1), nil
}

func (s *scanner) space(i int) int {
	d := s.data
	for i < len(d) {
		switch d[i] {
		case ' ', '\t':
		case '\n', '\r':
			s.breaks = true
		default:
			return i
		}
		i++
	}
	return i
}

func (s *scanner) literal(i int, word string) (int, error) {
	if len(s.data)-i < len(word) || string(s.data[i:i+len(word)]) != word {
		return 0, s.fail(i, "this is not a JSON value")
	}
	return i + len(word), nil
}

func (s *scanner) number(i int) (int, error) {
	d := s.data
	start := i
	if d[i] == '-' {
		i++
	}
	switch {
	case i < len(d) && d[i] == '0':
		i++
	case i < len(d) && d[i] >= '1' && d[i] <= '9':
		i = digits(d, i)
	default:
		return 0, s.fail(start, "this is not a JSON value")
	}
	if i < len(d) && d[i] == '.' {
		from := i + 1
		if i = digits(d, from); i == from {
			return 0, s.fail(start, "this is not a JSON number")
		}
	}
	if i < len(d) && (d[i] == 'e' || d[i] == 'E') {
		i++
		if i < len(d) && (d[i] == '+' || d[i] == '-') {
			i++
		}
		from := i
		if i = digits(d, from); i == from {
			return 0, s.fail(start, "this is not a JSON number")
		}
	}
	return i, nil
}

func digits(d []byte, i int) int {
	for i < len(d) && d[i] >= '0' && d[i] <= '9' {
		i++
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str checks the string at i and returns where it ends and whether it has
// escapes. Eight bytes are looked at together: most of a large message is the
// inside of strings.
func (s *scanner) str(i int) (end int, escaped bool, err error) {
	d := s.data
	start := i
	i++
	for {
		for len(d)-i >= 8 {
			w := binary.LittleEndian.Uint64(d[i:])
			quote := w ^ (ones * '"')
			slash := w ^ (ones * '\\')
			// A byte's high bit is set where it is a quote, a backslash or a
			// control character. Borrows can only set bits above a true hit,
			// and only the lowest hit is used.
			hit := ((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((w - ones*0x20) &^ w)
			if hit &= highs; hit != 0 {
				i += bits.TrailingZeros64(hit) >> 3
				break
			}
			i += 8
		}
		if i >= len(d) {
			return 0, false, s.fail(start, "a string has no end")
		}
		switch c := d[i]; {
		case c == '"':
			return i + 1, escaped, nil
		case c == '\\':
			escaped = true
			if i, err = s.escape(i); err != nil {
				return 0, false, err
			}
		case c < 0x20:
			return 0, false, s.fail(i, "a control character stands unescaped in a string")
		default:
			i++
		}
	}
}

func (s *scanner) escape(i int) (int, error) {
	d := s.data
	if i+1 >= len(d) {
		return 0, s.fail(i, "a string has no end")
	}
	switch d[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, nil
	case 'u':
		if len(d)-i < 6 || !isHex(d[i+2]) || !isHex(d[i+3]) || !isHex(d[i+4]) || !isHex(d[i+5]) {
			return 0, s.fail(i, "a \\u escape needs four hexadecimal digits")
		}
		return i + 6, nil
	default:
		return 0, s.fail(i, "this escape is not JSON's")
	}
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// blankLineBreaks overwrites CR and LF. In a checked message they stand only
// between tokens.
func blankLineBreaks(d []byte) {
	for _, c := range []byte{'\n', '\r'} {
		for i := 0; ; i++ {
			n := bytes.IndexByte(d[i:], c)
			if n < 0 {
				break
			}
			i += n
			d[i] = ' '
		}
	}
}

func span(start, end int) gateway.Span {
	return gateway.Span{Start: uint32(start), End: uint32(end)} //nolint:gosec // a message is at most MaxMessage
}

// rebase makes spans of the message into spans of its params.
func rebase(p gateway.Params, start uint32) gateway.Params {
	for _, s := range []*gateway.Span{
		&p.Name, &p.Arguments, &p.URI, &p.Cursor, &p.Meta, &p.InputResponses, &p.RequestState, &p.Task,
		&p.ProgressToken, &p.Version, &p.ClientInfo, &p.ClientCapabilities, &p.LogLevel,
	} {
		if s.Present() {
			s.Start -= start
			s.End -= start
		}
	}
	return p
}
