package client

import (
	"net/http"

	"genkan/internal/gateway"
)

// ErrorCode is how a gateway.Code appears in an answer.
type ErrorCode struct {
	Status int
	Name   string
}

// ErrorCodes is the table of the REST API, with the seed's names and statuses. The
// API writes answers with it, and the client reads them.
//
//exhaustive:enforce
var ErrorCodes = map[gateway.Code]ErrorCode{
	gateway.CodeInternal: {http.StatusInternalServerError, "INTERNAL_ERROR"},
	gateway.CodeInvalid:  {http.StatusBadRequest, "VALIDATION_ERROR"},
	// A server's sign-in is missing. A caller without a good token never gets here.
	gateway.CodeUnauthenticated: {http.StatusBadGateway, "SIGN_IN_NEEDED"},
	gateway.CodeDenied:          {http.StatusForbidden, "AUTHORIZATION_ERROR"},
	gateway.CodeNotFound:        {http.StatusNotFound, "NOT_FOUND"},
	gateway.CodeConflict:        {http.StatusConflict, "CONFLICT"},
	gateway.CodeLimited:         {http.StatusTooManyRequests, "RATE_LIMIT_EXCEEDED"},
	gateway.CodeUnavailable:     {http.StatusServiceUnavailable, "UPSTREAM_UNAVAILABLE"},
	gateway.CodeTimeout:         {http.StatusRequestTimeout, "TIMEOUT"},
	gateway.CodeCanceled:        {499, "CANCELED"},
}

// CodeOf returns the code of an answer: by its name, or else by its status, for
// answers with a name of their own such as TOOL_DISABLED.
func CodeOf(name string, status int) gateway.Code {
	byStatus := gateway.CodeInternal
	for code, e := range ErrorCodes {
		if e.Name == name {
			return code
		}
		if e.Status == status {
			byStatus = code
		}
	}
	switch status {
	case http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return gateway.CodeInvalid
	case http.StatusUnauthorized:
		return gateway.CodeUnauthenticated
	case http.StatusInsufficientStorage:
		return gateway.CodeUnavailable
	default:
		return byStatus
	}
}
