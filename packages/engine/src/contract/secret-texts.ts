// Taking secrets out of a text, by their shape and by the name that stands before them.
//
// Texts are written by people and programs in every form, so this guesses: it rather takes a harmless word than leaves a
// password. It is linear in the length of the text, because every log line passes through it.
import { PRIVATE_KEY, suspectName, suspectText, TOKEN_START, TOKENS } from './secrets.ts'

const REST = '[\\w.~+/=-]*'
/** All but the whole text that is a JSON Web Token: the last one finds those too, and in linear time. */
const TOKENS_ANYWHERE = TOKENS.filter(([{ source }]) => !source.startsWith('^eyJ')).map(
  ([{ source }]) => new RegExp(source.replace(/^\^|\$$/g, '') + REST, 'g'),
)
const WHOLE_PRIVATE_KEY = new RegExp(
  `${PRIVATE_KEY.source}[^]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)`,
  'g',
)
/** Up to the last @ before the path; a password may hold slashes, where a port cannot be meant. */
const PASSWORD_IN_URL =
  /(:\/\/[^\s/?#:@]{0,200}:)(?!\**@)(?:[^\s/?#]{0,300}|(?!\d{1,5}[/?#])[^\s"'<>@]{0,300})@(?=[\w.[-])/g
const CARD_ANYWHERE = /(?<![\d.-])(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{4}|3[47]\d{2}([ -]?)\d{6}\2\d{5})(?![\d.-])/g

/** `hint` is a quick look; the first group of `pattern` stays. */
interface Form {
  readonly hint: RegExp
  readonly pattern: RegExp
}

const FORMS: readonly Form[] = [
  // "Bearer of good news" is none.
  { hint: /bearer/i, pattern: /()\bbearer[ \t]+(?:[\w.~+/=-]{16,}|(?=[a-z._~+/=-]{0,15}\d)[\w.~+/=-]{6,})/gi },
  { hint: /basic/i, pattern: /()\bbasic[ \t]+(?=[A-Za-z+/]*[\d=])[A-Za-z0-9+/]{6,}={0,2}/gi },
  { hint: /cookie/i, pattern: /(\b(?:set-)?cookie["']?[ \t]*[:=][ \t]*["']?)[^\s=;"',]{1,200}=[^\n"']*/gi },
  // Signed and one-time links.
  {
    hint: /[?&#]/,
    pattern:
      /([?&#](?:amp;)?(?:sig|signature|x-(?:amz|goog)-(?:signature|credential)|auth|key|code|state|session(?:_?id)?|sid|ticket)=)[^\s&#"'<>\\]{16,}/gi,
  },
  {
    hint: /hooks\.slack|webhooks\/|telegram/,
    pattern:
      /(\bhooks\.slack\.com\/(?:services|workflows|triggers)\/|\bdiscord(?:app)?\.com\/api\/webhooks\/|\bapi\.telegram\.org\/bot)[\w/:-]+/g,
  },
  // curl -u ann:hunter2
  { hint: /(?:^|\s)(?:-u|--user)[ =]/, pattern: /((?<!\S)(?:-u|--user)[ =]["']?[^\s:"']{1,100}:)[^\s"']+/g },
  // The password is hunter2; password 'hunter2' does not match.
  {
    hint: /pass|key|token|secret/i,
    pattern:
      /\b((?:pass ?(?:word|phrase|code)|passwd|api ?key|(?:access|refresh|auth|api|session) ?token|client ?secret)s?(?: (?:is|was))?[ \t]+)(?:"[^"\n]{1,200}"|'[^'\n]{1,200}'|`[^`\n]{1,200}`|(?=[^\s\d]{0,200}\d)(?=[^\sA-Za-z]{0,200}[A-Za-z])[^\s,;:(=]{6,})/gi,
  },
]

/** A name and the sign that gives it a value, also of two words, in JSON, in brackets and encoded for a URL. */
const NAME =
  /(?:%[0-9a-f]{2}|(?<!\w))((?:[a-z]{2,20} )?[\w$][\w-]{0,100})(\\{0,7}["'`])?[)\]]?([ \t]*(?:=>|[=:]|%3D)[ \t]*)/gi
const SCHEMES = 'bearer|basic|token|apikey|api-key|negotiate'
const LISTED_SCHEMES = 'digest|oauth|aws4-hmac-sha256|hmac|hawk|signature'
const VALUE = new RegExp(
  [
    '\\\\+["\'][^"\'\\\\\\n]*(?:\\\\+["\'])?',
    '"(?:[^"\\\\\\n]|\\\\.)*"?',
    "'(?:[^'\\\\\\n]|\\\\.)*'?",
    '`[^`\\n]*`?',
    '\\([^()\\n]{1,500}\\)',
    '\\{[^{}\\n"\':=]{1,500}\\}',
    '\\[\\s*["\'][^\\]\\n]{0,2000}\\]?',
    `(?:${SCHEMES})[ \\t]+[^\\s,;"'\\\\]+`,
    `(?:${LISTED_SCHEMES})[ \\t]+[^\\n]+`,
    '[^\\s,;&"\'{}[\\]\\\\]+',
  ].join('|'),
  'iy',
)
/** --password hunter2 */
const FLAG = /(?<!\S)(--?([a-z][\w-]{1,60})[ \t]+)("[^"\n]*"|'[^'\n]*'|[^\s-]\S*)/gi
/** <password>hunter2</password> */
const ELEMENT = /(<([a-z][\w:.-]{0,60})(?:\s[^<>]{0,200})?>)([^<]{1,2000})(?=<\/)/gi

/** Words that follow such a name in a sentence about it: "password: must have 8 characters", "token=undefined". */
const NO_VALUE =
  /^(?:null|undefined|none|nil|nan|true|false|yes|ok|empty|missing|required|optional|invalid|incorrect|wrong|expired|unknown|unset|not|no|is|was|are|were|has|have|had|must|should|cannot|can|could|may|might|does|did|do|will|would|too|for|from|in|of|on|and|or|to|the|a|an|at|by|we|it|this|that|your|please|failed|failure|denied|rejected|refused|forbidden|revoked|changed|updated|rotated|mismatch|malformed|unauthorized|unsupported|unexpected|expected|string|number|boolean|object|function|text|varchar)[.,:!?)]*$/i
/** InvalidPassword is the name of an error, and a sentence follows. */
const ERROR_NAME = /(?:^| )(?:invalid|wrong|missing|expired|unknown|bad|incorrect|no|weak|forbidden|unsupported)\B/i
const DIGITS_NAME = /(?:otp|pin|pass ?code)$/i

/** The text with `mark` in place of every secret in it, certain or not. */
export function withoutSecrets(text: string, mark: string): string {
  let shown = text
  if (TOKEN_START.test(shown)) for (const pattern of TOKENS_ANYWHERE) shown = shown.replace(pattern, mark)
  if (shown.includes('PRIVATE KEY')) shown = shown.replace(WHOLE_PRIVATE_KEY, mark)
  if (shown.includes('://')) shown = shown.replace(PASSWORD_IN_URL, `$1${mark}@`)
  for (const { hint, pattern } of FORMS) if (hint.test(shown)) shown = shown.replace(pattern, `$1${mark}`)
  if (/[=:]|%3D/i.test(shown)) shown = withoutNamed(shown, mark)
  if (shown.includes('-')) {
    shown = shown.replace(FLAG, (whole, before: string, name: string, value: string) =>
      isSecretField(name, unquoted(value)) ? before + mark : whole,
    )
  }
  if (shown.includes('</')) {
    shown = shown.replace(ELEMENT, (whole, before: string, name: string, value: string) =>
      isSecretField(name, value) ? before + mark : whole,
    )
  }
  return shown.replace(CARD_ANYWHERE, (digits) => (suspectText(digits) === undefined ? digits : mark))
}

/** Is this the value of a field that holds a secret, judging by its name? */
export function isSecretField(name: string, value: string): boolean {
  const suspicion = suspectName(name)
  if (suspicion === undefined || NO_VALUE.test(value)) return false
  if (suspicion.isCertain) return true
  if (DIGITS_NAME.test(name) && /^\d{4,8}$/.test(value)) return true
  // A directory is called pwd, too.
  return value.length >= 6 && !value.startsWith('/')
}

/** The value is looked at only where the name is suspect: "failed: password=x" is not the value of "failed". */
function withoutNamed(text: string, mark: string): string {
  const kept: string[] = []
  let end = 0
  NAME.lastIndex = 0
  for (let found = NAME.exec(text); found !== null; found = NAME.exec(text)) {
    const [, name = '', quote, sign = ''] = found
    VALUE.lastIndex = NAME.lastIndex
    if (suspectName(name) === undefined) continue
    const value = VALUE.exec(text)?.[0]
    if (value === undefined || !isSecretIn({ name, isQuoted: quote !== undefined, sign, value })) continue
    kept.push(text.slice(end, NAME.lastIndex), mark)
    end = NAME.lastIndex + value.length
    NAME.lastIndex = end
  }
  return kept.length === 0 ? text : kept.join('') + text.slice(end)
}

function isSecretIn({
  name,
  isQuoted,
  sign,
  value,
}: Record<'name' | 'sign' | 'value', string> & { isQuoted: boolean }) {
  const plain = unquoted(value)
  if (plain === '' || !isSecretField(name, plain)) return false
  if (!sign.includes(':') || isQuoted) return true
  if (suspectName(name)?.isCertain) return !ERROR_NAME.test(name.split(' ').at(-1) ?? '')
  // A sentence may well go on after "Unexpected token:".
  return DIGITS_NAME.test(name) ? /\d/.test(plain) : plain.length >= 8 && /\d/.test(plain)
}

const unquoted = (value: string): string => value.replace(/^\\*["'`]|\\*["'`]$/g, '')
