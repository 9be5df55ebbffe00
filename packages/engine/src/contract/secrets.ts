// What a secret looks like: by the name of its key, and by its own shape.
//
// Payloads lie in plain text in tables, archives, dead letters and backups. `isCertain` refuses; the rest is a warning,
// because a wrong refusal stops somebody's work and a wrong warning does not.

export interface Suspicion {
  /** What was noticed, for people. Never the value. */
  readonly rule: string
  readonly isCertain: boolean
}

const certain = (rule: string): Suspicion => ({ rule, isCertain: true })
const possible = (rule: string): Suspicion => ({ rule, isCertain: false })

/**
 * The last words of a name say what it holds: a `userPassword` is a password, a `passwordResetUrl` a link and a
 * `tokenCount` a number. So only the end is compared, word by word, and a `secretary` is safe.
 */
const CERTAIN_NAME =
  /(?:^| )(?:(?:pg|db|my|sql|mysql|user|admin|root|smtp|new|old)?pass ?words?|passwd|pass ?phrases?|secrets?|authorization|(?:api|secret|access|private|signing|encryption|master) ?keys?|(?:access|refresh|auth|authentication|bearer|session|security|id|api|oauth2?|secret|service|bot) ?tokens?|(?:seed|recovery) phrase|(?:credit ?)?card (?:number|no)|credit ?cards?|cc number|cvv|cvc|(?:card )?security code)$/
const POSSIBLE_NAME =
  /(?:^| )(?:token|jwt|credentials?|pwd|pass|pass ?code|otp|pin|cookies?|mnemonic|pass ?word (?:hash|digest))$/
/** Tokens that open nothing. */
const HARMLESS_TOKEN =
  /(?:^| )(?:page|next|continuation|sync|delta|resume|idempotency|csrf|xsrf|device|push|fcm|apns|registration|cancel|cancellation|design) token$/
/** Words after the name that leave it what it is: passwordConfirmation, private_key_pem. */
const QUALIFIERS =
  /(?: (?:confirmation|confirm|again|repeat|value|plain|plaintext|raw|text|string|pem|base64|header))+$/
const HASHED = /(?:^| )hashed /
const PROTECTED = /(?:^| )(?:encrypted|sealed|masked|redacted)(?: |$)/

/** What the name of a key says about its value. */
export function suspectName(key: string): Suspicion | undefined {
  const words = wordsOf(key).replace(QUALIFIERS, '')
  if (PROTECTED.test(words)) return undefined
  if (CERTAIN_NAME.test(words)) return HASHED.test(words) ? possible('its name') : certain('its name')
  return POSSIBLE_NAME.test(words) && !HARMLESS_TOKEN.test(words) ? possible('its name') : undefined
}

/** 'userAPIKey2' and 'user_api_key' are both "user api key". */
function wordsOf(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .replace(/ ?\d+ ?$/, '')
    .trim()
}

/** Texts below this length cannot have any of the shapes. */
export const SHORTEST_SHAPE = 11

/** Every token below begins like this: one quick look for all of them. */
export const TOKEN_START =
  /\b(?:g(?:h[pousr]_|ithub_pat_|lpat-)|x(?:ox[abeoprs]|app)-|[rs]k_(?:live|test)_|whsec_|A(?:[KS]IA|Iza|GE-SECRET-KEY-)|GOCSPX-|ya29\.|npm_|pypi-|sk-|SG\.|shp(?:at|ca|pa|ss)_|h(?:f_|vs\.)|dop_v1_|eyJ|Bearer )/

export const TOKENS: readonly [pattern: RegExp, suspicion: Suspicion][] = [
  [/\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{22})/, certain('a GitHub token')],
  [/\bglpat-[\w-]{20}/, certain('a GitLab token')],
  [/\b(?:xox[abeoprs]|xapp)-[\w-]{10}/, certain('a Slack token')],
  [/\b[rs]k_live_[A-Za-z0-9]{16}/, certain('a Stripe live key')],
  [/\b[rs]k_test_[A-Za-z0-9]{16}/, possible('a Stripe test key')],
  [/\bwhsec_[A-Za-z0-9+/]{24}/, certain('a webhook signing secret')],
  [/\bA[KS]IA[A-Z0-9]{16}\b/, certain('an AWS access key id')],
  [/\bAIza[\w-]{35}/, certain('a Google API key')],
  [/\b(?:GOCSPX-[\w-]{28}|ya29\.[\w-]{20})/, certain('a Google OAuth secret')],
  [/\bAGE-SECRET-KEY-1[A-Z0-9]{50}/, certain('an age secret key')],
  [/\bnpm_[A-Za-z0-9]{36}/, certain('an npm token')],
  [/\bpypi-[\w-]{50}/, certain('a PyPI token')],
  [/\bsk-(?:proj|svcacct|admin|ant-[a-z0-9]+)-[\w-]{20}/, certain('an OpenAI or Anthropic key')],
  [/\bsk-[A-Za-z0-9]{40}/, certain('an OpenAI key')],
  [/\bSG\.[\w-]{22}\.[\w-]{43}/, certain('a SendGrid key')],
  [/\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}/, certain('a Shopify token')],
  [/\bhf_[A-Za-z0-9]{34}/, certain('a Hugging Face token')],
  [/\bhvs\.[\w-]{24}/, certain('a Vault token')],
  [/\bdop_v1_[a-f0-9]{64}/, certain('a DigitalOcean token')],
  [/^Bearer [\w.~+/=-]{20,}$/, certain('an authorization header')],
  [/^eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+$/, certain('a JSON Web Token')],
  // In the link of an e-mail, say: short-lived, and meant to be sent.
  [/(?<![\w-])eyJ[\w-]{8,4000}\.eyJ[\w-]{8,4000}\.[\w-]/, possible('a JSON Web Token in a longer text')],
]

export const PRIVATE_KEY = /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/
/** A password that is only stars was taken out already. */
const URL_WITH_PASSWORD = /:\/\/[^\s/?#:@]*:(?!\**@)[^\s/?#@]+@/
const CARD =
  /^(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6011|65\d{2})([ -]?)\d{4}\1\d{4}\1\d{4}$|^3[47]\d{2}([ -]?)\d{6}\2\d{5}$/

/** What the shape of a text says. */
export function suspectText(text: string): Suspicion | undefined {
  const tokens = TOKEN_START.test(text)
    ? TOKENS.filter(([pattern]) => pattern.test(text)).map(([, found]) => found)
    : []
  const known = tokens.find(({ isCertain }) => isCertain)
  if (known !== undefined) return known
  if (text.includes('://') && URL_WITH_PASSWORD.test(text)) return certain('a URL with a password')
  if (text.includes('PRIVATE KEY') && PRIVATE_KEY.test(text)) return certain('a private key')
  if (tokens[0] !== undefined) return tokens[0]
  return text.length < 20 && CARD.test(text) && hasCheckDigit(text) ? possible('a card number') : undefined
}

/** Luhn's sum, which nine of ten other numbers do not meet. */
function hasCheckDigit(text: string): boolean {
  const digits = [...text.replace(/\D/g, '')].reverse().map(Number)
  const sum = digits.reduce(
    (total, digit, i) => total + (i % 2 === 0 ? digit : ((digit * 2) % 10) + (digit > 4 ? 1 : 0)),
    0,
  )
  return sum % 10 === 0
}

/** Is this path, or one above it, in the contract's allow-list? `*` stands for any one key or position. */
export function isAllowed(allowed: readonly string[], path: readonly string[]): boolean {
  return allowed.some((pattern) => {
    const segments = pattern.split('.')
    return segments.length <= path.length && segments.every((segment, i) => segment === '*' || segment === path[i])
  })
}
