// Taking secrets out of texts and fields.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainRedactor, Redactor, textsOf } from '#src/contract/redact'

const token = `ghp_${'a1B2'.repeat(9)}`
const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r'

describe('a text', () => {
  test.each<[string, string]>([
    [`401 for ${token}zz.`, '401 for [redacted]'],
    [`GET https://ann:hunter2@db.example/x failed`, 'GET https://ann:[redacted]@db.example/x failed'],
    [`header was Bearer abcdefghijklmnopqrstuv, sorry`, 'header was [redacted], sorry'],
    [`see ${jwt} for more`, 'see [redacted] for more'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- end', '[redacted] end'],
    ['-----BEGIN PRIVATE KEY-----\nMIIE', '[redacted]'],
    ['card 4111 1111 1111 1111 declined', 'card [redacted] declined'],
    ['order 1234567890123456 is late', 'order 1234567890123456 is late'],
    ['{"user":"ann","password":"hunter2 x"}', '{"user":"ann","password":[redacted]}'],
    ['{\\"apiKey\\":\\"k1\\"}', '{\\"apiKey\\":[redacted]}'],
    ['{"password":"a\\"b c","n":1}', '{"password":[redacted],"n":1}'],
    ['connect password=hunter2 host=db', 'connect password=[redacted] host=db'],
    ['Authorization: Basic YW5uOmh1bnRlcjI= sent', 'Authorization: [redacted] sent'],
    ['Unexpected token: } at 7', 'Unexpected token: } at 7'],
    ['    at charge (file:///srv/app/card.js:12:7)', '    at charge (file:///srv/app/card.js:12:7)'],
  ])('%j becomes %j', (given, shown) => {
    expect(plainRedactor.text(given)).toBe(shown)
  })

  test('loses every known value, also inside JSON and when one is part of another', () => {
    const redactor = new Redactor({ values: textsOf([{ a: 'line\none', b: ['Ann', 'Anna Berg', 'Anna'] }, 12345]) })
    expect(redactor.text('Anna Berg (12345) said {"t":"line\\none"}')).toBe(
      '[redacted] ([redacted]) said {"t":"[redacted]"}',
    )
  })

  test('with an arbitrary secret somewhere in it does not have it any more', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Z0-9"\\ ]{4,20}$/), fc.string(), fc.string(), (known, before, after) => {
        const redactor = new Redactor({ values: textsOf([known]) })
        expect(redactor.text(before + known + after)).not.toContain(known)
        expect(redactor.text(JSON.stringify([before + known + after]))).not.toContain(
          JSON.stringify(known).slice(1, -1),
        )
      }),
    )
  })
})

describe('fields', () => {
  test('lose what is named as a secret, looks like one, or is known; cycles and errors are no trouble', () => {
    const redactor = new Redactor({ values: textsOf(['canary-7']), paths: ['inner.code'] })
    const loop: Record<string, unknown> = { n: 1 }
    loop.self = loop
    const error = Object.assign(new Error('bad canary-7'), { status: 500 })
    const shown = redactor.json({
      password: 'hunter2',
      note: `see ${token}`,
      who: 'canary-7',
      inner: { code: 'x', other: 'y' },
      when: new Date(0),
      error,
      loop,
      sealed: { $encrypted: { key: 'a', nonce: '', data: '', tag: '' } },
    }) as Record<string, unknown>
    expect(shown).toMatchObject({
      password: '[redacted]',
      note: 'see [redacted]',
      who: '[redacted]',
      inner: { code: '[redacted]', other: 'y' },
      when: '1970-01-01T00:00:00.000Z',
      error: { name: 'Error', message: 'bad [redacted]', status: 500 },
      loop: { n: 1, self: '[…]' },
      sealed: '[encrypted]',
    })
    expect(JSON.stringify(shown)).not.toMatch(/hunter2|ghp_|canary/)
  })

  test('of data are left alone where a secret is only possible', () => {
    const data = { link: `https://example.com/reset?t=${jwt}`, card: '4111111111111111', pin: '1234' }
    expect(new Redactor({ onlyCertain: true }).json(data)).toEqual(data)
  })
})
