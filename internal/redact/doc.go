// Package redact takes secrets out of texts: values that genkan holds, values whose
// names say that they are secret, and tokens of a well-known form.
//
// A text is read the way programs write it. A JSON string is decoded before it is
// searched, also inside of another string, and so are percent-encoding, HTML
// entities, base64 and hexadecimal digits. A view keeps for each decoded byte where
// it comes from, so a secret is replaced in the text as it was written, and all
// other bytes stay.
//
// All work is linear in the length of the text. The package imports gateway and the
// standard library only.
package redact
