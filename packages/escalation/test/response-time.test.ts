import { expect, test } from 'vitest'
import { checkRespondWithin, officeOf, respondBy } from '#src/response-time'

const office = officeOf({ timeZone: 'Europe/Helsinki', holidays: ['2026-12-25'] })

test.each([
  ['15m', '2026-11-21T03:00:00Z', '2026-11-21T03:15:00.000Z'],
  // Wednesday at 10:00 in Helsinki, which is UTC+2.
  ['4h business hours', '2026-11-18T08:00:00Z', '2026-11-18T12:00:00.000Z'],
  // At 15:00: two hours are left of the day.
  ['4h business hours', '2026-11-18T13:00:00Z', '2026-11-19T09:00:00.000Z'],
  // Friday evening.
  ['4h business hours', '2026-11-20T18:00:00Z', '2026-11-23T11:00:00.000Z'],
  // Thursday evening before a holiday and a weekend.
  ['4h business hours', '2026-12-24T18:00:00Z', '2026-12-28T11:00:00.000Z'],
  ['next business day', '2026-11-18T10:00:00Z', '2026-11-19T15:00:00.000Z'],
  ['next business day', '2026-11-20T10:00:00Z', '2026-11-23T15:00:00.000Z'],
])('%s from %s is %s', (text, from, expected) => {
  expect(respondBy(text, new Date(from), office).toISOString()).toBe(expected)
})

test('a response time that nobody understands is refused', () => {
  expect(() => checkRespondWithin('soon', 'policies.page')).toThrow(/policies\.page has respondWithin "soon"/)
})
