import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { allot, type Share } from '#src/governance/allot'

const EVEN: Share = {
  running: 0,
  weight: 1,
  minSlots: 0,
  maxSlots: Number.POSITIVE_INFINITY,
  served: 0,
  isAhead: false,
}

const tenants = fc.uniqueArray(
  fc.record({
    name: fc.string({ minLength: 1, maxLength: 3 }),
    jobs: fc.integer({ min: 0, max: 40 }),
    running: fc.integer({ min: 0, max: 10 }),
    weight: fc.integer({ min: 1, max: 10 }),
    minSlots: fc.integer({ min: 0, max: 4 }),
    maxSlots: fc.option(fc.integer({ min: 0, max: 15 }), { nil: Number.POSITIVE_INFINITY }),
    served: fc.integer({ min: 0, max: 5 }),
    isAhead: fc.boolean(),
  }),
  { selector: ({ name }) => name, maxLength: 12 },
)

function candidatesOf(given: readonly { name: string; jobs: number }[]) {
  return given.flatMap(({ name, jobs }) =>
    Array.from({ length: jobs }, (_, i) => ({ id: `${name}-${i}`, tenant: name, type: i % 3 === 0 ? 'a' : 'b' })),
  )
}

const counts = (chosen: readonly { tenant: string | null }[]): Map<string | null, number> => {
  const result = new Map<string | null, number>()
  for (const { tenant } of chosen) result.set(tenant, (result.get(tenant) ?? 0) + 1)
  return result
}

describe('slots are allotted', () => {
  test('so that none stays free while anyone may run, and nobody gets more than allowed', () => {
    fc.assert(
      fc.property(tenants, fc.integer({ min: 0, max: 60 }), (given, slots) => {
        const byName = new Map(given.map((each) => [each.name, each]))
        const { chosen } = allot(
          slots,
          candidatesOf(given),
          (name) => byName.get(name as string) as Share,
          () => true,
        )
        const possible = given.reduce(
          (sum, { jobs, running, maxSlots }) => sum + Math.max(0, Math.min(jobs, maxSlots - running)),
          0,
        )
        expect(chosen).toHaveLength(Math.min(slots, possible))
        expect(new Set(chosen.map(({ id }) => id)).size).toBe(chosen.length)
        for (const [name, jobs] of counts(chosen)) {
          const share = byName.get(name as string) as Share
          expect(share.running + jobs).toBeLessThanOrEqual(share.maxSlots)
        }
      }),
    )
  })

  test('as a simple model does it, one slot at a time', () => {
    fc.assert(
      fc.property(tenants, fc.integer({ min: 0, max: 60 }), (given, slots) => {
        const { chosen, rivals } = allot(
          slots,
          candidatesOf(given),
          (name) => given.find((each) => each.name === name) as Share,
          () => true,
        )
        const model = given.map((each) => ({ ...each, held: each.running, left: each.jobs }))
        for (let slot = 0; slot < slots; slot++) {
          const able = model.filter(({ held, left, maxSlots }) => left > 0 && held < maxSlots)
          const owed = able.filter(({ held, minSlots }) => held < minSlots)
          const among = owed.length > 0 ? owed : able
          const key = (each: (typeof model)[number]) => each.held + (each.isAhead ? 1 : 0)
          const [next] = [...among].sort((a, b) => key(a) * b.weight - key(b) * a.weight || a.served - b.served)
          if (next === undefined) break
          next.held++
          next.served += 1 / next.weight
          next.left--
        }
        const expected = model.flatMap(({ name, held, running }) => (held > running ? [[name, held - running]] : []))
        expect(Object.fromEntries(counts(chosen))).toEqual(Object.fromEntries(expected))
        const wanting = model.filter(
          ({ held, left, minSlots, maxSlots }) =>
            left > 0 && held < maxSlots && (minSlots === 0 || held > minSlots) && chosen.length === slots,
        )
        expect(rivals.map(({ tenant, held }) => [tenant, held]).sort()).toEqual(
          wanting.map(({ name, held }) => [name, held]).sort(),
        )
      }),
    )
  })

  test('by weight: all of them, and to nobody more than its exact share rounded up, when all have enough', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 300 }),
        (weights, slots) => {
          const given = weights.map((weight, i) => ({ name: `t${i}`, jobs: slots, weight }))
          const shareOf = (name: string | null): Share => ({
            ...EVEN,
            weight: given.find((each) => each.name === name)?.weight ?? 1,
          })
          const got = counts(allot(slots, candidatesOf(given), shareOf, () => true).chosen)
          const total = weights.reduce((sum, weight) => sum + weight, 0)
          expect([...got.values()].reduce((sum, count) => sum + count, 0)).toBe(slots)
          for (const { name, weight } of given)
            expect(got.get(name) ?? 0).toBeLessThanOrEqual(Math.ceil((slots * weight) / total))
        },
      ),
    )
  })

  test('to the jobs behind one that a limit refuses', () => {
    const given = [{ name: 'x', jobs: 6 }]
    const { chosen } = allot(
      10,
      candidatesOf(given),
      () => EVEN,
      ({ type }) => type !== 'a',
    )
    expect(chosen.map(({ id }) => id)).toEqual(['x-1', 'x-2', 'x-4', 'x-5'])
  })

  test('first to whoever is below a guaranteed minimum', () => {
    const given = [
      { name: 'big', jobs: 10 },
      { name: 'small', jobs: 10 },
    ]
    const shareOf = (name: string | null): Share =>
      name === 'small' ? { ...EVEN, running: 2, minSlots: 5 } : { ...EVEN, weight: 100 }
    expect(Object.fromEntries(counts(allot(3, candidatesOf(given), shareOf, () => true).chosen))).toEqual({ small: 3 })
  })
})
