import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeJson } from '#src/contract/payload'
import { MAX_DEPTH } from '#src/contract/plain-json'

const limits = { maxBytes: 1_000, allowSecrets: [] }
const encode = (value: unknown) => encodeJson(value, limits)

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

class Money {
  readonly cents = 5
}

class Iban {
  toJSON() {
    return 'DE00'
  }
}

const cyclic: Record<string, unknown> = {}
cyclic.self = { list: [cyclic] }
const sparse = [1, 2, 3]
delete sparse[1]
let doubled: unknown = 'x'
for (let i = 0; i < 60; i++) doubled = [doubled, doubled]

describe('what JSON cannot say, or Postgres cannot store, is refused at its path with a remedy', () => {
  test.each<[string, unknown, string, RegExp]>([
    ['NUL', { a: ['x\u0000y'] }, 'a.0', /\\u0000.*base64/],
    ['a lone surrogate', { a: '\ud800' }, 'a', /lone surrogate/],
    ['NUL in a key', { a: { 'b\u0000': 1 } }, 'a', /has a key that contains \\u0000/],
    ['a bigint', { a: 1n }, 'a', /bigint.*String\(value\)/],
    ['a cycle', cyclic, 'self', /refers to itself/],
    ['too many levels', { a: nested(MAX_DEPTH) }, 'a', /deeper than 64 levels/],
    ['nothing', undefined, '', /it is undefined/],
    ['a function', { a: { b: () => 1 } }, 'a.b', /function/],
    ['a symbol', { a: Symbol('s') }, 'a', /symbol/],
    ['NaN', { a: Number.NaN }, 'a', /is NaN, which JSON turns into null/],
    ['infinity', [Number.NEGATIVE_INFINITY], '0', /is -Infinity/],
    ['a Map', { a: new Map([[1, 2]]) }, 'a', /Map.*Object\.fromEntries/],
    ['a Set', { a: new Set([1]) }, 'a', /Set.*\[\.\.\.set\]/],
    ['bytes', { a: new Uint8Array(2) }, 'a', /Uint8Array/],
    ['an error', { a: new Error('no') }, 'a', /name and message/],
    ['a promise', { a: Promise.resolve(1) }, 'a', /await it/],
    ['a boxed number', { a: Object(1) }, 'a', /instance of Number/],
    ['an instance of a class', { a: new Money() }, 'a', /instance of Money.*toJSON/],
    ['an invalid date', { a: new Date('never') }, 'a', /invalid Date/],
    ['undefined in a list', { a: [1, undefined] }, 'a.1', /undefined or missing/],
    ['a hole in a list', { a: sparse }, 'a.1', /undefined or missing/],
    ['the key __proto__', JSON.parse('{"a":{"__proto__":{"admin":true}}}'), 'a', /"__proto__"/],
    ['too much text', { a: 'x'.repeat(2_000) }, '', /the limit is 1000/],
    ['text that is longer in UTF-8', { a: '€'.repeat(400) }, '', /it is 1208 bytes of JSON, the limit is 1000/],
    ['a small value that references multiply', doubled, '', /the limit is 1000/],
    ['a list that is only long', new Array(1e8), '', /the limit is 1000/],
    [
      'a getter that throws',
      {
        get a() {
          throw new TypeError('hidden')
        },
      },
      'a',
      /a getter or toJSON threw TypeError/,
    ],
  ])('%s', (_, value, path, problem) => {
    expect(encode(value)).toMatchObject({ refusal: { path, message: expect.stringMatching(problem) } })
  })

  test('raw JSON, where the runtime has it', () => {
    const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown }
    if (rawJSON !== undefined) expect(encode({ a: rawJSON('1e999') })).toMatchObject({ refusal: { path: 'a' } })
  })
})

describe('what JSON says differently is taken in its words', () => {
  test.each<[string, unknown, string]>([
    ['a date is ISO text', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    [
      'toJSON speaks for its object',
      { to: new Iban(), url: new URL('https://a.b/') },
      '{"to":"DE00","url":"https://a.b/"}',
    ],
    ['a missing field is left out', { a: undefined, b: null }, '{"b":null}'],
    ['-0 is 0', [-0], '[0]'],
    ['an object without prototype is an object', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    [
      'constructor, prototype and toString are keys like others',
      { constructor: { prototype: 1 }, toString: 2 },
      '{"constructor":{"prototype":1},"toString":2}',
    ],
    ['text that only looks like an escape is text', ['\\u0000', '\\ud800', '😀'], '["\\\\u0000","\\\\ud800","😀"]'],
    [
      'numbers keep every digit',
      [2 ** 31, -(2 ** 53), 2 ** 53 - 1, 1.7976931348623157e308, 5e-324, 1e21],
      '[2147483648,-9007199254740992,9007199254740991,1.7976931348623157e+308,5e-324,1e+21]',
    ],
  ])('%s', (_, value, text) => {
    const encoded = encode(value)
    expect(encoded).toMatchObject({ text })
    expect((encoded as { value: unknown }).value).toEqual(JSON.parse(text))
  })

  test('the deepest that is allowed is allowed', () => {
    expect(encode(nested(MAX_DEPTH))).toHaveProperty('text')
  })

  test('an integer beyond 2^53 is stored as it is, with a warning', () => {
    expect(encode({ rows: [{ id: 2 ** 53 + 2 }, { id: 2 ** 60 }] })).toMatchObject({
      warnings: [
        {
          code: 'unsafe_integer',
          message: expect.stringMatching(/^rows\.\*\.id is an integer beyond 2\^53.*as text/),
        },
      ],
    })
    expect(encode({ a: 2 ** 53 - 1, b: 2 ** 31, c: 1e300 })).toMatchObject({ warnings: [] })
  })

  test('no prototype is changed by a payload', () => {
    encode(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'))
    encode(JSON.parse('{"constructor":{"prototype":{"polluted":1}}}'))
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})

test('what was checked is what is stored, even if the value answers differently the second time', () => {
  let calls = 0
  const fickle = { toJSON: () => (calls++ === 0 ? 'first' : { password: 'second' }) }
  expect(encode({ fickle })).toMatchObject({ text: '{"fickle":"first"}', value: { fickle: 'first' } })
})

test('text and checked value always agree, and JSON passes unchanged', () => {
  const json = fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' })
  fc.assert(
    fc.property(json, (value) => {
      const encoded = encodeJson(value, { maxBytes: 1_000_000, allowSecrets: [] })
      if ('refusal' in encoded) {
        expect(encoded.refusal.message).toMatch(/u0000|__proto__/)
        return
      }
      expect(encoded.value).toEqual(JSON.parse(encoded.text))
      expect(encoded.text).toBe(JSON.stringify(value))
    }),
    { numRuns: 1_000 },
  )
})
