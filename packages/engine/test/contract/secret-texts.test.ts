// Texts as programs write them: which lose something before people read them, and which must stay as they are.
import { describe, expect, test } from 'vitest'
import { plainRedactor } from '#src/contract/redact'
import { failureFrom } from '#src/failure'

/** In every text below, and in none of those that are shown. */
const SECRET = 'hunter2Zq9x'

const leaking: readonly string[] = [
  `login failed: password=${SECRET}`,
  `GET https://api.example.com/v1/me?access_token=${SECRET} answered 401`,
  `GET https://api.example.com/v1/me?page=2&token=${SECRET}&limit=5`,
  `https://example.com/cb#id_token=${SECRET}&state=1`,
  `authorization: bearer ${SECRET}`,
  `Authorization: Bearer ${SECRET}`,
  `Proxy-Authorization: Basic ${SECRET}=`,
  `request failed: headers: authorization: ApiKey ${SECRET}`,
  `Authorization: AWS4-HMAC-SHA256 Credential=AK/2026, SignedHeaders=host, Signature=${SECRET}`,
  `Authorization: Digest username="ann", realm="x", response="${SECRET}"`,
  `the header was bearer ${SECRET}, which is too old`,
  `upstream said: {"error":{"api_key":"${SECRET}"}}`,
  `body was {\\"user\\":\\"ann\\",\\"password\\":\\"${SECRET}\\"}`,
  `body was {\\\\\\"password\\\\\\":\\\\\\"${SECRET}\\\\\\"}`,
  `Error: connect: Error: client_secret: ${SECRET}`,
  `{ user: 'ann', password: '${SECRET}', retries: 3 }`,
  `Map(1) { 'password' => '${SECRET}' }`,
  `{:password=>"${SECRET}"}`,
  `spawn psql --password ${SECRET} -h db failed`,
  `spawn app --api-key=${SECRET} failed`,
  `curl -u ann:${SECRET} https://example.com`,
  `Server=db;User Id=app;Password=${SECRET};Encrypt=true`,
  `Driver={ODBC};Pwd={${SECRET}};Server=db`,
  `dsn was postgres://app:${SECRET}@db.example.com/app`,
  `dsn was postgres://app:p/${SECRET}@db.example.com/app`,
  `dsn was postgres://app:p@${SECRET}@db.example.com/app`,
  `redis://:${SECRET}@cache:6379/0 refused`,
  `PGPASSWORD=${SECRET} pg_dump failed`,
  `export DB_PASSWORD="${SECRET}"`,
  `env["STRIPE_SECRET"] = '${SECRET}'`,
  `duplicate key: Key (api_key)=(${SECRET}) already exists.`,
  `<soap><Password type="text">${SECRET}</Password></soap>`,
  `redirected to /login?next=%2Fme%3Faccess_token%3D${SECRET}`,
  `Cookie: theme=dark; sid=${SECRET}`,
  `Set-Cookie: session=${SECRET}; HttpOnly`,
  `api key: ${SECRET}`,
  `access token = ${SECRET}`,
  `the password is ${SECRET}, says ann`,
  `password '${SECRET}' does not match`,
  `x-api-key: ${SECRET}`,
  `jwt=${SECRET} is malformed`,
  `https://files.example.com/a.pdf?Expires=1&Signature=${SECRET}aaaaaaaa`,
  `POST https://hooks.slack.com/services/T00/B00/${SECRET} answered 404`,
  `2fa_secret=${SECRET}`,
  `passwords: ["${SECRET}", "b"]`,
  `line one\npassword: ${SECRET}\nline three`,
  `${'x'.repeat(300)} password=${SECRET}`,
]

const harmless: readonly string[] = [
  'connect ECONNREFUSED 127.0.0.1:5432',
  'Unexpected token } in JSON at position 7',
  "Unexpected token: 'export'",
  'SyntaxError: Unexpected token: punc (})',
  'password authentication failed for user "app"',
  'password: must have at least 8 characters',
  'Invalid password: too short',
  'InvalidPassword: the user has no such account',
  'ExpiredAccessToken: log in again',
  'authorization: required',
  'password=undefined host=db',
  'The secret is missing',
  `column "password" of relation "users" violates not-null constraint`,
  "Cannot read properties of undefined (reading 'password')",
  'token count: 1834, tokens=12',
  'used 5 of 10 tokens: 50 %',
  'nextPageToken=CAUQAA1234567890',
  'secretary: Ann Example',
  'GET https://example.com:8080/@ann?page=2&sort=name answered 500',
  'GET https://example.com:8080/users/ann@example.com answered 404',
  'see https://example.com/docs/password-reset',
  'mail to ann@example.com: mailbox full',
  'Bearer of good news: the import is done',
  'bearer authentication is not configured',
  'the basic plan has 3 seats',
  'order 1234567890123456 is late',
  'duplicate key value violates unique constraint "job_pkey": Key (id)=(48211) already exists.',
  '    at charge (file:///srv/app/card.js:12:7)',
  '    at async Secrets.load (/srv/app/secrets.ts:3:1)',
  'key: value, width: 12px; url: /a/b?c=d',
  'cookie: expired',
  'no cookies: 3 requests skipped',
  'pass: 12, fail: 3, skip: 0',
  'pwd: /srv/app/releases/20261118',
  'pin: D13 is high',
  'cache-key=users:48211:profile',
  'primary key: (tenant, id)',
  'author: Ann, authors=2',
  'credentials: missing for eu-west-1',
  'rename --to 2026 --force',
  '<key>name</key><string>Ann</string>',
  'took 12:30:45.120, from=2026-11-18T09:41:07Z',
]

describe('a text with a secret', () => {
  test.each(leaking)('%j is shown without it, as a line, as an error and in its stack', (text) => {
    expect(plainRedactor.text(text)).toContain('[redacted]')
    expect(plainRedactor.text(text)).not.toContain(SECRET)
    const { message, stack } = failureFrom(new Error(text))
    expect(message).not.toContain(SECRET)
    expect(stack).not.toContain(SECRET)
    expect(stack).toContain('secret-texts.test')
  })

  test.each(leaking)('%j is shown the same when it is redacted twice', (text) => {
    const once = plainRedactor.text(text)
    expect(plainRedactor.text(once)).toBe(once)
  })

  test('keeps the words around it', () => {
    expect(plainRedactor.text(leaking[0] as string)).toBe('login failed: password=[redacted]')
    expect(plainRedactor.text(leaking[1] as string)).toBe(
      'GET https://api.example.com/v1/me?access_token=[redacted] answered 401',
    )
    expect(plainRedactor.text(leaking[4] as string)).toBe('authorization: [redacted]')
    expect(plainRedactor.text('password=hunter2a user=ann')).toBe('password=[redacted] user=ann')
  })
})

describe('a harmless text', () => {
  test.each(harmless)('%j stays readable', (text) => {
    expect(plainRedactor.text(text)).toBe(text)
    expect(failureFrom(new Error(text))).toMatchObject({ message: text, stack: expect.stringContaining(text) })
  })
})

describe('an error in log fields', () => {
  test('is shown with its causes and the errors of an AggregateError, all without secrets', () => {
    const cause = new Error(`login failed: password=${SECRET}`)
    const error = new AggregateError([new Error(`?access_token=${SECRET}`)], 'both failed', { cause })
    const shown = JSON.stringify(plainRedactor.json({ error }))
    expect(shown).not.toContain(SECRET)
    expect(shown).toContain('both failed')
    expect(shown).toContain('login failed: password=[redacted]')
    expect(shown).toContain('?access_token=[redacted]')
  })

  test('hides what is named as a secret in it, also as a list', () => {
    const error = Object.assign(new Error('bad'), { config: { headers: { Cookie: `sid=${SECRET}` }, token: SECRET } })
    const fields = { error, passwords: [SECRET], otp: 123456, token: 7, pass: true, jwt: 'expired' }
    expect(JSON.stringify(plainRedactor.json(fields))).not.toMatch(new RegExp(`${SECRET}|123456`))
    expect(plainRedactor.json({ token: 7, pass: true, jwt: 'expired' })).toEqual({
      token: 7,
      pass: true,
      jwt: 'expired',
    })
  })
})

test('a secret at the place where a long message is cut is not left half', () => {
  for (const length of [3_980, 3_995, 7_980, 7_995]) {
    const { message, stack } = failureFrom(new Error(`${'word '.repeat(length / 5)}password=${SECRET} end`))
    expect(message).not.toContain('hunt')
    expect(stack).not.toContain('hunt')
  }
})
