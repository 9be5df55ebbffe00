import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { afterEdit, type DueSchedule, type EditedSchedule, firstFire, planTick, previousFire } from '#src/schedule/due'
import { fires, nextFire } from '#src/schedule/next-fire'
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
      fc.pre(walk(situation).length <= 1_500)
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
    missed: { from: at(0), to: new Date(now.getTime() - 1_000), count: 1_499 },
    nextAt: new Date(now.getTime() + 1_000),
  })
  expect(planTick({ ...due, missed: 'all' }).fireAt).toEqual(new Date(now.getTime() - 99_000))
})

describe('after an edit', () => {
  const hourly: Timing = { kind: 'cron', expression: '0 * * * *', timeZone: 'UTC' }
  const facts = { lastFireAt: at(0), pausedAt: null, pausedUntil: null, now: at(1_800_000) }

  test('what is due by then is settled by the timing before, and the new one counts behind', () => {
    const now = at(5 * 3_600_000 + 600_000)
    const minutely: Timing = { kind: 'cron', expression: '* * * * *', timeZone: 'UTC' }
    const { timing, nextAt } = afterEdit(hourly, minutely, { ...facts, nextAt: at(3_600_000), now })
    expect(nextAt).toEqual(at(3_600_000))
    const later = new Date(now.getTime() + 120_000)
    const due = [1, 2, 3, 4, 5].map((hour) => at(hour * 3_600_000))
    const all = [...due, at(now.getTime() - start + 60_000), later]
    expect([...fires(timing, { from: at(3_600_000), to: later })]).toEqual(all)
    const plan = { timing, missed: 'once' as const, nextAt: at(3_600_000), now }
    expect(planTick(plan)).toMatchObject({ fireAt: due[4], missed: { count: 4 }, nextAt: all[5] })
    expect(planTick({ ...plan, missed: 'all' })).toEqual({ fireAt: due[0], missed: undefined, nextAt: due[1] })
  })

  test('a second edit remembers the first for as long as anything is due by it', () => {
    const first = afterEdit(everyMs(60_000), hourly, { ...facts, nextAt: at(60_000), now: at(150_000) })
    const again = { ...facts, now: at(7_500_000) }
    const second = afterEdit(first.timing, everyMs(7_000_000), { ...again, nextAt: at(60_000) })
    const expected = [60_000, 120_000, 3_600_000, 7_200_000, 14_000_000].map(at)
    expect([...fires(second.timing, { from: at(1), to: at(14_000_000) })]).toEqual(expected)
    const ticked = afterEdit(first.timing, everyMs(7_000_000), { ...again, nextAt: at(3_600_000) })
    expect(ticked.timing).toMatchObject({ before: hourly })
  })

  test('the next is after now, and after what was fired by a clock that has gone back since', () => {
    const edit = (row: Partial<EditedSchedule>) => afterEdit(everyMs(1_000), hourly, { ...facts, nextAt: null, ...row })
    expect(edit({ nextAt: at(9_999_999) })).toEqual({ timing: hourly, nextAt: at(3_600_000) })
    expect(edit({ lastFireAt: at(3_600_000), now: at(1) }).nextAt).toEqual(at(7_200_000))
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
