package procfs

import (
	"slices"
	"strings"
)

// Names whose value is not to be kept: those that say so anywhere in them, and short
// ones that must be a word of the name ("tls-key", "AccountKey", not "monkey").
const (
	longSecret  = `[\w.-]*(?:passw|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|authorization|bearer|cookie|signature|csrf|xsrf|(?-i:[a-z]Key))[\w.-]*`
	shortSecret = `(?:[\w.-]*[._-])?(?:key|auth|psk|sig|pass|pw|pin|otp|sas|jwt|creds?|session|salt)(?:[._-][\w.-]*)?`
	secretName  = `(?:` + longSecret + `|` + shortSecret + `)`
)

var (
	// A name and its value in one argument: --password=x, PGPASSWORD=x,
	// "host=h password=x", "?token=x&y", {"secret":"x"}, "Authorization: Basic x".
	namedSecret = lazily(`(?i)((?:^|[^\w.-]|--?)` + secretName + `["']?\s*[=:]\s*)(?:(?:basic|bearer|token)\s+)?("[^"]*"|'[^']*'|[^\s&;,}]+)`)
	// A header or a setting that is an argument, or the value of a flag: all behind the name
	// is its value. Between quotes, as within a command for sh -c, all up to the next one is.
	secretHeader = lazily(`(?i)^((?:--?[\w-]+=)?\s*` + secretName + `\s*[:=]\s*).+$`)
	quotedHeader = lazily(`(?i)('\s*` + secretName + `\s*[:=]\s*)[^']+|("\s*` + secretName + `\s*[:=]\s*)[^"\\]+`)
	// A flag whose value is the next argument.
	secretFlag = lazily(`(?i)^--?` + secretName + `$`)
	// A flag whose value begins with a user's name: curl -u admin:x.
	userFlag  = lazily(`^(?:-u|--user|--proxy-user|-U)$`)
	userValue = lazily(`^([^:\s]*):.+$`)
	gluedUser = lazily(`^(--(?:proxy-)?user=|-[uU])([^:\s=/]+):.+$`)
	// ab and httpie call it -A and -a; others mean an address by that, which ends in digits.
	userOrAddress = lazily(`^-[aA]$`)
	userNoAddress = lazily(`^([^:\s/]+):(?:.*\D.*)$`)
	// The value glued to its flag, as mysql, 7z and sshpass take it: -pVALUE.
	gluedPassword = lazily(`^-p[^-=]`)
	ordinaryP     = lazily(`^-p(?:a(?:ge|rallel|rent|rs|rt|tch|th|ttern|use|yload)|ee[kr]|er(?:iod|cent|sist)|g(?:o|$)|hase|id|in?g|ipe|kg|l(?:ain|atform|ugin)|o(?:d|licy|ll|ol|rt|st)|re(?:fix|load|set|tty|view)|ri(?:nt|ority|vileged)|ro(?:be|c|d|file|gress|ject|m|to|vider|xy)|rof|u(?:blic|blish|ll|rge|sh|t))`)

	// The user information of a URL, of a driver's "user:pass@tcp(host)" and of
	// "user:pass@host/db".
	urlUser  = lazily(`([a-zA-Z][\w+.-]*://)(?:[^/?#\s]*@|[^/\s:@]*:[^\s@]*@)`)
	dsnUser  = lazily(`^([^\s:/@]+):[^\s]+@([a-z]+\()`)
	hostUser = lazily(`(^|[\s=,'"])([\w.+-]+):[^\s:/@*][^\s:@]*@([\w\[])`)

	// Values that show what they are by themselves: tokens of well-known services,
	// JSON web tokens, addresses that are a secret, and private keys.
	knownToken = lazily(`\b(?:gh[pousr]_\w{16,}|github_pat_\w{16,}|gl(?:pat|sa|dt|rt)[-_][\w-]{16,}|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|sk-[\w-]{16,}|[srp]k_(?:live|test)_\w{10,}|whsec_\w{10,}` +
		`|A(?:KIA|SIA)[A-Z0-9]{16}|eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|AIza[\w-]{20,}|ya29\.[\w-]{10,}|SG\.[\w-]{10,}\.[\w-]{10,}|npm_\w{16,}|pypi-[\w-]{16,}|hv[sbr]\.[\w-]{16,}|do[opr]_v1_\w{16,}` +
		`|dckr_pat_[\w-]{16,}|shp(?:at|ca|pa|ss)_\w{16,}|hf_\w{16,}|AGE-SECRET-KEY-1\w+|\d{8,10}:AA[\w-]{20,})`)
	hookURL    = lazily(`((?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks|api\.telegram\.org)/)\S+`)
	privateKey = lazily(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*-----|$)`)
)

const redacted = "***"

// Redact returns a command line with the values replaced by "***" that look
// secret: those of names such as password, secret, token or key, whether after
// "=", ":" or in the next argument; user information in URLs and data source
// names; tokens with a known shape. It rather takes too much than too little
// (--token-file loses its path). It cannot know a secret that looks like any other
// word; Withhold keeps no words.
func Redact(args []string) []string {
	args = bounded(args)
	out := make([]string, len(args))
	hideNext := false
	for i, arg := range args {
		if hideNext {
			out[i], hideNext = redacted, false
			continue
		}
		hideNext = i > 0 && secretFlag.MatchString(arg)
		switch {
		case i > 0 && userFlag.MatchString(args[i-1]) && userValue.MatchString(arg):
			out[i] = userValue.ReplaceAllString(arg, "${1}:"+redacted)
		case i > 0 && userOrAddress.MatchString(args[i-1]) && userNoAddress.MatchString(arg):
			out[i] = userNoAddress.ReplaceAllString(arg, "${1}:"+redacted)
		case i > 0 && gluedUser.MatchString(arg):
			out[i] = gluedUser.ReplaceAllString(arg, "${1}${2}:"+redacted)
		case i > 0 && gluedPassword.MatchString(arg) && !ordinaryP.MatchString(arg):
			out[i] = "-p" + redacted
		default:
			out[i] = RedactText(arg)
		}
	}
	return out
}

// How much of a command line is kept: a program may have megabytes of it, and would
// hold up who looks at it. mostArg is of one argument, mostArgs of all, in bytes.
const (
	mostArg  = 4 << 10
	mostArgs = 16 << 10
)

// bounded cuts what is beyond these, where Withheld stands then. What is left has no
// more arguments than were given.
func bounded(args []string) []string {
	left, out := mostArgs, args
	for i, arg := range args {
		if len(arg) > mostArg {
			if &out[0] == &args[0] {
				out = slices.Clone(args)
			}
			arg = strings.ToValidUTF8(arg[:mostArg], "") + Withheld
			out[i] = arg
		}
		if left -= len(arg) + 1; left < 0 {
			return append(slices.Clone(out[:i]), Withheld)
		}
	}
	return out
}

// RedactText redacts within one argument, or within words of another kind. What a
// pattern needs is looked for first, as most arguments have none of it.
func RedactText(text string) string {
	has := func(part string) bool { return strings.Contains(text, part) }
	if has("-----BEGIN") {
		text = privateKey.ReplaceAllString(text, redacted)
	}
	if has("/") {
		text = hookURL.ReplaceAllString(text, "${1}"+redacted)
	}
	if has("@") {
		text = urlUser.ReplaceAllString(text, "${1}"+redacted+"@")
		text = dsnUser.ReplaceAllString(text, redacted+"@${2}")
		text = hostUser.ReplaceAllString(text, "${1}"+redacted+"@${3}")
	}
	if len(text) >= shortestToken {
		text = knownToken.ReplaceAllString(text, redacted)
	}
	if !strings.ContainsAny(text, "=:") {
		return text
	}
	if !has("\n") {
		text = secretHeader.ReplaceAllString(text, "${1}"+redacted)
	}
	if strings.ContainsAny(text, `"'`) {
		text = quotedHeader.ReplaceAllString(text, "${1}${2}"+redacted)
	}
	return namedSecret.ReplaceAllString(text, "${1}"+redacted)
}

// shortestToken is the length of the shortest that knownToken matches.
const shortestToken = 15
