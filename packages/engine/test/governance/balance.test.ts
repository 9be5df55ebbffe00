import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Balance } from '#src/governance/balance'
import { type Backlog, type Plan, runs, sharesOf } from '../support/slots.ts'

const MINUTE_MS = 60_000

/** The largest |share / weight's share − 1| of those that are asked about. */
function worstError(plan: Plan, { fromMs = 0, among = plan.tenants.map((_, i) => i) } = {}): number {
  const shares = sharesOf(runs(plan), plan.tenants.length, fromMs, plan.untilMs)
  const of = (i: number) => shares[i] as number
  const weightOf = (i: number) => (plan.tenants[i] as Backlog).weight
  const total = among.reduce((sum, i) => sum + of(i), 0)
  const weight = among.reduce((sum, i) => sum + weightOf(i), 0)
  return Math.max(...among.map((i) => Math.abs(of(i) / total / (weightOf(i) / weight) - 1)))
}

/** Between half and one and a half of the mean; the same in every run of the test. */
function around(meanMs: number, seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return meanMs * (0.5 + state / 2 ** 32)
  }
}

const weights = fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 2, maxLength: 5 })
const seeds = fc.integer({ min: 1, max: 1_000_000 })
const where = { processes: fc.constantFrom(1, 2), slots: fc.integer({ min: 2, max: 12 }) }

/** Long enough for the smallest to have run some hundred jobs. */
const lasting = (
  jobMs: number,
  { processes, slots, weights: all }: { processes: number; slots: number; weights: number[] },
) => (300 * jobMs * all.reduce((sum, weight) => sum + weight, 0)) / Math.min(...all) / (processes * slots)

describe('in the long run tenants with a backlog have the slots', () => {
  test('by weight, however many are claimed ahead, in one process and in two', () => {
    fc.assert(
      fc.property(
        fc.record({ ...where, weights, seed: seeds, ahead: fc.integer({ min: 0, max: 60 }) }),
        ({ weights, seed, ...rest }) => {
          const tenants = weights.map((weight, i) => ({ weight, lengthMs: around(100, seed + i) }))
          const plan = { ...rest, tenants, untilMs: lasting(100, { ...rest, weights }) }
          expect(worstError(plan)).toBeLessThan(0.05)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('by weight, whether their jobs are long or short', () => {
    fc.assert(
      fc.property(
        fc.record({
          ...where,
          slots: fc.integer({ min: 5, max: 12 }),
          weights,
          seed: seeds,
          means: fc.array(fc.constantFrom(50, 100, 300), { minLength: 5, maxLength: 5 }),
        }),
        ({ weights, seed, means, ...rest }) => {
          const tenants = weights.map((weight, i) => ({ weight, lengthMs: around(means[i] as number, seed + i) }))
          const plan = { ...rest, ahead: 0, tenants, untilMs: lasting(200, { ...rest, weights }) }
          expect(worstError(plan)).toBeLessThan(0.1)
        },
      ),
      { numRuns: 25 },
    )
  })

  test.each([
    { tenants: 5, slots: 2, longMs: 5_000, shortMs: 200 },
    { tenants: 6, slots: 4, longMs: 5_000, shortMs: 200 },
    { tenants: 2, slots: 1, longMs: 1_000, shortMs: 100 },
  ])('by time where $tenants tenants share $slots slots, which one fills for long', (given) => {
    const lengthMs = (i: number) => around(i === 0 ? given.longMs : given.shortMs, i + 1)
    const tenants = Array.from({ length: given.tenants }, (_, i) => ({ weight: 1, lengthMs: lengthMs(i) }))
    const plan = { tenants, processes: 1, slots: given.slots, ahead: 0, untilMs: 60 * MINUTE_MS }
    expect(worstError(plan)).toBeLessThan(0.05)
  })

  test('by weight also beside one that has its minimum and one that has its maximum', () => {
    const lengthMs = () => 10
    const tenants = [
      ...[1, 2, 5, 10].map((weight) => ({ weight, lengthMs })),
      { weight: 1, minSlots: 7, lengthMs },
      { weight: 10, maxSlots: 3, lengthMs },
    ]
    const plan = { tenants, processes: 1, slots: 20, ahead: 0, untilMs: 10_000 }
    expect(worstError(plan, { among: [0, 1, 2, 3] })).toBeLessThan(0.02)
    const shares = sharesOf(runs(plan), tenants.length, 0, plan.untilMs)
    expect(shares[4]).toBeCloseTo(7 / 20, 2)
    expect(shares[5]).toBeCloseTo(3 / 20, 2)
  })
})

describe('what a tenant has not used', () => {
  test('is not owed to it if it had no work meanwhile', () => {
    const lengthMs = around(100, 1)
    const isBack = (nowMs: number) => nowMs < 1_000 || nowMs > MINUTE_MS
    const tenants = [{ weight: 1, lengthMs, hasWork: isBack }, ...[2, 5].map((weight) => ({ weight, lengthMs }))]
    const plan = { tenants, processes: 1, slots: 5, ahead: 0, untilMs: 2 * MINUTE_MS }
    const all = runs(plan)
    for (let fromMs = MINUTE_MS; fromMs < plan.untilMs; fromMs += 10_000)
      expect((sharesOf(all, 3, fromMs, fromMs + 10_000)[0] as number) * 8).toBeLessThan(1.15)
  })
})

describe('what a tenant has used', () => {
  test('is not held against it if nobody else wanted it', () => {
    const balance = new Balance()
    for (let job = 0; job < 30; job++) {
      balance.take('alone', 1)
      balance.compete([])
      balance.ran('alone', 300)
    }
    const other = { tenant: 'other', weight: 4, held: 2 }
    balance.take('other', 4)
    balance.compete([other])
    balance.settle()
    expect(balance.isAhead('alone')).toBe(false)
    balance.compete([other, { tenant: 'alone', weight: 1, held: 1 }])
    balance.settle()
    expect(balance.isAhead('alone')).toBe(false)
  })

  test('is not what was claimed for it and did not start', () => {
    const balance = new Balance()
    const rivals = ['a', 'b'].map((tenant) => ({ tenant, weight: 1, held: 1 }))
    balance.compete(rivals)
    for (const { tenant } of rivals) {
      balance.take(tenant, 1)
      balance.ran(tenant, 100)
    }
    balance.compete(rivals)
    balance.settle()
    balance.take('a', 1)
    expect(balance.isAhead('a')).toBe(true)
    balance.returned('a')
    expect(balance.isAhead('a')).toBe(false)
  })

  test('keeps it from a slot for a minute at most', () => {
    const hourMs = 60 * MINUTE_MS
    const tenants = [
      { weight: 1, lengthMs: (nowMs: number) => (nowMs < hourMs ? hourMs : 100) },
      { weight: 1, lengthMs: () => 100 },
    ]
    const all = runs({ tenants, processes: 1, slots: 1, ahead: 0, untilMs: hourMs + 5 * MINUTE_MS })
    const [first, second] = all.filter(({ tenant }) => tenant === 0)
    const waitedMs = (second?.startMs ?? Number.POSITIVE_INFINITY) - (first?.endMs ?? 0)
    expect(waitedMs).toBeGreaterThan(1_000)
    expect(waitedMs).toBeLessThanOrEqual(MINUTE_MS + 1_000)
  })
})
