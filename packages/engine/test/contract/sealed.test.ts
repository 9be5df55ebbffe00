// Encrypting values inside JSON, and opening them again.
import fc from 'fast-check'
import { defineJob, defineQueues, EncryptionKeyMissing, encryptionFrom, InvalidPayload, Undecryptable } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { KeyRing, type Owner } from '#src/contract/key-ring'
import { mapSealed, openStored, resealed, sealText, valuesAt } from '#src/contract/sealed'
import { asJson, storableJson } from '../support/arbitraries.ts'
import { keyOf, ringOf, sealedBefore } from '../support/keys.ts'

const queues = defineQueues({ default: {} })
const contractOf = (sensitive: readonly string[], type = 'care') =>
  defineJob({ type, queue: queues.default, payload: z.unknown(), sensitive })
const keys = new KeyRing(ringOf('b', 'a'))
const owner = { tenant: 'acme', workflowId: null }
const seal = (sensitive: readonly string[], value: unknown, ring = keys): unknown =>
  JSON.parse(sealText(ring, { contract: contractOf(sensitive), part: 'payload', owner }, JSON.stringify(value)))
const open = (
  value: unknown,
  { ring = keys, type = 'care', part = 'payload' as const, by = owner as Partial<Owner> } = {},
) => openStored(ring, { contract: contractOf(['x'], type), part, owner: by }, value)

/** JSON, and patterns of which some lead to something in it. */
const valueAndPatterns = storableJson(4)
  .map(asJson)
  .filter((value) => !JSON.stringify(value).includes('[encrypted]'))
  .chain((value) => {
    const paths: string[][] = []
    const walk = (at: unknown, path: string[]): void => {
      if (path.length > 0) paths.push(path)
      if (typeof at === 'object' && at !== null)
        for (const [key, child] of Object.entries(at)) if (key !== '' && !key.includes('.')) walk(child, [...path, key])
    }
    walk(value, [])
    const pattern = fc
      .tuple(fc.constantFrom(...paths, ['nowhere']), fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }))
      .map(([path, stars]) => path.map((key, i) => (stars[i] ? '*' : key)).join('.'))
    return fc.tuple(fc.constant(value), fc.array(pattern, { minLength: 1, maxLength: 4 }))
  })

test('arbitrary JSON comes back from under arbitrary paths, and nothing at those paths is stored in plain', () => {
  fc.assert(
    fc.property(valueAndPatterns, ([value, patterns]) => {
      const sealed = seal(patterns, value)
      expect(open(sealed)).toEqual(value)
      expect(valuesAt(sealed, patterns).every((each) => each === null || typeof each === 'object')).toBe(true)
      let count = 0
      mapSealed(sealed, () => count++)
      expect(count > 0).toBe(valuesAt(value, patterns).length > 0)
    }),
  )
})

test('arbitrary JSON survives a rotation, after which the old key is not needed', () => {
  fc.assert(
    fc.property(valueAndPatterns, ([value, patterns]) => {
      const old = seal(patterns, value, new KeyRing(ringOf('a')))
      const rotated = resealed(keys, { type: 'care', part: 'payload', owner }, old)
      expect(open(rotated, { ring: new KeyRing(ringOf('b')) })).toEqual(value)
    }),
  )
})

describe('an encrypted value', () => {
  const card = { card: { number: '4111111111111111', brand: 'visa' } }
  const sealed = seal(['card.number'], card) as {
    card: { number: { $encrypted: Record<string, string> }; brand: string }
  }

  test('is a small object with key, owner, nonce, data and tag, and differs each time', () => {
    expect(sealed).toEqual({
      card: {
        number: {
          $encrypted: {
            ...{ key: 'b', owner: ['acme', null] },
            ...{ nonce: expect.any(String), data: expect.any(String), tag: expect.any(String) },
          },
        },
        brand: 'visa',
      },
    })
    expect(seal(['card.number'], card)).not.toEqual(sealed)
  })

  test.each<[string, () => unknown]>([
    ['at another path', () => open({ number: sealed.card.number })],
    ['in another type', () => open(sealed, { type: 'other' })],
    ["in another tenant's job", () => open(sealed, { by: { tenant: 'bolt', workflowId: null } })],
    ['in a job without a tenant', () => open(sealed, { by: { tenant: null } })],
    ['in a workflow', () => open(sealed, { by: { workflowId: '7' } })],
    [
      'when another owner is written into it',
      () => {
        const number = { $encrypted: { ...sealed.card.number.$encrypted, owner: ['bolt', null] } }
        return open({ card: { number } }, { by: { tenant: 'bolt', workflowId: null } })
      },
    ],
    [
      'when its owner is taken out of it',
      () => {
        const { owner: _, ...$encrypted } = sealed.card.number.$encrypted
        return open({ card: { number: { $encrypted } } })
      },
    ],
    [
      'with an owner that nobody wrote',
      () => open({ card: { number: { $encrypted: { ...sealed.card.number.$encrypted, owner: null } } } }),
    ],
    ['in a result', () => open(sealed, { part: 'result' as 'payload' })],
    [
      'under another key of the same id',
      () => open(sealed, { ring: new KeyRing({ keys: [{ ...keyOf('a'), id: 'b' }] }) }),
    ],
    [
      'when a byte is altered',
      () => {
        const { $encrypted } = sealed.card.number
        const data = Buffer.from($encrypted.data as string, 'base64')
        data[0] = (data[0] as number) ^ 1
        return open({ card: { number: { $encrypted: { ...$encrypted, data: data.toString('base64') } } } })
      },
    ],
    [
      'with a shortened tag',
      () => {
        const { $encrypted } = sealed.card.number
        const tag = Buffer.from($encrypted.tag as string, 'base64')
          .subarray(0, 4)
          .toString('base64')
        return open({ card: { number: { $encrypted: { ...$encrypted, tag } } } })
      },
    ],
    ['of a shape that nobody wrote', () => open({ card: { number: { $encrypted: { key: 'b' } } } })],
    ['that is no object', () => open({ card: { number: { $encrypted: 7 } } })],
  ])('does not open %s', (_, opening) => {
    expect(opening).toThrow(Undecryptable)
  })

  test('under a key that is missing says which, and what there is', () => {
    const opening = () => open(sealed, { ring: new KeyRing(ringOf('c', 'd')) })
    expect(opening).toThrow(/cannot be decrypted at card\.number: .* key "b", which .* not have \(it has "c", "d"\)/)
    const place = { contract: contractOf(['x']), part: 'payload', owner } as const
    expect(() => openStored(undefined, place, sealed)).toThrow(/\(it has no keys\)/)
  })
})

describe('a value of a version that bound none to its owner', () => {
  // Written by that version under key "a", of type "care" at card.number.
  const old = { card: { number: { $encrypted: sealedBefore('4111') } } }

  test('opens for every owner, as before', () => {
    expect(open(old)).toEqual({ card: { number: '4111' } })
    expect(open(old, { by: { tenant: 'bolt', workflowId: '7' } })).toEqual({ card: { number: '4111' } })
  })

  test('is bound by a rotation, also if it is under the first key', () => {
    const ring = new KeyRing(ringOf('a'))
    const bound = resealed(ring, { type: 'care', part: 'payload', owner }, old)
    expect(open(bound, { ring })).toEqual({ card: { number: '4111' } })
    expect(() => open(bound, { ring, by: { tenant: 'bolt' } })).toThrow(Undecryptable)
    expect(resealed(ring, { type: 'care', part: 'payload', owner }, bound)).toEqual(bound)
  })
})

test('the text that people see instead is not taken for a value', () => {
  expect(() => seal(['card'], { card: '[encrypted]' })).toThrow(InvalidPayload)
})

test('without keys nothing sensitive is encoded', () => {
  const place = { contract: contractOf(['card']), part: 'payload', owner } as const
  expect(() => sealText(undefined, place, '{}')).toThrow(EncryptionKeyMissing)
})

describe('keys', () => {
  test.each<[string, object, RegExp]>([
    ['none', { keys: [] }, /encryption\.keys is empty/],
    ['a short one', { keys: [{ id: 'a', key: 'c2hvcnQ=' }] }, /has 5 bytes: expected 32 random bytes.*openssl rand/],
    ['two of one id', { keys: [keyOf('a'), keyOf('a')] }, /two keys "a"/],
    ['an odd id', { keys: [{ ...keyOf('a'), id: 'a b' }] }, /the id "a b"/],
    ['a short lookup key', { keys: [keyOf('a')], lookupKey: 'eA==' }, /lookupKey has 1 bytes/],
  ])('%s are refused', (_, options, message) => {
    expect(() => new KeyRing(options as never)).toThrow(message)
  })

  test('come from the environment, and an entry that cannot be read is not printed', () => {
    const key = Buffer.from(keyOf('a').key).toString('base64')
    const found = encryptionFrom({ MILLRACE_ENCRYPTION_KEYS: `2026b:${key}, 2026a:${key}`, MILLRACE_LOOKUP_KEY: key })
    expect(found).toEqual({
      keys: [
        { id: '2026b', key },
        { id: '2026a', key },
      ],
      lookupKey: key,
    })
    expect(new KeyRing(found as never).first).toBe('2026b')
    expect(encryptionFrom({})).toBeUndefined()
    expect(() => encryptionFrom({ MILLRACE_ENCRYPTION_KEYS: key })).toThrow(/^Entry 1 of MILLRACE_ENCRYPTION_KEYS/)
    expect(() => encryptionFrom({ MILLRACE_ENCRYPTION_KEYS: key })).not.toThrow(key)
  })

  test('of a lookup tell equal keys of one type and tenant, and nothing else', () => {
    const hmac = keys.lookup('care', 'ann@example.com', ['care', 't1'])
    expect(hmac).toMatch(/^hmac:[\w-]{43}$/)
    expect(new KeyRing(ringOf('c')).lookup('care', 'ann@example.com', ['care', 't1'])).toBe(hmac)
    expect(keys.lookup('care', 'ann@example.com', ['care', 't2'])).not.toBe(hmac)
    expect(keys.lookup('care', hmac, ['care', 't1'])).toBe(hmac)
    expect(() => new KeyRing({ keys: [keyOf('a')] }).lookup('care', 'k', ['care', ''])).toThrow(/lookupKey/)
  })
})
