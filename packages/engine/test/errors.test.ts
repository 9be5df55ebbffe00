import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failureFrom, storable } from '#src/failure'

describe('recording a failure cannot fail', () => {
  test.each([
    [new Error('a\u0000b'), { class: 'Error', message: 'a\ufffdb' }],
    [new TypeError('no'), { class: 'TypeError', message: 'no' }],
    ['just text', { class: 'NonError', message: 'just text' }],
    [undefined, { class: 'NonError', message: 'undefined' }],
    [{ code: 7 }, { class: 'NonError', message: '{"code":7}' }],
    [1n, { class: 'NonError', message: '"1"' }],
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
