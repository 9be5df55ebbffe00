import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeJson } from '#src/contract/payload'
import { failureFrom, storable } from '#src/errors'

describe('JSON for Postgres', () => {
  test('whatever JSON can say and jsonb can store passes unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const encoded = encodeJson(value, 1_000_000)
        if ('text' in encoded) expect(encoded.text).toBe(JSON.stringify(value))
        else expect(JSON.stringify(value)).toMatch(/\\u/)
      }),
    )
  })

  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  test.each([
    ['NUL', { a: 'x\u0000y' }, /\\u0000/],
    ['a lone surrogate', { a: '\ud800' }, /lone surrogate/],
    ['NUL in a key', { 'a\u0000': 1 }, /\\u0000/],
    ['a bigint', { a: 1n }, /BigInt/],
    ['a cycle', cyclic, /circular/],
    ['undefined', undefined, /it is undefined/],
    ['a function', () => 1, /it is function/],
    ['too much', { a: 'x'.repeat(2_000) }, /the limit is 1000/],
  ])('%s is refused with the reason', (_, value, problem) => {
    expect(encodeJson(value, 1_000)).toMatchObject({ problem: expect.stringMatching(problem) })
  })

  test('text that only looks like an escape is not refused', () => {
    expect(encodeJson({ a: '\\u0000', b: '\\ud800' }, 1_000)).toHaveProperty('text')
    expect(encodeJson({ a: '\\\u0000' }, 1_000)).toHaveProperty('problem')
    expect(encodeJson({ a: '😀' }, 1_000)).toHaveProperty('text')
  })
})

describe('recording a failure cannot fail', () => {
  test.each([
    [new Error('a\u0000b'), { class: 'Error', message: 'a\ufffdb' }],
    [new TypeError('no'), { class: 'TypeError', message: 'no' }],
    ['just text', { class: 'NonError', message: 'just text' }],
    [undefined, { class: 'NonError', message: 'undefined' }],
    [{ code: 7 }, { class: 'NonError', message: '{"code":7}' }],
    [1n, { class: 'Unprintable' }],
  ])('%s', (thrown, expected) => {
    expect(failureFrom(thrown)).toMatchObject(expected)
  })

  test('the text is always storable and bounded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const stored = storable(text, 100)
        expect(stored.isWellFormed()).toBe(true)
        expect(stored).not.toContain('\u0000')
        expect(stored.length).toBeLessThanOrEqual(101)
      }),
    )
  })
})
