import { signWebhook, verifyWebhook, WebhookRejected, webhookSecret } from '@millrace/egress'
import { expect, test } from 'vitest'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const sentAt = new Date(1_614_265_330_000)
const sign = (body: string | Uint8Array, secrets: string | string[] = secret) =>
  signWebhook({ id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body, secrets, now: sentAt })

const later = (seconds: number) => new Date(sentAt.getTime() + seconds * 1000)

function codeOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(WebhookRejected)
    expect(String(error)).not.toContain(secret.slice(6))
    return (error as WebhookRejected).code
  }
  return 'accepted'
}

test('the signature is the one that the specification gives as its example', () => {
  expect(sign('{"test": 2432232314}')).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('a signed webhook is accepted, with its id and time, from all kinds of headers', () => {
  const body = Buffer.from('{"name":"Vølgöed 🎪"}')
  const signed = sign(body)
  const right = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', sentAt }
  for (const headers of [{ ...signed }, new Headers({ ...signed })]) {
    expect(verifyWebhook({ headers, body, secrets: secret, now: sentAt })).toEqual(right)
    expect(verifyWebhook({ headers, body: body.toString(), secrets: secret, now: sentAt })).toEqual(right)
  }
})

test('during a rotation old and new secret are both signed with and both accepted', () => {
  const fresh = webhookSecret()
  const both = sign('body', [fresh, secret])
  expect(both['webhook-signature'].split(' ').length).toBe(2)
  for (const secrets of [fresh, secret, [fresh, secret], [webhookSecret(), secret]]) {
    expect(codeOf(() => verifyWebhook({ headers: { ...both }, body: 'body', secrets, now: sentAt }))).toBe('accepted')
  }
  const headers = { ...sign('body', secret) }
  expect(codeOf(() => verifyWebhook({ headers, body: 'body', secrets: [fresh, secret], now: sentAt }))).toBe('accepted')
  expect(codeOf(() => verifyWebhook({ headers, body: 'body', secrets: fresh, now: sentAt }))).toBe('bad_signature')
})

test.each([
  [-301, 'outside_tolerance'],
  [-300, 'accepted'],
  [300, 'accepted'],
  [301, 'outside_tolerance'],
  [86_400, 'outside_tolerance'],
])('received %i s after its time it is %s', (seconds, code) => {
  const headers = { ...sign('body') }
  expect(codeOf(() => verifyWebhook({ headers, body: 'body', secrets: secret, now: later(seconds) }))).toBe(code)
})

test.each([
  ['another body', { body: '{"a": 1}' }, 'bad_signature'],
  ['an empty body', { body: '' }, 'bad_signature'],
  ['another id', { 'webhook-id': 'msg_2' }, 'bad_signature'],
  ['another time', { 'webhook-timestamp': '1614265331' }, 'bad_signature'],
  ['a shorter signature', { 'webhook-signature': 'v1,Zm9v' }, 'bad_signature'],
  ['an empty signature', { 'webhook-signature': 'v1,' }, 'bad_signature'],
  ['another version', { 'webhook-signature': 'v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=' }, 'bad_signature'],
  ['no signature', { 'webhook-signature': undefined }, 'header_missing'],
  ['an empty header', { 'webhook-signature': '' }, 'header_missing'],
  ['no id', { 'webhook-id': undefined }, 'header_missing'],
  ['no time', { 'webhook-timestamp': undefined }, 'header_missing'],
  ['a time that is no number', { 'webhook-timestamp': '1614265330.0' }, 'header_invalid'],
  ['a border moved into the id', { 'webhook-id': 'msg.1614265330' }, 'header_invalid'],
  ['several ids', { 'webhook-id': ['a', 'b'] }, 'header_missing'],
] as const)('with %2$s refused: %s', (_name, { body = '{"a":1}', ...change }: Record<string, unknown>, code) => {
  const headers = { ...sign('{"a":1}'), ...change } as Record<string, string>
  expect(codeOf(() => verifyWebhook({ headers, body: body as string, secrets: secret, now: sentAt }))).toBe(code)
})

test.each([
  [''],
  [[]],
  [['']],
  [[secret, '']],
  ['whsec_'],
  ['whsec_c2hvcnQ='],
  ['not base64 at all, but long enough to be one'],
  [undefined as unknown as string],
])('without a usable secret nothing is signed and nothing accepted: %j', (secrets) => {
  expect(codeOf(() => signWebhook({ id: 'msg_1', body: 'body', secrets }))).toBe('secret_unusable')
  const headers = { ...sign('body') }
  expect(codeOf(() => verifyWebhook({ headers, body: 'body', secrets, now: sentAt }))).toBe('secret_unusable')
})

test.each(['', 'a.b', 'a b', 'a\r\nb', 'x'.repeat(256)])('the id %j is not signed', (id) => {
  expect(codeOf(() => signWebhook({ id, body: '', secrets: secret }))).toBe('header_invalid')
})
