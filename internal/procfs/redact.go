package procfs

import (
	"regexp"
	"strings"
)

// secretName matches a name whose value is not to be kept.
const secretName = `[\w.-]*(?:passw|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|authorization|bearer|cookie)[\w.-]*`

var (
	// A name and its value in one argument: --password=x, PGPASSWORD=x,
	// "host=h password=x", "?token=x&y", "Authorization: Basic x".
	namedSecret = regexp.MustCompile(`(?i)(` + secretName + `\s*[=:]\s*)(?:(?:basic|bearer|token)\s+)?("[^"]*"|'[^']*'|[^\s&;,]+)`)
	// A flag whose value is the next argument.
	secretFlag = regexp.MustCompile(`(?i)^--?` + secretName + `$`)
	// The user information of a URL, and that of a driver's "user:pass@tcp(host)".
	urlUser = regexp.MustCompile(`([a-zA-Z][\w+.-]*://)[^/?#\s]*@`)
	dsnUser = regexp.MustCompile(`^([^\s:/@]+):[^\s]+@([a-z]+\()`)
	// Values that show what they are by themselves: tokens of well-known
	// services, and JSON web tokens.
	knownToken = regexp.MustCompile(`\b(?:gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[a-z]-[\w-]{10,}|sk-[\w-]{16,}|[sr]k_(?:live|test)_\w{10,}|A(?:KIA|SIA)[A-Z0-9]{16}|eyJ[\w-]{8,}\.[\w-]+\.[\w-]*)`)
)

const redacted = "***"

// Redact returns a command line with the values replaced by "***" that look
// secret: those of names such as password, secret, token, api-key, whether
// after "=", ":" or in the next argument; user information in URLs and data
// source names; tokens with a known shape. It rather takes too much than too
// little (--token-file loses its path). It cannot know a secret that stands for
// itself, such as mysql's -pVALUE.
func Redact(args []string) []string {
	out := make([]string, len(args))
	hideNext := false
	for i, arg := range args {
		switch {
		case hideNext && !strings.HasPrefix(arg, "--"):
			out[i] = redacted
			hideNext = false
			continue
		case i > 0 && secretFlag.MatchString(arg):
			hideNext = true
		default:
			hideNext = false
		}
		out[i] = redactArg(arg)
	}
	return out
}

// redactArg redacts within one argument.
func redactArg(arg string) string {
	arg = urlUser.ReplaceAllString(arg, "${1}"+redacted+"@")
	arg = dsnUser.ReplaceAllString(arg, redacted+"@${2}")
	arg = namedSecret.ReplaceAllString(arg, "${1}"+redacted)
	return knownToken.ReplaceAllString(arg, redacted)
}
