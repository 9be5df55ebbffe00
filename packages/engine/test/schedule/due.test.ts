import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DueSchedule, firstFire, nextAfterEdit, planTick, previousFire } from '#src/schedule/due'
import { nextFire } from '#src/schedule/next-fire'
import type { Timing } from '#src/schedule/timing'

const start = Date.parse('2030-01-01T00:00:00Z')
const at = (ms: number) => new Date(start + ms)
const everyMs = (ms: number): Timing => ({ kind: 'every', everyMs: ms, startsAt: at(0).toISOString() })

/** One fire time after the other, however many there are. */
function walk({ timing, nextAt, now }: DueSchedule): Date[] {
  const due = [nextAt]
  for (let next = nextFire(timing, nextAt); next !== undefined && next <= now; next = nextFire(timing, next))
    due.push(next)
  return due
}

const situations = fc
  .record({
    everyMs: fc.integer({ min: 1_000, max: 100_000 }),
    first: fc.nat(5),
    sinceMs: fc.nat(20_000_000),
    policy: fc.constantFrom('skip' as const, 'once' as const, 'all' as const),
  })
  .map(({ everyMs: interval, first, sinceMs, policy }) => {
    const nextAt = at(first * interval)
    return { timing: everyMs(interval), missed: policy, nextAt, now: new Date(nextAt.getTime() + sinceMs) }
  })

test('what is fired and what is missed make up what was due, as a walk over all fire times finds it', () => {
  fc.assert(
    fc.property(situations, (situation) => {
      fc.pre(walk(situation).length < 10_000)
      const due = walk(situation)
      const { fireAt, missed, nextAt } = planTick(situation)
      const count = missed?.count ?? 0
      if (missed !== undefined) {
        expect(missed.from).toEqual(situation.nextAt)
        expect(missed.to).toEqual(due[count - 1])
      }
      if (fireAt === undefined) {
        expect(situation.missed).toBe('skip')
        expect(count).toBe(due.length)
      } else expect(fireAt).toEqual(due[count])
      expect(nextAt).toEqual(nextFire(situation.timing, due[fireAt === undefined ? count - 1 : count] as Date))
      const lateMs = situation.now.getTime() - (due.at(-1) as Date).getTime()
      if (situation.missed === 'all') expect(count).toBe(Math.max(0, due.length - 100))
      else expect(fireAt).toEqual(situation.missed === 'skip' && lateMs > 60_000 ? undefined : due.at(-1))
    }),
  )
})

test('ten years of seconds are not walked one by one', () => {
  const now = at(10 * 366 * 86_400_000)
  const due = { timing: everyMs(1_000), nextAt: at(0), now }
  const once = planTick({ ...due, missed: 'once' })
  expect(once).toEqual({
    fireAt: now,
    missed: { from: at(0), to: new Date(now.getTime() - 1_000), count: 9_999 },
    nextAt: new Date(now.getTime() + 1_000),
  })
  expect(planTick({ ...due, missed: 'all' }).fireAt).toEqual(new Date(now.getTime() - 99_000))
})

describe('after an edit', () => {
  const hourly: Timing = { kind: 'cron', expression: '0 * * * *', timeZone: 'UTC' }
  const facts = { lastFireAt: at(0), now: at(1_800_000) }
  test('what is due stays due, even if the new timing does not name it', () => {
    const nextAt = at(1_700_000)
    expect(nextAfterEdit(hourly, { ...facts, nextAt })).toEqual(nextAt)
    const plan = planTick({ timing: hourly, missed: 'once', nextAt, now: facts.now })
    expect(plan).toEqual({ fireAt: nextAt, missed: undefined, nextAt: at(3_600_000) })
  })
  test('the next is after now, and after what was fired by a clock that has gone back since', () => {
    expect(nextAfterEdit(hourly, { ...facts, nextAt: at(9_999_999) })).toEqual(at(3_600_000))
    expect(nextAfterEdit(hourly, { lastFireAt: at(3_600_000), now: at(1), nextAt: null })).toEqual(at(7_200_000))
  })
  test('nothing is next where the timing has come to its end', () => {
    expect(firstFire({ kind: 'cron', expression: '0 0 31 2 *', timeZone: 'UTC' }, at(0))).toBeNull()
  })
})

test('the fire before another is found however long ago it was', () => {
  const leapDay: Timing = { kind: 'cron', expression: '0 0 29 2 *', timeZone: 'UTC' }
  expect(previousFire(leapDay, new Date('2032-02-29T00:00:00Z'))).toEqual(new Date('2028-02-29T00:00:00Z'))
  expect(previousFire(everyMs(60_000), at(0))).toBeUndefined()
})
