// Values for columns of the program: sealed, opened, and brought under a newer key.
import {
  createMillrace,
  EncryptionKeyMissing,
  type EncryptionOptions,
  InvalidDefinition,
  SealNotOpened,
} from 'millrace'
import { describe, expect, test } from 'vitest'
import { keyOf, ringOf } from '../support/keys.ts'
import { silent } from '../support/setup.ts'

/** Sealing asks no database. */
const client = (encryption?: EncryptionOptions) =>
  createMillrace({
    database: 'postgres://nobody@127.0.0.1:1/nowhere',
    jobs: [],
    logger: silent,
    ...(encryption && { encryption }),
  })

const token = { access: 'sk_live_4242', scopes: ['mail', null], expires: 7 }
const owner = { for: 'oauth-token/user-17' }
const millrace = client(ringOf('b', 'a'))
const sealed = millrace.seal(token, owner)

function refusal(open: () => unknown): SealNotOpened {
  try {
    open()
  } catch (error) {
    if (error instanceof SealNotOpened) return error
    throw error
  }
  throw new Error('It opened')
}

test('a sealed value opens for what it belongs to, and its text shows nothing of it', () => {
  expect(millrace.open(sealed, owner)).toEqual(token)
  expect(sealed).not.toContain('sk_live')
  expect(JSON.parse(sealed)).toMatchObject({ $encrypted: { key: 'b', for: 'oauth-token/user-17' } })
  expect(millrace.seal(token, owner)).not.toBe(sealed)
  for (const value of [null, '', 0, false, [], 'text']) {
    expect(millrace.open(millrace.seal(value, owner), owner)).toEqual(value)
  }
})

describe('a sealed value does not open', () => {
  const changed = (change: object) => JSON.stringify({ $encrypted: { ...JSON.parse(sealed).$encrypted, ...change } })

  test('for anything else, and says for what it was sealed', () => {
    const error = refusal(() => millrace.open(sealed, { for: 'oauth-token/user-18' }))
    expect(error).toMatchObject({
      code: 'seal_not_opened',
      why: 'other_binding',
      for: 'oauth-token/user-18',
      keyId: 'b',
    })
    expect(error.message).toContain('it was sealed for "oauth-token/user-17"')
  })

  test('under a key that is missing, and says which', () => {
    const error = refusal(() => client(ringOf('c', 'a')).open(sealed, owner))
    expect(error).toMatchObject({ why: 'unknown_key', keyId: 'b' })
    expect(error.message).toContain('key "b", which this program does not have (it has "c", "a")')
    expect(refusal(() => client().open(sealed, owner)).message).toContain('it has no keys')
  })

  test.each<[string, string]>([
    ['when another binding is written into it', changed({ for: 'oauth-token/user-18' })],
    ['when its data is altered', changed({ data: Buffer.from('other').toString('base64') })],
    ['when its tag is shortened', changed({ tag: 'AAAA' })],
    ['when parts are missing', changed({ nonce: undefined })],
  ])('%s', (_, text) => {
    expect(refusal(() => millrace.open(text, { for: JSON.parse(text).$encrypted.for })).why).toBe('altered')
  })

  test('under another key of the same id', () => {
    const other = client({ keys: [{ ...keyOf('z'), id: 'b' }] })
    expect(refusal(() => other.open(sealed, owner)).why).toBe('altered')
  })

  test.each(['', 'text', '{}', '{"$encrypted": 7}', '{"$encrypted": {"key": "b"}}', 'null'])('from %s', (text) => {
    expect(refusal(() => millrace.open(text, owner)).why).toBe('not_sealed')
    expect(refusal(() => millrace.isStale(text)).why).toBe('not_sealed')
  })
})

test('a value under an older key is stale until it is sealed anew, and then the old key is not needed', () => {
  const old = client(ringOf('a')).seal(token, owner)
  expect([old, sealed].map((text) => millrace.isStale(text))).toEqual([true, false])
  const again = millrace.seal(millrace.open(old, owner), owner)
  expect(millrace.isStale(again)).toBe(false)
  expect(client(ringOf('b')).open(again, owner)).toEqual(token)
})

test('without keys, without a binding, or with what is no JSON nothing is sealed', () => {
  expect(() => client().seal(token, owner)).toThrow(EncryptionKeyMissing)
  expect(() => client().isStale(sealed)).toThrow(EncryptionKeyMissing)
  for (const wrong of ['', undefined, 7]) {
    expect(() => millrace.seal(token, { for: wrong as string })).toThrow(/`for` is missing/)
    expect(() => millrace.open(sealed, { for: wrong as string })).toThrow(InvalidDefinition)
  }
  expect(() => millrace.seal(undefined, owner)).toThrow(/nothing to seal/)
  expect(() => millrace.seal({ at: Number.NaN }, owner)).toThrow(/cannot be sealed at value.at: it is NaN/)
})
