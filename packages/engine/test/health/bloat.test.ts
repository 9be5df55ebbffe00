import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isBloated, isInVain, isNeglected, isQuiet, worstIndex } from '#src/health/bloat'
import type { IndexBloat, SnapshotHolder, TableBloat } from '#src/store/upkeep'

const MINUTE_MS = 60_000
const MB = 1024 * 1024
const table = (facts: Partial<TableBloat>): TableBloat => ({
  name: 'job',
  liveRows: 0,
  deadRows: 0,
  bytes: 0,
  indexBytes: 0,
  writes: 0,
  vacuumedMsAgo: 0,
  mayRepair: true,
  ...facts,
})
const held = (heldMs: number | null): SnapshotHolder => ({ kind: 'session', pid: 1, name: null, state: 'idle', heldMs })
const index = (name: string, mb: number, neededMb: number, isLeftover = false): IndexBloat => ({
  name,
  bytes: mb * MB,
  neededBytes: neededMb * MB,
  isLeftover,
})

test.each([
  [9_999, 0, false],
  [10_000, 0, true],
  [10_999, 10_000, false],
  [110_000, 1_000_000, true],
])('%d dead rows beside %d live ones: bloated is %s', (deadRows, liveRows, expected) => {
  expect(isBloated(table({ deadRows, liveRows }))).toBe(expected)
})

test('a table is neglected when nobody has vacuumed it for five minutes, or ever', () => {
  expect(isNeglected(table({ vacuumedMsAgo: null }))).toBe(true)
  expect(isNeglected(table({ vacuumedMsAgo: 5 * MINUTE_MS }))).toBe(true)
  expect(isNeglected(table({ vacuumedMsAgo: 5 * MINUTE_MS - 1 }))).toBe(false)
})

describe('a vacuum is in vain', () => {
  test.each([
    ['under a snapshot that is older than the last one', 1_000, held(2 * MINUTE_MS), true],
    ['under one of unknown age', 1_000, held(null), true],
    ['not under a young one', 1_000, held(MINUTE_MS - 1), false],
    ['not under one that is younger than the last vacuum', 10 * MINUTE_MS, held(2 * MINUTE_MS), false],
    ['not if there was none', null, held(null), false],
  ])('%s', (_, vacuumedMsAgo, holder, expected) => {
    expect(isInVain(table({ vacuumedMsAgo }), holder, MINUTE_MS)).toBe(expected)
  })
})

test('the index that wastes most is rebuilt; small, fitting and half-built ones are not', () => {
  const keep = [index('small', 7, 0), index('fitting', 100, 26), index('half-built', 500, 0, true)]
  expect(worstIndex(keep)).toBeUndefined()
  expect(worstIndex([...keep, index('a', 20, 1), index('b', 40, 10), index('c', 8, 0)])?.name).toBe('b')
})

test('no index is rebuilt that is less than four times too large', () => {
  const size = fc.integer({ min: 0, max: 1_000 })
  const some = fc.array(fc.tuple(size, size).map(([mb, needed]) => index('any', mb, needed)))
  fc.assert(
    fc.property(some, (indexes) => {
      const worst = worstIndex(indexes)
      const candidates = indexes.filter(({ bytes, neededBytes }) => bytes >= 8 * MB && bytes >= 4 * neededBytes)
      expect(worst === undefined).toBe(candidates.length === 0)
      if (worst !== undefined) expect(candidates).toContain(worst)
    }),
  )
})

test('it is quiet when little was written since the last look; not at the first look, nor after a reset of the counts', () => {
  const look = (writes: number, atMs: number) => ({ writes, atMs })
  expect(isQuiet(undefined, look(0, 0))).toBe(false)
  expect(isQuiet(look(50, 0), look(10, 120_000))).toBe(false)
  expect(isQuiet(look(0, 0), look(11_999, 120_000))).toBe(true)
  expect(isQuiet(look(0, 0), look(12_000, 120_000))).toBe(false)
})
