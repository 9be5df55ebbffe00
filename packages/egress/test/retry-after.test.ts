import { retryAfterMs } from '@millrace/egress'
import { expect, test } from 'vitest'

const now = Date.UTC(1994, 10, 6, 8, 49, 37)

test.each([
  ['120', 120_000],
  ['0', 0],
  [' 3 ', 3000],
  ['1.5', 1500],
  ['Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
  ['Sunday, 06-Nov-94 08:50:37 GMT', 60_000],
  ['Sun Nov  6 08:50:37 1994', 60_000],
  ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
  ['', undefined],
  ['-5', undefined],
  ['soon', undefined],
  ['2026', 2_026_000],
  ['2026-01-01', undefined],
  ['Sun, nonsense', undefined],
  ['9'.repeat(400), undefined],
])('Retry-After: %s means %s ms', (value, ms) => {
  expect(retryAfterMs(value, now)).toBe(ms)
  expect(retryAfterMs(new Headers({ 'retry-after': value }), now)).toBe(ms)
  expect(retryAfterMs(new Response(null, { status: 429, headers: { 'retry-after': value } }), now)).toBe(ms)
})

test('without the header there is no time to wait', () => {
  for (const from of [null, undefined, new Headers(), new Response()]) expect(retryAfterMs(from)).toBeUndefined()
})
