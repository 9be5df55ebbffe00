import fc from 'fast-check'
import { quotedValue, searchFields } from 'millrace'
import { expect, test } from 'vitest'
import { placeAt } from '#src/search/complete'
import { readQuery } from '#src/search/parse'

const conditions = (text: string) => readQuery(text).query?.conditions
const problem = (text: string) => readQuery(text).problem

test('each form of a term is read as what it means', () => {
  expect(conditions('')).toEqual([])
  expect(conditions('status:dead,failed -type:metrics')).toEqual([
    { field: 'status', path: [], isNegated: false, matches: [is('dead'), is('failed')] },
    { field: 'type', path: [], isNegated: true, matches: [is('metrics')] },
  ])
  expect(matches('type:mail.*')).toEqual([{ kind: 'starts', value: 'mail.' }])
  expect(matches('tenant:*')).toEqual([{ kind: 'any' }])
  expect(matches('error:~"read timeout, 5 s",~refused')).toEqual([
    { kind: 'contains', value: 'read timeout, 5 s' },
    { kind: 'contains', value: 'refused' },
  ])
  expect(matches('key:"say \\"hi\\" \\\\ *"')).toEqual([is('say "hi" \\ *')])
  expect(conditions('payload.user.id:42')?.[0]).toMatchObject({ path: ['user', 'id'], matches: [is('42')] })
  expect(matches('attempt:>=3')).toEqual([{ kind: 'compare', operator: '>=', value: 3 }])
  expect(matches('fp:9F3A')).toEqual([{ kind: 'starts', value: '9f3a' }])
  expect(conditions('48211')?.[0]).toMatchObject({ field: 'id', matches: [is('48211')] })
  expect(matches('waited:>1.5h')).toEqual([{ kind: 'compare', operator: '>', value: 5_400_000 }])
})

test('times are relative to now, or days, minutes and seconds of UTC', () => {
  const day = new Date('2026-11-18T00:00:00Z')
  expect(matches('created:>-2h')).toEqual([{ kind: 'compare', operator: '>', value: { fromNowMs: -7_200_000 } }])
  expect(matches('due:<+30m')).toEqual([{ kind: 'compare', operator: '<', value: { fromNowMs: 1_800_000 } }])
  expect(matches('created:2026-11-18')).toEqual([
    { kind: 'during', from: { at: day }, to: { at: new Date('2026-11-19T00:00:00Z') } },
  ])
  expect(matches('finished:<2026-11-18T02:00+02:00')).toEqual([{ kind: 'compare', operator: '<', value: { at: day } }])
})

test('a problem has a place, a sentence and, where there is one, a remedy', () => {
  expect(problem('queue:mail statu:dead')).toEqual({
    message: 'There is no field "statu". Did you mean "status"?',
    ...{ start: 11, end: 16, suggestion: 'status' },
  })
  expect(problem('status:dead,faild')).toMatchObject({ start: 12, end: 17, suggestion: 'failed' })
  expect(problem('error:~"timeout')).toMatchObject({ start: 7, end: 15, message: expect.stringContaining('no end') })
  expect(problem('timeout')).toMatchObject({ start: 0, end: 7, suggestion: 'error:~timeout' })
  expect(problem('created:-2h')).toMatchObject({ suggestion: '>-2h' })
  expect(problem('took:5m')).toMatchObject({ suggestion: '>5m' })
  expect(problem('queue:')).toMatchObject({ start: 6, message: expect.stringContaining('needs a value') })
  expect(problem('queue:>a')).toMatchObject({ suggestion: 'a' })
  expect(problem('payload..x:1')).toMatchObject({ start: 0, end: 10 })
  expect(problem('created:2026-02-31')?.message).toMatch(/takes a time like/)
  expect(problem(`queue:${'a'.repeat(2_000)}`)?.message).toMatch(/2000 are the most/)
  expect(problem('queue:a '.repeat(31))?.message).toMatch(/more than 30 terms/)
  expect(problem('queue:a\0b')?.message).toMatch(/no text in the database/)
  expect(problem('-')?.message).toMatch(/Expected field:value/)
})

test('the examples of the fields are queries', () => {
  for (const { name, example } of searchFields) expect(conditions(example), example).toMatchObject([{ field: name }])
})

const fragments = fc.constantFrom(
  ...[
    'status',
    'payload.a',
    'error',
    'created',
    ':',
    ',',
    '"',
    '\\',
    '-',
    '~',
    '>',
    '>=',
    '*',
    ' ',
    '2026-11-18',
    '-2h',
    '42',
  ],
)
const likeAQuery = fc.array(fc.oneof(fragments, fc.string({ unit: 'binary', maxLength: 5 })), { maxLength: 25 })

test('any text is a query or has a problem whose place lies within it', () => {
  fc.assert(
    fc.property(likeAQuery, (parts) => {
      const text = parts.join('')
      const { query, problem: wrong } = readQuery(text)
      if (wrong === null) return void expect(query.conditions.every(({ matches }) => matches.length > 0)).toBe(true)
      expect(wrong.start).toBeGreaterThanOrEqual(0)
      expect(wrong.end).toBeGreaterThanOrEqual(wrong.start)
      expect(wrong.end).toBeLessThanOrEqual(text.length)
      expect(wrong.message).not.toBe('')
    }),
    { numRuns: 2_000 },
  )
})

test('any value that the database can hold is read back as it was quoted', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (value) => {
      fc.pre(!value.includes('\0'))
      expect(matches(`queue:${quotedValue(value)}`)).toEqual([is(value)])
    }),
  )
})

test('a cursor stands in a field or in a value, at any place of any text', () => {
  const at = (marked: string) => placeAt(marked.replace('|', ''), marked.indexOf('|'))
  expect(at('|')).toMatchObject({ field: null, prefix: '', start: 0, end: 0 })
  expect(at('status:dead -ty|pe:x')).toMatchObject({ field: null, prefix: 'ty', start: 13, end: 18 })
  expect(at('status:dead,fa| queue:a')).toMatchObject({ field: { name: 'status' }, prefix: 'fa', start: 12, end: 14 })
  expect(at('type:"a b, c|')).toMatchObject({ field: { name: 'type' }, prefix: 'a b, c', start: 5 })
  expect(at('type:"a |b" queue:x')).toMatchObject({ field: { name: 'type' }, prefix: 'a ', start: 5, end: 10 })
  expect(at('payload.us|')).toBeUndefined()
  expect(at('nothing:x|')).toBeUndefined()
  fc.assert(
    fc.property(likeAQuery, fc.nat(60), (parts, cursor) => {
      const text = parts.join('')
      const place = placeAt(text, cursor)
      if (place === undefined) return
      expect(place.start).toBeLessThanOrEqual(place.end)
      expect(place.end).toBeLessThanOrEqual(text.length)
    }),
  )
})

const is = (value: string) => ({ kind: 'is', value })
const matches = (text: string) => conditions(text)?.[0]?.matches
