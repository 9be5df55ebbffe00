import { checkPayload, defineJob, defineQueues, InvalidDefinition, SecretInPayload } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { SHORTEST_SHAPE, suspectText } from '#src/contract/secrets'

const queues = defineQueues({ default: {} })
const anything = defineJob({ type: 'anything', queue: queues.default, payload: z.unknown() })
const check = (payload: unknown) => checkPayload(anything, payload)
const secretIn = (payload: unknown): Promise<SecretInPayload> =>
  check(payload).then(
    () => Promise.reject(new Error('It was accepted.')),
    (error) => error,
  )

const digits = (length: number) => 'a1B2c3D4e5'.repeat(8).slice(0, length)
// Put together here, so that no scanner takes this file for a leak.
const tokens: Record<string, string> = {
  'a GitHub token': `ghp_${digits(36)}`,
  'a GitHub token of the newer kind': `github_pat_${digits(22)}_${digits(59)}`,
  'a GitLab token': `glpat-${digits(20)}`,
  'a Slack token': `xoxb-${'1'.repeat(12)}-${digits(24)}`,
  'a Stripe live key': `sk_live_${digits(24)}`,
  'a webhook signing secret': `whsec_${digits(32)}`,
  'an AWS access key id': `AKIA${'IOSFODNN7EXAMPLE'}`,
  'a Google API key': `AIza${digits(35)}`,
  'a Google OAuth secret': `GOCSPX-${digits(28)}`,
  'an age secret key': `AGE-SECRET-KEY-1${'Q'.repeat(58)}`,
  'an npm token': `npm_${digits(36)}`,
  'a PyPI token': `pypi-${digits(60)}`,
  'an Anthropic key': `sk-ant-api03-${digits(40)}`,
  'an OpenAI key': `sk-proj-${digits(40)}`,
  'an older OpenAI key': `sk-${digits(48)}`,
  'a SendGrid key': `SG.${digits(22)}.${digits(43)}`,
  'a Shopify token': `shpat_${'0a'.repeat(16)}`,
  'a Hugging Face token': `hf_${digits(34)}`,
  'a Vault token': `hvs.${digits(24)}`,
  'a DigitalOcean token': `dop_v1_${'0a'.repeat(32)}`,
  'an authorization header': `Bearer ${digits(30)}`,
  'a JSON Web Token': `eyJ${digits(20)}.eyJ${digits(30)}.${digits(40)}`,
  'a private key': `-----BEGIN ${'RSA PRIVATE'} KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----`,
  'a PGP key': `-----BEGIN ${'PGP PRIVATE'} KEY BLOCK-----\n`,
  'a URL with a password': 'postgres://app:hunter2@db.example.com/app',
  'the shortest of them': 'ftp://a:b@c',
}

describe('a secret by its shape', () => {
  test.each(Object.entries(tokens))('%s is refused wherever it is', async (_, token) => {
    expect(token.length).toBeGreaterThanOrEqual(SHORTEST_SHAPE)
    for (const payload of [token, { note: token }, { a: [{ b: [token] }] }, { [token]: 1 }]) {
      const refused = await secretIn(payload)
      expect(refused).toBeInstanceOf(SecretInPayload)
      expect(refused.code).toBe('secret_in_payload')
      expect(everythingIn(refused)).not.toContain(token)
    }
  })

  test.each(Object.entries(tokens).filter(([name]) => !/header|a JSON/.test(name)))(
    '%s is noticed in the middle of a text',
    (_, token) => {
      expect(suspectText(`see\n${token} there`)).toMatchObject({ isCertain: true })
    },
  )

  test('its place is named', async () => {
    expect(await secretIn({ a: [{ note: tokens['an npm token'] }] })).toMatchObject({
      path: 'a.0.note',
      rule: 'an npm token',
      message: expect.stringMatching(
        /job "anything" carries a secret at a\.0\.note, judging by an npm token.*reference/,
      ),
    })
  })

  test.each([
    [
      'a JSON Web Token in a link',
      `https://a.b/reset?t=${tokens['a JSON Web Token']}`,
      /JSON Web Token in a longer text/,
    ],
    ['a Stripe test key', `sk_test_${digits(24)}`, /Stripe test key/],
    ['a card number', '4242 4242 4242 4242', /card number/],
  ])('%s is only a warning', async (_, text, warning) => {
    expect(await check({ a: [text] })).toMatchObject({
      warnings: [{ code: 'possible_secret', message: expect.stringMatching(warning) }],
    })
  })

  test.each([
    'task-1234567890123456789012345678901234567890',
    'sk-bratislava-stare-mesto-namestie-snp-centrum',
    'https://example.com:8080/@ann',
    'https://ann@example.com/',
    'postgres://app:***@db/app',
    'mail to ann@example.com: see https://example.com',
    '-----BEGIN PUBLIC KEY-----',
    'Bearer of good news to everybody',
    '8f14e45f-ceea-467f-9575-1c2b2e2d2f10',
    '4242424242424243',
    'eyJhbGciOiJIUzI1NiJ9',
  ])('%s is none', async (text) => {
    expect(await check({ a: text })).toMatchObject({ warnings: [] })
  })
})

describe('a secret by the name of its key', () => {
  test.each([
    'password',
    'Password',
    'userPassword',
    'user_password',
    'PASSWD',
    'password2',
    'passwordConfirmation',
    'passphrase',
    'secret',
    'psp_secret',
    'clientSecret',
    'client-secret',
    'webhookSecrets',
    'apiKey',
    'api_key',
    'APIKey',
    'apikey',
    'x-api-key',
    'accessToken',
    'access_token',
    'refreshToken',
    'accesstoken',
    'idToken',
    'sessionToken',
    'botToken',
    'privateKey',
    'private_key_pem',
    'secretAccessKey',
    'signingKey',
    'authorization',
    'Proxy-Authorization',
    'creditCard',
    'cardNumber',
    'credit_card_number',
    'cvv',
    'cvc2',
    'securityCode',
    'seedPhrase',
  ])('%s is refused', async (key) => {
    expect(await secretIn({ a: { [key]: 'hunter2' } })).toMatchObject({ path: `a.${key}`, rule: 'its name' })
    expect(await secretIn({ [key]: ['hunter2'] })).toMatchObject({ path: `${key}.0` })
    expect(await secretIn({ [key]: 1234 })).toMatchObject({ path: key })
  })

  test.each([
    'token',
    'resetToken',
    'jwt',
    'credentials',
    'pass',
    'pwd',
    'otp',
    'pin',
    'cookie',
    'passwordHash',
    'hashedPassword',
  ])('%s is a warning', async (key) => {
    expect(await check({ list: [{ [key]: 'x1' }, { [key]: 'x2' }] })).toMatchObject({
      warnings: [
        {
          code: 'possible_secret',
          message: expect.stringMatching(new RegExp(`^list\\.\\*\\.${key} may be a secret.*allowSecrets`)),
        },
      ],
    })
  })

  test.each([
    'tokenCount',
    'maxTokens',
    'nextPageToken',
    'deviceToken',
    'csrfToken',
    'passwordResetUrl',
    'passwordPolicy',
    'secretary',
    'secretName',
    'secretId',
    'secretArn',
    'apiKeyId',
    'keyboard',
    'passenger',
    'boardingPassUrl',
    'encryptedPassword',
    'authorizationId',
    'monkey',
    'author',
    'cvvMatched',
    'publicKey',
  ])('%s is neither', async (key) => {
    expect(await check({ [key]: 'something' })).toMatchObject({ warnings: [] })
  })

  test('a flag, a count, nothing and a value that was taken out are no secrets', async () => {
    const harmless = { password: true, secret: null, apiKey: '', token: 7, passwd: '***', clientSecret: '[REDACTED]' }
    expect(await check({ ...harmless, passwords: [] })).toMatchObject({ warnings: [] })
  })
})

describe('allowSecrets', () => {
  const open = defineJob({
    type: 'open',
    queue: queues.default,
    payload: z.unknown(),
    allowSecrets: ['auth.token', 'items.*.password', 'vault'],
  })

  test('lets secrets pass at its paths and below them, without a warning', async () => {
    const payload = {
      auth: { token: tokens['a GitHub token'] },
      items: [{ password: 'hunter2' }, { password: 'hunter3' }],
      vault: { deep: [{ secret: 'x', url: tokens['a URL with a password'] }] },
    }
    expect(await checkPayload(open, payload)).toEqual({ text: JSON.stringify(payload), warnings: [] })
  })

  test.each([
    [{ auth: { secret: 'hunter2' } }, 'auth.secret'],
    [{ items: [{ a: { password: 'hunter2' } }] }, 'items.0.a.password'],
    [{ token: tokens['a GitHub token'] }, 'token'],
  ])('nowhere else: %j', async (payload, path) => {
    await expect(checkPayload(open, payload)).rejects.toMatchObject({ path })
  })

  test.each(['', 'a..b', '.a', 7])('%j is no path', (path) => {
    const define = () =>
      defineJob({ type: 'a', queue: queues.default, payload: z.unknown(), allowSecrets: [path as string] })
    expect(define).toThrow(InvalidDefinition)
    expect(define).toThrow(/in allowSecrets: expected keys joined by dots/)
  })

  test('a schema that quotes what it was given does not give it away', async () => {
    const quoting = {
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate: (value: unknown) => ({
          issues: [{ message: `must be shorter (was ${JSON.stringify(value)})`, path: ['auth', 'token'] }],
        }),
      },
    }
    const job = defineJob({ type: 'q', queue: queues.default, payload: quoting, allowSecrets: ['auth.token'] })
    const refused = await checkPayload(job, { auth: { token: 'hunter2' } }).catch((error) => error)
    expect(refused).toMatchObject({ code: 'invalid_payload', issues: [{ path: 'auth.token' }] })
    expect(everythingIn(refused)).not.toContain('hunter2')
  })
})

test('another refusal does not show a key that is a secret', async () => {
  const token = tokens['a GitHub token'] as string
  const refused = await check({ a: { [token]: Number.NaN } }).catch((error) => error)
  expect(everythingIn(refused)).not.toContain(token)
})

/** All that a log could show of an error. */
function everythingIn(error: Error): string {
  return [error.message, error.stack, JSON.stringify(error), String(error.cause)].join('\n')
}

test('a doubtful token does not hide a certain secret in the same text', () => {
  expect(suspectText(`sk_test_${'a'.repeat(20)} and AKIA${'B'.repeat(16)}`)).toMatchObject({ isCertain: true })
  expect(suspectText(`sk_test_${'a'.repeat(20)} -----BEGIN PRIVATE KEY-----`)).toMatchObject({ isCertain: true })
})

test('no text takes long to look at, whatever it is made of', () => {
  const starts = ['-eyJ', 'eyJ', 'eyJaaaaaaaa.', 'sk-', 'sk_live_', '://a:', '-----BEGIN ', 'SG.', 'xoxb-', 'ghp_']
  for (const start of starts) {
    const text = start.repeat(Math.ceil(256_000 / start.length))
    const startedAt = process.cpuUsage()
    suspectText(text)
    const { user, system } = process.cpuUsage(startedAt)
    // Quadratic ones take minutes; the linear ones a few milliseconds.
    expect({ start, isQuick: user + system < 2_000_000 }).toEqual({ start, isQuick: true })
  }
})
